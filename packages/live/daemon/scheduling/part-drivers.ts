/**
 * Runs a policy on several parts of the machine, such as allocations with different ends, which no gang can
 * leave: each part has a driver and a policy object of its own. A waiting job is in the queue of every part
 * that may take it. The first part that starts it withdraws it from the others (multiple simultaneous
 * requests: Sabin, Kettimuthu, Rajan and Sadayappan, JSSPP 2003). If the policy cannot withdraw jobs, or
 * the job has units of which others must not count, the owner makes new drivers after its start.
 *
 * Under space sharing, the parts decide in order. Under time sharing, a part that has room for another row
 * starts everything. So a new job is first in the queue of the part on which its share of time is largest,
 * and in those of the others only if that part does not start it.
 *
 *   job 7 ──▶ part 1: policy ──starts 7──▶ processors of part 1
 *        └──▶ part 2: policy ◀──withdraws 7──┘
 *
 * All parts turn their rows at the same slots. Their rows are joined to one round, in which a part with fewer
 * rows has its round more often.
 */
import { assert } from "@tutti/kernel/core/errors.ts";
import type { NodeTable } from "@tutti/kernel/core/machine.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type {
  Decision,
  LiveDriver,
  LiveJob,
  MatrixRows,
  Placement,
  PlacementChange,
  RunningJob,
  Start,
} from "./live-driver.ts";

/** A longer joined round is cut off, so that a few turns of it are uneven. */
const MOST_JOINED_ROWS = 60;

/** A part with its driver. */
interface DrivenPart {
  readonly driver: LiveDriver;
  readonly nodes: NodeTable;
  /** Gangs that it has taken over. */
  readonly running: readonly RunningJob[];
}

export class PartDrivers implements LiveDriver {
  readonly canWithdraw: boolean;
  readonly #parts: readonly DrivenPart[];
  /** The whole machine. */
  readonly #nodes: NodeTable;
  readonly #sharing: "space" | "time";
  /** Where each job with a process is. */
  readonly #places = new Map<JobNumber, DrivenPart>();
  /** Where the processors of jobs are, or will be if their first part starts them. */
  readonly #loads = new Map<JobNumber, { readonly part: DrivenPart; readonly processors: number }>();
  /** The sum of these, by part. */
  readonly #used = new Map<DrivenPart, number>();
  /** The parts whose queues have a waiting job. */
  readonly #queues = new Map<JobNumber, Set<DrivenPart>>();
  /** The parts whose queues get the job if its first part does not start it. */
  readonly #others = new Map<JobNumber, Map<DrivenPart, LiveJob>>();
  /**
   * A job has started on a part, and the policy cannot withdraw it from the others, or these must not give
   * its units again.
   */
  isSpent = false;
  /** Waiting jobs that need units of countable resources, which all parts share. */
  readonly #withUnits = new Set<JobNumber>();

  /** @param nodes of the whole machine */
  constructor(parts: readonly DrivenPart[], nodes: NodeTable, sharing: "space" | "time") {
    this.#parts = parts;
    this.#nodes = nodes;
    this.#sharing = sharing;
    this.canWithdraw = parts.every(({ driver }) => driver.canWithdraw);
    for (const part of parts) {
      for (const { job, processors } of part.running) {
        this.#places.set(job, part);
        this.#load(job, part, processors.length);
      }
    }
  }

  get isFull(): boolean {
    return this.#parts.some(({ driver }) => driver.isFull);
  }

  get rowCount(): number {
    return Math.max(...this.#parts.map(({ driver }) => driver.rowCount));
  }

  arrive(): never {
    throw new Error("Broken invariant: a job arrives at parts of the machine");
  }

  /** @param jobs the job as each part sees it; undefined: it cannot start there */
  offer(jobs: readonly (LiveJob | undefined)[], nowMs: number): void {
    const offers = new Map(
      this.#parts.flatMap((part, i) => (jobs[i] === undefined ? [] : [[part, jobs[i]]])),
    );
    const first = this.#sharing === "time" && offers.size > 0 ? this.#lightest(offers) : undefined;
    for (const [part, job] of offers)
      if (first === undefined || part === first) this.#enqueue(part, job, nowMs);
    if (first === undefined) return;
    const { job, size: processors } = offers.get(first)!;
    offers.delete(first);
    if (offers.size > 0) this.#others.set(job, offers);
    this.#load(job, first, processors);
  }

  #load(job: JobNumber, part: DrivenPart, processors: number): void {
    this.#unload(job);
    this.#loads.set(job, { part, processors });
    this.#used.set(part, (this.#used.get(part) ?? 0) + processors);
  }

