/**
 * Gang scheduling on buddy blocks with a workload tree and re-packing: what BR, BRMS and BRMMS have in common (Zhou, Walsh
 * and Brent 2000, sections 3 and 4.1).
 *
 *   departure   while every processor has an idle slot: re-pack these into one row and delete the row
 *   arrival     take the least loaded block of the job's level; without a nonzero one, add a row; re-pack and place
 *   extra slots after both, jobs whose block still has an idle slot may run in it, too
 *
 * How we read the paper: a job occupies only its own processors, at the left end of its block, and the tree counts idle slots
 * per processor, so other jobs fill the rest of the block (with whole blocks BR comes out 30 % worse than printed).
 *
 * Schemes that take extra slots back need a second tree, `firm`: what would be idle if every job had one slot. All
 * decisions about rows and blocks are made on it, so they are the very ones that BR makes for the same arrivals and
 * departures: never more rows than BR.
 */
import type { JobIndex, JobsView } from "../core/jobs.ts";
import type { GangMachine, Guarantees, ParameterValues, PlacementLimits, Policy } from "../core/policy.ts";
import { blockLevel } from "../structures/buddy.ts";
import { gather, type RoomMaker } from "../structures/repacking.ts";
import { WorkloadTree } from "../structures/workload-tree.ts";
import { MIGRATION_RULES, type Migration, withMigration } from "./migration.ts";

const NONE = -1;

/** Which job comes first when extra slots are given out. Ties: the job submitted first. */
export type ExtraOrder = "largest" | "smallest" | "oldest" | "newest";

export interface ExtraSlots {
  /** Whether jobs give extra slots back when a row can be saved by it. */
  readonly returned: boolean;
  readonly order: ExtraOrder;
  /** Turns per workload change: in each, every job may get one slot. */
  readonly turns: number;
  /** Extra slots per workload change, all jobs together. */
  readonly perChange: number;
}

export class BuddyGang implements Policy, RoomMaker {
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #extra: ExtraSlots | undefined;
  readonly #limits: PlacementLimits | undefined;
  readonly #migration: Migration | undefined;
  /** Idle slots as they are. */
  readonly #idle: WorkloadTree;
  /** Idle slots if extra slots were given back; the same tree when they never are. */
  readonly #firm: WorkloadTree;
  /** Who takes extra slots back; nobody where jobs keep them. */
  readonly #maker: RoomMaker | undefined;
  /** First processor of each placed job. */
  readonly #first: Int32Array;
  readonly #arrivals: JobIndex[] = [];

  // Only with extra slots. Placed jobs by block: lists, heads by number of the block in the tree.
  readonly #jobAt: Int32Array;
  readonly #nextAt: Int32Array;
  readonly #previousAt: Int32Array;
  /** Slots per round of each placed job. */
  readonly #slots: Int32Array;
  readonly #blocks: Int32Array;
  readonly #candidates: JobIndex[] = [];

  /**
   * @param extra undefined: every job has one slot per round
   * @param limits undefined: every block with room will do
   * @param migration undefined: gangs keep their processors
   */
  constructor(
    machine: GangMachine,
    jobs: JobsView,
    extra: ExtraSlots | undefined,
    limits?: PlacementLimits | undefined,
    migration?: Migration | undefined,
  ) {
    this.#limits = limits;
    this.#migration = migration;
    this.#machine = machine;
    this.#jobs = jobs;
    this.#extra = extra;
    this.#idle = new WorkloadTree(machine.processors);
    this.#firm = extra?.returned ? new WorkloadTree(machine.processors) : this.#idle;
    this.#maker = extra?.returned ? this : undefined;
    this.#first = new Int32Array(jobs.count);
    const blocks = extra === undefined ? 0 : 2 << this.#idle.height;
    const count = extra === undefined ? 0 : jobs.count;
    this.#jobAt = new Int32Array(blocks).fill(NONE);
    this.#blocks = new Int32Array(blocks);
    this.#nextAt = new Int32Array(count);
    this.#previousAt = new Int32Array(count);
    this.#slots = new Int32Array(count);
  }

  arrive(job: JobIndex): void {
    this.#arrivals.push(job);
  }

