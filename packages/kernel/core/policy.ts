/**
 * Defines the contract between a policy and the machine that it schedules. A policy is a deterministic state
 * machine without a clock, true randomness or I/O. It learns about events through its hooks, and it decides
 * by calling its machine. The simulator, the browser and the daemon offer the same machines, so a policy
 * cannot tell which of them drives it.
 *
 * Events at one instant come in this order: first `depart` for each job that has ended, in order of start;
 * then `decide`, once, with the arrivals in order of submission. A job with run time 0 departs at the instant
 * at which it starts, and `decide` is then called again for that instant. A job that is stopped from outside
 * departs after the jobs that have ended, and arrives again when it may continue.
 */
import type { KnownOutage } from "./interruptions.ts";
import type { JobIndex, JobsView, ReadonlyColumn } from "./jobs.ts";
import type { JobShape } from "./queue-classes.ts";
import type { ResourceKind } from "./resources.ts";

/** The hooks of a policy, in life-cycle order. */
export interface Policy {
  /** The job has ended. The machine has already taken back its processors (or its slots). */
  depart(job: JobIndex): void;
  /**
   * Called once per instant, after all events of that instant. The policy makes all its decisions here.
   * @param arrived the jobs that have arrived since the last decision; valid until `decide` returns
   */
  decide(arrived: readonly JobIndex[]): void;

  // Optional hooks, called between decisions if the definition declares them in `capabilities`. For a policy
  // without them, the caller makes a new policy object and repeats all events to it.

  /** The waiting job can no longer be started. */
  withdraw?(job: JobIndex): void;
  /**
   * Tasks of the job have ended, and the machine has taken back `count` of its processors; called before
   * `decide`. A policy whose `copesWith` lists `resizing` has this hook and the next one.
   */
  shrank?(job: JobIndex, count: number): void;
  /** The job has created `count` tasks: the policy calls `machine.grow` for them now. After `shrank`. */
  grow?(job: JobIndex, count: number): void;
  /**
   * Called before the first decision, in order of start: a job that the policy has not seen has been running
   * since `startS`. The machine has already given it its processors, or its row of the matrix.
   */
  restore?(job: JobIndex, startS: number): void;
}

/** What a policy can do beyond the required hooks, declared so that callers need not try. */
interface Capabilities {
  /** It has the hook `withdraw`. */
  readonly withdraw?: boolean | undefined;
  /** It has the hook `restore`. */
  readonly restore?: boolean | undefined;
}