  #unload(job: JobNumber): void {
    const load = this.#loads.get(job);
    if (load === undefined) return;
    this.#loads.delete(job);
    this.#used.set(load.part, this.#used.get(load.part)! - load.processors);
  }

  /** The part on which the job's share of time will be largest, if rows are full. */
  #lightest(offers: ReadonlyMap<DrivenPart, LiveJob>): DrivenPart {
    const rowsOf = ([part, { size }]: readonly [DrivenPart, LiveJob]) =>
      ((this.#used.get(part) ?? 0) + size) / part.nodes.places;
    return [...offers].reduce((best, next) => (rowsOf(next) < rowsOf(best) ? next : best))[0];
  }

  #enqueue(part: DrivenPart, job: LiveJob, nowMs: number): void {
    part.driver.arrive(job, nowMs);
    if (job.demand?.some((units) => units > 0)) this.#withUnits.add(job.job);
    this.#queues.set(job.job, (this.#queues.get(job.job) ?? new Set()).add(part));
  }

  depart(job: JobNumber, nowMs: number): void {
    const part = this.#places.get(job);
    assert(part !== undefined, `job ${job} departs without having started`);
    this.#places.delete(job);
    this.#unload(job);
    part.driver.depart(job, nowMs);
  }

  beganAt(job: JobNumber, startMs: number): void {
    this.#places.get(job)?.driver.beganAt?.(job, startMs);
  }

  withdraw(job: JobNumber, nowMs: number): void {
    for (const { driver } of this.#queues.get(job) ?? []) driver.withdraw(job, nowMs);
    this.#queues.delete(job);
    this.#others.delete(job);
    this.#unload(job);
  }

  /** The waiting job cannot start on this part any longer. */
  withdrawAt(at: number, job: JobNumber, nowMs: number): void {
    const part = this.#parts[at];
    this.#others.get(job)?.delete(part);
    if (this.#queues.get(job)?.delete(part)) part.driver.withdraw(job, nowMs);
  }

  dueMs(): number {
    return Math.min(...this.#parts.map(({ driver }) => driver.dueMs()));
  }

  /** A part that decides after another one knows what that one has started. */
  decide(nowMs: number): Decision {
    const starts: Start[] = [];
    const notes: PlacementChange[] = [];
    for (const part of this.#parts) {
      const decision = part.driver.decide(nowMs);
      notes.push(...decision.notes);
      for (const start of decision.starts) {
        starts.push({ ...start, processors: this.#numbered(start.processors, part.nodes) });
        this.#started(start, part, nowMs);
      }
      const takesUnits = decision.starts.some(({ job }) => this.#withUnits.has(job));
      this.isSpent = decision.starts.length > 0 && (!this.canWithdraw || takesUnits);
      if (this.isSpent) break;
    }
    for (const [job, offers] of this.#others) {
      this.#others.delete(job);
      this.#unload(job);
      for (const [part, offered] of offers) this.#enqueue(part, offered, nowMs);
    }
    return { starts, notes };
  }

  #started({ job, processors }: Start, part: DrivenPart, nowMs: number): void {
    this.#queues.get(job)?.delete(part);
    if (this.canWithdraw) this.withdraw(job, nowMs);
    this.#places.set(job, part);
    this.#load(job, part, processors.length);
  }

  /** Processors of a part by their numbers on the whole machine. */
  #numbered(processors: readonly number[], nodes: NodeTable): number[] {
    return this.#nodes.indicesOf(nodes.cpusAt(processors)).sort((a, b) => a - b);
  }

  layout(): MatrixRows {
    const rounds = this.#parts.map(({ driver, nodes }) => ({
      rows: driver
        .layout()
        .map((row) =>
          row.map(
            ({ job, processors }): Placement => ({ job, processors: this.#numbered(processors, nodes) }),
          ),
        ),
      slot: driver.layoutSlot(),
    }));
    return joinedRows(rounds, this.layoutSlot());
  }

  layoutSlot(): number {
    return Math.max(...this.#parts.map(({ driver }) => driver.layoutSlot()));
  }

  catchUp(nowMs: number): void {
    for (const { driver } of this.#parts) driver.catchUp?.(nowMs);
  }

  ranMs(job: JobNumber, nowMs: number): number {
    return this.#places.get(job)?.driver.ranMs(job, nowMs) ?? 0;
  }

  /** The earliest promise of a part that has the job in its queue. */
  promisedMs(job: JobNumber): number {
    const promises = [...(this.#queues.get(job) ?? [])].map(({ driver }) => driver.promisedMs(job));
    const made = promises.filter((promiseMs) => !Number.isNaN(promiseMs));
    return made.length === 0 ? Number.NaN : Math.min(...made);
  }

  hasOverrun(nowMs: number): boolean {
    return this.#parts.some(({ driver }) => driver.hasOverrun(nowMs));
  }
}

/**
 * Joins rounds whose first rows have their turns in these slots.
 * @param slot of the first row of the joined round; not before any of them
 */
function joinedRows(
  rounds: readonly { readonly rows: MatrixRows; readonly slot: number }[],
  slot: number,
): MatrixRows {
  const used = rounds.filter(({ rows }) => rows.length > 0);
  const count = joinedCount(used.map(({ rows }) => rows.length));
  return Array.from({ length: count }, (_, k) =>
    used.flatMap(({ rows, slot: first }) => rows[(slot + k - first) % rows.length]),
  );
}

/** The least common multiple, or the most rows that are a multiple of the largest count. */
function joinedCount(counts: readonly number[]): number {
  if (counts.length === 0) return 0;
  const most = Math.max(...counts);
  let count = most;
  while (count <= MOST_JOINED_ROWS && counts.some((one) => count % one !== 0)) count += most;
  return count <= MOST_JOINED_ROWS ? count : Math.max(most, MOST_JOINED_ROWS - (MOST_JOINED_ROWS % most));
}

/** The shortest round that gives these rows if it is repeated. */
export function shortestRound(rows: MatrixRows): MatrixRows {
  const texts = rows.map((row) => [...row.map(({ job }) => job)].sort((a, b) => a - b).join(" "));
  for (let length = 1; length < rows.length; length++)
    if (rows.length % length === 0 && texts.every((text, i) => text === texts[i % length]))
      return rows.slice(0, length);
  return rows;
}
