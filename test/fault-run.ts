/**
 * Runs a real front end, conductor and jobs, and kills the front end, the conductor or both with kill -9 at
 * random moments. Every job writes one line to its own file, so the test knows what ran without asking the
 * scheduler.
 *
 * Three of four jobs are submitted with a key, again and again until they are acknowledged. The fourth has no
 * key and is not submitted again once the front end may have received it. So it may exist although its submit
 * was never acknowledged.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../src/api/client/client.ts";
import { NoDaemonError } from "../src/api/client/errors.ts";
import { Random } from "../src/core/random.ts";
import { signal } from "../src/host/processes.ts";
import type { Job, JobsAnswer, SubmitJob } from "../src/protocol/schema.ts";
import { describeProcess, Leftovers } from "./leftovers.ts";
import { type Started, startTutti } from "./live-command.ts";

export interface FaultPlan {
  readonly seed: number;
  readonly jobs: number;
  /** How often the front end, the conductor and both are killed. */
  readonly frontEnd: number;
  readonly conductor: number;
  readonly both: number;
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
  readonly kills: Readonly<Record<Victim, number>>;
  /** Gangs and processes that were stopped just before both were killed, summed over all such kills. */
  readonly foundStopped: number;
  /** Longest time from the death of both until nothing was stopped, in ms. */
  readonly slowestThawMs: number;
  /** Descriptions of everything that went wrong. */
  readonly problems: readonly string[];
}

type Victim = "frontEnd" | "conductor" | "both";

