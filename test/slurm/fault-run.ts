/**
 * Runs a real front end, pilots, conductors and jobs on a real Slurm, and kills, cuts and crashes parts of
 * all of them at random moments. Every command writes its own signs of life, so the judge knows what ran
 * without asking the scheduler.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { signal } from "@tutti/host/processes.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { NoDaemonError } from "@tutti/live/api/client/errors.ts";
import type { Event, Job, JobsAnswer, StatusAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { describeProcess } from "../leftovers.ts";
import { returnsToLostNodes } from "../lost-nodes.ts";
import { TestCluster } from "./cluster.ts";
import {
  conductorsOf,
  connectorsOf,
  foreignOn,
  keepersOf,
  stepdsOf,
  stoppedOn,
  switchesOf,
} from "./fault-targets.ts";
import {
  type Absence,
  type Beat,
  type JobRun,
  type Judgement,
  judgeJobs,
  parseBeats,
} from "./judge/beats.ts";
import { compilePrograms } from "./programs.ts";
import { SlurmScheduler } from "./scheduler.ts";

/** Kinds of blows. DOWN means that Slurm gives the node up, after 20 s here. */
export const BLOWS = [
  "front end",
  "connector",
  "conductor",
  "keeper",
  "slurmstepd",
  "slurmd",
  "slurmctld",
  "slurmctld after a submit",
  "crash of the first node",
  "crash",
  "cut for 2 s",
  "cut until DOWN",
  "scancel of the pilot",
] as const;
export type Blow = (typeof BLOWS)[number];

/**
 * A number of blows for `npm run soak`: each kind equally often, but few for which Slurm needs a minute.
 */
export function soakBlows(count: number): readonly Blow[] {
  const quick = BLOWS.filter((blow) => blow !== "cut until DOWN");
  const slow = Math.ceil(count / 30);
  return [
    ...Array.from({ length: slow }, () => "cut until DOWN" as const),
    ...Array.from({ length: count - slow }, (_, i) => quick[i % quick.length]),
  ];
}

export interface FaultPlan {
  readonly seed: number;
  readonly jobs: number;
  /** In any order. */
  readonly blows: readonly Blow[];
  readonly proctrack: "linuxproc" | "cgroup";
  /** Further words of `tutti serve`. */
  readonly words?: readonly string[];
  readonly log?: (line: string) => void;
}

export interface FaultOutcome extends Judgement {
  readonly submitted: number;
  readonly blows: number;
  /** How often an operator asked for a pilot again because too few processors were left. */
  readonly renewals: number;
}

const SHAPE = { nodes: 4, cpus: 4 };
const MOST_TASKS = 8;
const CLIENTS = 3;
/** Longest time between the recovery from a blow and the next one. */
const MOST_WAIT_MS = 2500;
/** After this time without enough processors, an operator asks for a pilot again. */
const PATIENCE_MS = 45_000;
const DOWN_MS = 90_000;
const ENDS_MS = 180_000;
/** A node is back or lost within this time. */
const SILENCE_MS = 40_000;
/** Nothing may be stopped for good so long after the last blow. */
const STOPPED_MS = 10_000;
/** Gangs have their turn within this time, however busy the machine is. */
const TURN_MS = 30_000;
/** How long a node that is back may need to end what the others have given up. */
const BACK_MS = 10_000;
const LEFT_MS = 15_000;

interface FaultJob {
  readonly file: string;
  readonly tasks: number;
  readonly tasksRun: "once" | "each";
  readonly beats: number;
  readonly retries: number;
  readonly code?: number;
  readonly signal?: string;
}

