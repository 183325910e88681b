/** Explains in sentences why a job started when it did. */

import { formatCount, formatDigits, formatNumber, plural } from "@tutti/kernel/core/format.ts";
import { START_RULE_NAMES } from "@tutti/kernel/core/policy.ts";
import type {
  Explanation,
  GangFacts,
  HeldReservation,
  Obstacle,
  SpaceFacts,
} from "../../results/explanation.ts";

const LISTED_STRETCHES = 6;

/** The explanation in sentences, one per line. */
export function explanationLines(explanation: Explanation): string[] {
  const { job, facts } = explanation;
  const startS = job.startS;
  const lines = [
    `job ${job.id} under ${explanation.policy}: ${job.size} of ${plural(explanation.processors, "processor")}, estimate ${span(job.estimateS)}, run time ${span(job.runS)}`,
    startS === null
      ? `It arrived at ${span(job.submitS)} and never started.`
      : `It arrived at ${span(job.submitS)}, started at ${span(startS)} and waited ${span(startS - job.submitS)}.`,
  ];
  if (facts.sharing === "space") lines.push(...spaceLines(explanation, facts));
  else lines.push(...gangLines(explanation, facts));
  return lines;
}

function spaceLines({ job, processors, rule }: Explanation, facts: SpaceFacts): string[] {
  const { arrival, inFront, hadToEnd, freedBy, promises, waitParts } = facts;
  const lines = [
    `When it arrived, ${arrival.free} of ${plural(processors, "processor")} ${wereOf(arrival.free)} free, ${plural(arrival.running, "job")} ran and ${plural(arrival.queued, "job")} (${plural(arrival.queuedProcessors, "processor")}) waited ahead of it.`,
    obstacleLine(job.size, facts.obstacle),
  ];
  if (inFront.count > 0)
    lines.push(
      `${plural(inFront.count, "job")} still waited before it, for ${plural(inFront.processors, "processor")} and ${formatCount(Math.round(inFront.workS))} processor-seconds by the estimates: as much as the whole machine does in ${span(inFront.workS / processors)}.`,
    );
  if (hadToEnd.count > 0) {
    const listed = hadToEnd.listed.map(
      ({ id, size, expectedEndS, endS }) =>
        `job ${id} (${size}; expected ${span(expectedEndS)}, ended ${span(endS)})`,
    );
    lines.push(
      inFront.count === 0
        ? `According to the estimates, ${plural(hadToEnd.count, "running job")} had to end first: ${list(listed, hadToEnd.count)}.`
        : `Apart from ${inFront.count === 1 ? "it" : "them"}, ${plural(hadToEnd.count, "running job")} had to end first by the estimates: ${list(listed, hadToEnd.count)}.`,
    );
  }
  for (const held of facts.reservations.listed) lines.push(reservationLine(held));
  const more = facts.reservations.count - facts.reservations.listed.length;
  if (more > 0) lines.push(`${plural(more, "more job")} held reservations while it waited.`);
  lines.push(...passerLines(facts));
  if (promises.count > 0) {
    const listed = promises.listed.map(({ startS, atS }) => `${span(startS)} (promised at ${span(atS)})`);
    const more = promises.count - listed.length;
    // If promises are left out, the list has the first ones and the last one.
    const times =
      more === 0
        ? listed.join(", ")
        : `${listed.slice(0, -1).join(", ")}, ${formatCount(more)} more, and finally ${listed.at(-1)}`;
    lines.push(`It was promised a start no later than ${times}.`);
  }
  if (job.startS === null || rule === null) return lines;
  if (freedBy.count > 0) {
    const listed = freedBy.listed.map(({ id, size }) => `job ${id} (${size})`);
    lines.push(
      `At the instant of its start, ${plural(freedBy.processors, "processor")} became free: ${list(listed, freedBy.count)} ended.`,
    );
  }
  lines.push(`It started by the rule: ${START_RULE_NAMES[rule]}.`);
  const waitS = waitParts.tooFewFreeS + waitParts.reservedS + waitParts.notItsTurnS;
  const parts = [
    [waitParts.tooFewFreeS, "because too few processors were free"],
    [waitParts.reservedS, "because the free processors were kept for a reservation"],
    [waitParts.notItsTurnS, "because it was not its turn, although enough processors were free"],
  ] as const;
  const shares = parts.filter(([partS]) => partS > 0).map(([partS, why]) => `${share(partS, waitS)} ${why}`);
  if (shares.length > 0) lines.push(`Of its wait: ${shares.join("; ")}.`);
  return lines;
}

function obstacleLine(size: number, obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case "none":
      return "It started at the instant of its arrival.";
    case "size":
      return `It did not fit: it needs ${plural(size, "processor")}, but ${were(obstacle.free)} left (${formatCount(obstacle.missing)} missing).`;
    case "reservation":
      return `Enough processors were left for it (${formatCount(obstacle.free)}), but job ${obstacle.holder.id} (${obstacle.holder.size}) held a reservation for ${span(obstacle.promisedS)}.`;
    case "queue":
      return obstacle.head === undefined
        ? `Enough processors were left for it (${formatCount(obstacle.free)}), and it was first in the queue, but the policy made it wait.`
        : `Enough processors were left for it (${formatCount(obstacle.free)}), but job ${obstacle.head.id} (${obstacle.head.size}) was first in the queue.`;
  }
}

