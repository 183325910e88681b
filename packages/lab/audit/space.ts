/** Checks runs under space sharing, in which each job has processors of its own from start to end. */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { Guarantees, ParameterValues } from "@tutti/kernel/core/policy.ts";
import type { Pause } from "@tutti/kernel/core/schedule.ts";
import { JobSet } from "../observers.ts";
import { knowsOrder, type QueueKey, queueKey } from "../queue-keys.ts";
import { ResourceBook } from "./capacity.ts";
import { type AuditCounts, Checker } from "./checker.ts";
import { type Holding, shadowS } from "./shadow.ts";
import { checkable } from "./withheld.ts";

export class SpaceChecker extends Checker {
  readonly #guarantees: Guarantees;
  readonly #orderKey: QueueKey;
  readonly #checksHead: boolean;
  #free: number;
  readonly #resources: ResourceBook;
  readonly #frozen: Pause[] = [];
  /** Processors that are away. */
  #away = 0;
  /** The start of a job's current stretch, and what was then left of its run time and its estimate. */
  readonly #sinceS: Float64Array;
  readonly #leftS: Float64Array;
  readonly #leftEstimateS: Float64Array;
  /** The jobs as policies know them. */
  readonly #known: Instance;
  readonly #promisedS: Float64Array;
  /** Running jobs, by their expected ends. */
  readonly #running: JobIndex[] = [];
  readonly #expectedEndS: Float64Array;
  /** Waiting jobs that hold a promise. */
  readonly #promised: JobSet;
  /** Whether a start or a promise has been seen since the last decision. */
  #hasDecided = false;
  #busyUntil = new Float64Array(64);
  /**
   * Whether the checker computes shadow times: they are simple only if jobs wait for nothing but processors.
   */
  readonly #checksShadow: boolean;
  /** Jobs started since the last decision. */
  #startedNow: JobIndex[] = [];
  /** Estimates of all known jobs that have not ended, in seconds. */
  #knownWorkS = 0;

  constructor(instance: Instance, counts: AuditCounts, guarantees: Guarantees, parameters: ParameterValues) {
    super(instance, counts);
    this.#guarantees = checkable(guarantees, instance);
    this.#orderKey = queueKey(parameters);
    this.#checksHead = this.#guarantees.headNeverFits && knowsOrder(parameters);
    this.#checksShadow = checksShadow(instance, guarantees, parameters);
    this.#free = instance.processors;
    this.#resources = new ResourceBook(this.instance);
    this.#sinceS = new Float64Array(instance.count);
    this.#leftS = instance.runS.slice();
    this.#leftEstimateS = instance.estimateS.slice();
    this.#known = { ...this.instance, estimateS: this.#leftEstimateS };
    this.#promisedS = new Float64Array(instance.count).fill(Number.NaN);
    this.#expectedEndS = new Float64Array(instance.count);
    this.#promised = new JobSet(instance.count);
  }

