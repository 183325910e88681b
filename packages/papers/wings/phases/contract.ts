/**
 * Describes gangs that take turns by consent: a gang holds units (of GPUs, for example) for a turn, gives
 * them back by itself, does something else for a while, and wants its next turn.
 *
 *   submitted ──▶ admitted ──▶ wants ──▶ switches ──▶ holds ──▶ saves ──▶ waits ──┐     ──▶ left
 *                  (resident)     ▲      (restore)                                │
 *                                 └───────────────── the next turn ───────────────┘
 *
 * An admitted gang is resident: what is on its units while it holds them stays in the memory of the host in
 * between. A gang has all units of a turn at once or none. Nobody takes a turn away: the units come back when
 * the gang yields them, so a policy decides only who is next, and where.
 *
 * Units are grouped into nodes, and nodes into pools. A gang is resident on fixed nodes of each pool that it
 * uses, with a fixed number of units on each, because its memory is there. Units of a node are all alike.
 *
 * At one instant, a policy first hears of turns that were yielded and units that are free, gangs that have
 * left and gangs that have arrived, then admits, then hears of the turns that are wanted, those of gangs just
 * admitted included, each in ascending order; then it decides. If a turn ends at the instant at which it
 * begins, all this is done again. Times are whole milliseconds, so that they add up exactly.
 */
import type { ReadonlyColumn } from "@tutti/kernel/core/jobs.ts";
import type { ParameterValues, PolicyDescription } from "@tutti/kernel/core/policy.ts";

/** Index of a gang in order of submission. */
export type Gang = number;
/** Index of a turn: those of gang g are firstTurn[g] … firstTurn[g + 1] − 1. */
export type Turn = number;
/** Index of a unit: those of pool p are firstUnit[p] … firstUnit[p + 1] − 1. */
export type Unit = number;

/** Stands for "none" wherever a gang or a turn is expected. */
export const NOBODY = -1;

export interface PhasesPool {
  readonly name: string;
  /** 1 or more. */
  readonly units: number;
  /** Divides `units`. */
  readonly unitsPerNode: number;
}

/** One problem for the simulator of phases. */
export interface PhasesInstance {
  readonly name: string;
  readonly pools: readonly PhasesPool[];
  /** For how many gangs with all units of a node its host has memory; 1 or more. */
  readonly resident: number;
  readonly gangs: readonly string[];
  /** By gang, ascending. */
  readonly submitMs: Float64Array;
  /** By gang, and one more: the number of all turns. Each gang has one or more. */
  readonly firstTurn: Int32Array;
  readonly turns: PhasesTurns;
}

/** Columns by turn. */
interface PhasesTurns {
  readonly pool: Int32Array;
  /** Of its pool, the same for all turns of a gang there. */
  readonly units: Int32Array;
  /** Work of the turn from its beginning, after the switch. */
  readonly holdMs: Float64Array;
  /** From the end of that work until the gang wants its next turn, or leaves after its last one. */
  readonly waitMs: Float64Array;
  /**
   * −1: the gang yields when its work is done. Otherwise it keeps the units until its next turn has begun,
   * which must be in another pool, and this much longer.
   */
  readonly keepMs: Float64Array;
  /** From the end of a turn until its units are free, because what was on them has been saved. */
  readonly saveMs: Float64Array;
  /** From getting the units until the turn begins, if another gang has been on one of them since. */
  readonly restoreMs: Float64Array;
}

/** What a policy knows about the gangs. It must not look at a gang before it has arrived. */
export interface PhasesGangsView {
  readonly count: number;
  /** Pool by pool: units that the gang's turns take there; 0 in a pool that it does not use. */
  readonly unitsIn: readonly ReadonlyColumn[];
  readonly gangOf: ReadonlyColumn;
  readonly poolOf: ReadonlyColumn;
  readonly unitsOf: ReadonlyColumn;
}

