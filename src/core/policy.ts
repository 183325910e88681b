/**
 * The policy contract. A policy is a deterministic state machine: it owns no clock, no randomness and does no I/O. It
 * is told what happened, and decides by calling the machine that it was made for. The simulator, the browser and
 * the daemon offer the same machines, so a policy cannot tell which of them drives it.
 *
 * Order of events. At one instant departures are told first (in order of start); then `decide` is called, once, with the
 * arrivals (in order of submission). A job with run time 0 departs in the instant in which it starts; that instant is then
 * decided again. A job that is stopped departs, too, after those that have ended, and arrives anew when it may go on.
 */
import type { KnownOutage } from "./interruptions.ts";
import type { JobIndex, JobsView, ReadonlyColumn } from "./jobs.ts";
import type { ResourceKind } from "./resources.ts";

/** The hooks of a policy, in life-cycle order. */
export interface Policy {
  /** The job has ended; the machine has already taken its processors (or its slots) back. */
  depart(job: JobIndex): void;
  /**
   * Called once per instant, after all of its events. All decisions are taken here.
   * @param arrived the jobs that have arrived since the last decision; the list may be read until `decide` returns
   */
  decide(arrived: readonly JobIndex[]): void;

  // Between decisions, if the definition declares them (`capabilities`). Without them a new policy is made and told all again.

  /** A job that waits is not to be started any more. */
  withdraw?(job: JobIndex): void;
  /**
   * Before the first decision, in order of start: a job that the policy has not been told of runs since `startS`. The machine has
   * given it its processors, or its row of the matrix.
   */
  restore?(job: JobIndex, startS: number): void;
}

/** What not every policy can do, declared so that nobody has to try. */
interface Capabilities {
  /** It has the hook `withdraw`. */
  readonly withdraw?: boolean | undefined;
  /** It has the hook `restore`. */
  readonly restore?: boolean | undefined;
}

/** Why a job was started; recorded with the decision, counted in results and told by `--explain`. */
export const StartRule = {
  /** It was the first in queue order. */
  head: 0,
  /** Behind a reservation: by its estimate it ends by the shadow time. */
  beforeShadow: 1,
  /** Behind a reservation: it uses only processors that the reservation leaves over. */
  spareProcessors: 2,
  /** First in queue order that fits, nobody holds a reservation. */
  firstFit: 3,
  /** Its own reservation came due, or was the present instant. */
  reserved: 4,
  /** It was placed in a row of the Ousterhout matrix. */
  placed: 5,
  /** A rule that is the policy's own. */
  other: 6,
} as const;
export type StartRule = (typeof StartRule)[keyof typeof StartRule];

/** Names of the start rules, by value. */
export const START_RULE_NAMES = [
  "head of queue",
  "backfilled before the shadow time",
  "backfilled on spare processors",
  "first fit",
  "own reservation",
  "placed in a row",
  "policy's own rule",
] as const;

/** A machine whose processors are given to one job at a time, whole: space sharing. */
export interface Pool {
  readonly processors: number;
  /** Idle processors. */
  readonly free: number;
  /** The present instant in seconds. */
  readonly nowS: number;
  /** Outages that are known and not over; another list when that changes. */
  readonly outages: readonly KnownOutage[];
  /** Kinds of countable resources, in the order of `jobs.demand`. */
  readonly resources: readonly ResourceKind[];
  /** Whether the job waits and all that it needs is free: processors, `size` or as many as it asks for, and resources. */
  fits(job: JobIndex, size?: number): boolean;
  /**
   * Starts a waiting job. Throws RuleViolation when the job has not arrived, has started, or does not fit.
   * @param rule default: a rule that is the policy's own
   * @param size another one than the job asks for, only where `jobs.molding` allows it and the job has not run before
   */
  start(job: JobIndex, rule?: StartRule, size?: number): void;
  /** Records that the job is promised a start no later than `startS` while estimates hold. Changes nothing else. */
  promise(job: JobIndex, startS: number): void;
  /** Asks for a decision at a later time even if nothing happens then. One wish is kept, replaced by the next. */
  wakeAt(timeS: number): void;
}

/** A row of the Ousterhout matrix. The number stays with the row while it exists and is used again after it is deleted. */
export type RowId = number;

/**
 * Processors of one job in one row that stand side by side, from `runFirst` on. Most jobs have one run per row, as long as the job's
 * size; a job placed in several stretches has one run for each. −1 ends a list.
 */
export type RunId = number;

/**
 * The Ousterhout matrix to read: rows × processors, kept as one sorted list of runs per row. Row order is the order
 * in which rows get their slots in a round.
 */