  depart(job: JobIndex): void {
    const first = this.#first[job];
    const end = first + this.#jobs.size[job];
    this.#firm.add(first, end, 1);
    if (this.#extra === undefined) return;
    const extra = this.#slots[job] - 1;
    this.#idle.add(first, end, this.#firm === this.#idle ? extra : extra + 1);
    this.#unlist(job);
  }

  decide(): void {
    this.#deleteRows();
    for (const job of this.#arrivals) this.#place(job);
    this.#arrivals.length = 0;
    // A job leaves the rest of its block idle, so the row that was added for it may be one too many.
    this.#deleteRows();
    if (this.#migration !== undefined) this.#migrateGangs(this.#migration);
    if (this.#extra !== undefined) this.#giveExtraSlots(this.#extra);
  }

  #deleteRows(): void {
    const { processors } = this.#machine;
    const root = this.#firm.height;
    if (this.#firm.least(root, 0) === 0) return;
    while (this.#firm.least(root, 0) > 0) {
      this.#machine.deleteRow(gather(this.#machine, 0, processors, this.#maker));
      this.#addEverywhere(-1);
    }
  }

  /** Moves gangs while that saves rows. */
  #migrateGangs(migration: Migration): void {
    for (;;) {
      this.#firm.copyTo(migration.idle);
      migration.plan();
      if (migration.jobs.length === 0) return;
      for (const [i, job] of migration.jobs.entries()) this.#migrate(migration, job, migration.firsts[i]);
      this.#deleteRows();
    }
  }

  #migrate(migration: Migration, job: JobIndex, first: number): void {
    const size = this.#jobs.size[job];
    migration.machine.migrate(job, gather(this.#machine, first, first + size, this.#maker), first);
    for (const tree of new Set([this.#idle, this.#firm])) {
      tree.add(this.#first[job], this.#first[job] + size, 1);
      tree.add(first, first + size, -1);
    }
    if (this.#extra !== undefined) this.#unlist(job);
    this.#first[job] = first;
    if (this.#extra === undefined) return;
    const level = blockLevel(size);
    this.#list(job, level, first >> level);
  }

  #place(job: JobIndex): void {
    const size = this.#jobs.size[job];
    const level = blockLevel(size);
    let block = this.#blockFor(job, size);
    if (block === NONE) {
      this.#machine.addRow();
      this.#addEverywhere(1);
      block = this.#blockFor(job, size);
    }
    const first = block << level;
    this.#machine.place(job, gather(this.#machine, first, first + size, this.#maker), first);
    this.#first[job] = first;
    this.#idle.add(first, first + size, -1);
    if (this.#firm !== this.#idle) this.#firm.add(first, first + size, -1);
    if (this.#extra !== undefined) this.#list(job, level, block);
  }

  /** The least loaded block with room, among those that the job may have. */
  #blockFor(job: JobIndex, size: number): number {
    const limits = this.#limits;
    if (limits === undefined) return this.#firm.leastLoaded(size);
    const level = blockLevel(size);
    let best = NONE;
    let bestValue = 0;
    for (let block = 0; (block << level) + size <= this.#machine.processors; block++) {
      const value = this.#firm.value(level, block);
      if (value <= bestValue || !limits.mayHold(job, block << level)) continue;
      best = block;
      bestValue = value;
    }
    return best;
  }

  #addEverywhere(slots: number): void {
    this.#idle.add(0, this.#machine.processors, slots);
    if (this.#firm !== this.#idle) this.#firm.add(0, this.#machine.processors, slots);
  }

  /**
   * Takes a slot back from the job on the processor that has most slots (ties: submitted last), its last one in the round.
   * There is an extra slot: the firm tree counts fewer jobs on the processor than rows, and no row is idle there.
   */
  makeRoom(processor: number): void {
    const slots = this.#slots;
    let richest = NONE;
    for (let level = 0; level <= this.#idle.height; level++) {
      const block = (1 << (this.#idle.height - level)) + (processor >> level);
      for (let job = this.#jobAt[block]; job !== NONE; job = this.#nextAt[job]) {
        if (this.#first[job] + this.#jobs.size[job] <= processor) continue;
        if (
          richest === NONE ||
          slots[job] > slots[richest] ||
          (slots[job] === slots[richest] && job > richest)
        ) {
          richest = job;
        }
      }
    }
    const machine = this.#machine;
    let last = machine.firstRunOfJob(richest);
    for (let run = last; run !== NONE; run = machine.nextRunOfJob(run)) {
      if (machine.positionOf(machine.runRow(run)) > machine.positionOf(machine.runRow(last))) last = run;
    }
    machine.release(richest, machine.runRow(last));
    slots[richest]--;
    const first = this.#first[richest];
    this.#idle.add(first, first + this.#jobs.size[richest], 1);
  }

  #giveExtraSlots(extra: ExtraSlots): void {
    const candidates = this.#findCandidates();
    const { order } = extra;
    // Few slots to give: look for the next job each time. As many as fit: sort once.
    const sorted = extra.perChange === Number.POSITIVE_INFINITY;
    if (sorted) candidates.sort((a, b) => (this.#comesBefore(a, b, order) ? -1 : 1));
    let left = extra.perChange;
    let inTurn = candidates.length;
    for (let turn = 0; turn < extra.turns && inTurn > 0 && left > 0; turn++) {
      let again = 0;
      for (let i = 0; i < inTurn && left > 0; i++) {
        if (!sorted) this.#bringFirst(candidates, i, inTurn, order);
        const job = candidates[i];
        if (!this.#hasIdleSlot(job)) continue;
        this.#giveSlot(job);
        left--;
        candidates[again++] = job;
      }
      inTurn = again;
    }
  }

  /** Jobs whose block has an idle slot. */
  #findCandidates(): JobIndex[] {
    const candidates = this.#candidates;
    candidates.length = 0;
    const count = this.#idle.candidates(this.#blocks);
    for (let i = 0; i < count; i++) {
      for (let job = this.#jobAt[this.#blocks[i]]; job !== NONE; job = this.#nextAt[job])
        candidates.push(job);
    }
    return candidates;
  }

  /** Exchanges the job that comes first among those from `from` on with the one at `from`. */
  #bringFirst(jobs: JobIndex[], from: number, end: number, order: ExtraOrder): void {
    let first = from;
    for (let i = from + 1; i < end; i++) if (this.#comesBefore(jobs[i], jobs[first], order)) first = i;
    const job = jobs[first];
    jobs[first] = jobs[from];
    jobs[from] = job;
  }

  #comesBefore(a: JobIndex, b: JobIndex, order: ExtraOrder): boolean {
    if (order === "oldest") return a < b;
    if (order === "newest") return a > b;
    const larger = this.#jobs.size[a] - this.#jobs.size[b];
    if (larger === 0) return a < b;
    return order === "largest" ? larger > 0 : larger < 0;
  }

  #hasIdleSlot(job: JobIndex): boolean {
    const level = blockLevel(this.#jobs.size[job]);
    return this.#idle.least(level, this.#first[job] >> level) > 0;
  }

  #giveSlot(job: JobIndex): void {
    const first = this.#first[job];
    const end = first + this.#jobs.size[job];
    this.#machine.place(job, gather(this.#machine, first, end), first);
    this.#slots[job]++;
    this.#idle.add(first, end, -1);
  }

  #list(job: JobIndex, level: number, block: number): void {
    const at = (1 << (this.#idle.height - level)) + block;
    const other = this.#jobAt[at];
    this.#nextAt[job] = other;
    this.#previousAt[job] = NONE;
    if (other !== NONE) this.#previousAt[other] = job;
    this.#jobAt[at] = job;
    this.#slots[job] = 1;
    this.#idle.mark(level, block, 1);
  }

  #unlist(job: JobIndex): void {
    const level = blockLevel(this.#jobs.size[job]);
    const block = this.#first[job] >> level;
    const next = this.#nextAt[job];
    const previous = this.#previousAt[job];
    if (next !== NONE) this.#previousAt[next] = previous;
    if (previous !== NONE) this.#nextAt[previous] = next;
    else this.#jobAt[(1 << (this.#idle.height - level)) + block] = next;
    this.#idle.mark(level, block, -1);
  }
}

/** Sentences that hold for all schemes of this file. */
export const BUDDY_GANG_RULES: readonly string[] = [
  "a job's block is the smallest buddy block that holds it; the job occupies its own processors at the block's left end, other jobs may use the rest",
  "on a machine that is no power of two, a block that the machine's end cuts off takes a job that fits in what is left",
  "an arrival is given the block with most idle slots among the blocks of its size in which every processor has one (ties: the leftmost)",
  "a row is added, at the end of the round, only when no block of the job's size has an idle slot on every processor",
  "idle slots of a block are gathered in one row by exchanging jobs between rows; no job moves to other processors",
  "before and after the arrivals of an instant rows are re-packed and deleted while every processor has an idle slot",
  ...MIGRATION_RULES,
  "departures come before arrivals, arrivals in order of submission; nobody waits: every arrival is placed at once",
];

export function buddyGangGuarantees(parameters: ParameterValues): Guarantees {
  return withMigration({ headNeverFits: true, workConserving: true, keepsPromises: true }, parameters);
}
