/**
 * WLV: gang scheduling on windows of any processors side by side, found with a workload vector and freed by re-packing (Zhou,
 * Brent, Johnson and Walsh 1999, section 4).
 *
 *   departure   while every processor has an idle slot: re-pack these into one row and delete the row (property 2)
 *   arrival     1. take the least loaded window of the job's size in which every processor has an idle slot; without one, add a row
 *               2. gather the window's idle slots in one row by re-packing (property 1)
 *               3. place the job there and count
 *
 * As in buddy-gang.ts, schemes that take extra slots back count idle slots a second time, as if every job had one slot (`firm`),
 * and decide on that.
 *
 * On a ring windows and gangs may go on from the machine's last processor at its first. Property 1 asks for a second legal cut there,
 * which may not exist (ring-repacking.ts). Then the ring is opened at a cut legal in all rows and the least loaded window of
 * the array is taken; without such a cut or such a window a row is added.
 */
import { InputError } from "../core/errors.ts";
import type { JobIndex, JobsView } from "../core/jobs.ts";
import type { GangMachine, GangPolicyDefinition, PlacementLimits, Policy, RowId } from "../core/policy.ts";
import { firstCut } from "../structures/legal-cuts.ts";
import { gather, type RoomMaker } from "../structures/repacking.ts";
import { freeRowOnRing, gatherOnRing } from "../structures/ring-repacking.ts";
import { WorkloadVector } from "../structures/workload-vector.ts";
import {
  MIGRATE,
  MIGRATION_RULES,
  type Migration,
  migrationCostS,
  migrationOf,
  withMigration,
} from "./migration.ts";
import { UNIFY, type Unify, unifyOf } from "./row-by-row.ts";
import { LargestFirst } from "./slot-unification.ts";

const NONE = -1;

class WorkloadVectorGang implements Policy, RoomMaker {
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #isRing: boolean;
  readonly #unify: Unify;
  /** Idle slots as they are. */
  readonly #idle: WorkloadVector;
  /** Idle slots if extra slots were given back; the same vector when they never are. */
  readonly #firm: WorkloadVector;
  readonly #maker: RoomMaker | undefined;
  /** First processor and slots per round of each placed job. */
  readonly #first: Int32Array;
  readonly #slots: Int32Array;
  readonly #placed: LargestFirst;
  readonly #stretches = new Int32Array(4);
  readonly #arrivals: JobIndex[] = [];
  readonly #limits: PlacementLimits | undefined;
  readonly #migration: Migration | undefined;

  /** @param limits on a linear array only; undefined: every window with room will do */
  constructor(
    machine: GangMachine,
    jobs: JobsView,
    isRing: boolean,
    unify: Unify,
    limits?: PlacementLimits | undefined,
    migration?: Migration | undefined,
  ) {
    this.#limits = limits;
    this.#migration = migration;
    this.#machine = machine;
    this.#jobs = jobs;
    this.#isRing = isRing;
    this.#unify = unify;
    this.#idle = new WorkloadVector(machine.processors);
    this.#firm = unify === "returned" ? new WorkloadVector(machine.processors) : this.#idle;
    this.#maker = unify === "returned" ? this : undefined;
    this.#first = new Int32Array(jobs.count);
    this.#slots = new Int32Array(jobs.count);
    this.#placed = new LargestFirst(jobs);
  }

  arrive(job: JobIndex): void {
    this.#arrivals.push(job);
  }

