/** The stages of the executor's conformance suite for a real `tutti serve`, in real time. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { memoryBytes } from "@tutti/host/machine.ts";
import { allPids, hasEnded, readStat } from "@tutti/host/processes.ts";
import { sleep } from "@tutti/host/sleep.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import type { Change } from "@tutti/live/daemon/contract/service.ts";
import type { Answer } from "@tutti/protocol/refusal.ts";
import type { Job, JobAnswer, JobsAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import type { Capability, ExecutorStage, StageOptions } from "./executor-conformance.ts";
import { type Work, type WorkRecord, workCommand } from "./executor-work.ts";
import { LiveScheduler } from "./live-scheduler.ts";

/** Processes of a busy machine get the CPU this late, also those of the scheduler. */
const TOLERANCE_MS = 50;

export async function openLocalStage(options: StageOptions): Promise<ExecutorStage> {
  const scheduler = new LiveScheduler();
  return openLiveStage(
    {
      scheduler,
      processors: availableParallelism(),
      memoryBytes: async () => memoryBytes(),
      lacks: new Set(["tasks-run each"]),
      refusalOf: async () => {
        const job = { command: ["true"], cwd: "/", env: {}, tasksRun: "each" };
        const asked = scheduler.client.ask("/v1/jobs", { method: "POST", body: { jobs: [job] } });
        return asked.then(() => "", String);
      },
      close: async () => {
        const stopped = scheduler.leftovers.stopped();
        await scheduler.clear();
        return stopped;
      },
    },
    options,
  );
}

/** A scheduler that runs apart from the tests, and its end. */
export interface StageSetup {
  readonly scheduler: StageScheduler;
  readonly processors: number;
  /** Memory for all jobs together. */
  memoryBytes(): Promise<number>;
  readonly lacks?: ReadonlySet<Capability>;
  refusalOf?(capability: Capability): Promise<string>;
  /** Ends everything. @returns what was left behind, described */
  close(): Promise<readonly string[]>;
}

interface StageScheduler {
  /** Jobs can read and write it wherever they run. */
  readonly folder: string;
  readonly state: string;
  /** Further arguments of `tutti serve`. */
  readonly words: string[];
  readonly client: Client;
  start(): Promise<void>;
  killFrontEnd(): Promise<void>;
}

export async function openLiveStage(setup: StageSetup, options: StageOptions): Promise<ExecutorStage> {
  const stage = new LiveStage(setup, options);
  await stage.startFrontEnd();
  return stage;
}

/** Talks to a scheduler by its socket, and reads the records of its jobs from files. */
class LiveStage implements ExecutorStage {
  readonly processors: number;
  readonly slotMs: number;
  readonly graceMs: number;
  readonly toleranceMs = TOLERANCE_MS;
  readonly rows = 8;
  readonly lacks: ReadonlySet<Capability>;
  readonly scheduler: StageScheduler;
  readonly #setup: StageSetup;
  readonly #records: string;

  constructor(setup: StageSetup, { slotMs, graceMs }: StageOptions) {
    this.#setup = setup;
    this.scheduler = setup.scheduler;
    this.processors = setup.processors;
    this.lacks = setup.lacks ?? new Set();
    this.slotMs = slotMs;
    this.graceMs = graceMs;
    this.#records = join(this.scheduler.folder, "records");
    mkdirSync(this.#records);
    const config = join(this.scheduler.folder, "config.json");
    writeFileSync(config, JSON.stringify({ slotMs, graceMs, maxRows: this.rows }));
    this.scheduler.words.push("--config", config, "--slot", `${slotMs}ms`);
  }

  async memoryBytes(): Promise<number> {
    return this.#setup.memoryBytes();
  }

  nowMs(): number {
    return Date.now();
  }

  pass(ms: number): Promise<void> {
    return sleep(ms);
  }

  submit(work: Work, fields: Partial<SubmitJob> = {}): Promise<Answer<readonly number[]>> {
    const job = {
      command: workCommand(work, this.#records),
      cwd: this.scheduler.folder,
      env: { PATH: process.env.PATH ?? "" },
      ...fields,
    };
    return refusedOr(async () => {
      const { jobs } = await this.scheduler.client.ask<JobsAnswer>("/v1/jobs", {
        method: "POST",
        body: { jobs: [job] },
      });
      return jobs.map(({ job }) => job);
    });
  }

  async job(job: number): Promise<Job> {
    return (await this.scheduler.client.job(job)).job;
  }

  change(job: number, { action, ...body }: Change): Promise<Answer<Job>> {
    return refusedOr(async () => {
      const options = { method: "POST", ...("priority" in body && { body }) };
      return (await this.scheduler.client.ask<JobAnswer>(`/v1/jobs/${job}/${action}`, options)).job;
    });
  }

  killFrontEnd(): Promise<void> {
    return this.scheduler.killFrontEnd();
  }

  startFrontEnd(): Promise<void> {
    return this.scheduler.start();
  }

  records(job: number): readonly WorkRecord[] {
    return read(join(this.#records, String(job)))
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  processes(job: number): number {
    return allPids().filter((pid) => {
      const environment = read(`/proc/${pid}/environ`);
      const stat = readStat(pid);
      return (
        environment.includes(`TUTTI_JOB_ID=${job}\0`) &&
        environment.includes(this.scheduler.folder) &&
        stat !== undefined &&
        !hasEnded(stat)
      );
    }).length;
  }

  output(job: number) {
    const folder = join(this.scheduler.state, "jobs", String(job));
    return { stdout: read(join(folder, "stdout")), stderr: read(join(folder, "stderr")) };
  }

  refusalOf(capability: Capability): Promise<string> {
    return this.#setup.refusalOf?.(capability) ?? Promise.reject(new Error(`The executor has ${capability}`));
  }

  close(): Promise<readonly string[]> {
    return this.#setup.close();
  }
}

async function refusedOr<Value>(ask: () => Promise<Value>): Promise<Answer<Value>> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { refused: error.refused, message: error.message };
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
