/**
 * Runs a real front end, conductor and jobs, and kills the front end, the conductor or both with kill -9 at
 * random moments. Every job writes one line to its own file, so the test knows what ran without asking the
 * scheduler.
 *
 * Three of four jobs are submitted with a key, again and again until they are acknowledged. The fourth has no
 * key and is not submitted again once the front end may have received it. So it may exist although its submit
 * was never acknowledged.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { NoDaemonError } from "../src/api/client/errors.ts";
import { Random } from "../src/core/random.ts";
import type { Job, JobsAnswer, SubmitJob } from "../src/protocol/schema.ts";
import { KilledScheduler, type Kills, sleep } from "./killed-scheduler.ts";
import { UNHEARD } from "./sender.ts";

export interface FaultPlan extends Kills {
  readonly seed: number;
  readonly jobs: number;
  /** Longest time from the start of a front end to the next kill, ms. */
  readonly maxMs: number;
}

/** The full plan, for `npm test` and `npm run soak`. */
export const FULL_PLAN = { jobs: 500, frontEnd: 100, conductor: 100, both: 100, maxMs: 1000 };

export interface FaultCounts {
  readonly submitted: number;
  /** How many of them the scheduler acknowledged. */
  readonly acknowledged: number;
  /** Acknowledged and ended with the right exit code or signal. */
  readonly finished: number;
  /** Acknowledged, and did not run. */
  readonly lost: number;
  readonly ranTwice: number;
  /** Not acknowledged because the front end died first, but accepted. */
  readonly acceptedUnheard: number;
  /** Submits that the front end may have received when it died. */
  readonly cutOff: number;
  readonly kills: Kills;
  readonly foundStopped: number;
  readonly slowestThawMs: number;
  /** Descriptions of everything that went wrong. */
  readonly problems: readonly string[];
}

const CLIENTS = 4;
const END_MS = 120_000;
const START_MS = 10_000;
/** A submit is usually answered within this time. */
const MAX_ANSWER_MS = 10;

interface FaultJob {
  readonly script: string;
  readonly tasks: number;
  readonly code?: number;
  readonly signal?: string;
}

/** Runs everything and leaves nothing behind. */
export async function runWithFaults(plan: FaultPlan): Promise<FaultCounts> {
  const run = new FaultRun(plan);
  try {
    return await run.all();
  } finally {
    await run.clear();
  }
}

class FaultRun {
  readonly #plan: FaultPlan;
  readonly #random: Random;
  readonly #scheduler: KilledScheduler;
  readonly #jobs: readonly FaultJob[];
  /** Job numbers that the scheduler returned, by index of the job; undefined: not acknowledged. */
  readonly #numbers: (number | undefined)[] = [];
  #unanswered = 0;
  #cutOff = 0;
  #nextJob = 0;
  /** Jobs may be submitted up to this index, so that submits go on during all of the kills. */
  #released = 0;
  #isOver = false;

  constructor(plan: FaultPlan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed, "faults");
    this.#scheduler = new KilledScheduler(this.#random);
    mkdirSync(join(this.#folder, "ran"));
    this.#jobs = Array.from({ length: plan.jobs }, (_, i) => this.#makeJob(i));
  }

  get #folder(): string {
    return this.#scheduler.folder;
  }

