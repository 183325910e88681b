/**
 * Replays a log and forecasts each waiting job as the live scheduler does: half a second after its submit,
 * from the jobs that run, wait and have ended by then. Compares the range with the start in the replay, which
 * also knows all later jobs. Forecasts see limits, names, users and ends of jobs, and nothing else.
 */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { DEFAULT_CONFIG } from "@tutti/live/daemon/config/config.ts";
import { ForecastRecord } from "@tutti/live/daemon/forecast/forecast-record.ts";
import { forecast, NUMBERS_OF_JOB } from "@tutti/live/daemon/forecast/model.ts";
import { PastJobs } from "@tutti/live/daemon/forecast/past-jobs.ts";
import type { ForecastTask } from "@tutti/live/daemon/forecast/task.ts";
import { worldOf } from "@tutti/live/daemon/forecast/world-for-tests.ts";
import type { JudgedForecast } from "@tutti/live/daemon/store/store.ts";

/** An ended job as the store has it. */
export type Ended = ConstructorParameters<typeof PastJobs>[0][number];

/** Jobs by row, in the order of their submits. Run times are cut at the estimates. */
export interface Log {
  readonly instance: Instance;
  readonly uid: (row: number) => number;
  readonly name: (row: number) => string;
  readonly state: (row: number) => "done" | "failed" | "cancelled";
}

/** What became of the forecasts of one half of a log. */
export interface Calibration {
  judged: number;
  /** Started between p10 and p90. */
  within: number;
  /** Started before p10. */
  earlier: number;
  /** Widths of the ranges in s. */
  readonly widthsS: number[];
  /** Only ranges, because too little had ended. */
  unlearned: number;
}

/** As in daemon/front-end/forecast.ts. */
const SOON_S = 0.5;
const HISTORY = 1000;
const JUDGED = 1000;
const MAX_WAITING = 2000;

const EARLY_S = 60;

/** Makes a share of the jobs fail, and a share of these within a minute. */
export function withFailures(log: Log, seed: number, share: number, early: number): Log {
  const random = new Random(seed, "failures");
  const { runS, count } = log.instance;
  const planted = Float64Array.from(runS);
  const fails = new Uint8Array(count);
  for (let row = 0; row < count; row++) {
    fails[row] = random.uniform() < share ? 1 : 0;
    const isEarly = random.uniform() < early;
    const atS = 0.01 + EARLY_S * random.uniform();
    if (fails[row] > 0 && isEarly) planted[row] = Math.min(runS[row], atS);
  }
  return {
    ...log,
    instance: { ...log.instance, runS: planted },
    state: (row) => (fails[row] > 0 ? "failed" : log.state(row)),
  };
}

/**
 * The forecasts of all jobs that wait, for the first and for the second half of the log.
 * @param policy decides in the replay and in the forecasts
 */
