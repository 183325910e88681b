/**
 * Gang scheduling with re-packing: what br, brms, brmms and wlv have in common (Zhou, Brent, Johnson and
 * Walsh 1999, section 4; Zhou, Walsh and Brent 2000, sections 3 and 4.1). They differ in their windows
 * (idle-index.ts) and in their extra slots.
 *
 *   departure   while every processor has an idle slot, re-pack these slots into one row and delete it
 *               (property 2)
 *   arrival     take the least loaded window in which every processor has an idle slot, or add a row if there
 *               is none; gather the window's idle slots in one row by re-packing (property 1); place the job
 *   extra slots after both, jobs whose window still has an idle slot may also run in it
 *
 * How we read zhou2000: a job occupies only its own processors, at the left end of its block. The tree counts
 * idle slots per processor, so other jobs fill the rest of the block. (With whole blocks, BR is 30 % worse
 * than printed.)
 *
 * Schemes that take extra slots back need a second index, `baseIdle`: what would be idle if every job had one
 * slot. All decisions about rows and windows use it. So for the same arrivals and departures, these decisions
 * are the same as without extra slots, and there are never more rows.
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import {
  type GangMachine,
  NONE as NO_LIMIT,
  type ParameterSpec,
  type ParameterValues,
  type RowId,
  type Rule,
  type RunId,
  setNumber,
} from "../../core/policy.ts";
import { JobIntegers } from "../../structures/job-column.ts";
import { gather, type SlotReclaimer } from "../../structures/matrix/repacking.ts";
import { extraSlotsOf } from "./extra-slots.ts";
import type { IdleIndex } from "./idle-index.ts";
import type { Migration } from "./migration.ts";
import type { MatrixUse, MayBegin, QueryableGangs } from "./queryable-gangs.ts";
import { type ExtraOrder, JobsInOrder, submittedBefore } from "./slot-unification.ts";

const NONE = -1;

export interface ExtraSlotRule {
  /** How jobs give extra slots back when that saves a row; undefined if they keep them. */
  readonly returned: "single" | "all" | undefined;
  readonly order: ExtraOrder;
  /** Extra slots per workload change, for all jobs together; infinity: until no job can get one. */
  readonly perChange: number;
}

export const EXTRA_ORDER: ParameterSpec = {
  name: "extraOrder",
  aliases: ["order"],
  kind: "choice",
  choices: ["smallest", "largest", "oldest", "newest"],
  default: "smallest",
  description: "which job is offered an extra slot first; ties: submitted first",
};

export const EXTRA_PER_CHANGE: ParameterSpec = {
  name: "extraPerChange",
  aliases: ["perChange"],
  kind: "integer",
  min: 1,
  max: 1_000_000,
  noneFrom: 0,
  default: NO_LIMIT,
  description:
    "extra slots given out per workload change, to all jobs together; none: until no job can get one",
};

export const EXTRA_RETURN: ParameterSpec = {
  name: "extraReturn",
  aliases: ["return"],
  kind: "choice",
  choices: ["single", "all"],
  default: "single",
  description:
    "extra slots given back when slots are needed: single ones, by the job with the most, or all at every arrival",
};

export const DEPARTURES_FIRST: Rule = {
  text: "departures are handled before arrivals, and arrivals in order of submission",
  isInherited: true,
};

/**
 * Undefined: every job has one slot per round. Policies without the parameters offer slots to the largest
 * job first, and one kept slot per change. Of slots that return, all idle ones are given out, until they are
 * needed.
 */
export function extraSlotRule(parameters: ParameterValues): ExtraSlotRule | undefined {
  const extraSlots = extraSlotsOf(parameters);
  if (extraSlots === "none") return undefined;
  const { extraOrder = "largest", extraPerChange = 1, extraReturn = "single" } = parameters;
  const order = extraOrder as ExtraOrder;
  const all = Number.POSITIVE_INFINITY;
  if (extraSlots === "kept")
    return { returned: undefined, order, perChange: setNumber(extraPerChange) ?? all };
  return { returned: extraReturn as "single" | "all", order, perChange: all };
}

interface RepackingOptions<Index extends IdleIndex> {
  readonly makeIndex: (processors: number) => Index;
  /** Undefined: every job has one slot per round. */
  readonly extra: ExtraSlotRule | undefined;
  /** Undefined: gangs keep their processors. */
  readonly migration?: Migration | undefined;
}

