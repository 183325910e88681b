/** A Slurm in virtual time for jobs of their own: it starts a released job after 2.5 s, and can fail. */
import type { Clock } from "@tutti/host/clock.ts";
import { SlurmError } from "../commands.ts";
import type { QueuedJob } from "../formats/queue.ts";
import type { ShownJob } from "../formats/scontrol.ts";
import type { JobsOfSlurm } from "../slurm.ts";

interface FakeJob {
  readonly id: number;
  readonly options: readonly string[];
  readonly script: string;
  readonly comment: string;
  state: string;
  reason: string;
  restarts: number;
  startS: number | undefined;
  endS: number | undefined;
  exitCode: number;
  signal: number;
}

const START_MS = 2500;

export class FakeNativeSlurm implements JobsOfSlurm {
  readonly jobs: FakeJob[] = [];
  /** Every order in turn, such as `submit 1` or `release 1`. */
  readonly orders: string[] = [];
  /** What the next order does: nothing, or all of it without an answer. */
  fault: "lost" | "unanswered" | undefined;
  /** No command works. */
  isAway = false;
  /** Why the next submit is refused. */
  refusal: string | undefined;
  /** Jobs that are listed no longer. */
  readonly forgotten = new Set<number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  #nowS(): number {
    return Math.floor(this.#clock.unixMs() / 1000);
  }

  async #answer<Result>(work: () => Result): Promise<Result> {
    const { fault } = this;
    this.fault = undefined;
    if (this.isAway || fault === "lost") throw new SlurmError("Slurm does not answer", true);
    const result = work();
    if (fault === "unanswered") throw new SlurmError("Slurm does not answer", true);
    return result;
  }

  async submit(options: readonly string[], script: string): Promise<string> {
    return this.#answer(() => {
      if (this.refusal !== undefined) throw new SlurmError(this.refusal, false);
      const id = this.jobs.length + 1;
      this.orders.push(`submit ${id}`);
      const comment = options.find((option) => option.startsWith("--comment="))!.slice(10);
      this.jobs.push({
        ...{ id, options, script, comment, state: "PENDING", reason: "JobHeldUser", restarts: 0 },
        ...{ startS: undefined, endS: undefined, exitCode: 0, signal: 0 },
      });
      return String(id);
    });
  }

  async queue(): Promise<readonly QueuedJob[]> {
    return this.#answer(() =>
      this.jobs
        .filter(({ id }) => !this.forgotten.has(id))
        .map(({ id, state, reason, restarts, startS, comment }) => ({
          ...{ id: String(id), state, reason, restarts, startS, comment, leftS: undefined, batchHost: "" },
          ...{ eligibleS: undefined, nodes: [], nodeList: startS === undefined ? "" : "n[1-2]" },
        })),
    );
  }

  async shown(id: string): Promise<ShownJob | undefined> {
    return this.#answer(() => {
      const job = this.job(id);
      if (this.forgotten.has(job.id)) return undefined;
      return { ...job, id, eligibleS: undefined, nodes: "n[1-2]" };
    });
  }

  async release(id: string): Promise<void> {
    return this.#answer(() => {
      this.orders.push(`release ${id}`);
      const job = this.job(id);
      job.reason = "None";
      this.#clock.at(this.#clock.nowMs() + START_MS, () => {
        if (job.state === "PENDING" && job.reason === "None") this.start(id);
      });
    });
  }

  async signal(id: string, signal: "TERM" | "KILL"): Promise<void> {
    return this.#answer(() => {
      this.orders.push(`${signal} ${id}`);
      if (signal === "KILL") this.end(id, { state: "FAILED", signal: 9 });
    });
  }

  async cancel(id: string): Promise<void> {
    return this.#answer(() => {
      this.orders.push(`cancel ${id}`);
      if (this.job(id).endS === undefined) this.end(id, { state: "CANCELLED" });
    });
  }

  job(id: string): FakeJob {
    return this.jobs[Number(id) - 1];
  }

  start(id: string): void {
    Object.assign(this.job(id), { state: "RUNNING", startS: this.#nowS() });
  }

  end(id: string, how: Partial<Pick<FakeJob, "state" | "exitCode" | "signal">>): void {
    Object.assign(this.job(id), { state: "COMPLETED", endS: this.#nowS(), ...how });
  }
}