const CLIENTS = 4;
const THAW_MS = 2000;
const END_MS = 120_000;
const STOPPED_WAIT_MS = 1000;
const START_MS = 10_000;
/** A submit is usually answered within this time. */
const MAX_ANSWER_MS = 10;
/** The connection failed, so the front end has not received the request. */
const UNHEARD = [undefined, "ENOENT", "ECONNREFUSED"];

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
  readonly #folder = mkdtempSync(join(tmpdir(), "tutti-faults-"));
  readonly #socket = join(this.#folder, "run", "tutti.sock");
  readonly #state = join(this.#folder, "state");
  readonly #leftovers = new Leftovers(this.#folder, this.#state);
  readonly #jobs: readonly FaultJob[];
  /** Job numbers that the scheduler returned, by index of the job; undefined: not acknowledged. */
  readonly #numbers: (number | undefined)[] = [];
  readonly #problems: string[] = [];
  readonly #kills = { frontEnd: 0, conductor: 0, both: 0 };
  #frontEnd: Started;
  #slowestThawMs = 0;
  #foundStopped = 0;
  #unanswered = 0;
  #cutOff = 0;
  #nextJob = 0;
  /** Jobs may be submitted up to this index, so that submits go on during all of the kills. */
  #released = 0;
  #isOver = false;

  constructor(plan: FaultPlan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed, "faults");
    mkdirSync(join(this.#folder, "ran"));
    this.#jobs = Array.from({ length: plan.jobs }, (_, i) => this.#makeJob(i));
    this.#frontEnd = this.#serve();
  }

  async all(): Promise<FaultCounts> {
    const victims = this.#victims();
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#submitJobs()));
    for (const [round, victim] of victims.entries()) {
      const released = Math.ceil((this.#plan.jobs * (round + 1)) / victims.length);
      const isAimed = this.#random.below(2) === 0;
      if (!isAimed) this.#released = released;
      await sleep(this.#random.below(this.#plan.maxMs));
      if (isAimed) await this.#amidSubmits(released);
      await this.#kill(victim);
    }
    this.#released = this.#plan.jobs;
    await this.#within(END_MS, "all jobs were submitted", clients);
    const jobs = await this.#within(END_MS, "all jobs had ended", this.#ended());
    await this.#checkNothingLeft();
    await this.#checkNoneWasOlder();
    const counts = this.#count(jobs ?? (await this.#allJobs()));
    await this.#shutDown();
    return {
      ...counts,
      cutOff: this.#cutOff,
      kills: this.#kills,
      foundStopped: this.#foundStopped,
      slowestThawMs: this.#slowestThawMs,
      problems: this.#problems,
    };
  }

  async clear(): Promise<void> {
    this.#isOver = true;
    this.#frontEnd.child.kill("SIGKILL");
    await this.#leftovers.clear();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #victims(): Victim[] {
    const { frontEnd, conductor, both } = this.#plan;
    const left = { frontEnd, conductor, both };
    const victims = (Object.keys(left) as Victim[]).flatMap((one) => Array<Victim>(left[one]).fill(one));
    for (let i = victims.length - 1; i > 0; i--) {
      const j = this.#random.below(i + 1);
      [victims[i], victims[j]] = [victims[j], victims[i]];
    }
    return victims;
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

  #serve(): Started {
    const parameters = ["serve", "--private", "--no-http", "--slot", "20ms", "--state", this.#state];
    return startTutti(this.#socket, parameters);
  }

  /** Waits for a moment at which the front end has not yet answered a submit. */
  async #amidSubmits(released: number): Promise<void> {
    const untilMs = performance.now() + START_MS;
    while (!this.#frontEnd.stdout().includes("next") && performance.now() < untilMs) await sleep(1);
    this.#released = released;
    while (this.#unanswered === 0 && performance.now() < untilMs) await sleep(0);
    await sleep(this.#random.below(MAX_ANSWER_MS));
  }

  async #kill(victim: Victim): Promise<void> {
    if (victim !== "frontEnd") await this.#conductorIsThere();
    if (victim === "both") this.#foundStopped += await this.#stoppedNow();
    if (victim !== "conductor") {
      if (this.#frontEnd.child.exitCode !== null) {
        this.#problems.push(`the front end ended by itself: ${this.#frontEnd.stderr()}`);
      }
      this.#frontEnd.child.kill("SIGKILL");
      await this.#frontEnd.result;
    }
    if (victim !== "frontEnd") for (const pid of this.#leftovers.conductors()) signal(pid, "SIGKILL");
    this.#kills[victim]++;
    if (victim === "both") await this.#waitForThaw();
    if (victim !== "conductor") this.#frontEnd = this.#serve();
  }

  /** Waits for a conductor; the front end may not have started one since the last kill. */
  async #conductorIsThere(): Promise<void> {
    const untilMs = performance.now() + START_MS;
    while (this.#leftovers.conductors().length === 0) {
      await sleep(this.#random.below(50));
      if (performance.now() < untilMs) continue;
      this.#problems.push(`no conductor was started within ${START_MS} ms`);
      return;
    }
  }

  /** Waits briefly for a moment at which something is stopped. Returns how much is stopped. */
  async #stoppedNow(): Promise<number> {
    const untilMs = performance.now() + STOPPED_WAIT_MS;
    for (;;) {
      const count = this.#leftovers.stopped().length;
      if (count > 0 || performance.now() > untilMs) return count;
      await sleep(5);
    }
  }

  /** Now no process could stop anything, and only the guardian could continue it. */
  async #waitForThaw(): Promise<void> {
    const sinceMs = performance.now();
    let stopped: string[] = [];
    do {
      // A conductor that the front end had just started.
      for (const pid of this.#leftovers.conductors()) signal(pid, "SIGKILL");
      stopped = this.#leftovers.stopped();
      const tookMs = Math.round(performance.now() - sinceMs);
      this.#slowestThawMs = Math.max(this.#slowestThawMs, tookMs);
      if (tookMs >= THAW_MS) break;
    } while (stopped.length > 0);
    this.#problems.push(...stopped.map((one) => `${one} is stopped ${THAW_MS} ms after the kills`));
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
        const client = this.#client();
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

  #client(): Client {
    return new Client({ TUTTI_SOCKET: this.#socket });
  }

  async #allJobs(): Promise<readonly Job[]> {
    return (await this.#client().jobs({ last: this.#plan.jobs * 2 })).jobs;
  }

  /** Waits until all jobs have ended, and returns them. */
  async #ended(): Promise<readonly Job[]> {
    while (!this.#isOver) {
      try {
        const jobs = await this.#allJobs();
        if (jobs.every(({ endedAtMs }) => endedAtMs !== undefined)) return jobs;
      } catch (error) {
        if (!(error instanceof NoDaemonError)) throw error;
      }
      await sleep(50);
    }
    return [];
  }

  async #checkNothingLeft(): Promise<void> {
    const untilMs = performance.now() + THAW_MS;
    let left: string[];
    do {
      left = [...this.#leftovers.stopped(), ...this.#leftovers.ofJobs().map(describeProcess)];
      if (left.length > 0) await sleep(20);
    } while (left.length > 0 && performance.now() < untilMs);
    this.#problems.push(...left.map((one) => `${one} is left ${THAW_MS} ms after the last job`));
  }

  #count(jobs: readonly Job[]) {
    const byName = new Map(jobs.map((job) => [job.name, job]));
    if (byName.size !== jobs.length) this.#problems.push(`${jobs.length - byName.size} jobs exist twice`);
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
      this.#problems.push(
        `job ${i}: acknowledged as ${number}, ran ${ran.length} times, expected ${JSON.stringify(wanted)}, is ${JSON.stringify(job)}`,
      );
    }
    return { submitted: this.#nextJob, ...counts };
  }

  /** No kill may make the store older, or an attempt a stray. */
  async #checkNoneWasOlder(): Promise<void> {
    const { stdout } = await startTutti(this.#socket, ["events", "--json"]).result;
    const told = stdout.split("\n").filter((line) => /"kind":"recovered".*"(because|stray)":/.test(line));
    this.#problems.push(...told.map((line) => `without a reason the front end reported: ${line}`));
  }

  async #shutDown(): Promise<void> {
    const { status, stderr } = await startTutti(this.#socket, ["down"]).result;
    if (status !== 0) this.#problems.push(`tutti down ended with ${status}: ${stderr}`);
    const untilMs = performance.now() + 5000;
    const left = () => [...this.#leftovers.processes().map(describeProcess), ...this.#leftovers.groups()];
    while (left().length > 0 && performance.now() < untilMs) await sleep(20);
    this.#problems.push(...left().map((one) => `${one} is left after tutti down`));
  }

  /** The value; undefined, with a problem recorded, if it takes too long. */
  async #within<Value>(ms: number, what: string, value: Promise<Value>): Promise<Value | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        this.#problems.push(`Waited ${ms} ms in vain until ${what}`);
        resolve(undefined);
      }, ms);
    });
    return Promise.race([value, late]).finally(() => clearTimeout(timer));
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
