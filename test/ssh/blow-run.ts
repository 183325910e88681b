/**
 * Runs a real front end, conductors and jobs on three hosts that ssh reaches, and kills, cuts, fills and
 * crashes parts of all of them at random moments. Every command writes its own signs of life, so the judge
 * knows what ran without asking the scheduler.
 */
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readText } from "@tutti/host/files.ts";
import { allPids, readStat, signal } from "@tutti/host/processes.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { NoDaemonError } from "@tutti/live/api/client/errors.ts";
import type { Job, JobsAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { describeProcess } from "../leftovers.ts";
import {
  type Absence,
  type Beat,
  type JobRun,
  type Judgement,
  judgeJobs,
  parseBeats,
} from "../slurm/judge/beats.ts";
import { compilePrograms } from "../slurm/programs.ts";
import { HostsScheduler, TestHosts } from "./hosts.ts";

/** A host is given up 23 s after its last answer. */
export const BLOWS = [
  "front end",
  "connection",
  "conductor",
  "keeper",
  "conductor and keeper",
  "crash",
  "cut for 2 s",
  "full disk",
  "cut until lost",
] as const;
export type Blow = (typeof BLOWS)[number];

const MOST_TASKS = 6;
/** Between two blows. */
const PAUSE_MS = 1500;
const FULL_MS = 4000;
const LOST_MS = 27_000;
/** Jobs that are live at a time, about. */
const LIVE = 5;
const RETRIES = 50;
const ENDS_MS = 240_000;

export interface BlowPlan {
  readonly seed: number;
  readonly blows: readonly Blow[];
  readonly log: (line: string) => void;
}

export interface BlowOutcome extends Judgement {
  readonly submitted: number;
  readonly blows: number;
  /** What was not as it must be, such as processes that are left. */
  readonly problems: readonly string[];
}

/** A number of blows of all kinds; the last kind takes half a minute, so there are few of it. */
export function blowsOf(count: number): readonly Blow[] {
  const quick = BLOWS.filter((blow) => blow !== "cut until lost");
  return Array.from({ length: count }, (_, i) => (i % 25 === 8 ? "cut until lost" : quick[i % quick.length]));
}

export async function runWithBlows(plan: BlowPlan): Promise<BlowOutcome> {
  const hosts = new TestHosts({ hosts: 3, smallDisks: true });
  hosts.start();
  const run = new BlowRun(hosts, plan);
  try {
    return await run.all();
  } finally {
    await run.scheduler.down();
    hosts.stop();
  }
}

interface BlowJob {
  readonly file: string;
  readonly out: string;
  readonly tasks: number;
  readonly tasksRun: "once" | "each";
  readonly code: number;
  number?: number;
}

class BlowRun {
  readonly scheduler: HostsScheduler;
  readonly #hosts: TestHosts;
  readonly #plan: BlowPlan;
  readonly #random: Random;
  readonly #jobs: BlowJob[] = [];
  readonly #absences: Absence[] = [];
  /** Times in which a disk was full: what a job wrote there then, it has lost itself. */
  readonly #full: Absence[] = [];
  readonly #problems: string[] = [];
  readonly #beat: string;
  #isOver = false;

  constructor(hosts: TestHosts, plan: BlowPlan) {
    this.#hosts = hosts;
    this.#plan = plan;
    this.#random = new Random(plan.seed);
    this.scheduler = new HostsScheduler(hosts);
    const programs = join(hosts.folder, "programs");
    for (const folder of [programs, join(hosts.folder, "beats")]) mkdirSync(folder);
    this.#beat = compilePrograms(programs).beat;
  }

  async all(): Promise<BlowOutcome> {
    await this.scheduler.start();
    const submits = this.#submitJobs();
    for (const [i, blow] of this.#plan.blows.entries()) {
      await sleep(PAUSE_MS / 2 + this.#random.below(PAUSE_MS));
      this.#plan.log(`${i + 1} of ${this.#plan.blows.length}: ${blow}`);
      await this.#strike(blow);
    }
    this.#isOver = true;
    await submits;
    await this.scheduler.up();
    const jobs = await this.#ended();
    const runs = this.#runsOf(jobs);
    const judged = judgeJobs(runs, this.#absences);
    this.#checkOutputs(jobs);
    await this.#shutDown();
    return {
      ...judged,
      submitted: this.#jobs.length,
      blows: this.#plan.blows.length,
      problems: [...judged.problems, ...this.#problems],
    };
  }

  async #strike(blow: Blow): Promise<void> {
    const hosts = this.#hosts;
    const host = hosts.names[this.#random.below(hosts.names.length)];
    const fromMs = Date.now();
    const kill = (pids: readonly number[]) => {
      for (const pid of pids) signal(pid, "SIGKILL");
    };
    switch (blow) {
      case "front end":
        await this.scheduler.killFrontEnd();
        this.scheduler.serve();
        break;
      case "connection":
        kill(this.#connections().slice(0, 1));
        break;
      case "conductor":
        kill(hosts.conductorsOf(host));
        break;
      case "keeper":
        kill(this.#keepersOf(host));
        break;
      case "conductor and keeper":
        kill([...this.#keepersOf(host), ...hosts.conductorsOf(host)]);
        break;
      case "crash":
        hosts.crash(host);
        hosts.boot(host);
        break;
      case "cut for 2 s":
        await this.#cut(host, 2000);
        break;
      case "cut until lost":
        await this.#cut(host, LOST_MS);
        break;
      case "full disk":
        await this.#fill(host);
        this.#full.push({ node: host, fromMs, toMs: Date.now() });
        break;
    }
    this.#absences.push({ node: host, fromMs, toMs: Date.now() + 10_000 });
  }

  async #cut(host: string, ms: number): Promise<void> {
    this.#hosts.cut(host);
    await sleep(ms);
    this.#hosts.join(host);
  }

  /** Fills the disk of the conductor's folder for a while. */
  async #fill(host: string): Promise<void> {
    const file = join(this.#hosts.varTmpOf(host), "filler");
    const descriptor = openSync(file, "w");
    const fill = (bytes: number) => {
      try {
        for (;;) writeSync(descriptor, Buffer.alloc(bytes));
      } catch {}
    };
    const untilMs = performance.now() + FULL_MS;
    while (performance.now() < untilMs) {
      for (const bytes of [2 ** 20, 4096, 1]) fill(bytes);
      await sleep(20);
    }
    closeSync(descriptor);
    rmSync(file);
  }

  #connections(): number[] {
    const front = this.scheduler.frontEndPid;
    return allPids().filter((pid) => {
      const stat = readStat(pid);
      return stat?.name === "ssh" && stat.parent === front;
    });
  }

  #keepersOf(host: string): number[] {
    return this.#hosts
      .processesOf(host)
      .filter((pid) => (readText(`/proc/${pid}/cmdline`, "latin1") ?? "").includes("\0tutti-keeper\0"));
  }

  async #submitJobs(): Promise<void> {
    while (!this.#isOver) {
      const live = await this.#liveJobs().catch(() => LIVE);
      if (live < LIVE) await this.#submit();
      else await sleep(50);
    }
  }

  async #liveJobs(): Promise<number> {
    return (await this.#allJobs()).filter(({ state }) => !isEnded(state)).length;
  }

  async #allJobs(): Promise<readonly Job[]> {
    return (await this.scheduler.client.jobs({ last: 10_000 })).jobs;
  }

  /** Submits a job again and again until it is acknowledged. */
  async #submit(): Promise<void> {
    const i = this.#jobs.length;
    const job: BlowJob = {
      file: join(this.#hosts.folder, "beats", String(i)),
      out: join(this.scheduler.folder, `out-${i}`),
      tasks: 1 + this.#random.below(MOST_TASKS),
      tasksRun: this.#random.below(2) === 0 ? "each" : "once",
      code: this.#random.below(3) === 0 ? this.#random.below(100) : 0,
    };
    this.#jobs.push(job);
    const beats = 2 + this.#random.below(30);
    const line = (word: string) => `echo "${word} $TUTTI_ATTEMPT $TUTTI_RANK"`;
    const command = `${line("begin")}; "$0" "$@"; code=$?; ${line("end")}; exit $code`;
    const request: SubmitJob = {
      command: ["sh", "-c", command, this.#beat, job.file, String(beats), String(job.code)],
      name: `blow-${i}`,
      cwd: "/",
      env: { PATH: process.env.PATH ?? "" },
      stdout: job.out,
      tasks: job.tasks,
      tasksRun: job.tasksRun,
      retries: RETRIES,
    };
    for (;;) {
      try {
        const body = { jobs: [request], key: `blow-${i}` };
        const answer = await this.scheduler.client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body });
        job.number = answer.jobs[0].job;
        return;
      } catch (error) {
        if (!(error instanceof NoDaemonError)) throw error;
        await sleep(50);
      }
    }
  }

  async #ended(): Promise<readonly Job[]> {
    const untilMs = performance.now() + ENDS_MS;
    for (;;) {
      const jobs = await this.#allJobs().catch(() => []);
      if (jobs.length === this.#jobs.length && jobs.every(({ state }) => isEnded(state))) return jobs;
      if (performance.now() > untilMs) {
        const open = jobs.filter(({ state }) => !isEnded(state)).map(({ job, state }) => `${job} ${state}`);
        this.#problems.push(`not all jobs ended within ${ENDS_MS} ms: ${open}`);
        return jobs;
      }
      await sleep(100);
    }
  }

  #runsOf(jobs: readonly Job[]): JobRun[] {
    const byName = new Map(jobs.map((job) => [job.name, job]));
    return this.#jobs.map(({ file, tasks, tasksRun, code, number }, i) => {
      const job = byName.get(`blow-${i}`);
      return {
        name: `blow-${i}`,
        commands: tasksRun === "each" ? tasks : 1,
        retries: RETRIES,
        requeued: 0,
        code,
        beats: beatsIn(file),
        ...(job !== undefined && { job }),
        ...(number !== undefined && { acknowledged: number }),
      };
    });
  }

  /** Of the last attempt, all that each command wrote must be here, once. */
  #checkOutputs(jobs: readonly Job[]): void {
    for (const { name, attempt, state, code: ended } of jobs) {
      const i = Number(name.slice("blow-".length));
      const { file, out, tasks, tasksRun, code } = this.#jobs[i];
      const beats = beatsIn(file).filter((beat) => beat.attempt === attempt);
      const wasFull = this.#full.some(({ node, fromMs, toMs }) =>
        beats.some((beat) => beat.node === node && beat.atMs > fromMs - 1000 && beat.atMs < toMs + 1000),
      );
      if (wasFull) continue;
      // One that was lost at last has not written all.
      if (!isEnded(state) || ended !== code) continue;
      const ranks = tasksRun === "each" ? Array.from({ length: tasks }, (_, rank) => String(rank)) : [""];
      const lines = (readText(out, "utf8") ?? "").split("\n");
      for (const expected of ranks.flatMap((rank) => [
        `begin ${attempt} ${rank}`,
        `end ${attempt} ${rank}`,
      ])) {
        const count = lines.filter((line) => line === expected).length;
        if (count !== 1) this.#problems.push(`the output of ${name} has "${expected}" ${count} times`);
      }
    }
  }

  async #shutDown(): Promise<void> {
    const { status, stderr } = await this.scheduler.run(["down"]);
    if (status !== 0) this.#problems.push(`tutti down ended with ${status}: ${stderr}`);
    this.#problems.push(...this.#hosts.leftovers().map((one) => `${one} is left after tutti down`));
    for (const host of this.#hosts.names)
      for (const pid of this.#hosts.processesOf(host))
        if ((readText(`/proc/${pid}/environ`, "latin1") ?? "").includes("TUTTI_GANG="))
          this.#problems.push(`${host}: ${describeProcess(pid)} is left after tutti down`);
  }
}

function beatsIn(file: string): Beat[] {
  try {
    return parseBeats(readFileSync(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
