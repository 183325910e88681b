/**
 * Describes pilots that follow a queue: jobs of a batch system that only hold nodes, and on which waiting
 * jobs start. Each pilot is a part of the machine that no job can leave, with a policy object of its own, as
 * for the live scheduler (daemon/scheduling/part-drivers.ts). Which pilots there are, a PilotSettings says;
 * core/node-plan.ts decides when to ask for one.
 *
 *   asked ──▶ runs ──▶ serves ─────────────▶ drains ──────▶ stop ──▶ limit
 *     waitS      startS    jobs start if they    others may      nothing
 *                          end before the stop   be asked for    runs
 *
 * A pilot goes back as soon as it is of no use, at the latest at its stop: `goneS`. It is billed while it
 * runs.
 *
 * At one instant, jobs end, pilots begin, jobs arrive, jobs leave the queues of pilots on which they could no
 * longer end in time, policies decide, and then pilots go back and others are asked for.
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { NodeKind } from "@tutti/kernel/core/node-plan.ts";
import type {
  ParameterValues,
  PolicyChoice,
  PolicyDescription,
  SpacePolicyDefinition,
} from "@tutti/kernel/core/policy.ts";

/** Stands for "no pilot" wherever the index of one is expected. */
export const NO_PILOT = -1;

/** The batch system. Nobody else has jobs in it. */
export interface PilotSite {
  readonly nodes: number;
  readonly cpusPerNode: number;
  /** From asking for a pilot until it can run. */
  readonly waitS: number;
  /** From then until jobs can have its nodes. */
  readonly startS: number;
  /** This long before its limit, a pilot goes back. */
  readonly stopBeforeS: number;
  /** This long before its limit, a pilot no longer counts as one that jobs can wait for. */
  readonly drainS: number;
}

/** One problem for the simulator of pilots. */
export interface PilotsInstance {
  readonly site: PilotSite;
  /** Of a machine with all nodes of the site. Estimates are limits. */
  readonly jobs: Instance;
}

/** Which pilots there are. */
export interface PilotSettings {
  /** Decides on each pilot; it can withdraw jobs. */
  readonly queue: PolicyChoice<SpacePolicyDefinition>;
  /** What is asked for; undefined: one pilot of all nodes is there from the first job to the last. */
  readonly asks: PilotAsks | undefined;
}

export interface PilotAsks {
  /** The first that can hold a job is asked for. */
  readonly kinds: readonly NodeKind[];
  /** Of all pilots together that do not drain. */
  readonly maxNodes: number;
  /** Of all pilots together: what those that are gone have used, and what the others may. */
  readonly maxNodeS: number;
  /** A pilot goes back after this time without work; Infinity: never, and one is always held. */
  readonly idleS: number;
}

/** Has no claims: what pilots may do is in their settings, and the checker knows these. */
export interface PilotsPolicyDefinition extends PolicyDescription<Record<string, never>> {
  settings(parameters: ParameterValues, instance: PilotsInstance): PilotSettings;
}

/** What became of a pilot. Times that never came are NaN. */
export interface PilotRecord {
  readonly kind: string;
  readonly nodes: number;
  /** Until its limit. */
  readonly timeS: number;
  readonly askedS: number;
  runsS: number;
  servesS: number;
  drainS: number;
  stopS: number;
  goneS: number;
}

/** What a simulation of pilots returns. Columns by job; NaN for what never came. */
export interface PilotsSchedule {
  /** In the order in which they were asked for. */
  readonly pilots: readonly PilotRecord[];
  readonly pilotOf: Int32Array;
  readonly startS: Float64Array;
  readonly endS: Float64Array;
  /** Processors of the pilot, ascending: those of node n are n × cpusPerNode and the next. */
  readonly processorsOf: readonly (readonly number[])[];
  /** Jobs that no pilot could hold, by size or limit. */
  readonly refused: readonly JobIndex[];
  /** When the last job had ended; then all pilots go back. */
  readonly stopS: number;
}
