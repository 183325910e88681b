/**
 * The Ousterhout matrix with turns by consent: a gang policy places gangs into rows, on units that they keep,
 * and the rows take turns. A row's turn ends when its gangs have had theirs, not when a clock says so.
 *
 *   units        0 1 2 3
 *   row 0      | A A B .      A and B want turns: both begin. If B yields early, extra=yes lets E begin
 *   row 1      | C C C C      on unit 2, and row 1 comes when all of row 0 have had their turns.
 *   row 2      | D . E E
 */
import { ModelError } from "@tutti/kernel/core/errors.ts";
import { type ReadonlyColumn, UNKNOWN } from "@tutti/kernel/core/jobs.ts";
import { choice } from "@tutti/kernel/core/parameters.ts";
import {
  type GangMachine,
  type GangPolicyDefinition,
  type Policy,
  type RowId,
  when,
} from "@tutti/kernel/core/policy.ts";
import { JobTable } from "@tutti/kernel/machines/job-table.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { OusterhoutMatrix } from "@tutti/kernel/structures/matrix/matrix.ts";
import {
  type Gang,
  NOBODY,
  type PhasesGangsView,
  type PhasesMachine,
  type PhasesPolicy,
  type PhasesPolicyDefinition,
  type Turn,
  type Unit,
} from "../contract.ts";

const GANGS = POLICIES.filter(
  ({ sharing, parameters }) => sharing === "time" && parameters.some(({ name }) => name === "rows"),
) as readonly GangPolicyDefinition[];

/** The matrix that a gang policy fills; its rows are lit by the policy below. */
class PhaseMatrix extends OusterhoutMatrix implements GangMachine {
  readonly slotS = 1;
  onRowDeleted = (_row: RowId, _position: number): void => {};
  /** Gangs that were placed for the first time. */
  readonly placed: Gang[] = [];

  override place(gang: Gang, row: RowId, first: number): void {
    if (this.slotsOf(gang) === 0) this.placed.push(gang);
    super.place(gang, row, first);
  }

  override placeStretches(gang: Gang, row: RowId, stretches: ReadonlyColumn, count: number): void {
    if (this.slotsOf(gang) === 0) this.placed.push(gang);
    super.placeStretches(gang, row, stretches, count);
  }

  override deleteRow(row: RowId): void {
    const position = this.positionOf(row);
    super.deleteRow(row);
    this.onRowDeleted(row, position);
  }
}

class Rows implements PhasesPolicy {
  readonly #machine: PhasesMachine;
  readonly #gangs: PhasesGangsView;
  readonly #hasExtra: boolean;
  readonly #matrix: PhaseMatrix;
  readonly #policy: Policy;
  readonly #jobs = new JobTable({ shape: false, memory: false, origin: false });
  readonly #arrived: Gang[] = [];
  readonly #gone: Gang[] = [];
  /** Wanted turns, in the order in which they were wanted. */
  readonly #wanted: Turn[] = [];
  readonly #units: (readonly Unit[])[] = [];
  /** The position of the row that is on, or before the one to look at next. */
  #position = -1;
  #isOn = false;
  /** Turns whose units are not free again. */
  #held = 0;
  /** Gangs that have had a turn since their row came on. */
  readonly #served = new Set<Gang>();

  constructor(
    machine: PhasesMachine,
    gangs: PhasesGangsView,
    make: (matrix: GangMachine, jobs: JobTable) => Policy,
    hasExtra: boolean,
  ) {
    if (machine.pools.length !== 1)
      throw new ModelError(
        `Cannot use rows of units for ${machine.pools.length} pools: expected one, because a row is all units side by side`,
      );
    this.#machine = machine;
    this.#gangs = gangs;
    this.#hasExtra = hasExtra;
    this.#matrix = new PhaseMatrix(machine.holder.length, Int32Array.from(gangs.unitsIn[0]));
    this.#matrix.onRowDeleted = (_, position) => this.#onDeleted(position);
    this.#policy = make(this.#matrix, this.#jobs);
  }