export interface MatrixView {
  readonly processors: number;
  readonly rowCount: number;
  /** Row at a position 0 … rowCount − 1 of the round. */
  rowAt(position: number): RowId;
  /** Position of a row in the round. */
  positionOf(row: RowId): number;
  firstRun(row: RowId): RunId;
  nextRun(run: RunId): RunId;
  /** Last run of the row that begins at or before the processor; −1 when there is none. Cost: near constant, not linear in the row. */
  runBefore(row: RowId, processor: number): RunId;
  runJob(run: RunId): JobIndex;
  runRow(run: RunId): RowId;
  runFirst(run: RunId): number;
  runSize(run: RunId): number;
  /** The next stretch of the same job in the same row, ascending; −1 behind the last. */
  nextStretch(run: RunId): RunId;
  /** First run of a job, one per slot of a round (of several stretches the first), in no particular order of rows. */
  firstRunOfJob(job: JobIndex): RunId;
  nextRunOfJob(run: RunId): RunId;
  /** Slots per round that the job has. */
  slotsOf(job: JobIndex): number;
  /** Whether processors first … end − 1 are all idle in the row. */
  isIdle(row: RowId, first: number, end: number): boolean;
}

/** What a machine has room for, beside its processors. */
export interface GangLimits {
  /** Rows of the matrix at most; Infinity: no limit. */
  readonly maxRows: number;
  /** Whether the job can be in the matrix together with the jobs that are there, rows and processors aside. */
  fits(job: JobIndex): boolean;
  /** Whether processors first … end − 1 are all there; left out: they always are. */
  areThere?(first: number, end: number): boolean;
}