export class RepackingGang<Index extends IdleIndex> implements QueryableGangs, SlotReclaimer {
  protected readonly machine: GangMachine;
  /** Idle slots if all extra slots were given back; the same index as `#idle` if they never are. */
  protected readonly baseIdle: Index;
  /** Takes extra slots back; undefined if jobs keep them. */
  protected readonly reclaimer: SlotReclaimer | undefined;
  readonly #jobs: JobsView;
  /** Idle slots as they are. */
  readonly #idle: Index;
  readonly #extra: ExtraSlotRule | undefined;
  /** Placed jobs; undefined if there are no extra slots. */
  protected readonly placed: JobsInOrder | undefined;
  readonly #migration: Migration | undefined;
  /** First processor and slots per round of each placed job. */
  readonly #first = new JobIntegers();
  readonly #slots = new JobIntegers();

  constructor(machine: GangMachine, jobs: JobsView, options: RepackingOptions<Index>) {
    const { makeIndex, extra, migration } = options;
    this.machine = machine;
    this.#jobs = jobs;
    this.#extra = extra;
    this.#migration = migration;
    this.#idle = makeIndex(machine.processors);
    this.baseIdle = extra?.returned ? makeIndex(machine.processors) : this.#idle;
    this.reclaimer = extra?.returned ? this : undefined;
    this.placed = extra && new JobsInOrder(jobs, extra.order);
  }

  depart(job: JobIndex): void {
    this.#add(job, this.#slots.get(job), 1);
    this.placed?.remove(job);
  }