  depart(job: JobIndex): void {
    const first = this.#first[job];
    const size = this.#jobs.size[job];
    this.#idle.add(first, size, this.#slots[job]);
    if (this.#firm !== this.#idle) this.#firm.add(first, size, 1);
    if (this.#unify !== "none") this.#placed.remove(job);
  }

  decide(): void {
    this.#deleteRows();
    for (const job of this.#arrivals) this.#place(job);
    this.#arrivals.length = 0;
    // On a ring a row may have been added though every processor had an idle slot.
    if (this.#isRing) this.#deleteRows();
    if (this.#migration !== undefined) this.#migrateGangs(this.#migration);
    if (this.#unify !== "none") this.#giveExtraSlots();
  }

  #deleteRows(): void {
    const machine = this.#machine;
    const { processors } = machine;
    while (this.#firm.least(0, processors) > 0) {
      const row = this.#isRing ? this.#freeRing() : gather(machine, 0, processors, this.#maker);
      if (row === NONE) return;
      machine.deleteRow(row);
      this.#addEverywhere(-1);
    }
  }

  /** Moves gangs while that saves rows. On a linear array only. */
  #migrateGangs(migration: Migration): void {
    const machine = this.#machine;
    for (;;) {
      this.#firm.copyTo(migration.idle);
      migration.plan();
      if (migration.jobs.length === 0) return;
      for (const [i, job] of migration.jobs.entries()) {
        const first = migration.firsts[i];
        const size = this.#jobs.size[job];
        migration.machine.migrate(job, gather(machine, first, first + size, this.#maker), first);
        for (const vector of new Set([this.#idle, this.#firm])) {
          vector.add(this.#first[job], size, 1);
          vector.add(first, size, -1);
        }
        this.#first[job] = first;
      }
      this.#deleteRows();
    }
  }

  #place(job: JobIndex): void {
    const machine = this.#machine;
    const { processors } = machine;
    const size = this.#jobs.size[job];
    // A window as large as the ring is taken from its beginning.
    const end = this.#isRing && size < processors ? processors + size - 1 : processors;
    let first = this.#windowFor(job, size, end);
    let row = first === NONE ? NONE : this.#free(first, size);
    if (row === NONE && first !== NONE) {
      const cut = firstCut(machine);
      first = cut === NONE ? NONE : this.#firm.leastLoaded(size, cut, cut + processors);
      if (first >= processors) first -= processors;
      if (first !== NONE) row = this.#free(first, size);
    }
    if (row === NONE) {
      row = machine.addRow();
      this.#addEverywhere(1);
      first = this.#windowFor(job, size, end);
    }
    this.#first[job] = first;
    this.#slots[job] = 0;
    this.#placeIn(row, job);
    if (this.#firm !== this.#idle) this.#firm.add(first, size, -1);
    if (this.#unify !== "none") this.#placed.insert(job);
  }

  /** The least loaded window with room, among those that the job may have. */
  #windowFor(job: JobIndex, size: number, end: number): number {
    const limits = this.#limits;
    const firm = this.#firm;
    if (limits === undefined) return firm.leastLoaded(size, 0, end);
    let best = NONE;
    let mostIdle = 0;
    // Idle slots of the window that ends with `at`, and how many of its processors before `at` have one each.
    let idle = 0;
    let free = 0;
    for (let at = 0; at < end; at++) {
      const own = firm.at(at);
      idle += own - (at >= size ? firm.at(at - size) : 0);
      free = own > 0 ? free + 1 : 0;
      if (free < size || idle <= mostIdle || !limits.mayHold(job, at - size + 1)) continue;
      best = at - size + 1;
      mostIdle = idle;
    }
    return best;
  }

  /** Gathers the window's idle slots in one row; −1 when that is not found to be possible, on a ring only. */
  #free(first: number, size: number): RowId {
    if (!this.#isRing) return gather(this.#machine, first, first + size, this.#maker);
    const row = gatherOnRing(this.#machine, first, size, this.#maker);
    // Extra slots may stand where a second cut would have been.
    if (row !== NONE || !this.#takeBackAll()) return row;
    return gatherOnRing(this.#machine, first, size);
  }

  #freeRing(): RowId {
    const row = freeRowOnRing(this.#machine, this.#maker);
    return row !== NONE || !this.#takeBackAll() ? row : freeRowOnRing(this.#machine);
  }

  /** Gives the job a slot in the row; its processors are idle there. */
  #placeIn(row: RowId, job: JobIndex): void {
    const { processors } = this.#machine;
    const first = this.#first[job];
    const size = this.#jobs.size[job];
    if (first + size <= processors) this.#machine.place(job, row, first);
    else {
      const stretches = this.#stretches;
      stretches[0] = 0;
      stretches[1] = first + size - processors;
      stretches[2] = first;
      stretches[3] = processors;
      this.#machine.placeStretches(job, row, stretches, 2);
    }
    this.#slots[job]++;
    this.#idle.add(first, size, -1);
  }

  #addEverywhere(slots: number): void {
    this.#idle.addEverywhere(slots);
    if (this.#firm !== this.#idle) this.#firm.addEverywhere(slots);
  }

  /**
   * Takes a slot back from the job on the processor that has most slots (ties: submitted last), its last one in the round.
   * There is an extra slot: fewer jobs are on the processor than rows, and no row is idle there.
   */
  makeRoom(processor: number): void {
    const machine = this.#machine;
    const slots = this.#slots;
    let richest = NONE;
    let last = NONE;
    for (let position = 0; position < machine.rowCount; position++) {
      const job = machine.runJob(machine.runBefore(machine.rowAt(position), processor));
      const isRicher =
        richest === NONE || slots[job] > slots[richest] || (slots[job] === slots[richest] && job >= richest);
      if (!isRicher) continue;
      richest = job;
      last = position;
    }
    this.#release(richest, machine.rowAt(last));
  }

  /** Takes all extra slots back; whether there were any. */
  #takeBackAll(): boolean {
    if (this.#unify !== "returned") return false;
    let found = false;
    for (const job of this.#placed.jobs) {
      for (; this.#slots[job] > 1; found = true) this.#release(job, this.#lastRowOf(job));
    }
    return found;
  }

  /** The job's last row of the round. */
  #lastRowOf(job: JobIndex): RowId {
    const machine = this.#machine;
    let last = machine.firstRunOfJob(job);
    for (let run = last; run !== NONE; run = machine.nextRunOfJob(run)) {
      if (machine.positionOf(machine.runRow(run)) > machine.positionOf(machine.runRow(last))) last = run;
    }
    return machine.runRow(last);
  }

  #release(job: JobIndex, row: RowId): void {
    this.#machine.release(job, row);
    this.#slots[job]--;
    this.#idle.add(this.#first[job], this.#jobs.size[job], 1);
  }

  /** Jobs take turns, the largest first: one slot in all when slots are kept, until nobody can have one when they are returned. */
  #giveExtraSlots(): void {
    let left = this.#unify === "kept" ? 1 : Number.POSITIVE_INFINITY;
    let candidates = this.#placed.jobs;
    while (candidates.length > 0) {
      const again: JobIndex[] = [];
      for (const job of candidates) {
        const first = this.#first[job];
        const size = this.#jobs.size[job];
        if (this.#idle.least(first, size) === 0) continue;
        const row = this.#isRing
          ? gatherOnRing(this.#machine, first, size)
          : gather(this.#machine, first, first + size);
        if (row === NONE) continue;
        this.#placeIn(row, job);
        if (--left === 0) return;
        again.push(job);
      }
      candidates = again;
    }
  }
}

export const wlv: GangPolicyDefinition = {
  name: "wlv",
  title: "Workload vector, re-packing",
  sharing: "time",
  summary:
    "Gang scheduling on any processors side by side: least loaded window first, rows saved by re-packing.",
  rules: [
    "an arrival is given the window of its size with most idle slots among those in which every processor has one (ties: the leftmost); without one a row is added at the end of the round and counts as idle",
    "idle slots of a window are gathered in one row by exchanging jobs between rows; no job moves to other processors",
    "before the arrivals of an instant rows are re-packed and deleted while every processor has an idle slot",
    "array=ring: the last processor and the first are neighbours, windows and jobs may go around; where no legal cut lets a window be gathered, the ring is opened at the first cut that is legal in all rows and the least loaded window of that array taken, and without one a row is added; a row is deleted only if re-packing finds it free",
    "unify=none: a job has one slot per round",
    "unify=kept: after each workload change one extra slot is given out, to the largest job (ties: submitted first) whose processors have an idle slot each; the job keeps it to the end",
    "unify=returned: after each workload change jobs take turns, the largest first, one more slot per turn, until nobody can have one; windows are chosen, and rows added and deleted, as if every job had one slot, and where a processor has no idle slot, the job on it that has most slots (ties: submitted last) gives its last one of the round back",
    ...MIGRATION_RULES,
    "departures come before arrivals, arrivals in order of submission; nobody waits: every arrival is placed at once",
  ],
  source: "Zhou, Brent, Johnson and Walsh 1999, sections 3 and 4",
  parameters: [
    {
      name: "array",
      kind: "choice",
      choices: ["linear", "ring"],
      default: "linear",
      description: "whether the last processor and the first are neighbours",
    },
    UNIFY,
    MIGRATE,
  ],
  guarantees: (parameters) =>
    withMigration({ headNeverFits: true, workConserving: true, keepsPromises: true }, parameters),
  make: (machine, jobs, parameters, limits) => {
    const isRing = parameters.array === "ring";
    if (isRing && migrationCostS(parameters) !== undefined) {
      throw new InputError(
        `Cannot run wlv with "array=ring" and "migrate=${parameters.migrate}": whether a row can be saved depends on legal cuts there, expected array=linear or no migrate`,
      );
    }
    const migration = migrationOf(machine, jobs, false, parameters);
    return new WorkloadVectorGang(machine, jobs, isRing, unifyOf(parameters), limits, migration);
  },
};
