/** Why a job started when it did: the facts, as data for programs, and told in sentences. */
import { START_RULE_NAMES, type StartRule } from "../core/policy.ts";
import { formatCount, formatDigits, formatNumber } from "./text/format.ts";

const LISTED_STRETCHES = 6;

/** A job as the explanation names it. */
export interface NamedJob {
  /** Number in the source. */
  readonly id: number;
  readonly size: number;
}

/** What stood in the way when the job was first decided on and did not start. */
export type Obstacle =
  /** It started in the instant in which it arrived. */
  | { readonly kind: "none" }
  /** Too few processors were free after the decision. */
  | { readonly kind: "size"; readonly free: number; readonly missing: number }
  /** Enough were free, but another job held a reservation. */
  | {
      readonly kind: "reservation";
      readonly free: number;
      readonly holder: NamedJob;
      readonly promisedS: number;
    }
  /** Enough were free, but the queue is served in order and another job was before it; undefined when it was first itself. */
  | { readonly kind: "queue"; readonly free: number; readonly head: NamedJob | undefined };

/** A reservation of another job, held while the job waited. */
export interface HeldReservation extends NamedJob {
  /** From the job's arrival, or later, to its start, or earlier. */
  readonly fromS: number;
  readonly untilS: number;
  readonly firstPromisedS: number;
  readonly lastPromisedS: number;
  /** How often the promise was replaced by an earlier one (or a later one). */
  readonly changes: number;
  /** Start of the holder; null when it never started. */
  readonly startS: number | null;
}

/** A job that started while this one waited, though it was behind in the queue or came later. */
export interface Passer extends NamedJob {
  readonly submitS: number;
  readonly startS: number;
  readonly runS: number;
  readonly rule: StartRule;
  /** It came later but stands before this job in queue order. */
  readonly isAheadInOrder: boolean;
}

/** A running job, and when its processors were expected to be free and were. */
export interface RunningJob extends NamedJob {
  readonly expectedEndS: number;
  readonly endS: number;
}

/** What counts in space sharing. Times in seconds. */
export interface SpaceFacts {
  readonly sharing: "space";
  /** At its arrival, before the decision. */
  readonly arrival: {
    readonly free: number;
    readonly running: number;
    /** Waiting jobs before it in queue order, and their processors. */
    readonly queued: number;
    readonly queuedProcessors: number;
  };
  readonly obstacle: Obstacle;
  /** Running jobs whose ends, by their estimates, would have freed enough for it first; at most a few are listed. */
  readonly hadToEnd: { readonly count: number; readonly listed: readonly RunningJob[] };
  /** Jobs that ended in the instant in which it started. */
  readonly freedBy: {
    readonly count: number;
    readonly processors: number;
    readonly listed: readonly NamedJob[];
  };
  /** First instant after whose decision enough processors were free for it; null when that never was before its start. */
  readonly firstRoomS: number | null;
  /** Its own promises over time: when made, for when. First and last ones when there are many. */
  readonly promises: {
    readonly count: number;
    readonly listed: readonly { readonly atS: number; readonly startS: number }[];
  };
  readonly reservations: { readonly count: number; readonly listed: readonly HeldReservation[] };
  readonly passers: {
    readonly count: number;
    readonly processorSeconds: number;
    readonly byRule: readonly {
      readonly rule: StartRule;
      readonly isAheadInOrder: boolean;
      readonly count: number;
    }[];
    /** Those with most processor-seconds. */
    readonly listed: readonly Passer[];
  };
  /** Parts of the wait: too few processors free; enough free but kept for a reservation; enough free but not its turn. */
  readonly waitParts: {
    readonly tooFewFreeS: number;
    readonly reservedS: number;
    readonly notItsTurnS: number;
  };
}

