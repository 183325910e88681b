/**
 * Generates jobs with programs for the task simulator: the workloads of Silva and Scherson 1999, section 4.
 * The paper's simulator makes a job from distributions of its communication, I/O and synchronisation. The
 * paper does not print these distributions, so we chose them:
 *
 *   round of a task     compute   then, by the kind of the round,
 *     I/O                         I/O
 *     communication               send to the task `shift` ranks ahead, receive from `shift` ranks back
 *     synchronisation             a barrier over all tasks of the job
 *     fork-join                   the first task creates the others; each computes once; it waits for them
 *
 * A job of one kind has rounds of that kind. A mixed job draws the kind of each round. A computation job is
 * one compute statement. All tasks of a job run the same rounds, with durations drawn separately for each
 * task, until the job has had its service time, which is the time it takes on processors of its own. A
 * fork-join job arrives with one task and grows to its size in every round (the paper's "spawning factor" and
 * "degree of parallelism"). A local task of a processor runs I/O rounds (not in the paper's simulations).
 * Users declare communication and synchronisation jobs as gangs, as in the paper's examples (section 2.3). A
 * job of one task has no other task to communicate with: it skips sends, receives and barriers. Service times
 * are cut off if they are so long that the job could not end within the run anyway.
 *
 * No program can deadlock, whatever the schedule. Statements are appended to the tasks in one order, in which
 * each receive comes after its send and all tasks reach a barrier at the same point. So the first statement
 * of that order that has not been executed can always be executed.
 */
import { Random } from "@tutti/kernel/core/random.ts";
import { drawHyperErlang } from "@tutti/kernel/workload/models/hyper-erlang.ts";
import { drawSize, JANN_RANGES } from "@tutti/kernel/workload/models/jann-ranges.ts";
import type { TaskPrograms } from "./contract.ts";
import { ProgramBuilder } from "./program-builder.ts";

/** Kinds of job. */
export type JobKind = "I/O" | "computation" | "communication" | "synchronisation" | "mixed" | "fork-join";

/** A duration: uniform over the whole ms from mean·(1 − spread) to mean·(1 + spread). */
interface Duration {
  readonly meanMs: number;
  /** 0 … 1. */
  readonly spread: number;
}

/** The parts of a round of one kind of job. */
interface RoundTimes {
  readonly compute: Duration;
  /** Length of an I/O statement. */
  readonly io: Duration;
  /** Time that a message takes to arrive. */
  readonly latency: Duration;
}

export interface ProgramsOptions {
  readonly seed: number;
  /** Jobs arrive until this time. */
  readonly untilMs: number;
  /** Largest size; ranges above it are left out. */
  readonly maxSize: number;
  /** Times between arrivals are multiplied by this. */
  readonly interarrivalFactor: number;
  /** Service times are multiplied by this. */
  readonly serviceFactor: number;
  /** Kinds of job and how often each occurs. */
  readonly kinds: readonly { readonly kind: JobKind; readonly weight: number }[];
  readonly times: Readonly<Record<Exclude<JobKind, "computation" | "fork-join">, RoundTimes>>;
  /** Poisson arrivals of local tasks at each processor; default: none. `workMs`: mean service time. */
  readonly locals?: { readonly perHour: number; readonly workMs: number } | undefined;
}

/**
 * Hyper-Erlang arrivals and service times, by ranges of size, with programs. Arrivals, service times, sizes
 * and kinds have their own random streams, and so does each program, so workloads of different kinds have the
 * same jobs.
 */
export function makeTaskPrograms(name: string, options: ProgramsOptions): TaskPrograms {
  const jobs = arrivals(options);
  const builder = new ProgramBuilder();
  const kinds = new Random(options.seed, "kinds");
  const total = options.kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (let job = 0; job < jobs.length; job++) {
    const { submitMs, size, serviceMs, home = -1 } = jobs[job];
    const kind = home >= 0 ? "I/O" : kindAt(options, kinds.uniform() * total);
    const isGang = kind === "communication" || kind === "synchronisation";
    builder.beginJob(submitMs, kind === "fork-join" ? 1 : size, { isGang, home });
    const random = new Random(options.seed, `program ${job}`);
    if (kind === "fork-join") addForks(builder, size, serviceMs, options.times.mixed, random);
    else if (kind === "computation") for (let rank = 0; rank < size; rank++) builder.compute(rank, serviceMs);
    else addRounds(builder, size, serviceMs, kind, options.times[kind], random);
    builder.endJob();
  }
  return builder.build(name);
}

interface Arrival {
  readonly submitMs: number;
  readonly size: number;
  readonly serviceMs: number;
  /** Processor of a local task. */
  readonly home?: number;
}