  async all(): Promise<FaultCounts> {
    const scheduler = this.#scheduler;
    const victims = scheduler.victims(this.#plan);
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#submitJobs()));
    for (const [round, victim] of victims.entries()) {
      const released = Math.ceil((this.#plan.jobs * (round + 1)) / victims.length);
      const isAimed = this.#random.below(2) === 0;
      if (!isAimed) this.#released = released;
      await sleep(this.#random.below(this.#plan.maxMs));
      if (isAimed) await this.#amidSubmits(released);
      await scheduler.kill(victim);
    }
    this.#released = this.#plan.jobs;
    await scheduler.within(END_MS, "all jobs were submitted", clients);
    const jobs = await scheduler.within(END_MS, "all jobs had ended", this.#ended());
    const counts = this.#count(jobs ?? (await scheduler.jobs()));
    await scheduler.checkEnd();
    await scheduler.shutDown();
    const { kills, foundStopped, slowestThawMs, problems } = scheduler;
    return { ...counts, cutOff: this.#cutOff, kills, foundStopped, slowestThawMs, problems };
  }

  async clear(): Promise<void> {
    this.#isOver = true;
    await this.#scheduler.clear();
  }

  #makeJob(i: number): FaultJob {
    const tasks = this.#random.below(3) === 0 ? availableParallelism() : 1;
    const lastsMs = this.#random.below(this.#random.below(3) === 0 ? 2000 : 300);
    const begin = `echo "$TUTTI_JOB_ID" >> '${this.#ranFile(i)}'; sleep ${lastsMs / 1000}`;
    const code = this.#random.below(256);
    switch (this.#random.below(5)) {
      case 0:
        return { script: `${begin}; kill -9 $$`, tasks, signal: "SIGKILL" };
      case 1:
        // A process that would stay behind.
        return { script: `setsid sleep 1000 & ${begin}; exit 0`, tasks, code: 0 };
      case 2:
        return {
          script: `${begin}; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit ${code}`,
          tasks,
          code,
        };
      default:
        return { script: `${begin}; exit ${code}`, tasks, code };
    }
  }

  #ranFile(i: number): string {
    return join(this.#folder, "ran", String(i));
  }

  /** Waits for a moment at which the front end has not yet answered a submit. */
  async #amidSubmits(released: number): Promise<void> {
    const untilMs = performance.now() + START_MS;
    while (!this.#scheduler.isThere && performance.now() < untilMs) await sleep(1);
    this.#released = released;
    while (this.#unanswered === 0 && performance.now() < untilMs) await sleep(0);
    await sleep(this.#random.below(MAX_ANSWER_MS));
  }

  async #submitJobs(): Promise<void> {
    while (!this.#isOver && this.#nextJob < this.#plan.jobs) {
      if (this.#nextJob >= this.#released) await sleep(5);
      else await this.#submit(this.#nextJob++);
    }
  }

  async #submit(i: number): Promise<void> {
    const { script, tasks } = this.#jobs[i];
    const job: SubmitJob = {
      command: ["sh", "-c", script],
      tasks,
      name: `fault-${i}`,
      cwd: this.#folder,
      env: { PATH: process.env.PATH ?? "", FAULTS: this.#folder },
    };
    const hasKey = i % 4 !== 3;
    const body = { jobs: [job], ...(hasKey && { key: `fault-${i}` }) };
    while (!this.#isOver) {
      try {
        const { client } = this.#scheduler;
        this.#unanswered++;
        const answer = await client
          .ask<JobsAnswer>("/v1/jobs", { method: "POST", body })
          .finally(() => this.#unanswered--);
        this.#numbers[i] = answer.jobs[0].job;
        return;
      } catch (error) {
        if (!(error instanceof NoDaemonError)) throw error;
        const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
        if (!UNHEARD.includes(code)) this.#cutOff++;
        if (!hasKey && !UNHEARD.includes(code)) return;
        await sleep(10);
      }
    }
  }

  /** Waits until all jobs have ended, and returns them. */
  async #ended(): Promise<readonly Job[]> {
    while (!this.#isOver) {
      try {
        const jobs = await this.#scheduler.jobs();
        if (jobs.every(({ endedAtMs }) => endedAtMs !== undefined)) return jobs;
      } catch (error) {
        if (!(error instanceof NoDaemonError)) throw error;
      }
      await sleep(50);
    }
    return [];
  }

  #count(jobs: readonly Job[]) {
    const byName = new Map(jobs.map((job) => [job.name, job]));
    if (byName.size !== jobs.length)
      this.#scheduler.problems.push(`${jobs.length - byName.size} jobs exist twice`);
    const counts = { acknowledged: 0, finished: 0, lost: 0, ranTwice: 0, acceptedUnheard: 0 };
    for (const [i, wanted] of this.#jobs.entries()) {
      const number = this.#numbers[i];
      const job = byName.get(`fault-${i}`);
      const ran = linesOf(this.#ranFile(i));
      const isRight =
        job !== undefined &&
        job.code === wanted.code &&
        job.signal === wanted.signal &&
        job.state === (wanted.code === 0 ? "done" : "failed");
      if (number !== undefined) counts.acknowledged++;
      else if (job !== undefined) counts.acceptedUnheard++;
      if (number !== undefined && (job?.job !== number || ran.length === 0)) counts.lost++;
      else if (number !== undefined && isRight) counts.finished++;
      if (ran.length > 1) counts.ranTwice++;
      const times = job === undefined ? 0 : 1;
      if (ran.length === times && ran.every((line) => line === String(job?.job)) && (!times || isRight)) {
        if (number === undefined || job?.job === number) continue;
      }
      this.#scheduler.problems.push(
        `job ${i}: acknowledged as ${number}, ran ${ran.length} times, expected ${JSON.stringify(wanted)}, is ${JSON.stringify(job)}`,
      );
    }
    return { submitted: this.#nextJob, ...counts };
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
