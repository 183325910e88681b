/** Says in words what another policy would have done with the jobs of a site. */

import { formatCount, formatDuration } from "@tutti/kernel/core/format.ts";
import type { Verdict } from "@tutti/kernel/metrics/verdict.ts";

/** One sentence: how much, and who gains and loses. */
export function verdictSentence(label: string, verdict: Verdict): string {
  const { loggedS, simulatedS, gainer, loser, users } = verdict;
  const times = `(${formatDuration(simulatedS)} after they arrived, not ${formatDuration(loggedS)})`;
  const change = changeText(verdict);
  const classes = [
    gainer === undefined
      ? "no class of jobs gains"
      : `${gainer.label} jobs gain most, ${formatDuration(-gainer.changeS)}`,
    loser === undefined
      ? "no class of jobs loses"
      : `${loser.label} jobs lose most, ${formatDuration(loser.changeS)}`,
  ];
  const of = users.all === 1 ? "the one user" : `${formatCount(users.all)} users`;
  const who =
    users.all === 0
      ? ""
      : `; of ${of}, ${countText(users.gain)} ${users.gain > 1 ? "gain" : "gains"} and ${countText(users.lose)} ${users.lose > 1 ? "lose" : "loses"}`;
  return `With ${label}, jobs would have ended ${change} on average ${times}: ${classes.join(", ")}${who}.`;
}

function changeText({ changeS }: Verdict): string {
  if (changeS === 0) return "when they did";
  return changeS < 0 ? `${formatDuration(-changeS)} earlier` : `${formatDuration(changeS)} later`;
}

export const VERDICT_CAUTION =
  "The log's waits also contain what is not simulated: partitions, limits of users, priorities, outages, and jobs from before the log begins.";

function countText(count: number): string {
  return count === 0 ? "none" : formatCount(count);
}