  get use(): MatrixUse {
    return { lines: "columns", blocks: this.#idle.blocks, asks: true };
  }

  fits(job: JobIndex, maxRows: number, mayBegin?: MayBegin): boolean {
    const size = this.#jobs.size[job];
    if (this.baseIdle.leastLoaded(size, mayBegin) !== NONE) return true;
    if (this.machine.rowCount >= maxRows) return false;
    if (mayBegin === undefined) return true;
    this.baseIdle.addEverywhere(1);
    const first = this.baseIdle.leastLoaded(size, mayBegin);
    this.baseIdle.addEverywhere(-1);
    return first !== NONE;
  }

  isTaken(run: RunId): boolean {
    const job = this.machine.runJob(run);
    return this.reclaimer === undefined || this.machine.firstRunOfJob(job) === run;
  }

  decide(arrived: readonly JobIndex[], mayBegin?: MayBegin): void {
    if (this.#extra?.returned === "all" && (arrived.length > 0 || this.baseIdle.hasIdleRow()))
      this.reclaimAll();
    this.deleteRows();
    for (const job of arrived) this.#place(job, mayBegin);
    // A row that was added may be unnecessary: a job may leave part of its block idle, and on a ring
    // re-packing does not find every idle row.
    this.deleteRows();
    if (this.#migration !== undefined) this.#migrateGangs(this.#migration);
    if (this.#extra && this.placed) this.#giveExtraSlots(this.#extra, this.placed);
  }

  // What a ring does differently.

  /** Gathers the window's idle slots in one row; −1 if that is not possible. */
  protected free(first: number, size: number, reclaimer: SlotReclaimer | undefined): RowId {
    return gather(this.machine, first, first + size, reclaimer);
  }

  /** Empties a row, given that every processor has an idle slot; −1 if that is not possible. */
  protected freeRow(): RowId {
    return gather(this.machine, 0, this.machine.processors, this.reclaimer);
  }

  /** A window for a job if the least loaded one could not be gathered; −1 if there is none. */
  protected otherWindow(_size: number): number {
    return NONE;
  }

  protected placeAt(job: JobIndex, row: RowId, first: number): void {
    this.machine.place(job, row, first);
  }

  protected deleteRows(): void {
    while (this.baseIdle.hasIdleRow()) {
      const row = this.freeRow();
      if (row === NONE) return;
      this.machine.deleteRow(row);
      this.#addEverywhere(-1);
    }
  }

  /** Moves gangs as long as that saves rows. */
  #migrateGangs(migration: Migration): void {
    for (;;) {
      this.baseIdle.copyTo(migration.idle);
      migration.plan();
      if (migration.jobs.length === 0) return;
      for (const [i, job] of migration.jobs.entries()) this.#migrate(migration, job, migration.firsts[i]);
      this.deleteRows();
    }
  }

  #migrate(migration: Migration, job: JobIndex, first: number): void {
    const size = this.#jobs.size[job];
    migration.machine.migrate(job, gather(this.machine, first, first + size, this.reclaimer), first);
    this.#add(job, 1, 1);
    this.placed?.remove(job);
    this.#first.set(job, first);
    this.#add(job, -1, -1);
    this.placed?.insert(job);
  }

  #place(job: JobIndex, mayBegin: MayBegin | undefined): void {
    const size = this.#jobs.size[job];
    let first = this.baseIdle.leastLoaded(size, mayBegin);
    let row = first === NONE ? NONE : this.free(first, size, this.reclaimer);
    if (row === NONE && first !== NONE) {
      first = this.otherWindow(size);
      if (first !== NONE) row = this.free(first, size, this.reclaimer);
    }
    if (row === NONE) {
      this.machine.addRow();
      this.#addEverywhere(1);
      first = this.baseIdle.leastLoaded(size, mayBegin);
      // This is not always the new row: in a block without an idle row, the job's own processors may be idle
      // in one.
      row = this.free(first, size, this.reclaimer);
    }
    this.placeAt(job, row, first);
    this.#first.set(job, first);
    this.#slots.set(job, 1);
    this.#add(job, -1, -1);
    this.placed?.insert(job);
  }

  /** Adds idle slots to the job's processors: `slots` to the actual index, `baseSlots` to the base index. */
  #add(job: JobIndex, slots: number, baseSlots: number): void {
    const first = this.#first.get(job);
    const size = this.#jobs.size[job];
    this.#idle.add(first, size, slots);
    if (this.baseIdle !== this.#idle) this.baseIdle.add(first, size, baseSlots);
  }

  #addEverywhere(slots: number): void {
    this.#idle.addEverywhere(slots);
    if (this.baseIdle !== this.#idle) this.baseIdle.addEverywhere(slots);
  }

  /**
   * Takes a slot back from the job with the most slots on the processor (ties: submitted last): its last slot
   * of the round. An extra slot always exists, because the processor is busy in all rows but has fewer jobs
   * than rows.
   */
  reclaim(processor: number): void {
    const { machine } = this;
    const slots = this.#slots;
    let richest = NONE;
    let last = NONE;
    for (let position = 0; position < machine.rowCount; position++) {
      const job = machine.runJob(machine.runBefore(machine.rowAt(position), processor));
      const isRicher =
        richest === NONE ||
        slots.get(job) > slots.get(richest) ||
        (slots.get(job) === slots.get(richest) && !submittedBefore(this.#jobs, job, richest));
      if (!isRicher) continue;
      richest = job;
      last = position;
    }
    this.#reclaimSlot(richest, machine.rowAt(last));
  }

  /** Takes all extra slots back. Returns whether there were any. */
  protected reclaimAll(): boolean {
    let found = false;
    for (const job of this.placed?.jobs ?? []) {
      for (; this.#slots.get(job) > 1; found = true) this.#reclaimSlot(job, this.#lastRowOf(job));
    }
    return found;
  }

  /** The job's last row of the round. */
  #lastRowOf(job: JobIndex): RowId {
    const { machine } = this;
    let last = machine.firstRunOfJob(job);
    for (let run = last; run !== NONE; run = machine.nextRunOfJob(run)) {
      if (machine.positionOf(machine.runRow(run)) > machine.positionOf(machine.runRow(last))) last = run;
    }
    return machine.runRow(last);
  }

  #reclaimSlot(job: JobIndex, row: RowId): void {
    this.machine.release(job, row);
    this.#slots.set(job, this.#slots.get(job) - 1);
    this.#idle.add(this.#first.get(job), this.#jobs.size[job], 1);
  }

  /** Jobs take turns in order and get one slot each, until `perChange` is reached or no job can get one. */
  #giveExtraSlots({ perChange }: ExtraSlotRule, placed: JobsInOrder): void {
    let inTurn: readonly JobIndex[] = placed.jobs;
    let left = perChange;
    while (inTurn.length > 0 && left > 0) {
      const again: JobIndex[] = [];
      for (let i = 0; i < inTurn.length && left > 0; i++) {
        if (!this.#giveSlot(inTurn[i])) continue;
        left--;
        again.push(inTurn[i]);
      }
      inTurn = again;
    }
  }

  /** Gives the job one more slot if its window has an idle one. */
  #giveSlot(job: JobIndex): boolean {
    const first = this.#first.get(job);
    const size = this.#jobs.size[job];
    if (!this.#idle.hasIdleSlot(first, size)) return false;
    const row = this.free(first, size, undefined);
    if (row === NONE) return false;
    this.placeAt(job, row, first);
    this.#slots.set(job, this.#slots.get(job) + 1);
    this.#idle.add(first, size, -1);
    return true;
  }
}
