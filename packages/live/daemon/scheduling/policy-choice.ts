/** Chooses policies for a front end with a given configuration. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { connectedReservationOver } from "@tutti/kernel/policies/space/connected-reservation.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import type { Config, QueueSetting } from "../config/config.ts";
import { DEFAULT_ESTIMATE_MS } from "../contract/submission.ts";
import type { Capabilities } from "../executor/executor.ts";
import { refuseMigration } from "./live-rounds.ts";

/** A user's own policy that takes longer for a decision is replaced. */
const MAX_OWN_MS = 1000;

/**
 * The policy of the file that the configuration names; undefined if it names no file.
 * @throws InputError for a file that is not a policy, or that another user could replace
 */
export async function ownPolicyIn({ policy }: Pick<Config, "policy">): Promise<PolicyDefinition | undefined> {
  const file = nameIn(policy);
  if (!isPolicyFile(file)) return undefined;
  // Most machines have none, and it needs modules of Node that nothing else here needs.
  const { loadLivePolicy } = await import("@tutti/own-policies/own-policy.ts");
  return await loadLivePolicy(file, MAX_OWN_MS);
}

/**
 * A policy of the registry, or the administrator's own policy. Policies that use queue classes get the
 * configured classes.
 * @param ownPolicy the only policy from a file that may be used here
 * @throws InputError
 */
export function choosePolicyFor(
  text: string,
  { queues }: Pick<Config, "queues">,
  ownPolicy?: PolicyDefinition,
): PolicyChoice {
  const name = nameIn(text);
  if (isPolicyFile(name) && name !== ownPolicy?.name) {
    throw new InputError(
      `Cannot use the policy file "${name}" live: only the file named in the configuration of tutti serve is allowed, expected ${ownPolicy === undefined ? "the name of a policy" : `"${ownPolicy.name}" or the name of a policy`}; tutti simulate accepts any file`,
    );
  }
  const choice = choosePolicy(text, [
    ...(ownPolicy === undefined ? [] : [ownPolicy]),
    ...(areConfigured(queues) ? [connectedReservationOver(queues.map(({ queueClass }) => queueClass))] : []),
  ]);
  refuseMigration(choice);
  return choice;
}

/**
 * Refuses a machine that is wider than the queue classes that come with a policy: a job on all of its CPUs
 * would be refused later. Classes that the site configured may be narrower, because they limit the jobs of
 * every policy.
 * @param cpus number of CPUs for jobs
 * @throws InputError that says what to set
 */
export function refuseWideMachine(
  { definition, parameters, label }: PolicyChoice,
  cpus: number,
  { queues }: Pick<Config, "queues">,
): void {
  if (areConfigured(queues)) return;
  const { processors, processes } = queues[0].queueClass;
  const tasks = Math.min(cpus, processors, processes);
  const why = definition.jobCheck?.(parameters)({
    processors: tasks,
    processes: tasks,
    threads: 1,
    estimateS: DEFAULT_ESTIMATE_MS / 1000,
    queue: 0,
  });
  if (why === undefined) return;
  throw new InputError(
    `Cannot use policy "${label}" on ${cpus} CPUs: a job on ${tasks} of them ${why}, or define "queues" in the configuration file`,
  );
}

/** @throws InputError for a policy whose gangs take turns, if the executor cannot stop and continue them */
export function refuseUnlessCapable(
  { definition, label }: PolicyChoice,
  { timeSharing }: Pick<Capabilities, "timeSharing">,
): void {
  if (timeSharing || definition.sharing === "space") return;
  throw new InputError(
    `Cannot use policy "${label}" here: its gangs take turns on the same CPUs, but here a job has its CPUs until it ends; expected a policy of space sharing, such as easy`,
  );
}

/** @throws InputError for the mode concurrent, if the executor cannot run gangs at low priority */
export function refuseMode(
  { mode }: Pick<Config, "mode">,
  capabilities: Pick<Capabilities, "modeConcurrent">,
): void {
  if (mode === "gang") return;
  const { modeConcurrent } = capabilities;
  if (modeConcurrent !== true) throw new InputError(`Cannot use the mode "${mode}": ${modeConcurrent}`);
}

/** @throws InputError for countable resources, if the executor cannot give them to jobs */
export function refuseResources(
  resources: Config["resources"],
  { resources: canHold }: Pick<Capabilities, "resources">,
): void {
  const [first] = resources;
  if (canHold === true || first === undefined) return;
  throw new InputError(
    `Cannot count "${first.name}" here: ${canHold}, expected a configuration without "resources"`,
  );
}

function areConfigured(queues: readonly QueueSetting[]): boolean {
  return queues.length > 1 || queues[0].queueClass.name !== "default";
}

function nameIn(text: string): string {
  return text.split(":")[0];
}
