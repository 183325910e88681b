/**
 * The kinds of policy. They differ in the machine that they schedule: each kind has a contract in core/, a simulator and a checker of
 * its own, and a policy of one kind cannot run on the machine of another.
 */
import type { PolicyDefinition } from "../core/policy.ts";
import { ROUNDS_RULES, SITES_RULES, TASKS_RULES } from "../core/rules.ts";
import type { SitesPolicyDefinition } from "../core/sites.ts";
import type { LocalSchedulerDefinition } from "../core/tasks.ts";

export type AnyPolicyDefinition = PolicyDefinition | SitesPolicyDefinition | LocalSchedulerDefinition;
export type Sharing = AnyPolicyDefinition["sharing"];

export interface PolicyKind {
  readonly title: string;
  /** What its policies schedule, as the end of "it schedules …". */
  readonly machine: string;
  /** Rules of the machine's simulator that decide results as much as the policy's own. */
  readonly rules: readonly string[];
  /** The command that runs a policy of the kind. */
  command(policy: string): string;
}

/** By the word in `sharing`, in the order in which they are listed. */
export const KINDS: Readonly<Record<Sharing, PolicyKind>> = {
  space: {
    title: "Space sharing",
    machine: "one pool of processors, each of which has one job at a time",
    rules: [],
    command: onTrace,
  },
  time: {
    title: "Time sharing",
    machine: "an Ousterhout matrix, whose rows of gangs take turns on one set of processors",
    rules: ROUNDS_RULES,
    command: onTrace,
  },
  sites: {
    title: "Several sites",
    machine: "processors with a queue each, grouped into sites under one grid scheduler",
    rules: SITES_RULES,
    command: () => "tutti reproduce dimitriadou2009",
  },
  tasks: {
    title: "Tasks on a processor",
    machine:
      "the tasks of each processor while the one whose turn it is waits for I/O, a message or a barrier",
    rules: TASKS_RULES,
    command: () => "tutti reproduce silva1999",
  },
};

function onTrace(policy: string): string {
  return `tutti simulate TRACE --policy ${policy}`;
}

/** Whether the policy schedules the jobs of one machine, as `simulate`, `compare` and the live scheduler have them. */
export function isForOneMachine(policy: AnyPolicyDefinition): policy is PolicyDefinition {
  return policy.sharing === "space" || policy.sharing === "time";
}

/** The policy's own rules, then those of the simulator. */
export function rulesOf({ sharing, rules }: AnyPolicyDefinition): readonly string[] {
  return [...rules, ...KINDS[sharing].rules];
}
