/**
 * What a policy of the user's own needs: `import { definePolicy, StartRule } from "tutti"` in its file. The
 * program that runs the policy provides these modules, wherever the file is.
 */
export { type JobIndex, type JobsView, NO_JOB } from "./core/jobs.ts";
export type {
  GangMachine,
  GangPolicyDefinition,
  MatrixView,
  ParameterSpec,
  ParameterValues,
  Policy,
  PolicyDefinition,
  Pool,
  SpacePolicyDefinition,
} from "./core/policy.ts";
export { START_RULE_NAMES, StartRule } from "./core/policy.ts";
export { definePolicy, type PolicyParts } from "./policies/define-policy.ts";
export { WindowIndex } from "./policies/gangs/idle-index.ts";
export { ORDER_PARAMETER, WaitingQueue } from "./policies/queue-order.ts";
export { AvailabilityProfile } from "./structures/availability-profile.ts";
export { JobIntegers, JobNumbers } from "./structures/job-column.ts";
export { idleEnd } from "./structures/matrix/legal-cuts.ts";
export { gather, longestIdle } from "./structures/matrix/repacking.ts";
export { OrderedJobs } from "./structures/ordered-jobs.ts";