/** What counts in time sharing. */
export interface GangFacts {
  readonly sharing: "time";
  readonly slotS: number;
  /** null when it was never placed. */
  readonly placedS: number | null;
  /** Position of its first row in the round, from 1, and the number of rows after the decision that placed it. */
  readonly position: number;
  readonly rowsThen: number;
  /** Its processors, which it keeps until it migrates: first and last of each stretch that stands side by side. */
  readonly processors: readonly (readonly [first: number, last: number])[];
  /** Whole slots of work. */
  readonly workSlots: number;
  /** From its placing to its end, weighted by time. */
  readonly meanRows: number;
  readonly mostRows: number;
  /** Slots per round that it had, weighted by time. */
  readonly meanSlots: number;
  /** Slots per round given and taken after the first, and times its runs were moved to other rows. */
  readonly slotsGiven: number;
  readonly slotsTaken: number;
  readonly moves: number;
  /** Times it was moved to other processors, and the seconds of service that it lost by that. */
  readonly migrations: number;
  readonly migrationS: number;
  /** Changes of its slots per round; first ones when there are many. */
  readonly changes: readonly { readonly atS: number; readonly slots: number; readonly rows: number }[];
  /** Time in the system over its work in slots. */
  readonly slowdown: number;
}

export interface Explanation {
  readonly policy: string;
  readonly job: NamedJob & {
    readonly submitS: number;
    readonly estimateS: number;
    readonly runS: number;
    /** null when it never started. */
    readonly startS: number | null;
    readonly endS: number | null;
  };
  readonly processors: number;
  readonly rule: StartRule | null;
  readonly facts: SpaceFacts | GangFacts;
}

/** The explanation in sentences, one per line. */
export function explanationLines(explanation: Explanation): string[] {
  const { job, facts } = explanation;
  const startS = job.startS;
  const lines = [
    `job ${job.id} under ${explanation.policy}: ${job.size} of ${many(explanation.processors, "processor")}, estimate ${span(job.estimateS)}, run time ${span(job.runS)}`,
    startS === null
      ? `It arrived at ${span(job.submitS)} and never started.`
      : `It arrived at ${span(job.submitS)}, started at ${span(startS)} and waited ${span(startS - job.submitS)}.`,
  ];
  if (facts.sharing === "space") lines.push(...spaceLines(explanation, facts));
  else lines.push(...gangLines(explanation, facts));
  return lines;
}

function spaceLines({ job, processors, rule }: Explanation, facts: SpaceFacts): string[] {
  const { arrival, hadToEnd, freedBy, promises, waitParts } = facts;
  const lines = [
    `When it arrived, ${arrival.free} of ${many(processors, "processor")} ${wereOf(arrival.free)} free, ${many(arrival.running, "job")} ran and ${many(arrival.queued, "job")} (${many(arrival.queuedProcessors, "processor")}) waited before it.`,
    obstacleLine(job.size, facts.obstacle),
  ];
  if (hadToEnd.count > 0) {
    const listed = hadToEnd.listed.map(
      (one) => `job ${one.id} (${one.size}; expected ${span(one.expectedEndS)}, ended ${span(one.endS)})`,
    );
    lines.push(
      `By estimates ${many(hadToEnd.count, "running job")} had to end first: ${list(listed, hadToEnd.count)}.`,
    );
  }
  for (const held of facts.reservations.listed) lines.push(reservationLine(held));
  const more = facts.reservations.count - facts.reservations.listed.length;
  if (more > 0) lines.push(`${many(more, "more job")} held reservations while it waited.`);
  lines.push(...passerLines(facts));
  if (promises.count > 0) {
    const listed = promises.listed.map((one) => `${span(one.startS)} (told at ${span(one.atS)})`);
    const more = promises.count - listed.length;
    // The list has the first promises and the last one.
    const told =
      more === 0
        ? listed.join(", ")
        : `${listed.slice(0, -1).join(", ")}, ${formatCount(more)} more, and at last ${listed.at(-1)}`;
    lines.push(`It was promised a start no later than ${told}.`);
  }
  if (job.startS === null || rule === null) return lines;
  if (freedBy.count > 0) {
    const listed = freedBy.listed.map((one) => `job ${one.id} (${one.size})`);
    lines.push(
      `In the instant of its start ${many(freedBy.processors, "processor")} came free: ${list(listed, freedBy.count)} ended.`,
    );
  }
  lines.push(`It started by the rule: ${START_RULE_NAMES[rule]}.`);
  const waitS = waitParts.tooFewFreeS + waitParts.reservedS + waitParts.notItsTurnS;
  const parts = [
    [waitParts.tooFewFreeS, "too few processors were left free"],
    [waitParts.reservedS, "enough were left free, but kept for a reservation"],
    [waitParts.notItsTurnS, "enough were left free, but it was not its turn"],
  ] as const;
  const told = parts.filter(([partS]) => partS > 0).map(([partS, why]) => `${share(partS, waitS)} ${why}`);
  if (told.length > 0) lines.push(`Of its wait: ${told.join("; ")}.`);
  return lines;
}

