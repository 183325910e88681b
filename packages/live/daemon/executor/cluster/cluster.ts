/**
 * Defines what the cluster executor needs from whatever provides the nodes, such as Slurm: an allocation of
 * nodes with a conductor on each, and a link to each conductor. Only the implementation of this interface
 * knows how nodes are obtained and reached.
 */
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import type { Capabilities, Capacity, Demand, NodeSource, Part } from "../executor.ts";

/** What the executor of a cluster can do with nodes of any provider. */
export const ON_CLUSTER: Capabilities = {
  tasksRunEach: true,
  modeConcurrent:
    'on a cluster, a gang has its slots on all of its nodes or on none, expected the mode "gang"',
  signalsBeforeLimit: true,
  resources: true,
  takesInput: true,
  canPause: true,
  beginsAtOnce: true,
  timeSharing: true,
  movesGangs: false,
  offByWord: "the cluster itself says when nothing runs on a node",
  endsWithReboot: false,
  hasNodes: true,
};

export interface AllocatedNode {
  readonly node: string;
  /** Its CPUs that jobs may use, numbered as on that node. */
  readonly cpus: readonly number[];
  /** For jobs; left out: its share of the allocation's. */
  readonly memoryBytes?: number;
  /** The jobs that were given to `setLostJobs` last, perhaps by an earlier front end. Left out: none. */
  readonly lostJobs?: readonly number[];
}

/** Nodes that Tutti has for a while. */
export interface Allocation {
  /** Unique, also over all earlier ones; shown to people: for Slurm, the job id of the pilot. */
  readonly name: string;
  readonly nodes: readonly AllocatedNode[];
  /** Memory of all nodes together for jobs. */
  readonly memoryBytes: number;
  /** As of a part of the capacity; left out: it has no end. */
  readonly end?: Part["end"];
  /** It has lost nodes before they were handed out. */
  readonly isPartial?: true;
}

export interface ClusterListener {
  /**
   * An allocation has begun, or one of an earlier front end was found again, or its end has changed. There
   * may be several; a node is in one of them.
   */
  allocated(allocation: Allocation): void;
  /** The cluster itself has given the node up: no process of a job runs there now. */
  nodeDown(node: string): void;
  /**
   * The allocation has ended on all nodes: no process of a job runs there now.
   * @param name undefined: there is none, and those of an earlier front end have ended
   */
  released(name: string | undefined, because: string): void;
  /** Nothing more may start on the allocation; what runs goes on. */
  closing(name: string, because: string): void;
  /** Why there is no allocation although nothing is wrong; undefined: there is one, or trouble. */
  rests(text: string | undefined): void;
  /** Why there is no allocation now, for `why` and `status`; undefined: no trouble. */
  trouble(text: string | undefined): void;
  /** A rule for a fault was applied. */
  notice(kind: string, text: string, node?: string): void;
}

/**
 * Messages to and from the conductor of one node. It connects again by itself until `close`. Messages sent
 * without a connection are dropped.
 */
export interface NodeLink {
  readonly node: string;
  send(message: ToConductor): void;
  close(): void;
}

export interface LinkListener {
  /** There is a connection: say hello. */
  opened(): void;
  message(message: FromConductor): void;
  closed(because: string): void;
}

export interface Cluster extends NodeSource {
  /** The most processors that an allocation can have. A gang is on one allocation. */
  readonly mostProcessors: number;
  /** The longest time limit that a job can have. */
  readonly mostLimitMs: number;
  /** Why no allocation can ever hold the job, for people; undefined: one can. Left out: any of that size. */
  readonly whyNever?: Capacity["whyNever"];
  /** Begins to find or to make allocations. */
  start(listener: ClusterListener): void;
  /** Whether allocations of an earlier front end may still be found. Left out: they are found at once. */
  readonly isFinding?: boolean;
  link(node: string, listener: LinkListener): NodeLink;
  /**
   * A lost node takes part again as soon as it is back and nothing is left on it, also for jobs that have
   * lost an attempt there: no other nodes will ever follow.
   */
  readonly readmits?: true;
  /**
   * The command that starts the tasks of a gang on its nodes, for the conductor of its first node: one shim
   * per task, `/bin/sh FOLDER/tasks/RANK/launch`. Left out: the conductors start the tasks of their nodes.
   */
  step?(spec: LaunchSpec): readonly string[];
  /**
   * Variables for the command of a gang that runs once, so that srun and mpirun in it use the gang's nodes.
   */
  variables(spec: LaunchSpec): Readonly<Record<string, string>>;
  /**
   * Keeps, also for later front ends, which jobs have lost an attempt on this node: while there are any, it
   * takes no part in its allocation. An allocation of such nodes only is given back when no gang runs.
   */
  setLostJobs(node: string, jobs: readonly number[]): void;
  /**
   * Tells on how many nodes of each allocation gangs run or end. An allocation that is at its end, or whose
   * first node is lost, is given back as soon as none does. Until the first call after its begin, one does.
   */
  setBusy(nodes: ReadonlyMap<string, number>): void;
  /** Tells what jobs want of the present allocations, or of the first one; undefined: not known yet. */
  setDemand(demand: Demand | undefined): void;
  /** Stops listening; allocation and conductors go on. */
  close(): void;
}