/** The machine as a policy reads it; columns are kept up to date. */
interface PhasesView {
  readonly nowMs: number;
  readonly pools: readonly PhasesPool[];
  /** As in the instance. */
  readonly resident: number;
  /** By pool, and one more: the number of all units. */
  readonly firstUnit: ReadonlyColumn;
  /** By unit: the gang that has it for a turn (switching, holding or saving), or NOBODY. */
  readonly holder: ReadonlyColumn;
  /** By unit: the gang that has had it last, or NOBODY. */
  readonly latest: ReadonlyColumn;
  /** By unit: whether only the saving of its holder's last turn is still under way. */
  readonly isSaving: ReadonlyColumn;
  /** By turn: since when it has been wanted; NaN if it is not wanted or has got its units. */
  readonly wantedMs: ReadonlyColumn;
  /** By gang: number of units on each of its nodes, as [node, units, node, units, …]; ascending. */
  homeOf(gang: Gang): readonly number[];
  /** Units of gangs that are resident on the node; nodes are numbered through all pools. */
  readonly residentOn: ReadonlyColumn;
  nodeOf(unit: Unit): number;
  /**
   * Where the gang may be resident now; undefined if there is no room. In each pool, its units go to the node
   * that can take most of them, of these to the one with the least resident units, then to the first; and so
   * on with the rest.
   * @param mostOn units that the policy would still give on a node; default: what the host has memory for
   */
  room(gang: Gang, mostOn?: (node: number) => number): readonly number[] | undefined;
  /**
   * Units that the turn may have now: on each of the gang's nodes those that it has had last, then those with
   * the lowest numbers; undefined if there are too few.
   */
  free(turn: Turn): readonly Unit[] | undefined;
}

/** Every call throws RuleViolation if the machine does not allow it. */
export interface PhasesMachine extends PhasesView {
  /** Makes a gang resident that has arrived. It wants its first turn at once. @param home as of `homeOf` */
  admit(gang: Gang, home: readonly number[]): void;
  /** Gives a wanted turn its units, which are ascending. */
  begin(turn: Turn, units: readonly Unit[]): void;
}

/** The hooks of a policy, in the order of an instant. */
export interface PhasesPolicy {
  /** The turn has ended, and its units are being saved. */
  yielded?(turn: Turn): void;
  /** They have been saved. */
  freed?(turn: Turn): void;
  /** The gang has had all its turns and is no longer resident. */
  left(gang: Gang): void;
  arrived(gang: Gang): void;
  /** Admits gangs. */
  admit(): void;
  wanted(turn: Turn): void;
  /** Begins turns. */
  decide(): void;
}

/** What a policy of phases promises; the checker enforces it. */
export interface PhasesClaims {
  /** After `decide`, no wanted turn has as many free units on its nodes as it needs. */
  readonly workConserving: boolean;
  /**
   * How many turns that were wanted later may get units of the same group, or without groups of the same
   * node, before one; 0: all come in order. Default: any number.
   */
  readonly mostPassed?: number | undefined;
  /**
   * At most one gang at a time has units of the same group: sizes of the groups of each pool, or one size,
   * which is raised to that of the largest gang there.
   */
  readonly groups?: readonly number[] | undefined;
  /** A gang keeps the same units for all its turns in a pool. */
  readonly fixedUnits: boolean;
  /** Nothing is saved, because no other gang gets the units before the gang has left. */
  readonly neverSaves?: boolean | undefined;
}

export interface PhasesPolicyDefinition extends PolicyDescription<PhasesClaims> {
  make(machine: PhasesMachine, gangs: PhasesGangsView, parameters: ParameterValues): PhasesPolicy;
}

/** What a simulation of phases returns. Columns by turn and by gang; NaN for what never came. */
export interface PhasesSchedule {
  readonly wantedMs: Float64Array;
  /** When it got its units; then it may have switched. */
  readonly gotMs: Float64Array;
  readonly beganMs: Float64Array;
  readonly yieldedMs: Float64Array;
  readonly admittedMs: Float64Array;
  readonly leftMs: Float64Array;
  /** When its units had been saved. */
  readonly freedMs: Float64Array;
  /** 1: it began after a restore, because another gang had had one of its units since. */
  readonly isSwitch: Uint8Array;
  readonly stopMs: number;
}

/** Receives what happens, in order. */
export interface PhasesObserver {
  admitted?(timeMs: number, gang: Gang, home: readonly number[]): void;
  wanted?(timeMs: number, turn: Turn): void;
  got?(timeMs: number, turn: Turn, units: readonly Unit[]): void;
  began?(timeMs: number, turn: Turn): void;
  yielded?(timeMs: number, turn: Turn): void;
  freed?(timeMs: number, turn: Turn): void;
  left?(timeMs: number, gang: Gang): void;
  /** All decisions of the instant are made. */
  decided?(timeMs: number): void;
}
