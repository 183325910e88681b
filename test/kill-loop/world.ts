/** What stories and faults of one run of the kill loop share. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Random } from "@tutti/kernel/core/random.ts";
import type { BatchAnswer, Job, JobsAnswer } from "@tutti/protocol/schema.ts";
import {
  type History,
  type JudgedJob,
  readStarts,
  type Span,
  type Start,
} from "@tutti/torture/judge/history.ts";
import type { TestAccount } from "../accounts.ts";
import type { Folder } from "./kinds.ts";
import { Scheduler, type Settings, sleep } from "./scheduler.ts";
import { Sender } from "./sender.ts";

export type Action = "cancel" | "hold" | "release" | "requeue" | "pause" | "resume" | "priority";

export const LOOK_MS = 50;
/** Why a job is held that a restored store does not know to have been started. */
export const HAS_RUN = /^attempt \d+ of this job\b/;
/** More jobs than any run has. */
const ALL = 1000;

export class World {
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly sender: Sender;
  /** Whose jobs they are; empty: they belong to the user of the test. */
  readonly users: readonly TestAccount[];
  readonly jobs: JudgedJob[] = [];
  readonly quiet: Span[] = [];
  readonly lost = new Set<string>();
  readonly forgotten = new Set<number>();
  wasAway = false;
  readonly restores: number[] = [];
  readonly clocks: (Span & { readonly offsetMs: number })[] = [];
  /** Jobs that only their own story pauses and resumes. */
  readonly watched = new Set<number>();
  /** Jobs for which somebody else asked for a pause. */
  readonly disturbed = new Set<number>();
  /** Changes that were acknowledged. */
  readonly changed: Record<string, number> = {};
  /** Jobs as the scheduler said last. */
  records: readonly Job[] = [];
  isOver = false;

  constructor(seed: number, settings: Settings, users: readonly TestAccount[]) {
    this.random = new Random(seed, "kill loop");
    this.scheduler = new Scheduler(this.random, settings);
    this.sender = new Sender(this.scheduler);
    this.users = users;
  }

  end(): void {
    this.isOver = true;
    this.sender.isOver = true;
  }

  file(folder: Folder, index: number): string {
    return join(this.scheduler.folder, folder, String(index));
  }

  starts(): Start[] {
    return this.jobs.flatMap(({ index }) => readStarts(read(this.file("ran", index))));
  }

  /** @returns undefined: it has worked; otherwise why it was refused */
  async change(action: Action, job: number, more: object = {}): Promise<string | undefined> {
    const body = { action, jobs: String(job), ...more };
    const { value, refusal, mayHaveWorked } = await this.sender.send<BatchAnswer>("POST", "/v1/batch", body);
    const result = value?.results[0];
    // What is refused after a request without an answer may have been done by it.
    if ((result === undefined || !("job" in result)) && !mayHaveWorked) return result?.message ?? refusal;
    this.count(action);
    return undefined;
  }

  count(what: string): void {
    this.changed[what] = (this.changed[what] ?? 0) + 1;
  }

  /** @returns undefined: there was no answer */
  async listed(states: string): Promise<readonly Job[] | undefined> {
    const path = `/v1/jobs?states=${states}&last=${ALL}`;
    return (await this.sender.once<JobsAnswer>("GET", path)).value?.jobs;
  }

  /** Waits until a job, or its next state, is as described. Returns whether it has become so. */
  async until(condition: () => boolean): Promise<boolean> {
    while (!this.isOver && !condition()) await sleep(LOOK_MS);
    return condition();
  }

  record(job: number): Job | undefined {
    return this.records.find((one) => one.job === job);
  }

  /** Finds jobs that a restored store does not know to have run: they are held. */
  async findForgotten(): Promise<readonly Job[]> {
    const held = (await this.listed("held")) ?? [];
    const found = held.filter(({ reason = "" }) => HAS_RUN.test(reason));
    for (const { job } of found) this.forgotten.add(job);
    return found;
  }

  /** Resumes what faults have paused, and gives up forgotten jobs when they have ended. */
  async tidy(): Promise<void> {
    for (const { job, reason = "" } of await this.findForgotten()) {
      if (reason.includes("is already running")) continue;
      await this.change("cancel", job);
    }
    for (const { job, state } of (await this.listed("paused,held")) ?? []) {
      const isMine = this.disturbed.has(job) && !this.watched.has(job) && !this.forgotten.has(job);
      if (isMine) await this.change(state === "paused" ? "resume" : "release", job);
    }
  }

  async look(): Promise<void> {
    for (let i = 0; !this.isOver; i++) {
      const { value } = await this.sender.once<JobsAnswer>("GET", `/v1/jobs?last=${ALL}`);
      if (value !== undefined) this.records = value.jobs;
      if (i % 10 === 0) await this.tidy();
      await sleep(LOOK_MS);
    }
  }

  history(rest: Pick<History, "reports" | "noted" | "exported" | "mostJobs">): History {
    const { jobs, records, lost, forgotten, wasAway, restores, clocks, quiet } = this;
    return {
      jobs,
      records,
      lost,
      forgotten,
      wasAway,
      restores,
      clocks,
      quiet,
      starts: this.starts(),
      ...rest,
    };
  }
}

export function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** In bytes; −1: it does not exist. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? -1;
}