  started(timeS: number, job: JobIndex): void {
    // If a policy asked for a wake-up, its decision is the first event of that instant.
    if (!(timeS >= this.nowS)) {
      this.fail(
        "time-backwards",
        job,
        `${this.name(job)} starts at ${timeS} s, but it is ${this.nowS} s already`,
      );
    }
    this.nowS = timeS;
    this.#noteCapacity(timeS);
    this.noteWithheld(timeS);
    this.noteStart(timeS, job);
    this.checkMayStart(timeS, job);
    const size = this.instance.size[job];
    if (size > this.#free) {
      this.fail(
        "processor-twice",
        job,
        `${this.name(job)} starts at ${timeS} s on ${size} processors, but only ${this.#free} are free`,
      );
    }
    this.#free -= size;
    if (!this.#resources.has(job))
      this.fail(
        "resource-twice",
        job,
        `${this.name(job)} starts at ${timeS} s, but its resources are not free`,
      );
    this.#resources.take(job);
    this.#hasDecided = true;
    if (this.#checksShadow) this.#startedNow.push(job);
    this.#sinceS[job] = timeS;
    this.#expectedEndS[job] = timeS + this.#leftEstimateS[job];
    this.#running.splice(this.#runningBy(this.#expectedEndS[job]), 0, job);
    const { freezes = [] } = this.instance.interruptions ?? {};
    if (this.#guarantees.avoidsOutages && freezes.length === 0) this.#checkOutagesAhead(timeS, job);
    if (!this.#promised.has(job)) return;
    this.#promised.delete(job);
    if (this.#guarantees.keepsPromises && timeS > this.#promisedS[job]) {
      this.fail(
        "promise-broken",
        job,
        `${this.name(job)} starts at ${timeS} s, but it was promised ${this.#promisedS[job]} s`,
      );
    }
  }

  override arrived(timeS: number, job: JobIndex): void {
    super.arrived(timeS, job);
    this.#knownWorkS += this.instance.estimateS[job];
  }

  departed(timeS: number, job: JobIndex): void {
    this.onDriverEvent(timeS);
    this.#knownWorkS -= this.instance.estimateS[job];
    this.noteEnd(timeS, job);
    const { endS: dueS, pauses } = this.withheld.run(job, this.#sinceS[job], this.#leftS[job], timeS);
    this.#frozen.push(...pauses);
    this.withheld.end(job);
    if (timeS !== dueS)
      this.fail(
        "run-length",
        job,
        `${this.name(job)} ends at ${timeS} s, but its run time puts its end at ${dueS} s`,
      );
    this.#leave(job);
  }

  override molded(timeS: number, job: JobIndex, size: number): void {
    super.molded(timeS, job, size);
    this.#leftS[job] = this.instance.runS[job];
    this.#leftEstimateS[job] = this.instance.estimateS[job];
  }

  override suspended(timeS: number, job: JobIndex): void {
    super.suspended(timeS, job);
    this.#noteCapacity(timeS);
    const isLast = this.#running.every((other) => this.startS[other] <= this.startS[job]);
    if (!this.capacity.isStopped(job, this.decidedS, timeS) && !(this.#free < 0 && isLast)) {
      const text = `${this.name(job)} is stopped at ${timeS} s although ${this.#free} processors are free`;
      this.fail("stopped-needlessly", job, text);
    }
    const { leftS, pauses } = this.withheld.run(job, this.#sinceS[job], this.#leftS[job], timeS);
    this.#frozen.push(...pauses);
    this.#leftEstimateS[job] = Math.max(leftS, this.#leftEstimateS[job] - (this.#leftS[job] - leftS));
    this.#leftS[job] = leftS;
    this.#leave(job);
    this.#forgetPromises();
  }

  override resumed(timeS: number, job: JobIndex): void {
    super.resumed(timeS, job);
    this.#forgetPromises();
  }

  protected hasProcessors(job: JobIndex): boolean {
    return this.#running.includes(job);
  }

  protected override frozen(): readonly Pause[] {
    const running = this.#running.flatMap(
      (job) => this.withheld.run(job, this.#sinceS[job], this.#leftS[job], Number.POSITIVE_INFINITY).pauses,
    );
    const known = ({ untilS }: Pause) => (untilS === Number.POSITIVE_INFINITY ? Number.NaN : untilS);
    return [...this.#frozen, ...running].map((pause) => ({ ...pause, untilS: known(pause) }));
  }

  protected onEdit(job: JobIndex): void {
    this.#leftEstimateS[job] = this.instance.estimateS[job];
  }

  /** Promises hold only until waiting jobs leave the queue or come back. */
  protected onQueueChange(): void {
    this.#forgetPromises();
  }

  #leave(job: JobIndex): void {
    this.#free += this.instance.size[job];
    this.#resources.give(job);
    let at = this.#runningBy(this.#expectedEndS[job]) - 1;
    while (this.#running[at] !== job) at--;
    this.#running.splice(at, 1);
  }

  /** Notes which processors are away now. Promises hold only until the known capacity changes. */
  #noteCapacity(timeS: number): void {
    if (this.capacity.hasChanged(timeS)) this.#forgetPromises();
    const away = this.capacity.awayAt(timeS);
    this.#free += this.#away - away;
    this.#away = away;
  }

  #forgetPromises(): void {
    this.#promisedS.fill(Number.NaN);
    while (this.#promised.size > 0) this.#promised.delete(this.#promised.members[0]);
  }

  /**
   * At the beginning of each known outage, the jobs that are expected to run then must leave enough
   * processors free for it.
   */
  #checkOutagesAhead(timeS: number, job: JobIndex): void {
    const { size, processors } = this.instance;
    for (const fromS of this.capacity.beginnings(timeS, this.#expectedEndS[job])) {
      let free = processors - this.capacity.expectedAwayAt(fromS, timeS);
      for (const other of this.#running) if (this.#expectedEndS[other] > fromS) free -= size[other];
      if (free >= 0) continue;
      const text = `${this.name(job)} starts at ${timeS} s, expected to end at ${this.#expectedEndS[job]} s; at ${fromS} s the running jobs need ${-free} more processors than there will be`;
      this.fail("outage-ignored", job, text);
    }
  }

  promised(timeS: number, job: JobIndex, startS: number): void {
    this.counts.promises++;
    this.#noteCapacity(timeS);
    this.noteWithheld(timeS);
    this.#hasDecided = true;
    if (!this.isWaiting(job) || !(startS >= timeS)) {
      this.fail(
        "promise-void",
        job,
        `${this.name(job)} is promised a start at ${startS} s, but it is ${timeS} s already`,
      );
    }
    if (this.#guarantees.keepsPromises && startS > this.#promisedS[job]) {
      const text = `${this.name(job)} is promised a start at ${startS} s, but an earlier promise was ${this.#promisedS[job]} s`;
      this.fail("promise-later", job, text);
    }
    const { molding, interruptions } = this.instance;
    const isPlain = molding === undefined && interruptions === undefined;
    // The sums are rounded.
    if (isPlain && startS > (timeS + this.#knownWorkS) * (1 + 1e-9)) this.counts.emptyPromises++;
    this.#promisedS[job] = startS;
    if (!this.#promised.has(job)) this.#promised.add(job);
  }

  decided(timeS: number): void {
    this.onDriverEvent(timeS);
    this.counts.instants++;
    this.#noteCapacity(timeS);
    this.noteWithheld(timeS);
    this.decidedS = timeS;
    if (this.#free < 0) {
      const text = `After the decision at ${timeS} s, running jobs use ${-this.#free} processors that are away`;
      this.fail("processor-away", undefined, text);
    }
    if (this.waiting.size > 0) this.counts.waits++;
    if (this.#guarantees.workConserving || this.#checksHead) this.#checkQueue(timeS);
    if (this.#checksShadow) this.#checkHeadReserved(timeS);
    if (this.#hasDecided && this.#guarantees.keepsPromises && this.#promised.size > 0)
      this.#checkPromises(timeS);
    this.#hasDecided = false;
  }

  protected isArrivalTime(timeS: number, submitS: number): boolean {
    return timeS === submitS;
  }

  #checkQueue(timeS: number): void {
    // A job that fits now may run into an outage.
    if (
      this.#guarantees.avoidsOutages &&
      this.capacity.beginnings(timeS, Number.POSITIVE_INFINITY).length > 0
    )
      return;
    if (this.withheld.isDrained(timeS)) return;
    this.counts.queueChecks++;
    if (this.#free === 0) return;
    const { size } = this.instance;
    const isHere = (job: JobIndex) => !this.withheld.isHeld(job, timeS);
    const head = this.#checksHead ? this.firstWaiting(this.#orderKey, timeS, isHere, this.#known) : -1;
    const fits = (job: JobIndex) => `it needs ${size[job]} processors, and ${this.#free} are free`;
    const canStart = (job: JobIndex) => size[job] <= this.#free && this.#resources.has(job);
    if (head >= 0 && canStart(head)) {
      this.fail(
        "head-waits",
        head,
        `${this.name(head)} is first in the queue, but it waits at ${timeS} s: ${fits(head)}`,
      );
    }
    if (!this.#guarantees.workConserving) return;
    for (let i = 0; i < this.waiting.size; i++) {
      const job = this.waiting.members[i];
      if (!canStart(job) || !isHere(job)) continue;
      this.fail("fitting-job-waits", job, `${this.name(job)} waits at ${timeS} s: ${fits(job)}`);
    }
  }

  /**
   * The shadow time is that of EASY, computed from the checker's own books: without the jobs that have passed
   * the head in this decision, when do enough running jobs end by their estimates? With them, the head must
   * still get its processors at the time that it was promised.
   */
  #checkHeadReserved(timeS: number): void {
    const started = this.#startedNow;
    this.#startedNow = [];
    const key = this.#orderKey;
    const head = this.firstWaiting(key, timeS, () => true, this.#known);
    if (head < 0) return;
    const headKey = key(this.#known, head, timeS);
    const passers = started.filter((job) => {
      const jobKey = key(this.#known, job, timeS);
      return jobKey > headKey || (jobKey === headKey && this.isBefore(head, job));
    });
    if (this.#free === 0 && passers.length === 0) return;
    this.counts.shadowChecks++;
    const { size } = this.instance;
    const held = this.#running.map((job): Holding => [this.#expectedEndS[job], size[job]]);
    const before = held.filter((_, i) => !passers.includes(this.#running[i]));
    const atS = shadowS(size[head], this.instance.processors, timeS, before);
    const promisedS = this.#promised.has(head) ? this.#promisedS[head] : Number.POSITIVE_INFINITY;
    const passed = passers.length === 0 ? "" : ` before ${this.name(passers[0])} passed it`;
    if (!(promisedS <= atS)) {
      const was = promisedS === Number.POSITIVE_INFINITY ? "no start" : `${promisedS} s`;
      const text = `${this.name(head)} is first in the queue at ${timeS} s and is promised ${was}, but its shadow time was ${atS} s${passed}`;
      this.fail("head-not-reserved", head, text);
    }
    const nowPossibleS = shadowS(size[head], this.instance.processors, timeS, held);
    if (nowPossibleS > promisedS) {
      const text = `${this.name(head)} is first in the queue at ${timeS} s and was promised ${promisedS} s, but ${this.name(passers[0] ?? head)} passed it, and now the estimates of running jobs delay it to ${nowPossibleS} s`;
      this.fail("head-not-reserved", head, text);
    }
  }

  /**
   * If every running job runs as long as its estimate, is there room for each promised job at its promised
   * start?
   */
  #checkPromises(timeS: number): void {
    const { size, processors } = this.instance;
    const running = this.#running;
    if (this.#busyUntil.length <= running.length) this.#busyUntil = new Float64Array(2 * running.length);
    // Processors that are still busy after the first i running jobs have ended.
    const busy = this.#busyUntil;
    busy[running.length] = 0;
    for (let i = running.length - 1; i >= 0; i--) busy[i] = busy[i + 1] + size[running[i]];
    for (let i = 0; i < this.#promised.size; i++) {
      const job = this.#promised.members[i];
      this.counts.promiseChecks++;
      const promisedS = this.#promisedS[job];
      if (promisedS === Number.POSITIVE_INFINITY) continue;
      const away = this.capacity.expectedAwayAt(promisedS, timeS);
      const free = processors - away - busy[this.#runningBy(promisedS)];
      const lasting = running.length - this.#runningBy(promisedS);
      if (size[job] <= free && this.#resources.hasBesides(job, running, lasting)) continue;
      const text = `${this.name(job)} was promised a start at ${this.#promisedS[job]} s, but after the decision at ${timeS} s the running jobs' estimates leave only ${free} of its ${size[job]} processors then`;
      this.fail("promise-impossible", job, text);
    }
  }

  /** Number of running jobs that are expected to end at or before the time. */
  #runningBy(timeS: number): number {
    let low = 0;
    let high = this.#running.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#expectedEndS[this.#running[middle]] <= timeS) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Outages, resources and stopped jobs make the shadow time more than a sum. */
function checksShadow(
  { interruptions, resources, workload }: Instance,
  { reservesHead }: Guarantees,
  parameters: ParameterValues,
): boolean {
  const isPlain = interruptions === undefined && !resources?.length && workload.limits === undefined;
  return reservesHead === true && isPlain && knowsOrder(parameters);
}
