/**
 * Turns events of a run that was recorded under a lock into gangs with phases, so that the run can be
 * re-enacted under any policy: what the gangs did by themselves is kept, what they waited for each other is
 * not. Events as llm-d's rl-time-slicing records them (docs/diagrams/rl-timeslice-replay.html).
 */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { PhasesInstance } from "./contract.ts";

/** Times in seconds from any origin; durations in ms. */
export interface RecordedEvent {
  readonly t: number;
  /** `acquired` and `yielded` count; others say the same in more detail. */
  readonly kind: string;
  readonly job: string;
  readonly pool: string;
  readonly wait_ms?: number | undefined;
  readonly restore_ms?: number | undefined;
  /** Of a turn that was not saved, 0. */
  readonly ckpt_ms?: number | undefined;
}

interface RecordedTurn {
  readonly job: string;
  readonly pool: string;
  readonly wantedMs: number;
  /** When its restore began. */
  readonly gotMs: number;
  readonly beganMs: number;
  readonly restoreMs: number;
  yieldedMs: number;
  isSaved: boolean;
}

interface Recorded {
  readonly instance: PhasesInstance;
  /** Time of the instance's 0 in the recorded run. */
  readonly originMs: number;
  /** By turn of the instance. */
  readonly recorded: readonly RecordedTurn[];
}

/** @throws InputError if a turn has no end, or ends before it begins */
export function fromEvents(name: string, events: readonly RecordedEvent[]): Recorded {
  const turns = turnsOf(name, events);
  const originMs = Math.min(...turns.map(({ wantedMs }) => wantedMs));
  const pools = [...new Set(turns.map(({ pool }) => pool))];
  const ofJobs = [...Map.groupBy(turns, ({ job }) => job).values()]
    .map((own) => own.toSorted((a, b) => a.gotMs - b.gotMs))
    .sort((a, b) => a[0].wantedMs - b[0].wantedMs);
  const recorded = ofJobs.flat();
  const own = ofJobs.flatMap((all) => all.map((turn, i) => phaseOf(turn, all[i + 1])));
  const busyMs = new Map(pools.map((pool) => [pool, handoverOf(turns.filter((turn) => turn.pool === pool))]));
  const firstTurn = Int32Array.from(
    { length: ofJobs.length + 1 },
    (_, i) => ofJobs.slice(0, i).flat().length,
  );
  const column = (of: (i: number) => number) => Float64Array.from(recorded.keys(), of);
  return {
    instance: {
      ...{ name, firstTurn, resident: ofJobs.length },
      pools: pools.map((pool) => ({ name: pool, units: 1, unitsPerNode: 1 })),
      gangs: ofJobs.map(([{ job }]) => job),
      submitMs: Float64Array.from(ofJobs, ([{ wantedMs }]) => wantedMs - originMs),
      turns: {
        pool: Int32Array.from(recorded, ({ pool }) => pools.indexOf(pool)),
        units: new Int32Array(recorded.length).fill(1),
        holdMs: column((i) => own[i].holdMs),
        waitMs: column((i) => own[i].waitMs),
        keepMs: column((i) => own[i].keepMs),
        saveMs: column((i) => (recorded[i].isSaved ? busyMs.get(recorded[i].pool)! : 0)),
        restoreMs: column((i) => recorded[i].restoreMs),
      },
    },
    ...{ originMs, recorded },
  };
}

function turnsOf(name: string, events: readonly RecordedEvent[]): RecordedTurn[] {
  const open = new Map<string, RecordedTurn>();
  const turns: RecordedTurn[] = [];
  for (const { t, kind, job, pool, ckpt_ms, wait_ms: waitMs = 0, restore_ms: restoreMs = 0 } of events) {
    const key = JSON.stringify([job, pool]);
    const nowMs = Math.round(1000 * t);
    if (kind === "acquired") {
      const gotMs = nowMs - restoreMs;
      const turn = {
        job,
        pool,
        restoreMs,
        gotMs,
        // Some records count the restore as a part of the wait, others do not.
        wantedMs: Math.min(gotMs, nowMs - waitMs),
        isSaved: true,
        beganMs: nowMs,
        yieldedMs: Number.NaN,
      };
      if (open.has(key))
        throw new InputError(`Cannot use ${name}: ${job} gets ${pool} twice, again at ${t} s`);
      open.set(key, turn);
      turns.push(turn);
    } else if (kind === "yielded") {
      const turn = open.get(key);
      if (turn === undefined || nowMs < turn.beganMs)
        throw new InputError(
          `Cannot use ${name}: ${job} yields ${pool} at ${t} s, expected a turn before that`,
        );
      turn.yieldedMs = nowMs;
      turn.isSaved = ckpt_ms !== 0;
      open.delete(key);
    }
  }
  for (const { job, pool, beganMs } of open.values())
    throw new InputError(
      `Cannot use ${name}: ${job} has ${pool} from ${beganMs / 1000} s on, expected an event "yielded"`,
    );
  return turns;
}

/** What the job did by itself in a turn and until the next one. */
function phaseOf(turn: RecordedTurn, next: RecordedTurn | undefined) {
  const { beganMs, yieldedMs } = turn;
  if (next === undefined) return { holdMs: yieldedMs - beganMs, waitMs: 0, keepMs: -1 };
  const isKept = next.pool !== turn.pool && next.wantedMs < yieldedMs && next.beganMs <= yieldedMs;
  if (!isKept)
    return { holdMs: yieldedMs - beganMs, waitMs: Math.max(0, next.wantedMs - yieldedMs), keepMs: -1 };
  return { holdMs: Math.max(0, next.wantedMs - beganMs), waitMs: 0, keepMs: yieldedMs - next.beganMs };
}

/** Median time from a yield until the next gang, which was waiting already, began to restore; 0: none was. */
function handoverOf(turns: readonly RecordedTurn[]): number {
  const known: number[] = [];
  for (const [i, next] of turns.entries()) {
    const before = turns[i - 1];
    if (before !== undefined && before.job !== next.job && next.wantedMs <= before.yieldedMs)
      known.push(next.gotMs - before.yieldedMs);
  }
  return known.sort((a, b) => a - b)[Math.floor(known.length / 2)] ?? 0;
}
