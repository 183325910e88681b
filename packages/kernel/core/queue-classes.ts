/**
 * Defines queue classes: which jobs a batch queue admits, and when its jobs may reserve processors. Queue
 * classes are plain data, so a site configures its queues without programming. The preset is table 2 of
 * Kawanami, Yoshihisa and Kanazawa 2008 with the thresholds of its table 3 and the limits of its table 4
 * (proposal 2).
 *
 * When processors become free, queues are served in the order of the list of classes. The paper does not
 * print such an order, so the preset keeps the order of its table 2.
 */
import { InputError } from "./errors.ts";

export interface QueueClass {
  /** As users write it; without spaces and colons. */
  readonly name: string;
  /** Maximum number of processors of one job. */
  readonly processors: number;
  /** Maximum number of processes of one job. */
  readonly processes: number;
  /** Maximum number of threads per process. */
  readonly threads: number;
  /** Only jobs with an estimate below this many seconds are admitted; undefined: no limit. */
  readonly elapsedBelowS?: number | undefined;
  /** Undefined: jobs of this class never reserve. */
  readonly reservations?: ReservationRule | undefined;
}

/**
 * When jobs of a class make connected reservations. An arrival in an empty queue that cannot start always
 * requests one.
 */
export interface ReservationRule {
  /** Maximum number of reservations that jobs of the class hold at a time, 1 or more. */
  readonly limit: number;
  /** A waiting job whose priority is above this requests a reservation. */
  readonly threshold: number;
  /**
   * Whether the first waiting job requests a reservation if it cannot start when processors were released.
   */
  readonly whenHeadBlocked: boolean;
}

/** What a job asks for, as its queue sees it. */
export interface JobShape {
  readonly processors: number;
  readonly processes: number;
  readonly threads: number;
  readonly estimateS: number;
}

/** The limits of a class, in the order in which classes are compared to find the tightest. */
export const CLASS_LIMITS = ["processors", "processes", "threads", "elapsed"] as const;
export type ClassLimit = (typeof CLASS_LIMITS)[number];

/** Stands for "no class admits the job" wherever an index into a list of classes is expected. */
export const NO_QUEUE = -1;

/** Which class a job got, and why. A queue is an index into the list of classes. */
export interface QueueSelection {
  /** NO_QUEUE if no class admits the job. */
  readonly queue: number;
  /**
   * What decided. `none`: no class admits the job. `only`: only one class does. A limit: the first one by
   * which the class is tighter than all others that were equally tight so far. `order`: all limits are equal,
   * and the first class wins.
   */
  readonly rule: "none" | "only" | ClassLimit | "order";
  /** Classes that do not admit the job, each with the first limit that the job exceeds. */
  readonly ruledOut: readonly RuledOutQueue[];
  /** Classes that also admit the job, but are not as tight. */
  readonly passedOver: readonly number[];
}

export interface RuledOutQueue {
  readonly queue: number;
  readonly limit: ClassLimit;
  /** What the job asks for. */
  readonly asked: number;
  /** What the class allows; for `elapsed`, the smallest value that it does not allow. */
  readonly allowed: number;
}

/** Kyoto University's HPC2500: tables 2, 3 and 4 (proposal 2) of the paper. */
export const HPC2500_CLASSES: readonly QueueClass[] = [
  { name: "ss8", processors: 8, processes: 8, threads: 8, elapsedBelowS: 7200 },
  { name: "s8", processors: 8, processes: 8, threads: 8 },
  {
    name: "s128",
    processors: 128,
    processes: 8,
    threads: 128,
    reservations: { limit: 1, threshold: 30, whenHeadBlocked: false },
  },
  {
    name: "d32",
    processors: 32,
    processes: 32,
    threads: 32,
    reservations: { limit: 3, threshold: 20, whenHeadBlocked: false },
  },
  {
    name: "d128",
    processors: 128,
    processes: 128,
    threads: 32,
    reservations: { limit: 2, threshold: 20, whenHeadBlocked: false },
  },
  {
    name: "d512",
    processors: 512,
    processes: 512,
    threads: 32,
    reservations: { limit: 1, threshold: 20, whenHeadBlocked: true },
  },
];