  /** The round goes on with the row that takes the place of the deleted one. */
  #onDeleted(position: number): void {
    if (position === this.#position) this.#isOn = false;
    if (position <= this.#position) this.#position--;
  }

  left(gang: Gang): void {
    this.#gone.push(gang);
  }

  arrived(gang: Gang): void {
    this.#jobs.reserve(gang);
    this.#jobs.size[gang] = this.#gangs.unitsIn[0][gang];
    this.#jobs.submitS[gang] = this.#machine.nowMs / 1000;
    this.#jobs.estimateS[gang] = UNKNOWN;
    this.#arrived.push(gang);
  }

  admit(): void {
    if (this.#gone.length === 0 && this.#arrived.length === 0) return;
    this.#matrix.nowS = this.#machine.nowMs / 1000;
    for (const gang of this.#gone) this.#matrix.removeJob(gang);
    for (const gang of this.#gone.splice(0)) this.#policy.depart(gang);
    this.#policy.decide(this.#arrived.splice(0));
    const placed = this.#matrix.placed.splice(0).sort((a, b) => a - b);
    for (const gang of placed) this.#machine.admit(gang, this.#place(gang));
  }

  #place(gang: Gang): readonly number[] {
    const units: Unit[] = [];
    for (let run = this.#matrix.firstRunOfJob(gang); run !== -1; run = this.#matrix.nextStretch(run)) {
      const first = this.#matrix.runFirst(run);
      for (let i = 0; i < this.#matrix.runSize(run); i++) units.push(first + i);
    }
    this.#units[gang] = units;
    const counts = new Map<number, number>();
    for (const unit of units) {
      const node = this.#machine.nodeOf(unit);
      counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    return [...counts].flat();
  }

  freed(): void {
    this.#held--;
  }

  wanted(turn: Turn): void {
    this.#wanted.push(turn);
  }

  decide(): void {
    for (;;) {
      if ((this.#isOn && this.#beginOfRow() > 0) || (!this.#hasExtra && this.#held > 0)) break;
      this.#isOn = this.#lightNext();
      if (!this.#isOn) break;
    }
    if (this.#hasExtra) this.#beginExtra();
  }

  /** Lights the next row in the round of which a gang wants a turn. */
  #lightNext(): boolean {
    const { rowCount } = this.#matrix;
    for (let i = 1; i <= rowCount; i++) {
      const position = (this.#position + i) % rowCount;
      const row = this.#matrix.rowAt(position);
      if (!this.#wanted.some((turn) => this.#isIn(row, turn))) continue;
      this.#position = position;
      this.#served.clear();
      return true;
    }
    return false;
  }

  #isIn(row: RowId, turn: Turn): boolean {
    const gang = this.#gangs.gangOf[turn];
    for (let run = this.#matrix.firstRunOfJob(gang); run !== -1; run = this.#matrix.nextRunOfJob(run))
      if (this.#matrix.runRow(run) === row) return true;
    return false;
  }

  /** Begins turns of the row that is on. Returns the number of those that wait for units of others. */
  #beginOfRow(): number {
    let left = 0;
    for (const turn of this.#ofRow()) {
      if (this.#isFree(turn)) this.#begin(turn);
      else left++;
    }
    return left;
  }

  /** Wanted turns of gangs that have had none since their row came on. */
  #ofRow(): readonly Turn[] {
    const row = this.#matrix.rowAt(this.#position);
    const { gangOf } = this.#gangs;
    return this.#wanted.filter((turn) => !this.#served.has(gangOf[turn]) && this.#isIn(row, turn));
  }

  /** Other turns on units that no turn of the row waits for, in the order in which they were wanted. */
  #beginExtra(): void {
    const { gangOf } = this.#gangs;
    const kept = new Set(this.#isOn ? this.#ofRow().flatMap((turn) => this.#units[gangOf[turn]]) : []);
    for (const turn of [...this.#wanted]) {
      const units = this.#units[gangOf[turn]];
      if (!units.some((unit) => kept.has(unit)) && this.#isFree(turn)) this.#begin(turn);
    }
  }

  #begin(turn: Turn): void {
    const gang = this.#gangs.gangOf[turn];
    this.#wanted.splice(this.#wanted.indexOf(turn), 1);
    this.#served.add(gang);
    this.#held++;
    this.#machine.begin(turn, this.#units[gang]);
  }

  #isFree(turn: Turn): boolean {
    const gang = this.#gangs.gangOf[turn];
    const { holder, isSaving } = this.#machine;
    return this.#units[gang].every(
      (unit) => holder[unit] === NOBODY || (holder[unit] === gang && isSaving[unit] === 1),
    );
  }
}

export const rows: PhasesPolicyDefinition = {
  name: "phases-rows",
  title: "Rows of the Ousterhout matrix",
  summary: "Gangs keep their units, on which they are placed in rows; the rows take turns.",
  rules: [
    "a gang policy (gang) places gangs in as many whole rows as can be resident, in the order in which they came; a gang keeps its units, side by side, until it leaves",
    "the next row in the round of which a gang wants a turn comes on; its gangs have at most one turn each until the next row comes on",
    ...when(
      ({ extra }) => extra === "no",
      [
        "a row stays on until the units of all its turns have been saved and none of its gangs waits for its turn in it",
      ],
    ),
    ...when(
      ({ extra }) => extra === "yes",
      [
        "extra=yes: a row stays on until none of its gangs waits for its turn in it, also while they have units",
        "extra=yes: other turns begin on free units that no turn of that row waits for, in the order in which they were wanted",
      ],
    ),
  ],
  source: "Ousterhout 1982; Zhou, Walsh and Brent 2000, with turns by consent instead of slots",
  parameters: [
    choice(
      "gang",
      GANGS.map(({ name }) => name),
      "the gang policy that places gangs",
    ),
    choice("extra", ["yes", "no"], "whether gangs of other rows may use units that the row leaves free"),
  ],
  guarantees: () => ({ workConserving: false, fixedUnits: true }),
  make: (machine, gangs, { gang, extra }) => {
    const definition = GANGS.find(({ name }) => name === gang)!;
    const { parameters } = makeChoice(definition, [`rows=${Math.floor(machine.resident)}`]);
    const make = (matrix: GangMachine, jobs: JobTable) => definition.make(matrix, jobs, parameters);
    return new Rows(machine, gangs, make, extra === "yes");
  },
};
