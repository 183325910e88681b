/** Policies as a front end with a given configuration knows them. */
import type { PolicyChoice } from "../../core/policy.ts";
import { choosePolicy } from "../../policies/choose.ts";
import { connectedReservationOver } from "../../policies/space/connected-reservation.ts";
import type { Config } from "../config/config.ts";
import { refuseMigration } from "./live-rounds.ts";

/** Those of the registry; those that know queue classes over the configured ones. @throws InputError */
export function choosePolicyFor(text: string, { queues }: Pick<Config, "queues">): PolicyChoice {
  const isOwn = queues.length > 1 || queues[0].queueClass.name !== "default";
  const own = isOwn ? [connectedReservationOver(queues.map(({ queueClass }) => queueClass))] : [];
  const choice = choosePolicy(text, own);
  refuseMigration(choice);
  return choice;
}