function reservationLine(held: HeldReservation): string {
  const changes =
    held.changes === 0 ? "" : `, after ${plural(held.changes, "change")} for ${span(held.lastPromisedS)}`;
  const start = held.startS === null ? "never started" : `started at ${span(held.startS)}`;
  return `Job ${held.id} (${held.size}) held a reservation ${stretch(held.fromS, held.untilS)}, first for ${span(held.firstPromisedS)}${changes}; it ${start}.`;
}

function passerLines({ passers }: SpaceFacts): string[] {
  if (passers.count === 0) return ["No job passed it."];
  const ahead = passers.byRule.reduce(
    (sum, { isAheadInOrder, count }) => sum + (isAheadInOrder ? count : 0),
    0,
  );
  const rules = passers.byRule
    .filter(({ isAheadInOrder }) => !isAheadInOrder)
    .map(({ rule, count }) => `${formatCount(count)} by the rule: ${START_RULE_NAMES[rule]}`);
  if (ahead > 0) rules.unshift(`${formatCount(ahead)} came later but were ahead of it in queue order`);
  const listed = passers.listed.map(
    ({ id, size, runS, startS }) => `job ${id} (${size} for ${span(runS)}, at ${span(startS)})`,
  );
  return [
    `${plural(passers.count, "job")} passed it, with ${formatCount(Math.round(passers.processorSeconds))} processor-seconds in all; ${rules.join("; ")}.`,
    `The largest of them: ${list(listed, passers.count)}.`,
  ];
}

function gangLines({ job }: Explanation, facts: GangFacts): string[] {
  const stretches = facts.processors.map(([first, last]) =>
    first === last ? `${first}` : `${first} to ${last}`,
  );
  const place = `${job.size === 1 ? "processor" : "processors"} ${list(stretches.slice(0, LISTED_STRETCHES), stretches.length)}`;
  if (facts.placedS === null) return ["It was never placed in a row."];
  const lines = [
    `It was placed at ${span(facts.placedS)} in row ${facts.position} of ${facts.rowsThen}, on ${place}; it started with its first slot.`,
    `Its work is ${plural(facts.workSlots, "slot")} of ${formatNumber(facts.slotS)} s.`,
  ];
  if (facts.slotsGiven + facts.slotsTaken > 0) {
    lines.push(
      `It was given ${plural(facts.slotsGiven, "extra slot")} per round, and ${were(facts.slotsTaken)} taken back: ${facts.changes
        .map(({ atS, slots, rows }) => `${slots} of ${rows} from ${span(atS)}`)
        .join(", ")}${facts.changes.length < facts.slotsGiven + facts.slotsTaken ? ", …" : ""}.`,
    );
  }
  if (facts.moves > 0)
    lines.push(
      `It was moved to another row ${plural(facts.moves, "time")}${facts.migrations > 0 ? "" : ", always"} on the same processors.`,
    );
  if (facts.migrations > 0)
    lines.push(
      `It was moved to other processors ${plural(facts.migrations, "time")} to save a row, which cost it ${span(facts.migrationS)} of service.`,
    );
  if (job.endS !== null) {
    lines.push(
      `It ended at ${span(job.endS)}. It was in the system ${facts.slowdown === 1 ? "exactly" : `${formatNumber(facts.slowdown)} times`} as long as its work takes without other jobs. While it was in the matrix, it had ${formatNumber(facts.meanSlots)} of ${formatNumber(facts.meanRows)} ${facts.meanRows === 1 ? "row" : "rows"} on average (at most ${plural(facts.mostRows, "row")}).`,
    );
  }
  return lines;
}

/** Seconds as in the trace, to the millisecond. With fewer digits, different times would look equal. */
function span(seconds: number): string {
  const decimals = String(Number(seconds.toFixed(3))).split(".")[1]?.length ?? 0;
  return `${formatDigits(seconds, decimals)} s`;
}

function stretch(fromS: number, untilS: number): string {
  const [from, until] = [span(fromS), span(untilS)];
  if (from !== until) return `from ${from} to ${until}`;
  return fromS === untilS ? `at ${from}` : `for less than a millisecond at ${from}`;
}

function share(partS: number, wholeS: number): string {
  return `${span(partS)} (${Math.round((100 * partS) / wholeS)} %)`;
}

/** `1 was`, `2 were`. */
function were(count: number): string {
  return `${formatCount(count)} ${wereOf(count)}`;
}

function wereOf(count: number): string {
  return count === 1 ? "was" : "were";
}

function list(listed: readonly string[], count: number): string {
  return (
    listed.join(", ") + (count > listed.length ? `, and ${formatCount(count - listed.length)} more` : "")
  );
}