/** Why a job was started; recorded with the decision, counted in results and shown by `--explain`. */
export const StartRule = {
  /** It was the first in queue order. */
  head: 0,
  /** Passed a reservation: according to its estimate, it ends by the shadow time. */
  beforeShadow: 1,
  /** Passed a reservation: it uses only processors that the reservation does not need. */
  spareProcessors: 2,
  /** The first job in queue order that fits, while no job holds a reservation. */
  firstFit: 3,
  /** Its own reservation was due, or was made for the present instant. */
  reserved: 4,
  /** It was placed in a row of the Ousterhout matrix. */
  placed: 5,
  /** A rule of the policy itself. */
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

/** A machine on which a processor serves one job until that job ends: space sharing. */
export interface Pool {
  readonly processors: number;
  /** Idle processors. */
  readonly free: number;
  /** The present instant in seconds. */
  readonly nowS: number;
  /** Known outages that are not over. The list object changes whenever its content does. */
  readonly outages: readonly KnownOutage[];
  /** Kinds of countable resources, in the order of `jobs.demand`. */
  readonly resources: readonly ResourceKind[];
  /**
   * Whether the job is waiting and everything it needs is free: its resources and its processors.
   * @param size number of processors; default: what the job asks for
   */
  fits(job: JobIndex, size?: number): boolean;
  /**
   * Starts a waiting job. Throws RuleViolation if the job has not arrived, has already started, or does not
   * fit.
   * @param rule default: `StartRule.other`
   * @param size differs from what the job asks for only if `jobs.molding` allows it and the job has not run
   *   before
   */
  start(job: JobIndex, rule?: StartRule, size?: number): void;
  /**
   * Records the promise that the job starts no later than `startS` if estimates hold. Changes nothing else.
   */
  promise(job: JobIndex, startS: number): void;
  /**
   * Requests a decision at a later time even if nothing happens then. Each call replaces the previous
   * request.
   */
  wakeAt(timeS: number): void;
}

/**
 * A row of the Ousterhout matrix. A row keeps its number while it exists; after that, the number is reused.
 */
export type RowId = number;

/**
 * A run: consecutive processors of one job in one row, starting at `runFirst`. Most jobs have one run per
 * row, which is as long as the job's size; a job placed in several stretches has one run for each. −1 ends a
 * list.
 */
export type RunId = number;

/**
 * Read access to the Ousterhout matrix: rows × processors, stored as one sorted list of runs per row. Row
 * order is the order in which rows get their slots in a round.
 */
export interface MatrixView {
  readonly processors: number;
  readonly rowCount: number;
  /** Row at a position of the round, 0 … rowCount − 1. */
  rowAt(position: number): RowId;
  /** Position of a row in the round. */
  positionOf(row: RowId): number;
  firstRun(row: RowId): RunId;
  nextRun(run: RunId): RunId;
  /**
   * Last run of the row that begins at or before the processor; −1 if there is none. Takes nearly constant
   * time.
   */
  runBefore(row: RowId, processor: number): RunId;
  runJob(run: RunId): JobIndex;
  runRow(run: RunId): RowId;
  runFirst(run: RunId): number;
  runSize(run: RunId): number;
  /** The next stretch of the same job in the same row, ascending; −1 after the last. */
  nextStretch(run: RunId): RunId;
  /**
   * First run of a job; `nextRunOfJob` gives the others. A job has one such run per slot of a round (of
   * several stretches the first), in no particular order of rows.
   */
  firstRunOfJob(job: JobIndex): RunId;
  nextRunOfJob(run: RunId): RunId;
  /** Number of slots per round that the job has. */
  slotsOf(job: JobIndex): number;
  /**
   * Position of the first row of the round in which the processor is idle; `rowCount` if it is busy in all
   * rows.
   */
  firstIdle(processor: number): number;
  /** Whether processors first … end − 1 are all idle in the row. */
  isIdle(row: RowId, first: number, end: number): boolean;
}

/** Limits of a machine besides its processors. */
export interface GangLimits {
  /** Maximum number of rows; Infinity: no limit. */
  readonly maxRows: number;
  /** Whether the job's other needs allow it into the matrix together with the jobs already there. */
  fits(job: JobIndex): boolean;
  /** Whether processors first … end − 1 are all present; default: they always are. */
  areThere?(first: number, end: number): boolean;
}

/** A machine whose rows take turns, one slot each per round: time sharing by gangs. */
export interface GangMachine extends MatrixView {
  /** Enforced by an admission queue in front of the policy; default: no limits. */
  readonly limits?: GangLimits | undefined;
  /**
   * Whether an arriving gang was paused and keeps what it held, except for its rows. It goes before the
   * queue, because others may wait for what it holds. Default: no gang.
   */
  isReturning?(job: JobIndex): boolean;
  readonly nowS: number;
  /** Useful length of a slot in seconds. */
  readonly slotS: number;
  /** Time of one switch between rows in seconds. */
  readonly switchS: number;
  /** Whether `migrate` may be called. Live machines, for example, do not move processes. */
  readonly movesGangs: boolean;
  /**
   * Appends an empty row to the round. A round takes in at most as many new rows as it began with; later ones
   * wait for the next round.
   */
  addRow(): RowId;
  /** Removes an empty row. Throws RuleViolation if it holds a job. */
  deleteRow(row: RowId): void;
  /**
   * Gives the job processors first … first + size − 1 in the row. Another call with another row gives it
   * another slot per round.
   * @param size differs from what the job asks for only if `jobs.molding` allows it and the job has not been
   *   placed yet
   */
  place(job: JobIndex, row: RowId, first: number, size?: number): void;
  /**
   * Like `place`, on processors that need not be consecutive.
   * @param stretches first processor and end of each stretch in turn; the stretches ascend and do not touch
   * @param count number of stretches
   */
  placeStretches(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void;
  /**
   * Gives a job with one slot more processors of its row, for tasks that it has created. Only machines whose
   * jobs create tasks have this call.
   */
  grow?(job: JobIndex, stretches: ReadonlyColumn, count: number): void;
  /** Takes one slot back from a job that has more than one. */
  release(job: JobIndex, row: RowId): void;
  /**
   * Exchanges what the two rows hold on processors first … end − 1. Throws RuleViolation unless both cuts are
   * legal, which means that no job of either row is on both sides of `first` or of `end`.
   */
  exchange(a: RowId, b: RowId, first: number, end: number): void;
  /**
   * Moves a gang that has one slot per round to idle processors first … first + size − 1 of a row. The gang
   * then needs `migrationS` more seconds of service. Throws RuleViolation if `guarantees` does not declare
   * `migrationS`.
   */
  migrate(job: JobIndex, row: RowId, first: number): void;
  /** Slots of service that a job has had; 0 on machines that do not count them. */
  servedSlots(job: JobIndex): number;
  /**
   * Records the promise that the job starts no later than `startS` if estimates hold. Changes nothing else.
   */
  promise(job: JobIndex, startS: number): void;
}

/** One parameter of a policy (or of a model): plain data, so that help, validation and charts share it. */
export type ParameterSpec = {
  readonly name: string;
  /** Older names, still accepted. */
  readonly aliases?: readonly string[];
  readonly description: string;
} & (
  | { readonly kind: "choice"; readonly choices: readonly string[]; readonly default: string }
  /** The name of a file; `none`: no file. */
  | { readonly kind: "file"; readonly default: typeof NONE }
  | {
      readonly kind: "integer" | "number";
      readonly min: number;
      readonly max: number;
      readonly default: number | typeof NONE;
      readonly unit?: string;
      /**
       * Set if `none` is a value, too. Numbers from this one up to but excluding `min` are an older way to
       * write `none`.
       */
      readonly noneFrom?: number;
    }
  | {
      /** Numbers separated by commas, such as `64,64`; the value is this text. */
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

/** The number; undefined if it is not set. */
export function setNumber(value: string | number | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Values by parameter name, complete and checked against the specs. */
export type ParameterValues = Readonly<Record<string, string | number>>;

export type Condition = (parameters: ParameterValues) => boolean;

/** One sentence of a policy's rules. */
export interface Rule {
  readonly text: string;
  /** Default: the rule always holds. */
  readonly when?: Condition;
  /** Whether several policies share the rule, or it comes from what they build on, such as a queue. */
  readonly isInherited?: boolean;
}

/** Rules that all hold under the same condition. */
export function when(condition: Condition, texts: readonly string[]): Rule[] {
  return texts.map((text) => ({ text, when: condition }));
}

/** The sentences that hold with given parameters. */
export interface RulesInForce {
  readonly own: readonly string[];
  /** Rules that other policies have, too. */
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

/** Description of a policy of any kind. `Claims`: what policies of that kind may guarantee. */
export interface PolicyDescription<Claims = Guarantees> {
  /** As written on the command line, in tables and in charts. */
  readonly name: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /**
   * The exact rules, one sentence each; `tutti list policies NAME` prints those in force. A plain string
   * always holds.
   */
  readonly rules: readonly (Rule | string)[];
  /** Paper and section, or "folklore" with a reference. */
  readonly source: string;
  readonly parameters: readonly ParameterSpec[];
  /** Features that the policy can handle. A machine with any other feature refuses the policy. */
  copesWith?(parameters: ParameterValues): readonly Feature[];
  /**
   * For a policy that cannot schedule every job that fits the machine. All jobs are checked before a run
   * begins; live, each job is checked when it is submitted, and all jobs when the policy is chosen. Default:
   * the policy can schedule every job. Policies in users' files have none, because they may not see jobs
   * that have not arrived.
   */
  readonly jobCheck?: ((parameters: ParameterValues) => JobCheck) | undefined;
  /**
   * What the checker may expect. A missing guarantee is declared here, so no check is skipped silently.
   */
  guarantees(parameters: ParameterValues): Claims;
  /** Default: none. */
  readonly capabilities?: Capabilities;
}

/** A job as it is offered to a policy; `queue` as in the column of that name, or UNKNOWN. */
export interface OfferedJob extends JobShape {
  readonly queue: number;
}

/** Why the policy can never schedule the job, and what to set; the text follows the words "the job". */
export type JobCheck = (job: OfferedJob) => string | undefined;

/** Features of a machine that not every policy can handle, each in the words of the message to a user. */
export const FEATURES = {
  outages: "processors of the machine are unavailable at times",
  resources: "jobs need resources besides processors",
  resizing: "the number of a job's tasks changes while it runs",
} as const;
export type Feature = keyof typeof FEATURES;

/** Statements that `--audit` checks for this policy, in addition to those that hold for all policies. */
export interface Guarantees {
  /** After `decide`, the first job in queue order does not fit on the free processors. */
  readonly headNeverFits: boolean;
  /** After `decide`, no waiting job at all fits on the free processors. */
  readonly workConserving: boolean;
  /** A job starts no later than its last `promise`, and while it waits its promises never become later. */
  readonly keepsPromises: boolean;
  /**
   * Space sharing: after a decision that leaves processors free or lets jobs pass, the first job in queue
   * order holds a promise no later than the shadow time, and by the estimates that promise can be kept.
   * Default: it may have none.
   */
  readonly reservesHead?: boolean | undefined;
  /**
   * Space sharing: according to the estimates, no job that starts runs into a known outage. Default: jobs
   * may.
   */
  readonly avoidsOutages?: boolean | undefined;
  /** Time sharing: maximum number of rows. Default: no limit, and no job waits for a row. */
  readonly maxRows?: number | undefined;
  /** Time sharing: memory limit for the jobs in the matrix on one processor. Default: no limit. */
  readonly memory?: MemoryRule | undefined;
  /**
   * Time sharing: gangs may move to other processors, and each move costs this many seconds of service.
   * Default: never.
   */
  readonly migrationS?: number | undefined;
}

/** Memory of one processor, shared by all jobs that have a row there, even when it is not their turn. */
export interface MemoryRule {
  /**
   * Whole KB, above 0. A job that states more counts as needing exactly this much, so it has its processors
   * to itself.
   */
  readonly limitKB: number;
  /** KB that a job counts as needing if it states no memory. */
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

/** A policy with its parameters filled in, as a run uses it. */
export interface PolicyChoice<Definition = PolicyDefinition> {
  readonly definition: Definition;
  readonly parameters: ParameterValues;
  /** Name with the parameters that differ from their defaults, such as `easy:order=shortest`. */
  readonly label: string;
}
