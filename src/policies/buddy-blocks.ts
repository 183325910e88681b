/** Re-packing gangs on buddy blocks: what br, brms and brmms share (Zhou, Walsh and Brent 2000, sections 3 and 4.1). */
import type { GangPolicyDefinition, Guarantees, ParameterValues, Rule } from "../core/policy.ts";
import { BlockIndex, CandidatesByBlock } from "./idle-index.ts";
import { MIGRATION_RULES, migrationOf, withMigration } from "./migration.ts";
import { type ExtraSlots, RepackingGang } from "./repacking-gang.ts";

/** Makes the policy with extra slots as its parameters say; undefined: every job has one slot per round. */
export function onBuddyBlocks(
  extraOf: (parameters: ParameterValues) => ExtraSlots | undefined,
): GangPolicyDefinition["make"] {
  return (machine, jobs, parameters, limits) =>
    new RepackingGang(machine, jobs, {
      makeIndex: (processors) => new BlockIndex(processors),
      makeCandidates: (known, idle) => new CandidatesByBlock(known, idle),
      extra: extraOf(parameters),
      limits,
      migration: migrationOf(machine, jobs, true, parameters),
    });
}

/** Sentences that hold for all of them. */
export const BUDDY_BLOCK_RULES: readonly (Rule | string)[] = [
  "a job's block is the smallest buddy block that holds it; the job occupies its own processors at the block's left end, other jobs may use the rest",
  "on a machine that is no power of two, a block that the machine's end cuts off takes a job that fits in what is left",
  "an arrival is given the block with most idle slots among the blocks of its size in which every processor has one (ties: the leftmost)",
  "a row is added, at the end of the round, only when no block of the job's size has an idle slot on every processor",
  "idle slots of a block are gathered in one row by exchanging jobs between rows; no job moves to other processors",
  "before and after the arrivals of an instant rows are re-packed and deleted while every processor has an idle slot",
  ...MIGRATION_RULES,
  { text: "departures come before arrivals, arrivals in order of submission", isInherited: true },
];

export function buddyBlockGuarantees(parameters: ParameterValues): Guarantees {
  return withMigration({ headNeverFits: true, workConserving: true, keepsPromises: true }, parameters);
}
