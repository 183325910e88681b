/**
 * Defines the executor, which carries out the decisions of the front end: it has nodes with processors,
 * runs attempts on them, and gives each row of the matrix its slots, even while no front end is connected.
 * Only the executor knows how nodes are reached.
 */
import type { NodeCpus, NodeTable } from "@tutti/kernel/core/machine.ts";
import type {
  AttemptCommand,
  AttemptKey,
  AttemptReport,
  AttemptState,
  FreezerKind,
  IdentifiedAttempt,
  InputPiece,
  MatrixSchedule,
} from "@tutti/protocol/attempts.ts";

/** Processors that are scheduled together. */
interface Share {
  readonly nodes: NodeTable;
  readonly memoryBytes: number;
  /** The memory of each node, also of lost ones. Left out: unknown, so only the sum counts. */
  readonly memoryByNode?: ReadonlyMap<string, number>;
  /**
   * What the nodes had before some were lost. Left out: unknown; other nodes, which may follow these, have
   * room for every job that was accepted.
   */
  readonly whole?: { readonly nodes: NodeTable; readonly memoryBytes: number };
  /** The processors are taken away later. Left out: they stay. */
  readonly end?: {
    /** Monotonic time in ms from which on nothing starts that cannot end by its limit before `stopAtMs`. */
    readonly drainAtMs: number;
    /** Monotonic time in ms at which what still runs is stopped with grace and queued again. */
    readonly stopAtMs: number;
    /**
     * Other processors will come for what takes longer: a job with a limit starts only if it can end before
     * `stopAtMs`, also before the drain.
     */
    readonly keepsLimits?: true;
  };
}

/** Nodes that a gang cannot leave, such as those of one allocation. */
export interface Part extends Share {
  /** Unique, for people; the same as long as it exists. */
  readonly name: string;
}

/**
 * The resources for all jobs together. On a cluster they change: nodes are lost, and allocations begin and
 * end.
 */
export interface Capacity extends Share {
  /** If it is one part: its name, which only clusters have. */
  readonly name?: string;
  /** Each gang is on one of them. Left out: it is one part, which `whole` and `end` are about. */
  readonly parts?: readonly Part[];
  /** Sockets and cores of this machine; left out: the processors are on other nodes. */
  readonly own?: { readonly sockets: number; readonly cores: number; readonly unused: readonly number[] };
  /** The cluster chooses the nodes of each task itself. */
  readonly placesTasks?: true;
  /**
   * The most processors that it can ever have, so that no wider job is accepted. Left out: as many as now.
   */
  readonly mostProcessors?: number;
  /**
   * The most memory that it can ever have. Left out: as much as now, or unknown if there is
   * `mostProcessors`.
   */
  readonly mostMemoryBytes?: number;
  /** The longest time limit that a job can have here. Left out: any. */
  readonly mostLimitMs?: number;
  /**
   * Why no processors that may come would hold the job, even if it were alone, as a clause for people;
   * undefined: some would. Left out: as the others say.
   */
  readonly whyNever?: (job: JobShape) => string | undefined;
}

/** What keeps a launched attempt from running. Messages are clauses for people, without a full stop. */
export type Hindrance =
  /** It cannot begin yet. */
  | { readonly kind: "launch"; readonly message: string }
  /** Nodes of it do not answer. */
  | {
      readonly kind: "nodes";
      readonly message: string;
      /** Unix time in ms at which one of them was last heard. */
      readonly sinceMs: number;
      /** How long it had run when its nodes last said that. */
      readonly ranMs: number;
    };

/** true, or why it cannot be done, as text for people: a clause without a full stop. */
export type Ability = true | string;

/** How much of an input was taken. */
export interface InputTaken {
  /** Number of the writer's bytes that the job has, or can read. */
  readonly taken: number;
  readonly reader: "not-yet" | "open" | "closed";
}