export function calibrate(log: Log, policy: string): readonly [Calibration, Calibration] {
  const { instance } = log;
  const { count, submitS, estimateS, size, processors } = instance;
  const choice = choosePolicy(policy);
  const { startS, endS } = simulate(instance, choice, { slotS: 60, switchS: 0 });
  const halves = [emptyCalibration(), emptyCalibration()] as const;
  const byStart = rowsBy(startS);
  const byEnd = rowsBy(endS);
  let [arrived, started, ended] = [0, 0, 0];
  const waiting = new Set<number>();
  const running = new Set<number>();
  /** Those that the store would read, by number. */
  const past: number[] = [];
  const judged: JudgedForecast[] = [];
  const made = new Map<number, { atMs: number; p10Ms: number; p50Ms: number; p90Ms: number }>();

  function advanceTo(atS: number): void {
    while (arrived < count && submitS[arrived] <= atS) waiting.add(arrived++);
    while (started < count && startS[byStart[started]] <= atS) {
      const row = byStart[started++];
      waiting.delete(row);
      running.add(row);
      judge(row);
    }
    while (ended < count && endS[byEnd[ended]] <= atS) {
      const row = byEnd[ended++];
      running.delete(row);
      if (log.state(row) !== "cancelled") past.splice(placeOf(past, row), 0, row);
    }
  }

  function judge(row: number): void {
    const known = made.get(row);
    if (known === undefined) return;
    made.delete(row);
    const { atMs, p10Ms, p50Ms, p90Ms } = known;
    const startMs = 1000 * startS[row];
    const isWithin = p10Ms <= startMs && startMs <= p90Ms;
    judged.push({ uid: log.uid(row), errorMs: startMs - p50Ms, expectedMs: p50Ms - atMs, isWithin });
    const half = halves[row < count / 2 ? 0 : 1];
    half.judged++;
    if (isWithin) half.within++;
    if (startMs < p10Ms) half.earlier++;
    half.widthsS.push((p90Ms - p10Ms) / 1000);
  }

  function endedJob(row: number): Ended {
    const { runS } = instance;
    const isOver = log.state(row) === "failed" || runS[row] < estimateS[row];
    return {
      uid: log.uid(row),
      name: log.name(row),
      state: isOver ? log.state(row) : "failed",
      reason: isOver ? "exit code" : "time limit",
      ranMs: 1000 * runS[row],
      estimateMs: 1000 * estimateS[row],
    };
  }

  function forecastAt(atS: number): void {
    const first = [...running];
    const rows = [...first, ...[...waiting].slice(0, MAX_WAITING)];
    const jobs = new PastJobs(past.slice(-HISTORY).map(endedJob), []);
    const sizes = Int32Array.from(rows, (row) => size[row]);
    const task: ForecastTask = {
      queues: DEFAULT_CONFIG.queues,
      slotS: 60,
      running: first.length,
      world: worldOf(first.length, sizes, (i) => String(log.uid(rows[i]))),
      estimateMs: Float64Array.from(rows, (row) => 1000 * estimateS[row]),
      ranMs: Float64Array.from(rows, (row, i) => (i < first.length ? 1000 * (atS - startS[row]) : 0)),
      isLimited: new Uint8Array(rows.length).fill(1),
      ...jobs.kindsOf(rows.map((row) => ({ uid: log.uid(row), name: log.name(row), array: undefined }))),
      history: jobs.history,
      scenarios: [
        {
          policy,
          parameters: choice.parameters,
          processors,
          size: sizes,
          waiting: Int32Array.from({ length: rows.length - first.length }, (_, i) => first.length + i),
        },
      ],
    };
    const [times] = forecast(task);
    const last = judged.slice(-JUDGED);
    rows.slice(first.length).forEach((row, i) => {
      if (made.has(row)) return;
      const at = NUMBERS_OF_JOB * (first.length + i);
      const [p10Ms, p50Ms, p90Ms, endP10Ms, endP50Ms, endP90Ms] = times
        .subarray(at, at + NUMBERS_OF_JOB)
        .map((s) => 1000 * (atS + s));
      if (!Number.isFinite(endP90Ms)) return;
      const own = ForecastRecord.of(last.filter(({ uid }) => uid === log.uid(row)));
      const record = own ?? ForecastRecord.of(last);
      const plain = { p10Ms, p50Ms, p90Ms, endP10Ms, endP50Ms, endP90Ms };
      const atMs = 1000 * atS;
      made.set(row, { atMs, ...(record?.corrected(plain, atMs) ?? plain) });
      if (jobs.history.ratios.length === 0) halves[row < count / 2 ? 0 : 1].unlearned++;
    });
  }

  while (arrived < count) {
    const atS = submitS[arrived] + SOON_S;
    advanceTo(atS);
    if ([...waiting].slice(0, MAX_WAITING).some((row) => !made.has(row))) forecastAt(atS);
  }
  advanceTo(Number.POSITIVE_INFINITY);
  return halves;
}

function emptyCalibration(): Calibration {
  return { judged: 0, within: 0, earlier: 0, widthsS: [], unlearned: 0 };
}

function rowsBy(timesS: Float64Array): Int32Array {
  return Int32Array.from(timesS, (_, row) => row).sort((a, b) => timesS[a] - timesS[b] || a - b);
}

function placeOf(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
