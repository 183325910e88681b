/** A pilot as the front end knows it, and the words for its states. */
import { assert } from "@tutti/kernel/core/errors.ts";
import type { HeldNodes } from "@tutti/kernel/core/node-plan.ts";
import type { Allocation } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import type { AllocationState, Bill } from "@tutti/live/daemon/executor/executor.ts";
import type { KeptStore } from "@tutti/live/daemon/executor/kept-file.ts";
import type { QueuedJob } from "./formats/queue.ts";
import { UNSERVED_MS } from "./need.ts";
import { markOf, PatientStore, type PilotContent, type StoredPilot, storedOf } from "./pilot-file.ts";

/**
 * Time between two questions while a pilot waits, by how long it has waited. A question costs Slurm the same
 * whatever the number of pilots, and all users share its controller: 100 of them must stay below 5 questions
 * a second together.
 */
const WAITING_MS = [
  [20_000, 1000],
  [120_000, 5000],
  [600_000, 15_000],
  [Number.POSITIVE_INFINITY, 60_000],
] as const;
/** The same while all pilots run: what happens to them, their nodes show first; see `suspect`. */
const RUNNING_MS = 30_000;
/** What a front end whose pilots run asks Slurm, a second. */
export const QUESTIONS_PER_S = 1000 / RUNNING_MS;
/** Beyond this, the end of a pilot is another one, and not only rounded in another way. */
export const END_TOLERANCE_MS = 10_000;
const LEAVING_MS = 1000;
/** Times between tries that failed. */
const FAILURE_MS = [1000, 5000, 15_000];

/** After this number of refusals by sbatch, or of pilots that end early, in a row, we stop asking. */
export const MAX_REFUSALS = 3;
/** After this time without a conductor, or without a job of that id, an unknown pilot has ended. */
export const UNKNOWN_MS = 15_000;
/** A pilot that ends sooner is of no use. */
export const EARLY_MS = 60_000;
/** Who asks for pilots may know of a cancellation before we do: this long, it does not halt them again. */
export const ASKED_MS = 15_000;
/** So long after its end has begun, a pilot is no reason to wait: its nodes may hang. */
export const COMPLETING_MS = 60_000;
/** A job that is still alive so long after its cancellation is cancelled again. */
export const CANCEL_AGAIN_MS = 30_000;

export const RESTS = "no job waits for nodes, so there is no pilot; the next job brings one";

/** The time that is left never grows, but for the seconds that Slurm rounds. */
export const LEFT_TOLERANCE_S = 2;
/** This number of failures in a row is reported. */
export const REPORTED_FAILURES = 3;
/** Slurm's states of jobs that have ended on all nodes. */
export const ENDED: ReadonlySet<string> = new Set([
  "BOOT_FAIL",
  "CANCELLED",
  "COMPLETED",
  "DEADLINE",
  "FAILED",
  "NODE_FAIL",
  "OUT_OF_MEMORY",
  "PREEMPTED",
  "REVOKED",
  "TIMEOUT",
]);

/** A pilot, and what this process has learned about it. */
export interface Pilot extends StoredPilot {
  /** sbatch may have worked although no answer came. */
  mayExist: boolean;
  refusals: number;
  job: QueuedJob | undefined;
  /** Its nodes, while they are handed out. */
  allocation: Allocation | undefined;
  /** Slurm has said whether it still runs. */
  isSeen: boolean;
  /** Until when `ranMs` and `idleNodeMs` count; undefined: they are not counted yet. */
  countedMs: number | undefined;
  /** What people can do while it waits, and when that was found out. */
  advice: { readonly text: string; readonly atMs: number } | undefined;
  readonly waitsSinceMs: number;
  unknownSinceMs: number | undefined;
  /** Since when Slurm ends its processes. How it has ended, Slurm says only after that. */
  completingSinceMs: number | undefined;
  /** It waits or is unknown although it has run. */
  isForgotten: boolean;
  lostBatchHost: boolean;
  /** Nothing more starts on it. */
  isClosing: boolean;
  startedMs: number;
  /** When this process has handed out its nodes; −∞: it has not. */
  handedOutMs: number;
  /** This process has used it. */
  wasAllocated: boolean;
  /** Seconds until its limit when it was last seen running; Infinity: never seen, or no limit. */
  leftS: number;
  /** −∞: not cancelled by this process. */
  cancelledMs: number;
}

/** A pilot from the file. */
export function newPilot(stored: StoredPilot, nowMs: number): Pilot {
  return {
    ...stored,
    mayExist: true,
    refusals: 0,
    job: undefined,
    allocation: undefined,
    isSeen: false,
    countedMs: undefined,
    advice: undefined,
    waitsSinceMs: nowMs,
    unknownSinceMs: undefined,
    completingSinceMs: undefined,
    isForgotten: false,
    lostBatchHost: false,
    isClosing: false,
    startedMs: nowMs,
    handedOutMs: Number.NEGATIVE_INFINITY,
    wasAllocated: false,
    leftS: Number.POSITIVE_INFINITY,
    cancelledMs: Number.NEGATIVE_INFINITY,
  };
}