/** What an executor may be unable to do; the front end refuses jobs and settings that need it. */
export interface Capabilities {
  /** The command can run once per task on all nodes of the gang: `tasksRun` each, with `mpi`. */
  readonly tasksRunEach: boolean;
  /** Gangs of other rows can run at low priority: matrices of mode concurrent. */
  readonly modeConcurrent: Ability;
  /** Running gangs can be stopped for a while: those in no row of the matrix, and listed as paused. */
  readonly canPause: Ability;
  /** A job can be sent signals: the one before its time limit (`limitSignal`), and those of users. */
  readonly signalsBeforeLimit: Ability;
  /** Jobs can hold countable resources: the setting `resources`, and `use` of a job. */
  readonly resources: Ability;
  /** How its nodes get some, as a clause for people. Left out: the setting `resources` names all. */
  readonly nodeResources?: string;
  /**
   * Jobs can read from a client: `input` of a job. pipes: but have no terminal, since what they write reaches
   * this machine later. Left out: they cannot.
   */
  readonly takesInput?: true | "pipes";
  /** What is started begins at once. If not, it waits in another queue, and may begin in a window. */
  readonly beginsAtOnce: Ability;
  /** Gangs can take turns on the same processors. If not, all policies share space only. */
  readonly timeSharing: boolean;
  /** A gang can get other processors while it runs. If not, it keeps those on which it began. */
  readonly movesGangs: boolean;
  /** An administrator can say that nothing runs on a lost node: the command `off`. */
  readonly offByWord: Ability;
  /** A reboot of this machine ends all attempts. */
  readonly endsWithReboot: boolean;
  /** Its processors are on nodes with names, which people see. */
  readonly hasNodes: boolean;
}

/** What the jobs want of the processors, as far as the front end knows. */
export interface Demand {
  /** The capacity to which the rest refers. */
  readonly of: Capacity;
  /**
   * The jobs that will be queued again when their processors end, and those that wait for processors and for
   * nothing else, in service order; of many shapes, the first ones.
   */
  readonly wishes: readonly Wish[];
}

/** What matters of a job for the processors that can hold it. */
export interface JobShape {
  readonly tasks: number;
  /** CPUs of each task; default: 1. */
  readonly threads?: number | undefined;
  /** Of the whole gang; left out: not stated. */
  readonly memoryBytes?: number | undefined;
  /** Left out: it has no limit. */
  readonly limitMs?: number | undefined;
}

export interface Wish extends JobShape {
  /** How many jobs of this shape want it; default: 1. */
  readonly jobs?: number | undefined;
  /** Names of the parts that could take it now, if no other job used them. */
  readonly takenBy: readonly string[];
  /** No part can take it, because nodes were lost. */
  readonly isForLost: boolean;
}

/** Nodes that an executor has for a while, such as those of a job of a batch system. */
export interface AllocationState {
  /** For people; left out: it has none yet. */
  readonly name?: string;
  /** The provider's word for it. */
  readonly state: string;
  readonly nodes: readonly string[];
  /** Time in ms until its end, when that was last asked for; left out: it waits, or has no end. */
  readonly leftMs?: number;
  /** The name of its kind, if there are several, and how many nodes it asked for. */
  readonly kind?: string;
  readonly askedNodes?: number;
}

/** Node time in ms of all allocations so far. */
export interface Bill {
  readonly askedNodeMs: number;
  readonly usedNodeMs: number;
  /** The part of it in which no job ran on the node. */
  readonly idleNodeMs: number;
}

/** Where nodes come from that come and go. Texts are for people. */
export interface NodeSource {
  /** In the order in which they were asked for. */
  readonly allocations: readonly AllocationState[];
  /** Why there are no nodes now. */
  readonly trouble?: string | undefined;
  /** Why there are none, although nothing is wrong. */
  readonly rests?: string | undefined;
  /** What follows the allocations in use, and when; undefined: none is in use. */
  readonly next?: string | undefined;
  /** That allocations are on their way, as a clause; undefined: none is. */
  readonly coming?: string | undefined;
  /** Nodes that take no part yet, as they have never answered, or did while jobs ran. Left out: none. */
  readonly awaited?: readonly string[];
  /** Left out: nodes cost nothing. */
  readonly bill?: Bill;
  /** Asks for nodes again, after somebody or something has ended that. */
  again(): void;
  /** Gives all nodes back. Rejects with a reason for people. Without this, they are kept. */
  release(): Promise<void>;
}

/** A node as people see it. Times in ms. */
export interface NodeHealth {
  readonly node: string;
  /** silent: it has not answered for 3 s, and its gangs are stopped on the others. lost: it is given up. */
  readonly state: "up" | "silent" | "lost";
  /** Its monotonic clock minus this machine's; left out: not measured yet. */
  readonly offsetMs?: number;
  /** The offset is right within this. */
  readonly uncertaintyMs?: number;
  /** How much later than the first node it began the slots of the last minute: median and 99 %. */
  readonly skewP50Ms?: number;
  readonly skewP99Ms?: number;
}