function obstacleLine(size: number, obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case "none":
      return "It started in the instant in which it arrived.";
    case "size":
      return `It did not fit: it needs ${many(size, "processor")}, ${were(obstacle.free)} left free, ${were(obstacle.missing)} missing.`;
    case "reservation":
      return `${many(obstacle.free, "processor")} ${wereOf(obstacle.free)} left free, enough for it, but job ${obstacle.holder.id} (${obstacle.holder.size}) held a reservation for ${span(obstacle.promisedS)}.`;
    case "queue":
      return obstacle.head === undefined
        ? `${many(obstacle.free, "processor")} ${wereOf(obstacle.free)} left free, enough for it, and it was first in the queue; the policy let it wait.`
        : `${many(obstacle.free, "processor")} ${wereOf(obstacle.free)} left free, enough for it, but job ${obstacle.head.id} (${obstacle.head.size}) was first in the queue.`;
  }
}

function reservationLine(held: HeldReservation): string {
  const changes =
    held.changes === 0 ? "" : `, after ${many(held.changes, "change")} for ${span(held.lastPromisedS)}`;
  const start = held.startS === null ? "never started" : `started at ${span(held.startS)}`;
  return `Job ${held.id} (${held.size}) held a reservation ${stretch(held.fromS, held.untilS)}, first for ${span(held.firstPromisedS)}${changes}; it ${start}.`;
}

function passerLines({ passers }: SpaceFacts): string[] {
  if (passers.count === 0) return ["Nobody passed it."];
  const ahead = passers.byRule.reduce((sum, one) => sum + (one.isAheadInOrder ? one.count : 0), 0);
  const rules = passers.byRule
    .filter((one) => !one.isAheadInOrder)
    .map(({ rule, count }) => `${formatCount(count)} by the rule: ${START_RULE_NAMES[rule]}`);
  if (ahead > 0) rules.unshift(`${formatCount(ahead)} came later but stood before it in queue order`);
  const listed = passers.listed.map(
    (one) => `job ${one.id} (${one.size} for ${span(one.runS)}, at ${span(one.startS)})`,
  );
  return [
    `${many(passers.count, "job")} passed it, ${formatCount(Math.round(passers.processorSeconds))} processor-seconds; ${rules.join("; ")}.`,
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
    `Its work is ${many(facts.workSlots, "slot")} of ${formatNumber(facts.slotS)} s.`,
  ];
  if (facts.slotsGiven + facts.slotsTaken > 0) {
    lines.push(
      `It was given ${many(facts.slotsGiven, "extra slot")} per round, ${were(facts.slotsTaken)} taken back: ${facts.changes
        .map(({ atS, slots, rows }) => `${slots} of ${rows} from ${span(atS)}`)
        .join(", ")}${facts.changes.length < facts.slotsGiven + facts.slotsTaken ? ", …" : ""}.`,
    );
  }
  if (facts.moves > 0)
    lines.push(
      `It was moved to another row ${many(facts.moves, "time")}${facts.migrations > 0 ? "" : ", always"} on the same processors.`,
    );
  if (facts.migrations > 0)
    lines.push(
      `It was moved to other processors ${many(facts.migrations, "time")} to save a row, which cost it ${span(facts.migrationS)} of service.`,
    );
  if (job.endS !== null) {
    lines.push(
      `It ended at ${span(job.endS)}, ${facts.slowdown === 1 ? "" : `${formatNumber(facts.slowdown)} times `}as long in the system as its work takes alone: while it was in the matrix it had ${formatNumber(facts.meanSlots)} of ${formatNumber(facts.meanRows)} ${facts.meanRows === 1 ? "row" : "rows"} on average (at most ${many(facts.mostRows, "row")}).`,
    );
  }
  return lines;
}

/** Seconds as they stand in the trace, to the millisecond: times rounded more would look equal that are not. */
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

/** 1 was, 2 were. */
function were(count: number): string {
  return `${formatCount(count)} ${wereOf(count)}`;
}

function wereOf(count: number): string {
  return count === 1 ? "was" : "were";
}

function many(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function list(listed: readonly string[], count: number): string {
  return (
    listed.join(", ") + (count > listed.length ? `, and ${formatCount(count - listed.length)} more` : "")
  );
}