/** The first limit of the class that the job exceeds; undefined if the class admits the job. */
export function exceededLimit(queueClass: QueueClass, job: JobShape): ClassLimit | undefined {
  if (job.processors > queueClass.processors) return "processors";
  if (job.processes > queueClass.processes) return "processes";
  if (job.threads > queueClass.threads) return "threads";
  const { elapsedBelowS } = queueClass;
  return elapsedBelowS === undefined || job.estimateS < elapsedBelowS ? undefined : "elapsed";
}

/** The value of a limit; Infinity for a class that does not limit the elapsed time. */
export function limitOf(queueClass: QueueClass, limit: ClassLimit): number {
  return limit === "elapsed" ? (queueClass.elapsedBelowS ?? Number.POSITIVE_INFINITY) : queueClass[limit];
}

/** A mistake in a list of queue classes. */
export class QueueClassError extends InputError {
  override name = "QueueClassError";
  /** Index of the class in the list; undefined if the list itself is wrong. */
  readonly index: number | undefined;
  /** Such as `processors` or `reservations.limit`; empty if the list itself is wrong. */
  readonly field: string;

  constructor(message: string, index?: number, field = "") {
    super(message);
    this.index = index;
    this.field = field;
  }
}

/**
 * Checks a configuration and returns it.
 * @throws QueueClassError that names the class and the field
 */
export function checkQueueClasses(classes: readonly QueueClass[]): readonly QueueClass[] {
  if (classes.length === 0 || classes.length > 127) {
    throw new QueueClassError(`Cannot use ${classes.length} queue classes: expected 1 to 127`);
  }
  const names = new Set<string>();
  for (const [i, queueClass] of classes.entries()) {
    if (!/^[^\s:]+$/.test(queueClass.name)) {
      throw new QueueClassError(
        `Cannot use "${queueClass.name}" as name of queue class ${i + 1}: expected a word without spaces or colons`,
        i,
        "name",
      );
    }
    if (names.has(queueClass.name)) {
      throw new QueueClassError(
        `Cannot use "${queueClass.name}" as name of queue class ${i + 1}: an earlier class has that name; choose another`,
        i,
        "name",
      );
    }
    names.add(queueClass.name);
    checkClass(queueClass, i);
  }
  return classes;
}

function checkClass(queueClass: QueueClass, index: number): void {
  const { name } = queueClass;
  for (const field of ["processors", "processes", "threads"] as const) {
    checkField(
      { name, index, field },
      queueClass[field],
      isCount(queueClass[field]),
      "a whole number from 1",
    );
  }
  if (queueClass.elapsedBelowS !== undefined) {
    const seconds = queueClass.elapsedBelowS;
    checkField(
      { name, index, field: "elapsedBelowS" },
      seconds,
      Number.isFinite(seconds) && seconds > 0,
      "seconds above 0; leave it out for no limit",
    );
  }
  const rule = queueClass.reservations;
  if (rule === undefined) return;
  checkField(
    { name, index, field: "reservations.limit" },
    rule.limit,
    isCount(rule.limit),
    "a whole number from 1; a class without `reservations` never reserves",
  );
  const { threshold } = rule;
  checkField(
    { name, index, field: "reservations.threshold" },
    threshold,
    Number.isFinite(threshold) && threshold >= 0,
    "a number from 0",
  );
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

function checkField(
  { name, index, field }: { readonly name: string; readonly index: number; readonly field: string },
  value: number,
  isRight: boolean,
  expected: string,
): void {
  if (isRight) return;
  throw new QueueClassError(
    `Cannot use ${value} as ${field} of queue class "${name}": expected ${expected}`,
    index,
    field,
  );
}