/** A machine whose rows take turns, one slot each per round: time sharing by gangs. */
export interface GangMachine extends MatrixView {
  /** Kept by an admission queue in front of the policy; left out: there are none. */
  readonly limits?: GangLimits | undefined;
  readonly nowS: number;
  /** Useful length of a slot in seconds. */
  readonly slotS: number;
  /** Time of one switch between rows in seconds. */
  readonly switchS: number;
  /** Whether `migrate` may be called: a live process, for one, is not moved. */
  readonly movesGangs: boolean;
  /** Adds an empty row: last in the round, or in the next one when this one has taken in as many as it began with. */
  addRow(): RowId;
  /** Removes an empty row. Throws RuleViolation when it holds a job. */
  deleteRow(row: RowId): void;
  /**
   * Gives the job the processors first … first + size − 1 in the row; a second call for another row gives it a second slot per round.
   * @param size another one than the job asks for, only where `jobs.molding` allows it and the job has not been placed before
   */
  place(job: JobIndex, row: RowId, first: number, size?: number): void;
  /**
   * As `place` on processors that need not stand side by side: `count` stretches in ascending order, apart from each other, the
   * first processor of each and its end in turn.
   */
  placeStretches(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void;
  /** Takes one slot back from a job that has more than one. */
  release(job: JobIndex, row: RowId): void;
  /**
   * Exchanges what the two rows hold on processors first … end − 1. Throws RuleViolation unless both cuts are legal:
   * no job of either row on both sides of `first` or of `end`.
   */
  exchange(a: RowId, b: RowId, first: number, end: number): void;
  /**
   * Moves a gang that has one slot per round to processors first … first + size − 1 of a row, which must be idle. It then needs the
   * seconds of service more that `guarantees` declares (`migrationS`). Throws RuleViolation when none are declared.
   */
  migrate(job: JobIndex, row: RowId, first: number): void;
  /** Slots of service that a job has had; 0 on machines that do not count them. */
  servedSlots(job: JobIndex): number;
  /** Records that the job is promised a start no later than `startS` while estimates hold. Changes nothing else. */
  promise(job: JobIndex, startS: number): void;
}

/** One parameter of a policy (or of a model): plain data, so that help, validation and charts share it. */
export type ParameterSpec = {
  readonly name: string;
  /** Older names, still taken. */
  readonly aliases?: readonly string[];
  readonly description: string;
} & (
  | { readonly kind: "choice"; readonly choices: readonly string[]; readonly default: string }
  | {
      readonly kind: "integer" | "number";
      readonly min: number;
      readonly max: number;
      readonly default: number | typeof NONE;
      readonly unit?: string;
      /** Present where `none` is a value, too: numbers from this one up to below `min` are an older way to say it. */
      readonly noneFrom?: number;
    }
  | {
      /** Numbers with commas between, such as `64,64`; the value is their text. */
      readonly kind: "list";
      readonly of: "integer" | "number";
      /** Of each number. */
      readonly min: number;
      readonly max: number;
      readonly default: string;
      readonly unit?: string;
    }
);

/** Value of a number that is not set. */
export const NONE = "none";

/** The number, where it is set. */
export function setNumber(value: string | number | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Values by parameter name, complete and checked against the specs. */
export type ParameterValues = Readonly<Record<string, string | number>>;

/** Whether something holds with these parameters. */
export type Condition = (parameters: ParameterValues) => boolean;

/** One sentence of a policy's rules. */
export interface Rule {
  readonly text: string;
  /** Left out: it always holds. */
  readonly when?: Condition;
  /** Whether it is a rule of what the policy stands on, such as a queue in front of it. */
  readonly isInherited?: boolean;
}

/** Rules that hold under a condition. */
export function when(condition: Condition, texts: readonly string[]): Rule[] {
  return texts.map((text) => ({ text, when: condition }));
}

/** Sentences that are in force. */
export interface RulesInForce {
  readonly own: readonly string[];
  /** Those of what the policy stands on. */
  readonly inherited: readonly string[];
}

export function rulesInForce(rules: readonly (Rule | string)[], parameters: ParameterValues): RulesInForce {
  const inForce = rules
    .map((rule): Rule => (typeof rule === "string" ? { text: rule } : rule))
    .filter(({ when }) => when?.(parameters) ?? true);
  const texts = (inherited: boolean) =>
    inForce.filter(({ isInherited = false }) => isInherited === inherited).map(({ text }) => text);
  return { own: texts(false), inherited: texts(true) };
}

/** What is said of a policy of any kind. `Claims`: what policies of its kind may promise. */
export interface PolicyDescription<Claims = Guarantees> {
  /** As written on the command line, in tables and in charts. */
  readonly name: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /** The exact rules, one sentence each; `tutti policies NAME` prints those in force. A string holds with all parameters. */
  readonly rules: readonly (Rule | string)[];
  /** Paper and section, or "folklore" with a reference. */
  readonly source: string;
  readonly parameters: readonly ParameterSpec[];
  /** Features that the machine may have; it refuses the policy when it has another one. */
  copesWith?(parameters: ParameterValues): readonly Feature[];
  /** What the checker may expect; a capability that a policy lacks is declared here, not skipped silently. */
  guarantees(parameters: ParameterValues): Claims;
  /** Left out: none. */
  readonly capabilities?: Capabilities;
}

/** What a machine may have that not every policy can live with, and what is said of a policy that cannot. */
export const FEATURES = {
  outages: "processors of the machine are away at times",
  resources: "jobs need resources besides processors",
} as const;
export type Feature = keyof typeof FEATURES;

/** Statements that `--audit` holds a policy to, beyond those that hold for all. */
export interface Guarantees {
  /** After `decide`, the first job in queue order does not fit on the free processors. */
  readonly headNeverFits: boolean;
  /** After `decide`, no waiting job at all fits on the free processors. */
  readonly workConserving: boolean;
  /** A job starts no later than the machine was last told by `promise`, and promises to one job never grow later while it waits. */
  readonly keepsPromises: boolean;
  /** Space sharing: by the estimates no job that is started runs into an outage that is known. Left out: they may. */
  readonly avoidsOutages?: boolean | undefined;
  /** Time sharing: never more rows than these. Left out: rows are added without limit, and nobody waits for one. */
  readonly maxRows?: number | undefined;
  /** Time sharing: the jobs in the matrix on one processor never need more memory than this. Left out: no limit. */
  readonly memory?: MemoryRule | undefined;
  /** Time sharing: gangs may be moved to other processors, each time for so many seconds of service. Left out: never. */
  readonly migrationS?: number | undefined;
}

/** Memory of one processor, shared by all jobs that have a row there, whether it is their turn or not. */
export interface MemoryRule {
  /** Whole KB, above 0. A job that tells of more than this counts as this: it has a processor to itself. */
  readonly limitKB: number;
  /** What a job counts as that tells of no memory, in KB. */
  readonly unknownKB: number;
}

export interface SpacePolicyDefinition extends PolicyDescription {
  readonly sharing: "space";
  make(machine: Pool, jobs: JobsView, parameters: ParameterValues): Policy;
}

export interface GangPolicyDefinition extends PolicyDescription {
  readonly sharing: "time";
  /** Whether `make` puts an admission queue in front of the policy on a machine with limits. */
  readonly isAdmitted?: boolean;
  make(machine: GangMachine, jobs: JobsView, parameters: ParameterValues): Policy;
}

export type PolicyDefinition = SpacePolicyDefinition | GangPolicyDefinition;

/** A policy with its parameters filled in: what a run is made with. */
export interface PolicyChoice<Definition = PolicyDefinition> {
  readonly definition: Definition;
  readonly parameters: ParameterValues;
  /** Name with the parameters that differ from their defaults, such as `easy:order=shortest`. */
  readonly label: string;
}
