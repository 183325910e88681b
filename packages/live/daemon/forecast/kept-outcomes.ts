/**
 * Keeps what simulations have said, for the next question about the same world: while somebody types a job or
 * looks through policies, what happens without them stays the same. An outcome is kept under everything that
 * it depends on: the world's submitted jobs, the scenario, and the times that were drawn for them.
 *
 *   question   world        scenarios           simulated
 *   1          as it is     present, with job   both
 *   2          as it is     present, with job   with job
 *   3          as it is     present, fcfs       fcfs
 *   4          changed      present, fcfs       both
 *
 * Questions about jobs and about policies take turns on a page, and with a long queue their worlds differ:
 * a hypothetical job has more jobs before it. So two worlds are kept.
 */
import { isDeepStrictEqual } from "@tutti/host/ports/util.ts";
import type { ForecastTask, Scenario } from "./task.ts";

/** Times of one replication, by job. A running job has the times that are left. */
export interface Draw {
  readonly runS: Float64Array;
  readonly launchS: Float64Array;
  readonly estimateS: Float64Array;
}

/** Start and end of each job in one replication, in s from now; Infinity if the job takes no part. */
export interface Outcome {
  readonly startS: Float64Array;
  readonly endS: Float64Array;
}

interface Kept {
  readonly scenario: Scenario;
  /** By replication. */
  readonly outcomes: Outcome[];
}

/** A world, by the last question about it, and what was simulated of it. */
interface KeptWorld {
  task: ForecastTask;
  /** By replication. */
  readonly draws: Draw[];
  /** The one that was asked for last is last. */
  readonly scenarios: Kept[];
}

const MAX_WORLDS = 2;
/** Scenarios of one world. Each takes 16 bytes per job and replication, at most half a megabyte. */
const MAX_SCENARIOS = 8;

export class KeptOutcomes {
  /** The one that was asked about last is last. */
  readonly #worlds: KeptWorld[] = [];

  /** Begins a question. */
  begin(task: ForecastTask): void {
    const at = this.#worlds.findIndex((world) => areSameWorlds(world.task, task));
    const [found] = at < 0 ? [{ task, draws: [], scenarios: [] }] : this.#worlds.splice(at, 1);
    found.task = task;
    this.#worlds.push(found);
    if (this.#worlds.length > MAX_WORLDS) this.#worlds.shift();
  }

  /** The outcomes of a scenario by replication, to which the missing ones are added. */
  of(scenario: Scenario): Outcome[] {
    const { task, scenarios } = this.#world;
    const rows = submittedIn(task);
    if (scenario.waiting.some((row) => row >= rows)) return [];
    const at = scenarios.findIndex((one) => areSameScenarios(one.scenario, scenario, rows));
    const [found] = at < 0 ? [{ scenario, outcomes: [] }] : scenarios.splice(at, 1);
    scenarios.push(found);
    if (scenarios.length > MAX_SCENARIOS) scenarios.shift();
    return found.outcomes;
  }

  /** Tells the times of a replication. Outcomes of others are forgotten, also in lists that `of` returned. */
  drawn(replication: number, draw: Draw): void {
    const { task, draws, scenarios } = this.#world;
    const before = draws[replication];
    if (before !== undefined && !areSameDraws(before, draw, submittedIn(task))) {
      draws.length = replication;
      for (const { outcomes } of scenarios) outcomes.length = Math.min(outcomes.length, replication);
    }
    draws[replication] = draw;
  }

  get #world(): KeptWorld {
    return this.#worlds.at(-1)!;
  }
}

/** Number of jobs that are submitted. They come first. */
function submittedIn({ world, hypothetical = 0 }: ForecastTask): number {
  return world.count - hypothetical;
}

/** Whether everything but the times and the hypothetical jobs is the same. */
function areSameWorlds(a: ForecastTask, b: ForecastTask): boolean {
  const rows = submittedIn(a);
  if (rows !== submittedIn(b) || a.running !== b.running || a.slotS !== b.slotS) return false;
  const [columnsA, restA] = partsOf(a);
  const [columnsB, restB] = partsOf(b);
  return (
    isDeepStrictEqual(restA, restB) &&
    columnsA.length === columnsB.length &&
    columnsA.every((column, i) => areSame(column, columnsB[i], rows)) &&
    areSameNotes(a.world.notes, b.world.notes, rows)
  );
}

/** The world's columns, and what in it is not by job. */
function partsOf({ world, queues }: ForecastTask): [(ArrayLike<number> | undefined)[], object] {
  const { jobs, shape, demand = [], limits, notes: _notes, count: _count, ...rest } = world;
  const { isThrough, cpus, ...limitsOfAll } = limits ?? {};
  const { id, submitS, runS, size, estimateS } = jobs;
  return [
    [
      ...[id, submitS, runS, size, estimateS, isThrough, cpus],
      ...[shape?.processes, shape?.threads, shape?.queue],
      ...demand.map(({ amount }) => amount),
    ],
    { ...rest, queues, kinds: demand.map(({ kind }) => kind), areLimited: limits !== undefined, limitsOfAll },
  ];
}

function areSameScenarios(a: Scenario, b: Scenario, rows: number): boolean {
  return (
    a.policy === b.policy &&
    a.processors === b.processors &&
    a.waiting.length === b.waiting.length &&
    areSame(a.waiting, b.waiting, a.waiting.length) &&
    areSame(a.size, b.size, rows) &&
    isDeepStrictEqual(a.parameters, b.parameters)
  );
}

function areSameDraws(a: Draw, b: Draw, rows: number): boolean {
  return (
    areSame(a.runS, b.runS, rows) &&
    areSame(a.launchS, b.launchS, rows) &&
    areSame(a.estimateS, b.estimateS, rows)
  );
}

/** Whether the first values of two columns are the same. */
function areSame(a: ArrayLike<number> | undefined, b: ArrayLike<number> | undefined, rows: number): boolean {
  if (a === undefined || b === undefined) return a === b;
  for (let row = 0; row < rows; row++) if (a[row] !== b[row]) return false;
  return true;
}

/** Many jobs share their notes, so few pairs are looked at. */
function areSameNotes(
  a: ForecastTask["world"]["notes"],
  b: ForecastTask["world"]["notes"],
  rows: number,
): boolean {
  if (a === undefined || b === undefined) return a === b;
  const known = new Map<object | undefined, object | undefined>();
  for (let row = 0; row < rows; row++) {
    if (known.has(a[row]) && known.get(a[row]) === b[row]) continue;
    if (!isDeepStrictEqual(a[row], b[row])) return false;
    known.set(a[row], b[row]);
  }
  return true;
}
