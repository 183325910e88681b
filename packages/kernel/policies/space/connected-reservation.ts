/**
 * Implements batch queues with connected reservations (Kawanami, Yoshihisa and Kanazawa 2008). All queues
 * share all processors. Within a queue, jobs start first fit, and an arrival that fits starts at once, past
 * the waiting jobs. A job asks for a reservation if it is passed too often, or if it cannot start although it
 * is first in its queue. It is then connected to running jobs and inherits their processors when they end
 * (see reservation-book.ts).
 *
 * Two parameters select one of the schedulers that the paper compares:
 *
 *   reservations  selection      scheduler in the paper
 *   none          user           conventional (従来)
 *   none          automatic      proposal 1: every limit of its table 4 is 0
 *   limited       automatic      proposal 2
 *
 * We read what the paper leaves open as follows. Queues are served in the order of the classes. A job counts
 * as passed only if the job that passes it is in the same queue. Its priority rises each time, and it asks
 * for a reservation as soon as the priority is above the threshold of its class. If that is refused, it asks
 * again at every instant while its priority is above the threshold. A job with a reservation no longer takes
 * part in first fit.
 */

import { InputError } from "../../core/errors.ts";
import { type JobIndex, type JobsView, NO_JOB } from "../../core/jobs.ts";
import { choice, integer, number } from "../../core/parameters.ts";
import type {
  Condition,
  JobCheck,
  OfferedJob,
  ParameterSpec,
  ParameterValues,
  Policy,
  Pool,
  SpacePolicyDefinition,
} from "../../core/policy.ts";
import { StartRule, when } from "../../core/policy.ts";
import { checkQueueClasses, HPC2500_CLASSES, NO_QUEUE, type QueueClass } from "../../core/queue-classes.ts";
import { JobIntegers, JobNumbers } from "../../structures/job-column.ts";
import { OrderedJobs } from "../../structures/ordered-jobs.ts";
import { chosenQueue, queueCheck, scaledClasses } from "./queue-check.ts";
import { selectQueue } from "./queue-selection.ts";
import { ReservationBook } from "./reservation-book.ts";
import { DECIDES_ONCE } from "./shared-rules.ts";

const RESERVATIONS = ["none", "limited", "unlimited"] as const;
const SELECTIONS = ["automatic", "user"] as const;

export class ConnectedReservation implements Policy {
  /** Public for audits and tests, which must not change it. */
  readonly book: ReservationBook;
  readonly #pool: Pool;
  readonly #jobs: JobsView;
  readonly #classes: readonly QueueClass[];
  readonly #byUser: boolean;
  readonly #check: JobCheck;
  /** Maximum number of reservations by queue; 0 if its jobs never reserve. */
  readonly #limits: readonly number[];
  /** Maximum number of processors for all running jobs that have passed others. */
  readonly #passLimit: number;
  #passing = 0;
  readonly #hasPassed = new JobIntegers();

  readonly #queueOf = new JobIntegers();
  /** Jobs waiting without a reservation, in order of arrival, by queue. */
  readonly #waiting: readonly OrderedJobs[];
  /** Priority by job; it grows each time the job is overtaken. */
  readonly #priority = new JobNumbers();
  /** Waiting jobs without a reservation whose priority is above the threshold, by queue. */
  readonly #urgent: Int32Array;
  #wasReleased = false;
  #scratch = new Int32Array(64);