function arrivals(options: ProgramsOptions): Arrival[] {
  const { seed, untilMs, maxSize, interarrivalFactor, serviceFactor } = options;
  const jobs: Arrival[] = [];
  for (const range of JANN_RANGES) {
    if (range.maxSize > maxSize) break;
    const times = new Random(seed, `arrivals ${range.minSize}`);
    const services = new Random(seed, `services ${range.minSize}`);
    const sizes = new Random(seed, `sizes ${range.minSize}`);
    for (let submitS = 0; ; ) {
      submitS += interarrivalFactor * drawHyperErlang(range.interarrivalS, times);
      const submitMs = Math.round(1000 * submitS);
      if (submitMs >= untilMs) break;
      const drawnMs = Math.round(1000 * serviceFactor * drawHyperErlang(range.serviceS, services));
      // A job that needs more than the time left cannot end before the run does; one ms beyond it is enough.
      const serviceMs = Math.max(1, Math.min(drawnMs, untilMs - submitMs + 1));
      jobs.push({ submitMs, size: drawSize(range, sizes), serviceMs });
    }
  }
  jobs.push(...locals(options));
  return jobs.sort((a, b) => a.submitMs - b.submitMs); // stable: ties in order of ranges, then local tasks
}

function locals({ seed, untilMs, maxSize, locals: wanted }: ProgramsOptions): Arrival[] {
  if (wanted === undefined || wanted.perHour === 0) return [];
  const tasks: Arrival[] = [];
  for (let home = 0; home < maxSize; home++) {
    const random = new Random(seed, `local tasks of processor ${home}`);
    for (let timeMs = 0; ; ) {
      timeMs += random.exponential(3_600_000 / wanted.perHour);
      const submitMs = Math.round(timeMs);
      if (submitMs >= untilMs) break;
      const serviceMs = Math.max(1, Math.round(random.exponential(wanted.workMs)));
      tasks.push({ submitMs, size: 1, serviceMs, home });
    }
  }
  return tasks;
}

function kindAt({ kinds }: ProgramsOptions, at: number): JobKind {
  let rest = at;
  for (const { kind, weight } of kinds) {
    if (rest < weight) return kind;
    rest -= weight;
  }
  return kinds[kinds.length - 1].kind;
}

const MIXED_ROUNDS = ["I/O", "communication", "synchronisation"] as const;

function addRounds(
  builder: ProgramBuilder,
  size: number,
  serviceMs: number,
  kind: Exclude<JobKind, "computation" | "fork-join">,
  times: RoundTimes,
  random: Random,
): void {
  while (builder.dedicatedMs() < serviceMs) {
    const round = kind === "mixed" ? MIXED_ROUNDS[random.below(3)] : kind;
    for (let rank = 0; rank < size; rank++) {
      const leftMs = serviceMs - builder.clockMs(rank);
      if (leftMs > 0) builder.compute(rank, Math.min(leftMs, draw(times.compute, random)));
    }
    if (round === "I/O") {
      for (let rank = 0; rank < size; rank++) {
        const leftMs = serviceMs - builder.clockMs(rank);
        if (leftMs > 0) builder.io(rank, Math.min(leftMs, draw(times.io, random)));
      }
    } else if (size > 1 && round === "communication") {
      const shift = 1 + random.below(size - 1);
      const first = builder.messages;
      for (let rank = 0; rank < size; rank++) {
        builder.send(rank, (rank + shift) % size, draw(times.latency, random));
      }
      for (let rank = 0; rank < size; rank++) builder.receive(first + ((rank + size - shift) % size));
    } else if (size > 1 && round === "synchronisation") {
      builder.barrier();
    }
  }
}

/** Rounds: a computation of the first task, then the others are created, compute once and end. */
function addForks(
  builder: ProgramBuilder,
  size: number,
  serviceMs: number,
  { compute }: RoundTimes,
  random: Random,
): void {
  while (builder.dedicatedMs() < serviceMs) {
    const leftMs = serviceMs - builder.dedicatedMs();
    builder.compute(0, Math.min(leftMs, draw(compute, random)));
    for (let rank = 1; rank < size; rank++) {
      const task = builder.create(0);
      builder.compute(task, draw(compute, random));
      builder.endTask(task);
    }
    builder.barrier();
  }
}

function draw({ meanMs, spread }: Duration, random: Random): number {
  const half = Math.floor(meanMs * spread);
  // Like random.below(), without its division; the bias is below 2^−10 of a millisecond.
  const above = Math.floor((random.nextUint32() * (2 * half + 1)) / 4294967296);
  return Math.max(1, Math.round(meanMs) - half + above);
}
