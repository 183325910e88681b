/** What a policy of the user's own needs: `import type { SpacePolicyDefinition } from "tutti"`. */
export type { JobIndex, JobsView } from "./core/jobs.ts";
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