/** Runs everything and leaves nothing behind. */
export async function runWithFaults(plan: FaultPlan): Promise<FaultOutcome> {
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
  readonly #cluster: TestCluster;
  readonly #problems: string[] = [];
  readonly #absences: Absence[] = [];
  readonly #numbers: (number | undefined)[] = [];
  #jobs: readonly FaultJob[] = [];
  #beat = "";
  #scheduler: SlurmScheduler | undefined;
  #nextJob = 0;
  #released = 0;
  #renewals = 0;
  #isOver = false;

  constructor(plan: FaultPlan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed, "slurm-faults");
    this.#cluster = new TestCluster({ ...SHAPE, proctrack: plan.proctrack });
  }

  async all(): Promise<FaultOutcome> {
    const { jobs, blows, words = [] } = this.#plan;
    await this.#cluster.start();
    this.#beat = compilePrograms(this.#cluster.home).beat;
    this.#scheduler = new SlurmScheduler(this.#cluster, { nodes: SHAPE.nodes, words });
    mkdirSync(join(this.#cluster.home, "beats"));
    this.#jobs = Array.from({ length: jobs }, (_, i) => this.#makeJob(i));
    await this.#theScheduler.start();
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#submitJobs()));
    for (const [i, blow] of this.#shuffled(blows).entries()) {
      this.#released = Math.ceil((jobs * (i + 1)) / blows.length);
      await this.#recovered();
      await sleep(this.#random.below(MOST_WAIT_MS));
      await this.#strike(blow);
    }
    await this.#checkNoneStaysStopped();
    await this.#within(ENDS_MS, "all jobs were submitted", () => clients);
    const ended = await this.#within(ENDS_MS, "all jobs had ended", () => this.#ended());
    const events = await this.#events();
    const runs = this.#runsOf(ended ?? (await this.#allJobs()), this.#requeuesIn(events));
    this.#problems.push(...returnsToLostNodes(events));
    await this.#shutDown();
    const judgement = judgeJobs(runs, this.#absences);
    if (judgement.problems.length + this.#problems.length > 0)
      for (const event of events) this.#log(JSON.stringify(event));
    return {
      ...judgement,
      submitted: this.#nextJob,
      blows: blows.length,
      renewals: this.#renewals,
      problems: [...judgement.problems, ...this.#problems],
    };
  }

  async clear(): Promise<void> {
    this.#isOver = true;
    await this.#scheduler?.killFrontEnd();
    await this.#cluster.stop();
  }

  get #theScheduler(): SlurmScheduler {
    if (this.#scheduler === undefined) throw new Error("The scheduler was not started");
    return this.#scheduler;
  }

  #log(text: string): void {
    this.#plan.log?.(`${(performance.now() / 1000).toFixed(1)} s: ${text}`);
  }

  #shuffled(blows: readonly Blow[]): readonly Blow[] {
    const order = [...blows];
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.#random.below(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }

  #makeJob(i: number): FaultJob {
    const tasks = 1 + this.#random.below(MOST_TASKS);
    const common = {
      file: join(this.#cluster.home, "beats", String(i)),
      tasks,
      tasksRun: this.#random.below(3) === 0 ? ("each" as const) : ("once" as const),
      beats: 2 + this.#random.below(this.#random.below(3) === 0 ? 60 : 15),
      retries: this.#random.below(2) === 0 ? 0 : 3,
    };
    if (common.tasksRun === "once" && this.#random.below(5) === 0) return { ...common, signal: "SIGKILL" };
    return { ...common, code: this.#random.below(3) === 0 ? this.#random.below(100) : 0 };
  }

  // ── Jobs ────────────────────────────────────────────────────────────────────────────────────────────────

  async #submitJobs(): Promise<void> {
    while (!this.#isOver && this.#nextJob < this.#plan.jobs) {
      if (this.#nextJob >= this.#released) await sleep(20);
      else await this.#submit(this.#nextJob++);
    }
  }

  /** Submits a job again and again until it is acknowledged. */
  async #submit(i: number): Promise<void> {
    const { file, tasks, tasksRun, beats, retries, code } = this.#jobs[i];
    const job: SubmitJob = {
      command: [this.#beat, file, String(beats), String(code ?? -9)],
      name: `fault-${i}`,
      cwd: this.#theScheduler.folder,
      env: { PATH: process.env.PATH ?? "" },
      tasks,
      tasksRun,
      retries,
    };
    while (!this.#isOver) {
      try {
        const body = { jobs: [job], key: `fault-${i}` };
        const answer = await this.#theScheduler.client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body });
        this.#numbers[i] = answer.jobs[0].job;
        return;
      } catch (error) {
        if (!(error instanceof NoDaemonError)) throw error;
        await sleep(50);
      }
    }
  }

  async #allJobs(): Promise<readonly Job[]> {
    return (await this.#theScheduler.client.jobs({ last: 2 * this.#plan.jobs })).jobs;
  }

  async #ended(): Promise<readonly Job[]> {
    let nextRenewalMs = performance.now() + PATIENCE_MS;
    while (!this.#isOver) {
      const jobs = await this.#allJobs().catch(() => undefined);
      if (jobs?.length === this.#plan.jobs && jobs.every(({ state }) => isEnded(state))) return jobs;
      if (performance.now() > nextRenewalMs && !(await this.#hasRoom())) {
        await this.#renew();
        nextRenewalMs = performance.now() + PATIENCE_MS;
      }
      await sleep(100);
    }
    return [];
  }

  async #events(): Promise<readonly Event[]> {
    const text = await this.#theScheduler.tutti("events", "--json");
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  /** Numbers of the jobs that were queued again because a pilot ended, each as often as it was. */
  #requeuesIn(events: readonly Event[]): readonly (number | undefined)[] {
    return events
      .filter(
        ({ kind, data }) => kind === "requeued" && String(data?.reason).startsWith("the allocation ended"),
      )
      .map(({ job }) => job);
  }

  #runsOf(jobs: readonly Job[], requeues: readonly (number | undefined)[]): JobRun[] {
    const byName = new Map(jobs.map((job) => [job.name, job]));
    if (byName.size !== jobs.length) this.#problems.push(`${jobs.length - byName.size} jobs exist twice`);
    return this.#jobs.map(({ file, tasks, tasksRun, retries, code, signal }, i) => {
      const name = `fault-${i}`;
      const job = byName.get(name);
      const acknowledged = this.#numbers[i];
      return {
        name,
        commands: tasksRun === "each" ? tasks : 1,
        retries,
        requeued: requeues.filter((number) => number === job?.job).length,
        beats: beatsIn(file),
        ...(code === undefined ? {} : { code }),
        ...(signal === undefined ? {} : { signal }),
        ...(job === undefined ? {} : { job }),
        ...(acknowledged === undefined ? {} : { acknowledged }),
      };
    });
  }

  // ── Blows ───────────────────────────────────────────────────────────────────────────────────────────────

  async #strike(blow: Blow): Promise<void> {
    const cluster = this.#cluster;
    const { nodes } = cluster;
    const node = nodes[this.#random.below(nodes.length)];
    const later = nodes[1 + this.#random.below(nodes.length - 1)];
    this.#log(`${blow}: ${node} or ${later}`);
    switch (blow) {
      case "front end":
        await this.#theScheduler.killFrontEnd();
        await sleep(this.#random.below(1000));
        this.#theScheduler.serve();
        break;
      case "connector":
        this.#kill((await this.#found(blow, () => connectorsOf(this.#theScheduler.frontEndPid))).slice(0, 1));
        break;
      case "conductor":
        this.#kill(await this.#onAny(blow, (one) => conductorsOf(cluster, one)));
        break;
      case "keeper":
        this.#kill(await this.#onAny(blow, (one) => keepersOf(cluster, one)));
        break;
      case "slurmstepd":
        this.#kill(await this.#onAny(blow, (one) => stepdsOf(cluster, one)));
        break;
      case "slurmd":
        await cluster.node("kill", node);
        await sleep(3000);
        await cluster.node("start", node);
        break;
      case "slurmctld":
        await this.#killController();
        break;
      case "slurmctld after a submit":
        await this.#renew();
        await sleep(this.#random.below(5000));
        await this.#killController();
        break;
      case "crash of the first node":
        await this.#crash(nodes[0]);
        break;
      case "crash":
        await this.#crash(later);
        break;
      case "cut for 2 s":
        await this.#cut(node, () => sleep(2000));
        break;
      case "cut until DOWN":
        await this.#cut(later, () => this.#down(later));
        break;
      case "scancel of the pilot":
        await this.#cancelPilots();
        await sleep(2000);
        await this.#startPilot();
        break;
    }
  }

  /** Processes of this kind on one of the nodes that have any. */
  async #onAny(what: Blow, find: (node: string) => readonly number[]): Promise<readonly number[]> {
    const lists = () => this.#cluster.nodes.map(find).filter((pids) => pids.length > 0);
    const found = await this.#found(what, lists);
    return found.length === 0 ? [] : found[this.#random.below(found.length)];
  }

  /** Waits until there is one: after the blow before, it may just be starting again, or an operator must. */
  async #found<Found>(what: Blow, find: () => readonly Found[]): Promise<readonly Found[]> {
    const all = async () => {
      for (;;) {
        const found = find();
        if (found.length > 0 || this.#isOver) return found;
        await sleep(50);
        if (!(await this.#hasRoom())) await this.#recovered();
      }
    };
    return (await this.#within(ENDS_MS, `there was a ${what} to kill`, all)) ?? [];
  }

  #kill(pids: readonly number[]): void {
    for (const pid of pids) signal(pid, "SIGKILL");
  }

  async #killController(): Promise<void> {
    await this.#cluster.controller("kill");
    await sleep(2000);
    await this.#cluster.controller("start");
  }

  /** The node is back at once, and Slurm may not notice. */
  async #crash(node: string): Promise<void> {
    await this.#cluster.node("crash", node);
    await sleep(this.#random.below(1000));
    await this.#cluster.node("start", node);
  }

  async #cut(node: string, meanwhile: () => Promise<unknown>): Promise<void> {
    const fromMs = Date.now();
    await this.#cluster.node("cut", node);
    try {
      await meanwhile();
    } finally {
      await this.#cluster.node("join", node);
      this.#absences.push({ node, fromMs, toMs: Date.now() + BACK_MS });
    }
  }

  async #down(node: string): Promise<void> {
    await this.#within(DOWN_MS, `${node} was DOWN`, async () => {
      while (!/^down/.test(await this.#cluster.stateOf(node).catch(() => ""))) await sleep(200);
    });
  }

  async #cancelPilots(): Promise<void> {
    await this.#cluster.slurm("scancel", "--me");
  }

  /** What an operator does when too few processors are left: a new pilot. */
  async #renew(): Promise<void> {
    this.#renewals++;
    this.#log("renewal");
    // slurmctld of 22.05 can crash by itself after a restart, when a job has lost nodes meanwhile.
    await this.#retried("starting slurmctld", () => this.#cluster.controller("start"));
    await this.#retried("scancel", () => this.#cancelPilots());
    await sleep(2000);
    // After a restart within seconds of a job's start, Slurm may drain nodes for good.
    await this.#retried("resuming nodes", () => this.#cluster.resumeDrained());
    await this.#startPilot();
  }

  async #startPilot(): Promise<void> {
    await this.#retried("tutti pilot start", () => this.#theScheduler.tutti("pilot", "start"));
  }

  async #retried(what: string, act: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await act();
        return;
      } catch (error) {
        if (tries < 10) await sleep(1000);
        else {
          this.#problems.push(`${what} failed ${tries} times: ${error}`);
          return;
        }
      }
    }
  }

  // ── Checks ──────────────────────────────────────────────────────────────────────────────────────────────

  /** The API's answer: `tutti status` would start a process, and we ask often. */
  #status(): Promise<StatusAnswer> {
    return this.#theScheduler.client.ask<StatusAnswer>("/v1/status");
  }

  /** Whether the widest job fits. */
  async #hasRoom(): Promise<boolean> {
    const status = await this.#status().catch(() => undefined);
    return status?.conductor.connected === true && status.cpus >= MOST_TASKS;
  }

  /** Whether the scheduler answers and sees no node that is silent. */
  async #seesAll(): Promise<boolean> {
    const status = await this.#status().catch(() => undefined);
    return status !== undefined && (status.nodes ?? []).every(({ state }) => state !== "silent");
  }

  /** Waits until there is room again; after a while, does what an operator does. */
  async #recovered(): Promise<void> {
    const sinceMs = performance.now();
    let renewMs = sinceMs + PATIENCE_MS;
    while (!(await this.#hasRoom())) {
      if (performance.now() > sinceMs + ENDS_MS) {
        this.#problems.push(`no recovery within ${ENDS_MS} ms: ${this.#theScheduler.output.slice(-2000)}`);
        return;
      }
      if (performance.now() > renewMs) {
        await this.#renew();
        renewMs = performance.now() + PATIENCE_MS;
      }
      await sleep(100);
    }
    this.#log(`room again after ${((performance.now() - sinceMs) / 1000).toFixed(1)} s`);
  }

  /**
   * The gangs of a node that does not answer are stopped until it is back or lost, so the time counts from
   * then.
   */
  async #checkNoneStaysStopped(): Promise<void> {
    await this.#within(SILENCE_MS, "no node was silent", async () => {
      while (!(await this.#seesAll())) await sleep(200);
    });
    await sleep(STOPPED_MS);
    // Gangs take turns, so most are stopped at any moment; one that was continued meanwhile has run.
    const untilMs = performance.now() + TURN_MS;
    const turns = new Map(stoppedOn(this.#cluster).map((pid) => [pid, switchesOf(pid)]));
    let always = [...turns.keys()];
    while (always.length > 0 && performance.now() < untilMs) {
      await sleep(20);
      const now = new Set(stoppedOn(this.#cluster));
      always = always.filter((pid) => now.has(pid) && switchesOf(pid) === turns.get(pid));
    }
    this.#problems.push(
      ...always.map(describeProcess).map((one) => `${one} stays stopped after the last blow`),
    );
  }

  async #shutDown(): Promise<void> {
    const cluster = this.#cluster;
    const { status, stderr } = await this.#theScheduler.run("down");
    if (status !== 0) this.#problems.push(`tutti down ended with ${status}: ${stderr}`);
    const left = async () => [
      ...foreignOn(cluster).map(describeProcess),
      ...(await cluster.slurm("squeue", "-h", "-o", "job %i %T")).split("\n").filter(Boolean),
      ...(await cluster.slurm("squeue", "-h", "-s", "-o", "step %i")).split("\n").filter(Boolean),
    ];
    const untilMs = performance.now() + LEFT_MS;
    let found = await left();
    while (found.length > 0 && performance.now() < untilMs) {
      await sleep(200);
      found = await left();
    }
    this.#problems.push(...found.map((one) => `${one} is left after tutti down`));
  }

  /** The value; undefined, with a problem recorded, if it takes too long. */
  async #within<Value>(ms: number, what: string, act: () => Promise<Value>): Promise<Value | undefined> {
    const abort = new AbortController();
    const late = sleep(ms, undefined, { signal: abort.signal }).then(
      () => {
        this.#problems.push(`Waited ${ms} ms in vain until ${what}`);
        return undefined;
      },
      () => undefined,
    );
    return Promise.race([act(), late]).finally(() => abort.abort());
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
