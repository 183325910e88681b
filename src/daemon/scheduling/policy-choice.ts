/** Policies as a front end with a given configuration knows them. */
import { InputError } from "../../core/errors.ts";
import type { PolicyChoice, PolicyDefinition } from "../../core/policy.ts";
import { isFile, loadLivePolicy } from "../../own-policies/own-policy.ts";
import { choosePolicy } from "../../policies/parse-policy.ts";
import { connectedReservationOver } from "../../policies/space/connected-reservation.ts";
import type { Config } from "../config/config.ts";
import { refuseMigration } from "./live-rounds.ts";

/** A policy of the user's own that takes longer to decide is replaced. */
const MAX_OWN_MS = 1000;

/**
 * The policy of the file that the configuration names; undefined when it names none.
 * @throws InputError for a file that is no policy, or that somebody else could exchange
 */
export async function ownPolicyIn({ policy }: Pick<Config, "policy">): Promise<PolicyDefinition | undefined> {
  const file = nameIn(policy);
  return isFile(file) ? await loadLivePolicy(file, MAX_OWN_MS) : undefined;
}

/**
 * Those of the registry; those that know queue classes over the configured ones.
 * @param ownPolicy the only one of a file that may decide here
 * @throws InputError
 */
export function choosePolicyFor(
  text: string,
  { queues }: Pick<Config, "queues">,
  ownPolicy?: PolicyDefinition,
): PolicyChoice {
  const name = nameIn(text);
  if (isFile(name) && name !== ownPolicy?.name) {
    throw new InputError(
      `Cannot use the policy file "${name}" live: only the file that the configuration of tutti serve names may decide here, expected ${ownPolicy === undefined ? "the name of a policy" : `"${ownPolicy.name}" or the name of a policy`}; tutti simulate takes any`,
    );
  }
  const knowsQueues = queues.length > 1 || queues[0].queueClass.name !== "default";
  const choice = choosePolicy(text, [
    ...(ownPolicy === undefined ? [] : [ownPolicy]),
    ...(knowsQueues ? [connectedReservationOver(queues.map(({ queueClass }) => queueClass))] : []),
  ]);
  refuseMigration(choice);
  return choice;
}

function nameIn(text: string): string {
  return text.split(":")[0];
}