/** A gang in a row, and the CPUs that it has during the slot of that row. */
interface PlacedGang extends AttemptKey {
  readonly nodes: readonly NodeCpus[];
}

export type Matrix = MatrixSchedule<PlacedGang>;

export type Command =
  | { readonly type: "matrix"; readonly matrix: Matrix }
  | AttemptCommand
  /** These jobs of a `node-clean` have ended. A node for which that is true of all takes part again. */
  | { readonly type: "admit"; readonly node: string; readonly jobs: readonly number[] }
  /** This user knows that nothing runs on this node. Ignored unless it is lost. */
  | { readonly type: "off"; readonly node: string; readonly by: string };

/** The executor is connected and receives commands from now on. This state replaces all earlier reports. */
export interface Connected {
  readonly type: "connected";
  /** All attempts that the executor knows. */
  readonly attempts: readonly AttemptState[];
  /** Number of its current matrix. */
  readonly sequence: number;
  /** Start of slot 0 on this machine's monotonic clock, in ms. */
  readonly epochMs: number;
  /** Facts shown to people. */
  readonly facts: {
    readonly pid?: number;
    readonly freezer?: FreezerKind;
    /** Whether the kernel keeps jobs within their memory; left out: unknown. */
    readonly limitsMemory?: boolean;
  };
}

export type Report =
  | Connected
  | AttemptReport
  /**
   * The capacity is another from now on: `executor.capacity` has changed. Jobs on lost nodes end by
   * `ended`.
   */
  | { readonly type: "capacity"; readonly because: string }
  /** All nodes, whenever something about them has changed, and every ten seconds. */
  | { readonly type: "nodes"; readonly nodes: readonly NodeHealth[] }
  /**
   * A lost node is back and nothing is left on it, but these jobs have lost an attempt on it and must not
   * run there again: see `admit`. Repeated every few seconds.
   */
  | { readonly type: "node-clean"; readonly node: string; readonly jobs: readonly number[] }
  /**
   * The processors of this part end now, or all if none is named: stop all jobs there with grace and queue
   * them again for this reason.
   */
  | { readonly type: "make-room"; readonly reason: string; readonly part?: string }
  /** Something that administrators should know: an event of this kind that names node and rule. */
  | {
      readonly type: "notice";
      readonly kind: string;
      readonly text: string;
      readonly node?: string;
    };

export interface Executor {
  readonly capabilities: Capabilities;
  /** Left out: its nodes neither come nor go. */
  readonly nodeSource?: NodeSource;
  /** The present capacity; see the report `capacity`. */
  readonly capacity: Capacity;
  /** Why it has no processors now, or what keeps it from getting others, as text for people. */
  readonly trouble?: string | undefined;
  /** Why it has no processors although nothing is wrong, as text for people. */
  readonly rests?: string | undefined;
  /** Says what the jobs want, after each cycle. Left out: the processors do not depend on it. */
  setDemand?(demand: Demand): void;
  /** What keeps a launched attempt from running; undefined: only its row's turn. */
  hindrance?(attempt: IdentifiedAttempt): Hindrance | undefined;
  /**
   * Sends a piece of what a running attempt reads to its node; resolves when it was taken, or after some
   * seconds. Left out: clients on this machine write into the attempt's folder.
   */
  sendInput?(attempt: IdentifiedAttempt, piece: InputPiece): Promise<InputTaken>;
  /** Where a running attempt runs, as a sentence without a full stop; undefined: on its CPUs. */
  runsAs?(attempt: IdentifiedAttempt): string | undefined;
  /**
   * Never throws and never blocks. Commands are dropped while the executor is not connected; after each
   * `connected`, the front end repeats what it wants.
   */
  apply(commands: readonly Command[]): void;
  /**
   * @param onReport called for every report, beginning with `connected`
   * @param onDisconnect called with a reason for people when the connection is lost; the executor
   * reconnects
   *   by itself
   * @returns a function that removes both listeners
   */
  listen(onReport: (report: Report) => void, onDisconnect: (reason: string) => void): () => void;
  /** Disconnects; the executor continues. */
  close(): void;
}
