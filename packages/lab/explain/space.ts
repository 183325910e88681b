/**
 * Watches one job in space sharing and notes why it waits. Until the job arrives, only counts are kept. While
 * it waits, every start, end and promise is noted:
 *
 *   1 arrival ──▶ 2 first decision ──▶ 3 others start, end, get promises ──▶ 4 start
 *
 *   1  which jobs are ahead of it
 *   2  what keeps it waiting
 *   3  which jobs pass it, which hold a reservation, and whether there is room for it
 *   4  which jobs' ends freed the last processors that it needed
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import { NO_JOB, servedBefore } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice, StartRule } from "@tutti/kernel/core/policy.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { JobSet } from "../observers.ts";
import { type QueueKey, queueKey } from "../queue-keys.ts";
import type { HeldReservation, Obstacle, Passer, RunningJob, SpaceFacts } from "../results/explanation.ts";
import { type JobWatch, namedJob, orNull } from "./watch.ts";

/** Maximum entries kept of a long list. */
const LISTED = 5;

interface Reservation {
  readonly holder: JobIndex;
  readonly fromS: number;
  untilS: number;
  readonly firstPromisedS: number;
  lastPromisedS: number;
  changes: number;
}

export class SpaceWatch implements JobWatch {
  rule: StartRule | undefined;
  readonly #instance: Instance;
  readonly #job: JobIndex;
  readonly #key: QueueKey;
  /** Whether a promise holds until the job starts; otherwise the next promise to any job replaces it. */
  readonly #keepsPromises: boolean;
  #free: number;
  readonly #waiting: JobSet;
  readonly #running: JobSet;
  readonly #startS: Float64Array;
  readonly #promisedS: Float64Array;
  #lastHolder: JobIndex = NO_JOB;

  #isWaiting = false;
  #arrival: SpaceFacts["arrival"] = { free: 0, running: 0, queued: 0, queuedProcessors: 0 };
  #obstacle: Obstacle | undefined;
  #hadToEnd: { count: number; listed: JobIndex[] } = { count: 0, listed: [] };
  #inFront = { count: 0, processors: 0, workS: 0 };
  #firstRoomS = Number.NaN;
  readonly #promises: { atS: number; startS: number }[] = [];
  /** Reservations of other jobs; the open ones by holder. */
  readonly #open = new Map<JobIndex, Reservation>();
  readonly #closed: Reservation[] = [];
  readonly #passers: { job: JobIndex; startS: number; rule: StartRule; isAheadInOrder: boolean }[] = [];
  /** Jobs that ended at the latest instant at which any job did. */
  #ended: JobIndex[] = [];
  #endedS = Number.NaN;
  // The parts of the wait, and the part to which the time since the last instant belongs.
  #sinceS = 0;
  #part: keyof SpaceFacts["waitParts"] = "tooFewFreeS";
  readonly #parts = { tooFewFreeS: 0, reservedS: 0, notItsTurnS: 0 };

  constructor(instance: Instance, choice: PolicyChoice, job: JobIndex) {
    this.#instance = instance;
    this.#job = job;
    this.#key = queueKey(choice.parameters);
    this.#keepsPromises = choice.definition.guarantees(choice.parameters).keepsPromises;
    this.#free = instance.processors;
    this.#waiting = new JobSet(instance.count);
    this.#running = new JobSet(instance.count);
    this.#startS = new Float64Array(instance.count);
    this.#promisedS = new Float64Array(instance.count).fill(Number.NaN);
  }

