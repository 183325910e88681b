/**
 * Puts a queue in front of a gang policy: jobs wait outside the matrix until they are admitted. Admission
 * limits the rows (the multiprogramming level), the memory per processor, and whatever else the machine
 * limits. One row is space sharing, and unlimited rows are plain gang scheduling. Admission gives everything
 * in between, in the laboratory and live.
 *
 *   arrivals ──▶ queue ──▶ │ gang policy: rows 1 … m │
 *
 * The queue decides which job is admitted next: first come, first served, first fit or EASY, in any queue
 * order. The gang policy says whether a job fits, and it places the job once it is admitted. The row limit is
 * the multiprogramming level of Feitelson and Jette (JSSPP 1997). The memory limit is the future work of
 * Zhou, Walsh and Brent 2000, section 5.
 */
import { type JobIndex, type JobsView, NO_JOB } from "../../core/jobs.ts";
import type { GangMachine, MemoryRule, ParameterValues, Policy } from "../../core/policy.ts";
import { WaitingQueue } from "../queue-order.ts";
import { HeadForecast } from "./head-forecast.ts";
import { MatrixMemory } from "./matrix-memory.ts";
import type { MayBegin, QueryableGangs } from "./queryable-gangs.ts";

interface AdmissionOptions {
  /** Infinity: no limit. */
  readonly maxRows: number;
  readonly memory: MemoryRule | undefined;
  readonly queue: ParameterValues[string] | undefined;
  /** Queue order. */
  readonly order: ParameterValues[string] | undefined;
}

export class Admission implements Policy {
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #gangs: QueryableGangs;
  readonly #maxRows: number;
  readonly #memory: MatrixMemory | undefined;
  readonly #queue: WaitingQueue;
  /** Gangs that go before the queue (GangMachine). */
  readonly #returning: JobIndex[] = [];
  readonly #passes: "nobody" | "fitting" | "harmless";
  readonly #forecast: HeadForecast;
  /** Whether the head has a reservation, so that jobs which would delay it are not admitted. */
  #isReserved = false;
  /** The job under consideration, and its expected end. */
  #tried: JobIndex = NO_JOB;
  #triedEndS = 0;
  #hasDecided = true;
  readonly #noRoom = new Refusals();
  /** Refusals of jobs that are expected to run beyond the shadow time. */
  readonly #noRoomForLong = new Refusals();

  constructor(machine: GangMachine, jobs: JobsView, gangs: QueryableGangs, options: AdmissionOptions) {
    const { maxRows, memory, queue = "fcfs", order = "arrival" } = options;
    this.#machine = machine;
    this.#jobs = jobs;
    this.#gangs = gangs;
    this.#maxRows = maxRows;
    this.#memory = memory && new MatrixMemory(memory, jobs, machine.processors);
    this.#queue = new WaitingQueue(jobs, { order });
    this.#passes = queue === "easy" ? "harmless" : queue === "first-fit" ? "fitting" : "nobody";
    this.#forecast = new HeadForecast(machine, jobs, gangs, maxRows, this.#memory);
  }

  withdraw(job: JobIndex): void {
    const at = this.#returning.indexOf(job);
    if (at >= 0) this.#returning.splice(at, 1);
    else this.#queue.remove(job);
  }

  restore(job: JobIndex, startS: number): void {
    this.#gangs.restore?.(job, startS);
    this.#memory?.add(job, this.#machine.runFirst(this.#machine.firstRunOfJob(job)));
  }

  depart(job: JobIndex): void {
    this.#memory?.remove(job);
    this.#gangs.depart(job);
    this.#hasDecided = false;
  }