  constructor(pool: Pool, jobs: JobsView, parameters: ParameterValues, given: readonly QueueClass[]) {
    const classes = scaledClasses(given, parameters);
    this.#check = queueCheck(given, parameters);
    this.#pool = pool;
    this.#jobs = jobs;
    this.#classes = classes;
    this.#byUser = parameters.selection === "user";
    this.#limits = classes.map(({ reservations }) => {
      if (reservations === undefined || parameters.reservations === "none") return 0;
      return parameters.reservations === "limited" ? reservations.limit : Number.POSITIVE_INFINITY;
    });
    this.#passLimit = Math.floor(Number(parameters.passing) * pool.processors);
    this.#waiting = classes.map(() => new OrderedJobs(jobs, true));
    this.#urgent = new Int32Array(classes.length);
    this.book = new ReservationBook(jobs, this.#queueOf, classes.length);
  }

  /** Priority that the job has gained by being overtaken. */
  priorityOf(job: JobIndex): number {
    return this.#priority.get(job);
  }

  depart(job: JobIndex): void {
    this.book.end(job);
    this.#passing -= this.#hasPassed.get(job) * this.#jobs.size[job];
    // A job that was stopped may arrive again.
    this.#hasPassed.set(job, 0);
    this.#wasReleased = true;
  }

  decide(arrived: readonly JobIndex[]): void {
    for (const job of arrived) this.#queueOf.set(job, this.#chooseQueue(job));
    this.#startDue();
    if (this.#wasReleased) this.#serveQueues();
    for (const job of arrived) this.#admit(job);
    this.#reserveUrgent();
    this.#wasReleased = false;
  }

  /** Starts the requesters whose donors have all ended. */
  #startDue(): void {
    const { due } = this.book;
    for (let i = 0; i < due.length; i++) {
      this.book.inherit(due[i]);
      this.#launch(due[i], StartRule.reserved);
    }
    due.length = 0;
  }

  #serveQueues(): void {
    for (let queue = 0; queue < this.#classes.length; queue++) this.#firstFit(queue);
    for (let queue = 0; queue < this.#classes.length; queue++) {
      const head = this.#waiting[queue].first();
      if (head !== NO_JOB && this.#classes[queue].reservations?.whenHeadBlocked) this.#reserve(head);
    }
  }

  #firstFit(queue: number): void {
    const list = this.#waiting[queue];
    list.startSearch(0);
    for (;;) {
      const head = list.first();
      if (head === NO_JOB) return;
      const isHead = this.#jobs.size[head] <= this.#free();
      const job = isHead ? head : list.nextFitting(this.#freeToPass(), Number.POSITIVE_INFINITY, 0);
      if (job === NO_JOB) return;
      if (isHead) {
        list.removeFirst();
        list.startSearch(0);
      } else {
        list.takeFound();
        this.#overtake(queue, job);
      }
      this.#leaveQueue(job);
      this.#launch(job, isHead ? StartRule.head : StartRule.firstFit);
    }
  }

  /** An arrival starts at once, or goes to the tail of its queue. */
  #admit(job: JobIndex): void {
    const queue = this.#queueOf.get(job);
    const list = this.#waiting[queue];
    const size = this.#jobs.size[job];
    if (list.length === 0 && size <= this.#free()) this.#launch(job, StartRule.head);
    else if (list.length > 0 && size <= this.#freeToPass()) {
      this.#overtake(queue, job);
      this.#launch(job, StartRule.firstFit);
    } else {
      const isAlone = list.length === 0 && this.book.openIn(queue) === 0;
      list.insert(job, 0);
      if (this.#isUrgent(job, queue)) this.#urgent[queue]++;
      if (isAlone) this.#reserve(job);
    }
  }

  /** The starting job has passed all jobs of the queue before it, which gain priority. */
  #overtake(queue: number, job: JobIndex): void {
    this.#hasPassed.set(job, 1);
    this.#passing += this.#jobs.size[job];
    if (this.#limits[queue] === 0) return;
    const threshold = this.#thresholdOf(queue);
    const count = this.#copyWaiting(queue);
    for (let i = 0; i < count && this.#scratch[i] < job; i++) {
      const passed = this.#scratch[i];
      const before = this.#priority.get(passed);
      const after = before + this.#gainOf(passed, queue);
      this.#priority.set(passed, after);
      if (before <= threshold && after > threshold) this.#urgent[queue]++;
    }
  }

  /** Reservations by priority, from the head of each queue. */
  #reserveUrgent(): void {
    for (let queue = 0; queue < this.#classes.length; queue++) {
      if (this.#urgent[queue] === 0 || this.book.openIn(queue) >= this.#limits[queue]) continue;
      const threshold = this.#thresholdOf(queue);
      const count = this.#copyWaiting(queue);
      for (let i = 0; i < count; i++) {
        if (this.#priority.get(this.#scratch[i]) > threshold) this.#reserve(this.#scratch[i]);
      }
    }
  }

  /**
   * Requests a reservation for a waiting job. Nothing changes if the limit is reached or donors do not
   * suffice.
   */
  #reserve(job: JobIndex): void {
    const queue = this.#queueOf.get(job);
    if (this.book.openIn(queue) >= this.#limits[queue]) return;
    const startS = this.book.request(job);
    if (Number.isNaN(startS)) return;
    this.#waiting[queue].remove(job, 0);
    this.#leaveQueue(job);
    this.#pool.promise(job, startS);
  }

  #leaveQueue(job: JobIndex): void {
    const queue = this.#queueOf.get(job);
    if (this.#isUrgent(job, queue)) this.#urgent[queue]--;
  }

  #isUrgent(job: JobIndex, queue: number): boolean {
    return this.#limits[queue] > 0 && this.#priority.get(job) > this.#thresholdOf(queue);
  }

  #launch(job: JobIndex, rule: StartRule): void {
    this.book.start(job, this.#pool.nowS + this.#jobs.estimateS[job]);
    this.#pool.start(job, rule);
  }

  /** Free processors that are not held back for a requester. */
  #free(): number {
    return this.#pool.free - this.book.held;
  }

  #freeToPass(): number {
    return Math.min(this.#free(), this.#passLimit - this.#passing);
  }

  /** Priority that a job gains each time it is overtaken: formula (1), larger for smaller jobs. */
  #gainOf(job: JobIndex, queue: number): number {
    const { threads, processors } = this.#classes[queue];
    const share = ((this.#jobs.shape?.threads[job] ?? 1) / threads) * (this.#jobs.size[job] / processors);
    return 1 / Math.sqrt(share);
  }

  #thresholdOf(queue: number): number {
    return this.#classes[queue].reservations?.threshold ?? Number.POSITIVE_INFINITY;
  }

  #copyWaiting(queue: number): number {
    const list = this.#waiting[queue];
    if (this.#scratch.length < list.length) this.#scratch = new Int32Array(2 * list.length);
    return list.copyTo(this.#scratch);
  }

  #chooseQueue(job: JobIndex): number {
    const offered = offeredJob(this.#jobs, job);
    const reason = this.#check(offered);
    if (reason !== undefined) throw new InputError(`Cannot find a queue for job row ${job}: it ${reason}`);
    const chosen = this.#byUser ? chosenQueue(this.#classes, offered) : NO_QUEUE;
    return chosen === NO_QUEUE ? selectQueue(this.#classes, offered) : chosen;
  }
}

/** The job as its queue sees it. Without shape columns, every processor runs one single-threaded process. */
function offeredJob(jobs: JobsView, job: JobIndex): OfferedJob {
  return {
    processors: jobs.size[job],
    processes: jobs.shape?.processes[job] ?? jobs.size[job],
    threads: jobs.shape?.threads[job] ?? 1,
    estimateS: jobs.estimateS[job],
    queue: jobs.shape?.queue[job] ?? NO_QUEUE,
  };
}

const PARAMETERS: readonly ParameterSpec[] = [
  {
    name: "reservations",
    kind: "choice",
    choices: RESERVATIONS,
    default: "limited",
    description:
      "connected reservations: none (the paper's proposal 1); limited to the number of each queue class (proposal 2); unlimited",
  },
  choice(
    "selection",
    SELECTIONS,
    "how the queue is chosen; automatic: the tightest class that admits the job; user: the queue that the workload states",
  ),
  number(
    "passing",
    { min: 0, max: 1, default: 1 },
    "largest share of the machine's processors that those running jobs that have passed others may hold together (section 3 says that the HPC2500 limits their nodes, but does not print the limit)",
  ),
  integer(
    "scale",
    { min: 1, max: 1_000_000, default: 1 },
    "factor of the limits on processors, processes and threads of every queue class, for machines with larger jobs than the HPC2500 has",
  ),
];

const reserves: Condition = ({ reservations }) => reservations !== "none";

/** The policy for a site's own queue classes. @throws InputError if the classes are not valid */
export function connectedReservationOver(
  classes: readonly QueueClass[],
  name = "connected-reservation",
): SpacePolicyDefinition {
  checkQueueClasses(classes);
  const names = classes.map(({ name }) => name).join(", ");
  return {
    name,
    title: "Batch queues with connected reservations",
    sharing: "space",
    summary:
      "Each job joins a queue for jobs of its shape, and each queue starts jobs by first fit; a job that is passed too often inherits the processors of running jobs.",
    rules: [
      `all queues share all processors and are served in the order ${names}`,
      {
        text: "a job that no class admits is refused before the run begins (live: when it is submitted)",
        isInherited: true,
      },
      "after a job has ended, each queue is searched once, in order of arrival, and every job that fits starts",
      "an arrival that fits starts at once, even past waiting jobs; otherwise it joins the tail of its queue",
      ...when(reserves, [
        "a job that is passed within its queue gains a priority of ((threads ÷ T) · (processors ÷ P))^(−1/2), where T and P are the limits of its class",
        "a job asks for a connected reservation in three cases: (1) its priority is above the threshold of its class; (2) it cannot start on arrival and no job of its queue waits, with or without a reservation; (3) if its class has this rule, it is the first job without a reservation and still cannot start after another job has ended",
        "the donor is the running job of the same queue and size that started first; if there is no such job, the donors are the largest running jobs of the queue, or of all queues if these do not suffice (ties: most threads, then earliest start); a running job is a donor for at most one requester",
        "processors of a donor that has ended are held for the requester; the donor chosen last gives only what is still missing; the requester starts exactly when its last donor ends",
      ]),
      ...when(
        ({ reservations }) => reservations === "limited",
        [
          "a request is refused if its class has reached its limit or if there are not enough donors, and the job keeps waiting",
        ],
      ),
      ...when(
        ({ reservations }) => reservations === "unlimited",
        ["a request is refused if there are not enough donors, and the job keeps waiting"],
      ),
      ...when(
        ({ selection }) => selection === "automatic",
        [
          "automatic selection takes the tightest class that admits the job, by processors, then processes, threads and elapsed time; without shape columns, a job counts as one single-threaded process per processor",
        ],
      ),
      ...when(
        ({ selection }) => selection === "user",
        ["selection=user: each job joins the queue that the workload states"],
      ),
      ...when(
        ({ passing }) => Number(passing) < 1,
        [
          "passing: a job may pass others only if, including this job, the running jobs that have passed others hold at most this share of the processors",
        ],
      ),
      ...when(
        ({ scale }) => Number(scale) > 1,
        ["the limits of every class on processors, processes and threads are multiplied by scale"],
      ),
      DECIDES_ONCE,
    ],
    source: "Kawanami, Yoshihisa and Kanazawa, Kyoto University, 2008, section 3",
    parameters: PARAMETERS,
    guarantees: ({ reservations, passing }) => ({
      headNeverFits: reservations === "none",
      workConserving: reservations === "none" && passing === 1,
      keepsPromises: true,
    }),
    jobCheck: (parameters) => queueCheck(classes, parameters),
    make: (pool, jobs, parameters) => new ConnectedReservation(pool, jobs, parameters, classes),
  };
}

export const connectedReservation: SpacePolicyDefinition = connectedReservationOver(HPC2500_CLASSES);