  arrived(timeS: number, job: JobIndex): void {
    if (job === this.#job) this.#watchArrival(timeS);
    else this.#waiting.add(job);
  }

  departed(timeS: number, job: JobIndex): void {
    this.#free += this.#instance.size[job];
    this.#running.delete(job);
    if (!this.#isWaiting) return;
    if (timeS !== this.#endedS) this.#ended = [];
    this.#endedS = timeS;
    this.#ended.push(job);
  }

  started(timeS: number, job: JobIndex, rule: StartRule): void {
    this.#free -= this.#instance.size[job];
    this.#startS[job] = timeS;
    this.#running.add(job);
    if (job === this.#job) {
      this.rule = rule;
      this.#pass(timeS);
      this.#isWaiting = false;
      for (const holder of [...this.#open.keys()]) this.#close(holder, timeS);
      return;
    }
    this.#waiting.delete(job);
    if (!this.#isWaiting) return;
    this.#close(job, timeS);
    const isBehind = this.#isBefore(this.#job, job, timeS);
    if (isBehind || job > this.#job)
      this.#passers.push({ job, startS: timeS, rule, isAheadInOrder: !isBehind });
  }

  promised(timeS: number, job: JobIndex, startS: number): void {
    const lastHolder = this.#lastHolder;
    this.#promisedS[job] = startS;
    this.#lastHolder = job;
    if (!this.#isWaiting) return;
    if (!this.#keepsPromises && lastHolder !== job) this.#close(lastHolder, timeS);
    if (job === this.#job) {
      if (this.#promises.at(-1)?.startS !== startS) this.#promises.push({ atS: timeS, startS });
      return;
    }
    const open = this.#open.get(job);
    if (open === undefined) this.#hold(job, timeS);
    else if (open.lastPromisedS !== startS) {
      open.lastPromisedS = startS;
      open.changes++;
    }
  }

  decided(timeS: number): void {
    if (!this.#isWaiting) return;
    this.#pass(timeS);
    const hasRoom = this.#instance.size[this.#job] <= this.#free;
    if (hasRoom && Number.isNaN(this.#firstRoomS)) this.#firstRoomS = timeS;
    this.#part = !hasRoom ? "tooFewFreeS" : this.#open.size > 0 ? "reservedS" : "notItsTurnS";
    if (this.#obstacle !== undefined) return;
    this.#inFront = this.#findInFront(timeS);
    this.#obstacle = this.#findObstacle(timeS);
  }

  facts(schedule: Schedule): SpaceFacts {
    const { size } = this.#instance;
    const ended = this.#endedS === schedule.startS[this.#job] ? this.#ended : [];
    const promises = this.#promises;
    return {
      sharing: "space",
      arrival: this.#arrival,
      obstacle: this.#obstacle ?? { kind: "none" },
      hadToEnd: {
        count: this.#hadToEnd.count,
        listed: this.#hadToEnd.listed.map((job) => this.#runningJob(job, schedule)),
      },
      inFront: this.#inFront,
      freedBy: {
        count: ended.length,
        processors: ended.reduce((sum, job) => sum + size[job], 0),
        listed: largest(ended, (job) => size[job]).map((job) => namedJob(this.#instance, job)),
      },
      firstRoomS: orNull(this.#firstRoomS),
      promises: {
        count: promises.length,
        listed:
          promises.length <= LISTED ? promises : [...promises.slice(0, LISTED - 1), ...promises.slice(-1)],
      },
      reservations: this.#reservations(schedule),
      passers: this.#passed(),
      waitParts: this.#parts,
    };
  }

  #watchArrival(timeS: number): void {
    const { count: queued, processors: queuedProcessors } = this.#findInFront(timeS);
    const running = this.#running.size;
    this.#arrival = { free: this.#free, running, queued, queuedProcessors };
    this.#isWaiting = true;
    this.#sinceS = timeS;
    for (let i = 0; i < this.#waiting.size; i++) {
      const other = this.#waiting.members[i];
      const holds =
        !Number.isNaN(this.#promisedS[other]) && (this.#keepsPromises || other === this.#lastHolder);
      if (holds) this.#hold(other, timeS);
    }
  }

  /** The waiting jobs before it in queue order. */
  #findInFront(timeS: number): SpaceFacts["inFront"] {
    const { size, estimateS } = this.#instance;
    let [count, processors, workS] = [0, 0, 0];
    for (let i = 0; i < this.#waiting.size; i++) {
      const other = this.#waiting.members[i];
      if (!this.#isBefore(other, this.#job, timeS)) continue;
      count++;
      processors += size[other];
      workS += size[other] * estimateS[other];
    }
    return { count, processors, workS };
  }

  #findObstacle(timeS: number): Obstacle {
    const { size } = this.#instance;
    const free = this.#free;
    const missing = size[this.#job] - free;
    if (missing > 0) {
      this.#findWhoHasToEnd(missing);
      return { kind: "size", free, missing };
    }
    let first: Reservation | undefined;
    for (const held of this.#open.values()) {
      if (first === undefined || held.lastPromisedS < first.lastPromisedS) first = held;
    }
    if (first !== undefined) {
      const holder = namedJob(this.#instance, first.holder);
      return { kind: "reservation", free, holder, promisedS: first.lastPromisedS };
    }
    let head = this.#job;
    for (let i = 0; i < this.#waiting.size; i++) {
      const other = this.#waiting.members[i];
      if (this.#isBefore(other, head, timeS)) head = other;
    }
    return { kind: "queue", free, head: head === this.#job ? undefined : namedJob(this.#instance, head) };
  }

  /** The running jobs that are expected to end first and that together free the missing processors. */
  #findWhoHasToEnd(missing: number): void {
    const { size, estimateS } = this.#instance;
    const expectedEndS = (job: JobIndex) => this.#startS[job] + estimateS[job];
    const running = [...this.#running.members.subarray(0, this.#running.size)];
    running.sort((a, b) => expectedEndS(a) - expectedEndS(b) || a - b);
    let count = 0;
    for (let freed = 0; freed < missing && count < running.length; count++) freed += size[running[count]];
    this.#hadToEnd = { count, listed: running.slice(0, count).slice(-LISTED) };
  }

  #runningJob(job: JobIndex, schedule: Schedule): RunningJob {
    const expectedEndS = schedule.startS[job] + this.#instance.estimateS[job];
    return { ...namedJob(this.#instance, job), expectedEndS, endS: schedule.endS[job] };
  }

  /** Whether a comes before b in the queue. */
  #isBefore(a: JobIndex, b: JobIndex, nowS: number): boolean {
    const keyA = this.#key(this.#instance, a, nowS);
    const keyB = this.#key(this.#instance, b, nowS);
    return keyA < keyB || (keyA === keyB && servedBefore(this.#instance.priority, a, b));
  }

  #hold(holder: JobIndex, fromS: number): void {
    const promisedS = this.#promisedS[holder];
    this.#open.set(holder, {
      holder,
      fromS,
      untilS: Number.NaN,
      firstPromisedS: promisedS,
      lastPromisedS: promisedS,
      changes: 0,
    });
  }

  #close(holder: JobIndex, timeS: number): void {
    const open = this.#open.get(holder);
    if (open === undefined) return;
    open.untilS = timeS;
    this.#closed.push(open);
    this.#open.delete(holder);
  }

  /** Adds the time since the last instant to its part of the wait. */
  #pass(timeS: number): void {
    this.#parts[this.#part] += timeS - this.#sinceS;
    this.#sinceS = timeS;
  }

  #reservations(schedule: Schedule): SpaceFacts["reservations"] {
    // A job that never starts leaves reservations open.
    for (const holder of [...this.#open.keys()]) this.#close(holder, this.#sinceS);
    const listed = largest(this.#closed, (held) => held.untilS - held.fromS)
      .sort((a, b) => a.fromS - b.fromS || a.holder - b.holder)
      .map(
        ({ holder, ...held }): HeldReservation => ({
          ...namedJob(this.#instance, holder),
          ...held,
          startS: orNull(schedule.startS[holder]),
        }),
      );
    return { count: this.#closed.length, listed };
  }

  #passed(): SpaceFacts["passers"] {
    const { size, runS, submitS } = this.#instance;
    const work = (job: JobIndex) => size[job] * runS[job];
    const byRule: { rule: StartRule; isAheadInOrder: boolean; count: number }[] = [];
    let processorSeconds = 0;
    for (const { job, rule, isAheadInOrder } of this.#passers) {
      processorSeconds += work(job);
      const same = byRule.find((group) => group.rule === rule && group.isAheadInOrder === isAheadInOrder);
      if (same === undefined) byRule.push({ rule, isAheadInOrder, count: 1 });
      else same.count++;
    }
    const listed = largest(this.#passers, ({ job }) => work(job)).map(
      ({ job, startS, rule, isAheadInOrder }): Passer => ({
        ...namedJob(this.#instance, job),
        submitS: submitS[job],
        startS,
        runS: runS[job],
        rule,
        isAheadInOrder,
      }),
    );
    byRule.sort((a, b) => b.count - a.count || a.rule - b.rule);
    return { count: this.#passers.length, processorSeconds, byRule, listed };
  }
}

/** The first few items by a measure, the largest first; equal items keep their order. */
function largest<Item>(items: readonly Item[], measure: (item: Item) => number): Item[] {
  return [...items].sort((a, b) => measure(b) - measure(a)).slice(0, LISTED);
}