  decide(arrived: readonly JobIndex[]): void {
    for (const job of arrived) {
      if (this.#machine.isReturning?.(job)) this.#returning.push(job);
      else this.#queue.add(job);
    }
    this.#queue.update(this.#machine.nowS);
    this.#isReserved = false;
    let head = this.#head;
    while (head !== NO_JOB && this.#hasRoom(head)) {
      if (this.#returning.length > 0) this.#returning.shift();
      else this.#queue.list.removeFirst();
      this.#admit(head);
      head = this.#head;
    }
    if (head !== NO_JOB) this.#lookBehind(head);
    // After departures, the gang policy may save rows even if no job is admitted.
    if (!this.#hasDecided) this.#gangs.decide([]);
    this.#hasDecided = true;
  }

  get #head(): JobIndex {
    return this.#returning.length > 0 ? this.#returning[0] : this.#queue.list.first();
  }

  /** Admits jobs after the head as the queue parameter allows. */
  #lookBehind(head: JobIndex): void {
    const first = this.#returning.length > 0 ? 0 : 1;
    const hasMore = this.#queue.list.length > first;
    if (this.#passes === "fitting" && hasMore) this.#letPass(first);
    // It cannot be forecast when the machine's other limits will allow the head.
    if (this.#passes !== "harmless" || this.#machine.limits?.fits(head) === false) return;
    this.#forecast.reserve(head);
    this.#machine.promise(head, this.#forecast.shadowS);
    this.#isReserved = true;
    if (hasMore) this.#letPass(first);
    this.#isReserved = false;
  }

  /** @param first index in the queue of the first job behind the head */
  #letPass(first: number): void {
    const count = this.#queue.copyInOrder();
    const queue = this.#queue.inOrder;
    this.#noRoom.clear();
    this.#noRoomForLong.clear();
    for (let i = first; i < count; i++) {
      const job = queue[i];
      const size = this.#jobs.size[job];
      const memoryKB = this.#memory?.of(job) ?? 0;
      if (this.#machine.limits?.fits(job) === false || this.#noRoom.covers(size, memoryKB)) continue;
      if (this.#isReserved) this.#triedEndS = this.#forecast.expectedEndS(job, false);
      // A policy that does not ask where it may place a job gets only jobs that end in time.
      const inTime = !this.#isReserved || this.#triedEndS <= this.#forecast.shadowS;
      if (!inTime && (!this.#gangs.use.asks || this.#noRoomForLong.covers(size, memoryKB))) continue;
      if (this.#hasRoom(job)) {
        this.#queue.remove(job);
        this.#admit(job);
        if (this.#isReserved) this.#forecast.passed(job, this.#triedEndS);
      } else (inTime ? this.#noRoom : this.#noRoomForLong).note(size, memoryKB);
    }
  }

  #hasRoom(job: JobIndex): boolean {
    this.#tried = job;
    return this.#machine.limits?.fits(job) !== false && this.#gangs.fits(job, this.#maxRows, this.#mayBegin);
  }

  /** Admits the job under consideration. */
  #admit(job: JobIndex): void {
    this.#gangs.decide([job], this.#mayBegin);
    this.#hasDecided = true;
    this.#memory?.add(job, this.#machine.runFirst(this.#machine.firstRunOfJob(job)));
  }

  /** Where the job under consideration may begin; undefined: anywhere. */
  get #mayBegin(): MayBegin | undefined {
    const isLimited = this.#memory !== undefined || this.#machine.limits?.areThere !== undefined;
    return isLimited || this.#isReserved ? this.#mayTriedBegin : undefined;
  }

  readonly #mayTriedBegin: MayBegin = (first) =>
    (this.#memory?.has(this.#tried, first) ?? true) &&
    this.#machine.limits?.areThere?.(first, first + this.#jobs.size[this.#tried]) !== false &&
    (!this.#isReserved || this.#forecast.allows(this.#tried, this.#triedEndS, first));
}

/**
 * Jobs that had no room in one pass over the queue. During a pass, room only shrinks. Where a job has room, a
 * job that is no larger and needs no more memory has room, too. So a job that is at least as large as a
 * refused one in both respects need not be tried.
 */
class Refusals {
  readonly #sizes: number[] = [];
  readonly #memoryKB: number[] = [];

  clear(): void {
    this.#sizes.length = 0;
    this.#memoryKB.length = 0;
  }

  covers(size: number, memoryKB: number): boolean {
    for (let i = 0; i < this.#sizes.length; i++)
      if (this.#sizes[i] <= size && this.#memoryKB[i] <= memoryKB) return true;
    return false;
  }

  /** Adds a refusal that is not covered yet, and drops those that it covers. */
  note(size: number, memoryKB: number): void {
    let kept = 0;
    for (let i = 0; i < this.#sizes.length; i++) {
      if (this.#sizes[i] >= size && this.#memoryKB[i] >= memoryKB) continue;
      this.#sizes[kept] = this.#sizes[i];
      this.#memoryKB[kept++] = this.#memoryKB[i];
    }
    this.#sizes.length = kept;
    this.#memoryKB.length = kept;
    this.#sizes.push(size);
    this.#memoryKB.push(memoryKB);
  }
}

/**
 * For a policy that cannot be asked, assumes that it uses any gap of any row that is wide enough, although it
 * may not.
 */
export function queryable(
  policy: Policy | QueryableGangs,
  machine: GangMachine,
  jobs: JobsView,
): QueryableGangs {
  if ("fits" in policy) return policy;
  return {
    use: { lines: "rows", blocks: "side by side", asks: false },
    fits: (job, maxRows) => machine.rowCount < maxRows || hasGap(machine, jobs.size[job]),
    isTaken: () => true,
    depart: (job) => policy.depart(job),
    restore: (job, startS) => policy.restore?.(job, startS),
    decide: (arrived) => policy.decide(arrived),
  };
}

/** Whether some row has at least `size` consecutive idle processors. */
function hasGap(machine: GangMachine, size: number): boolean {
  for (let position = 0; position < machine.rowCount; position++) {
    let end = 0;
    for (let run = machine.firstRun(machine.rowAt(position)); run !== -1; run = machine.nextRun(run)) {
      if (machine.runFirst(run) - end >= size) return true;
      end = machine.runFirst(run) + machine.runSize(run);
    }
    if (machine.processors - end >= size) return true;
  }
  return false;
}
