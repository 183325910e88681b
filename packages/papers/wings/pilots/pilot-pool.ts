/**
 * The processors of a pilot under a policy object of its own: the machine of machines/pool-machine.ts, whose
 * clock is the event loop of all pilots. A job may be in the queues of several pilots; the first that starts
 * it takes it out of the others.
 */
import type { Instance, JobIndex, JobsView } from "@tutti/kernel/core/jobs.ts";
import type { Policy } from "@tutti/kernel/core/policy.ts";
import { chooseProcessors } from "@tutti/kernel/machines/free-processors.ts";
import { PoolMachine } from "@tutti/kernel/machines/pool-machine.ts";
import { EventHeap } from "@tutti/kernel/structures/event-heap.ts";
import type { PilotSettings } from "./contract.ts";

interface PoolOptions {
  readonly processors: number;
  /** Jobs end before this instant. */
  readonly stopS: number;
  readonly queue: PilotSettings["queue"];
  readonly jobs: Instance;
  /** What policies may see of the jobs. */
  readonly shown: JobsView;
  onStart(job: JobIndex, processors: readonly number[]): void;
}

export class PilotPool extends PoolMachine {
  /** The policy has to decide: jobs came or went. */
  hasNews = false;
  /** The instant for which the policy requested a decision; Infinity for none. */
  wakeS = Number.POSITIVE_INFINITY;
  running = 0;
  readonly #options: PoolOptions;
  readonly #policy: Policy;
  readonly #isFree: Uint8Array;
  readonly #processorsOf = new Map<JobIndex, readonly number[]>();
  /** Waiting jobs that may start here. */
  readonly #queued = new Set<JobIndex>();
  /** Those of them that the policy has not seen. */
  #arriving: JobIndex[] = [];
  /** The last instants at which jobs may wait here. Those of jobs that have left are still in it. */
  readonly #late = new EventHeap();

  constructor(options: PoolOptions) {
    const { processors, queue, jobs, shown } = options;
    super(processors, jobs.size, undefined);
    this.#options = options;
    this.#isFree = new Uint8Array(processors).fill(1);
    this.#policy = queue.definition.make(this, shown, queue.parameters);
  }

  /** Whether the job can start here, as far as its size and the end of the pilot decide that. */
  takes(job: JobIndex, nowS: number): boolean {
    const { size } = this.#options.jobs;
    return size[job] <= this.processors && nowS < this.#lastStartS(job);
  }

  /** The job may start before this instant. */
  #lastStartS(job: JobIndex): number {
    return this.#options.stopS - this.#options.jobs.estimateS[job];
  }

  /** A waiting job may start here from now on. */
  offer(job: JobIndex): void {
    this.#queued.add(job);
    this.#arriving.push(job);
    const lateS = this.#lastStartS(job);
    if (lateS < Number.POSITIVE_INFINITY) this.#late.push(lateS, job);
    this.hasNews = true;
  }

  /** The job has started elsewhere, or cannot end here in time. It need not be in the queue. */
  withdraw(job: JobIndex): void {
    if (!this.#queued.delete(job)) return;
    const at = this.#arriving.indexOf(job);
    if (at >= 0) this.#arriving.splice(at, 1);
    else {
      this.forget(job);
      this.#policy.withdraw!(job);
    }
    this.hasNews = true;
  }

  /** When the next waiting job can no longer start here. */
  lateS(): number {
    const late = this.#late;
    while (late.length > 0 && !this.#queued.has(late.nextId()!)) late.pop();
    return late.nextTime();
  }

  withdrawLate(nowS: number): void {
    while (this.lateS() <= nowS) this.withdraw(this.#late.pop());
  }

  depart(job: JobIndex): void {
    for (const processor of this.#processorsOf.get(job)!) this.#isFree[processor] = 1;
    this.#processorsOf.delete(job);
    this.running--;
    this.leave(job);
    this.#policy.depart(job);
    this.hasNews = true;
  }

  /** @returns whether there was something to decide */
  decide(nowS: number): boolean {
    if (!this.hasNews && this.wakeS > nowS) return false;
    this.hasNews = false;
    if (this.wakeS <= nowS) this.wakeS = Number.POSITIVE_INFINITY;
    for (const job of this.#arriving) this.enter(job);
    this.#arriving = [];
    this.#policy.decide(this.takeArrivals());
    return true;
  }

  wakeAt(timeS: number): void {
    if (!(timeS > this.nowS))
      throw this.violation(
        "wake-in-the-past",
        -1,
        `Cannot wake the policy of a pilot at ${timeS} s: it is ${this.nowS} s, expected a later time`,
      );
    this.wakeS = timeS;
  }

  protected onStart(job: JobIndex): void {
    const processors = chooseProcessors(this.#isFree, this.#options.jobs.size[job]);
    for (const processor of processors) this.#isFree[processor] = 0;
    this.#processorsOf.set(job, processors);
    this.#queued.delete(job);
    this.running++;
    this.#options.onStart(job, processors);
  }

  protected onSuspend(job: JobIndex): never {
    throw this.violation("stopped", job, `Cannot stop ${this.jobName(job)}: pilots stop no job`);
  }

  protected override jobName(job: JobIndex): string {
    return String(this.#options.jobs.id[job]);
  }
}