/** The pilots of a state folder, kept on disk, in the order in which they were submitted. */
export class PilotList {
  readonly all: Pilot[];
  readonly content: PilotContent;
  readonly #disk: PatientStore;

  constructor(content: PilotContent, store: KeptStore<PilotContent>, nowMs: number) {
    this.content = content;
    this.#disk = new PatientStore(store);
    this.all = content.pilots.map((stored) => newPilot(stored, nowMs));
  }

  /** A pilot that is still to be submitted. @param asked what it asks for */
  add(asked: Pick<StoredPilot, "kind" | "nodes" | "timeMs">, nowMs: number): Pilot {
    const { content } = this;
    content.counter++;
    content.submitted++;
    const pilot = { ...newPilot({ mark: markOf(content), ...asked }, nowMs), mayExist: false };
    this.all.push(pilot);
    this.save();
    return pilot;
  }

  remove(pilot: Pilot): void {
    const index = this.all.indexOf(pilot);
    assert(index >= 0, `the pilot ${pilot.mark} is not in the list`);
    this.all.splice(index, 1);
    this.save();
  }

  /** It has ended, or is given back: its time counts, and it leaves the list. */
  bill(pilot: Pilot): void {
    const { content } = this;
    content.bill = added(content.bill ?? NO_BILL, pilot);
    content.usedSinceAskedMs = (content.usedSinceAskedMs ?? 0) + billOf(pilot).usedNodeMs;
    this.remove(pilot);
  }

  /** What a disk refuses is written at a later turn: what happens in Slurm counts all the same. */
  save(): void {
    this.content.pilots = this.all.map(storedOf);
    this.#disk.save(this.content);
  }

  /** @throws InputError if the disk still refuses what was saved last */
  retry(): void {
    this.#disk.retry();
  }
}

/** @param jobs that have lost an attempt on the node */
export function setLostJobs(pilot: Pilot, node: string, jobs: readonly number[]): void {
  const { [node]: _, ...others } = pilot.lostJobs ?? {};
  pilot.lostJobs = jobs.length > 0 ? { ...others, [node]: [...jobs] } : others;
}

/** Number of its nodes on which jobs have lost attempts. */
export function lostNodes({ lostJobs = {} }: StoredPilot): number {
  return Object.values(lostJobs).filter((jobs) => jobs.length > 0).length;
}

/** Whether the pilot goes back to Slurm as soon as no gang runs. */
export function isAtEnd(
  pilot: Pilot,
  { nodes, end }: Allocation,
  pilots: readonly Pilot[],
  nowMs: number,
): boolean {
  if (pilot.lostBatchHost || nodes.every(({ node }) => pilot.lostJobs?.[node])) return true;
  if (end === undefined || nowMs < end.drainAtMs) return false;
  const hasSuccessor = pilots.some(
    (other) => other !== pilot && other.job?.state === "RUNNING" && !isEnding(other, nowMs),
  );
  return hasSuccessor || nowMs >= end.stopAtMs;
}

/** Whether it drains, or goes back when no gang runs. */
function isEnding(pilot: Pilot, nowMs: number): boolean {
  const { allocation, isClosing, lostBatchHost, completingSinceMs } = pilot;
  if (isClosing || lostBatchHost || completingSinceMs !== undefined) return true;
  return nowMs >= (allocation?.end?.drainAtMs ?? Number.POSITIVE_INFINITY);
}

/** As what is asked for next depends on it. @param isServing whether jobs can have its nodes */
export function heldOf(pilot: Pilot, isServing: boolean, nowMs: number): HeldNodes {
  const { allocation, nodes = 1, kind, timeMs, isGivenUp } = pilot;
  // Slurm has it until it says that it has ended.
  if (isGivenUp) return { nodes, isEnding: false };
  const held = { nodes: allocation?.nodes.length ?? nodes, isEnding: isEnding(pilot, nowMs) };
  // One that has run is not waited for: Slurm has forgotten it, and it may go on.
  const mayStillServe = !isServing && nowMs < pilot.handedOutMs + UNSERVED_MS;
  const isAwaited = allocation === undefined ? !pilot.hasBegun : mayStillServe && !held.isEnding;
  if (!isAwaited || kind === undefined || timeMs === undefined) return held;
  return { ...held, awaited: { kind, timeS: timeMs / 1000 } };
}

export const NO_BILL: Bill = { askedNodeMs: 0, usedNodeMs: 0, idleNodeMs: 0 };

/** Of one pilot. */
export function billOf({ nodes = 0, timeMs = 0, ranMs = 0, idleNodeMs = 0 }: StoredPilot): Bill {
  return {
    askedNodeMs: nodes * timeMs,
    usedNodeMs: Math.round(nodes * ranMs),
    idleNodeMs: Math.round(idleNodeMs),
  };
}

export function added(bill: Bill, pilot: StoredPilot): Bill {
  const { askedNodeMs, usedNodeMs, idleNodeMs } = billOf(pilot);
  return {
    askedNodeMs: bill.askedNodeMs + askedNodeMs,
    usedNodeMs: bill.usedNodeMs + usedNodeMs,
    idleNodeMs: bill.idleNodeMs + idleNodeMs,
  };
}

/** How long it has run while no front end counted that, Slurm knows. As many nodes were idle as before. */
export function learnRan(pilot: Pilot, { state, startS, leftS }: QueuedJob, unixMs: number): void {
  if (state === "PENDING") return;
  // Of one that has ended, Slurm says what was left of its limit.
  const isCounting = !ENDED.has(state) && startS !== undefined;
  const limitRestMs = leftS === undefined ? undefined : (pilot.timeMs ?? 0) - 1000 * leftS;
  const ranMs = isCounting ? unixMs - 1000 * startS : (limitRestMs ?? 0);
  const uncountedMs = Math.max(0, Math.round(ranMs) - (pilot.ranMs ?? 0));
  pilot.ranMs = (pilot.ranMs ?? 0) + uncountedMs;
  pilot.idleNodeMs = (pilot.idleNodeMs ?? 0) + (pilot.idleNodes ?? 0) * uncountedMs;
}

/** Time until the next turn. */
export function turnWaitMs(pilots: readonly Pilot[], nowMs: number): number {
  const dates = pilots
    .flatMap(({ allocation }) => [allocation?.end?.drainAtMs, allocation?.end?.stopAtMs])
    .map((atMs) => (atMs ?? 0) - nowMs);
  const questions = pilots.map((pilot) => questionWaitMs(pilot, nowMs));
  return Math.min(...(questions.length > 0 ? questions : [RUNNING_MS]), ...dates.filter((ms) => ms > 0));
}

/** Time until the next question about a pilot. */
function questionWaitMs(pilot: Pilot, nowMs: number): number {
  const { isGivenUp, completingSinceMs, waitsSinceMs, allocation } = pilot;
  if (isGivenUp || completingSinceMs !== undefined) return LEAVING_MS;
  if (allocation !== undefined) return RUNNING_MS;
  return WAITING_MS.find(([untilMs]) => nowMs - waitsSinceMs < untilMs)![1];
}

/** Time until the next try after a number of failures in a row. */
export function failureWaitMs(failures: number): number {
  return FAILURE_MS[Math.min(failures, FAILURE_MS.length) - 1];
}

export function endText(jobId: string, state: string): string {
  const texts: Readonly<Record<string, string>> = {
    CANCELLED: "was cancelled",
    COMPLETED: "has ended",
    NODE_FAIL: "ended because a node failed",
    PREEMPTED: "was preempted",
    TIMEOUT: "has reached its time limit",
  };
  return `The pilot ${jobId} ${texts[state] ?? `ended as ${state}`}`;
}

/** What became of a pilot that waited. @param found job that has its id now */
export function lostText({ jobId, mark }: Pilot, found: QueuedJob | undefined): string {
  if (found === undefined) return `Slurm has lost the waiting pilot ${jobId}`;
  const comment = `the comment of Slurm's job ${jobId} is "${found.comment}", expected "${mark}"`;
  return `${comment} (another job has that id now, or the site changes comments)`;
}

/** For people, in Slurm's words, such as RUNNING. */
export function statusOf({ jobId, job, kind, nodes: askedNodes }: Pilot): AllocationState {
  return {
    name: jobId,
    state: job?.state ?? "UNKNOWN",
    nodes: [...(job?.nodes ?? [])],
    ...(job?.state === "RUNNING" && job.leftS !== undefined && { leftMs: 1000 * job.leftS }),
    ...(kind !== undefined && { kind }),
    ...(askedNodes !== undefined && { askedNodes }),
  };
}

interface Situation {
  readonly hasNodes: boolean;
  /** Why no pilot is asked for. */
  readonly halted: string | undefined;
  /** Why the last question to Slurm had no answer. */
  readonly failure: string | undefined;
  readonly pilots: readonly Pilot[];
  readonly mayAdd: boolean;
}

/** Why there are no nodes; undefined: there are, or a pilot is about to be asked for. */
export function troubleText({ hasNodes, halted, failure, pilots, mayAdd }: Situation): string | undefined {
  if (hasNodes) return undefined;
  if (halted !== undefined) return `${halted}; "tutti allocations start" asks for another one`;
  if (failure !== undefined) return failure;
  const pilot = pilots.find(({ isGivenUp }) => isGivenUp !== true);
  if (pilot !== undefined) return waitingText(pilot);
  return mayAdd ? undefined : `All pilots have ended; "tutti allocations start" asks for more`;
}

/** Why a pilot has no nodes for jobs yet. */
function waitingText({ jobId, job, advice }: Pilot): string {
  if (jobId === undefined) return "The pilot is being submitted";
  if (job === undefined) return `The pilot ${jobId} has just been submitted to Slurm`;
  const reason = job.state === "PENDING" && job.reason !== "None" ? `: ${job.reason}` : "";
  const rest = advice === undefined || advice.text === "" ? "" : `. ${advice.text}`;
  return `The pilot ${jobId} is ${job.state.toLowerCase()} in Slurm${reason}${rest}`;
}
