/**
 * Runs real jobs, each with a story: it is retried, begins later, is edited while it is held, waits or runs,
 * is paused, or runs again. Meanwhile other jobs are paused and resumed, the scheduler is drained, and the
 * front end, the conductor or both are killed with kill -9 at random moments.
 *
 * Every request is sent again until there is an answer, except that an edit that is refused after one without
 * an answer leaves both possible. change-judge.ts judges the rest.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NoDaemonError } from "../src/api/client/errors.ts";
import { Random } from "../src/core/random.ts";
import type { BatchAnswer, Job, JobsAnswer, SubmitJob, UpdateBody } from "../src/protocol/schema.ts";
import { type Folder, makeAsked, makeJob, PROCESSES, type Story, scriptOf } from "./change-jobs.ts";
import { type Asked, type JudgedJob, judge, type Quiet, readStarts, type Start } from "./change-judge.ts";
import { KilledScheduler, type Kills, sleep } from "./killed-scheduler.ts";
import { Sender } from "./sender.ts";

export interface ChangePlan extends Kills {
  readonly seed: number;
  readonly jobs: number;
  readonly policy: string;
  /** Longest time from the start of a front end to the next kill, ms. */
  readonly maxMs: number;
}

/** Changes that were acknowledged. */
const CHANGES = ["retry", "begin", "edit", "rerun", "pause", "resume", "drain", "undrain"] as const;

export interface ChangeCounts {
  readonly kills: Kills;
  readonly starts: number;
  readonly changed: Readonly<Record<(typeof CHANGES)[number], number>>;
  /** Requests that the front end may have received when it died. */
  readonly cutOff: number;
  /** Descriptions of everything that went wrong. */
  readonly problems: readonly string[];
}

/** Runs everything and leaves nothing behind. */
export async function runWithChanges(plan: ChangePlan): Promise<ChangeCounts> {
  const run = new ChangeRun(plan);
  try {
    return await run.all();
  } finally {
    await run.clear();
  }
}

/** Stories that go on at the same time. */
const AT_ONCE = 8;
/** Longest time between two pauses, drains and so on. */
const CHANGE_MS = 120;
const LOOK_MS = 50;
/** A change is usually answered within this time. */
const MAX_ANSWER_MS = 10;
/** Longest wait for a change to kill in. */
const AIM_MS = 2000;
const END_MS = 180_000;
const HOUR_MS = 3_600_000;
const HAS_STARTED = /cannot change once it has started|it has ended/;

class ChangeRun {
  readonly #plan: ChangePlan;
  readonly #random: Random;
  readonly #scheduler: KilledScheduler;
  readonly #sender: Sender;
  readonly #jobs: JudgedJob[];
  readonly #quiet: Quiet[] = [];
  readonly #changed = Object.fromEntries(CHANGES.map((kind) => [kind, 0])) as Record<
    (typeof CHANGES)[number],
    number
  >;
  /** Jobs for which a pause was ever asked. */
  readonly #paused = new Set<number>();
  /** Names of jobs that only their own story pauses and resumes. */
  readonly #watched: ReadonlySet<string>;
  /** Jobs as the scheduler said last. */
  #records: readonly Job[] = [];
  #nextJob = 0;
  /** Stories may begin up to this index, so that they go on during all of the kills. */
  #released = 0;
  #killsAreOver = false;
  #isOver = false;

  constructor(plan: ChangePlan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed, "changes");
    const mayStayStopped = (job: number) => this.#paused.has(job);
    this.#scheduler = new KilledScheduler(this.#random, mayStayStopped, ["--policy", plan.policy]);
    this.#sender = new Sender(this.#scheduler);
    for (const name of ["ran", "go", "beats"]) mkdirSync(join(this.#scheduler.folder, name));
    this.#jobs = Array.from({ length: plan.jobs }, (_, i) => makeJob(this.#random, i));
    const paused = this.#jobs.filter(({ story }) => story === "paused");
    this.#watched = new Set(paused.map(({ possible }) => possible[0].name));
  }

  async all(): Promise<ChangeCounts> {
    const scheduler = this.#scheduler;
    const looks = this.#look();
    const stories = Promise.all(Array.from({ length: AT_ONCE }, () => this.#stories()));
    const others = this.#pauseAndDrain();
    const victims = scheduler.victims(this.#plan);
    for (const [round, victim] of victims.entries()) {
      this.#released = Math.ceil((this.#plan.jobs * (round + 1)) / victims.length);
      await sleep(this.#random.below(this.#plan.maxMs));
      if (round % 2 === 0) await this.#amidChanges();
      await scheduler.kill(victim);
    }
    this.#killsAreOver = true;
    await scheduler.within(END_MS, "all stories were over", stories);
    this.#end();
    await scheduler.within(END_MS, "all changes were answered", Promise.all([others, looks]));
    const starts = this.#starts();
    scheduler.problems.push(...judge(this.#jobs, starts, await scheduler.jobs(), this.#quiet));
    this.#changed.retry = starts.flat().filter(({ attempt }) => attempt > 1).length;
    await scheduler.checkEnd();
    await scheduler.shutDown();
    const { kills, problems } = scheduler;
    return {
      kills,
      starts: starts.flat().length,
      changed: this.#changed,
      cutOff: this.#sender.cutOff,
      problems,
    };
  }

  #end(): void {
    this.#isOver = true;
    this.#sender.isOver = true;
  }

  /** Waits for a moment at which the front end has not yet answered a change. */
  async #amidChanges(): Promise<void> {
    const untilMs = performance.now() + AIM_MS;
    while (this.#sender.unanswered === 0 && performance.now() < untilMs) await sleep(0);
    await sleep(this.#random.below(MAX_ANSWER_MS));
  }

  async clear(): Promise<void> {
    this.#end();
    await this.#scheduler.clear();
  }

  #file(folder: Folder, i: number): string {
    return join(this.#scheduler.folder, folder, String(i));
  }

  async #stories(): Promise<void> {
    while (!this.#isOver && this.#nextJob < this.#plan.jobs) {
      if (this.#nextJob < this.#released || this.#killsAreOver) await this.#tell(this.#nextJob++);
      else await sleep(LOOK_MS);
    }
  }

  async #tell(i: number): Promise<void> {
    const job = this.#jobs[i];
    const story = job.story as Story;
    const isHeld = story === "edited while held";
    if (story === "begin edited") this.#ask(job, { beginAtMs: Date.now() + HOUR_MS });
    if (story === "begins later") this.#ask(job, { beginAtMs: Date.now() + 1000 + this.#random.below(2000) });
    const number = await this.#submit(i, isHeld);
    if (number === undefined) return;
    if (story === "begins later") this.#changed.begin++;
    if (story === "paused") await this.#pauseAndWatch(i, number);
    else if (story.includes("edited")) await this.#edit(i, number);
    if (isHeld) {
      job.releasedAtMs = Date.now();
      await this.#change("release", number);
    }
    writeFileSync(this.#file("go", i), "");
    if ((await this.#ended(number)) && i % 3 === 1) await this.#rerun(i, number);
  }

  #ask(job: JudgedJob, change: Partial<Asked>): void {
    job.possible = [{ ...job.possible[0], ...change }];
  }

  async #submit(i: number, isHeld: boolean): Promise<number | undefined> {
    const job = this.#jobs[i];
    const { beginAtMs, ...asked } = job.possible[0];
    const request: SubmitJob = {
      ...asked,
      ...(beginAtMs !== undefined && { beginAtMs }),
      ...(isHeld && { held: true }),
      retryOn: [...asked.retryOn],
      command: ["sh", "-c", scriptOf(this.#random, job, (folder) => this.#file(folder, i))],
      cwd: this.#scheduler.folder,
      env: { PATH: process.env.PATH ?? "" },
    };
    const body = { jobs: [request], key: `story-${i}` };
    const { value, refusal } = await this.#sender.send<JobsAnswer>("POST", "/v1/jobs", body);
    if (refusal !== undefined) this.#scheduler.problems.push(`submit ${i} was refused: ${refusal}`);
    if (value === undefined) return undefined;
    job.number = value.jobs[0].job;
    return job.number;
  }

  /** Replaces all that the job asks for, or, while it runs, what can still change. */
  async #edit(i: number, number: number): Promise<void> {
    const job = this.#jobs[i];
    const { story } = job;
    const [before] = job.possible;
    const edition = makeAsked(this.#random, `story-${i}-1`);
    const { name, retries, retryOn, retryDelayMs } = edition;
    const runs = story === "edited while it runs";
    if (runs) {
      job.formerNames = [before.name];
      await this.#began(i);
    }
    const maybe = [before];
    while (!this.#isOver) {
      const after: Asked = runs
        ? { ...before, name, retries, retryOn, retryDelayMs }
        : {
            ...edition,
            ...(story === "begin edited" && { beginAtMs: Date.now() + 500 + this.#random.below(2000) }),
          };
      const { limitMs, tasks, beginAtMs } = after;
      const update: UpdateBody = {
        ...{ name, retries, retryDelayMs, retryOn: [...retryOn] },
        ...(!runs && { limitMs, tasks }),
        ...(beginAtMs !== undefined && { beginAtMs }),
      };
      // An answer that comes late may be about another begin, so this asks only once.
      const reply = await this.#sender.once<BatchAnswer>("POST", "/v1/batch", {
        action: "update",
        jobs: String(number),
        update,
      });
      if (reply.value === undefined) {
        if (reply.mayHaveWorked) maybe.push(after);
        await sleep(10);
        continue;
      }
      const [result] = reply.value.results;
      job.possible = "job" in result ? [after] : maybe;
      if ("job" in result) this.#changed.edit++;
      else if (
        maybe.length === 1 &&
        !(story === "edited while it may start" && HAS_STARTED.test(result.message))
      ) {
        this.#scheduler.problems.push(`the edit of job ${number} (${story}) was refused: ${result.message}`);
      }
      return;
    }
  }

  /** Pauses a job of several processes, and sees that it stands still until the test asks to resume it. */
  async #pauseAndWatch(i: number, number: number): Promise<void> {
    const { problems } = this.#scheduler;
    const beats = () => Array.from({ length: PROCESSES }, (_, p) => sizeOf(`${this.#file("beats", i)}.${p}`));
    const grow = async () => {
      const before = beats();
      const allHave = () => beats().every((size, p) => size > before[p]);
      while (!this.#isOver && !allHave()) await sleep(LOOK_MS);
    };
    for (let times = 1 + this.#random.below(2); times > 0 && !this.#isOver; times--) {
      await grow();
      this.#paused.add(number);
      await this.#change("pause", number, this.#random.below(2) === 0);
      this.#changed.pause++;
      const standing = await this.#standStill(number, beats);
      const untilMs = performance.now() + this.#random.below(2000);
      while (performance.now() < untilMs && !this.#isOver) {
        await sleep(LOOK_MS);
        const now = beats();
        if (String(now) === String(standing)) continue;
        problems.push(`job ${number} is paused, and its processes went on from ${standing} to ${now}`);
        break;
      }
      await this.#change("resume", number);
      this.#changed.resume++;
    }
    await grow();
  }

  /** Waits until the conductor has taken over the pause and nothing moves. */
  async #standStill(number: number, beats: () => number[]): Promise<number[]> {
    const mark = join(this.#scheduler.folder, "state", "conductor", "paused", `${number}.1`);
    let last = beats();
    for (let same = 0; same < 6 && !this.#isOver; ) {
      await sleep(LOOK_MS);
      const now = beats();
      same = sizeOf(mark) >= 0 && String(now) === String(last) ? same + 1 : 0;
      last = now;
    }
    return last;
  }

  async #rerun(i: number, number: number): Promise<void> {
    const body = { jobs: String(number), key: `again-${i}` };
    const { value, refusal } = await this.#sender.send<JobsAnswer>("POST", "/v1/rerun", body);
    if (value === undefined) {
      this.#scheduler.problems.push(`rerun of job ${number} was refused: ${refusal}`);
      return;
    }
    const again = value.jobs.map(({ job }) => job);
    this.#jobs[i].reruns = again;
    this.#changed.rerun++;
    for (const one of again) await this.#ended(one);
  }

  /** Until it has had an effect, which a refusal after a request without an answer may mean. */
  async #change(action: "release" | "pause" | "resume", number: number, release = false): Promise<void> {
    const body = { action, jobs: String(number), ...(release && { release }) };
    const { value, refusal, mayHaveWorked } = await this.#sender.send<BatchAnswer>("POST", "/v1/batch", body);
    const result = value?.results[0];
    if (result !== undefined && "job" in result) return;
    if (mayHaveWorked || this.#isOver) return;
    const why = result === undefined ? refusal : result.message;
    this.#scheduler.problems.push(`${action} of job ${number} was refused: ${why}`);
  }

  /** Pauses and resumes jobs, and drains the scheduler. After the kills, it undoes all of that. */
  async #pauseAndDrain(): Promise<void> {
    const kinds = ["pause", "pause", "drain", "resume", "pause", "undrain", "resume"] as const;
    let quietFromMs: number | undefined;
    for (let i = 0; !this.#isOver; i++) {
      await sleep(this.#random.below(CHANGE_MS));
      const kind = this.#killsAreOver ? (["undrain", "resume"] as const)[i % 2] : kinds[i % kinds.length];
      if (kind === "drain") {
        await this.#sender.send("PUT", "/v1/drain", {});
        this.#changed.drain++;
        quietFromMs = await this.#allHaveBegun();
      } else if (kind === "undrain") {
        if (quietFromMs !== undefined) this.#quiet.push({ fromMs: quietFromMs, toMs: Date.now() });
        quietFromMs = undefined;
        await this.#sender.send("DELETE", "/v1/drain");
        this.#changed.undrain++;
      } else {
        await this.#pauseOrResume(kind);
      }
    }
  }

  /** @returns a time at which every start that was under way had written its line */
  async #allHaveBegun(): Promise<number | undefined> {
    const path = "/v1/jobs?states=starting,running,paused,ending";
    while (!this.#isOver) {
      const { value } = await this.#sender.once<JobsAnswer>("GET", path);
      const begun = new Set(this.#starts().flatMap((starts) => starts.map(nameOf)));
      if (value?.jobs.every((job) => begun.has(nameOf(job)))) return Date.now();
      // One that was paused first writes it only now.
      await this.#pauseOrResume("resume");
      await sleep(LOOK_MS);
    }
    return undefined;
  }

  #starts(): Start[][] {
    return this.#jobs.map((_, i) => readStarts(read(this.#file("ran", i))));
  }

  /** Pauses one of the running jobs, or resumes all paused ones. The next attempt of some is held. */
  async #pauseOrResume(kind: "pause" | "resume"): Promise<void> {
    // The records of #look may be older than a short job.
    const states = kind === "resume" ? "paused,held" : "running";
    const { value } = await this.#sender.once<JobsAnswer>("GET", `/v1/jobs?states=${states}`);
    const free = value?.jobs.filter(({ name }) => !this.#watched.has(name)) ?? [];
    if (kind === "resume") {
      for (const { job, state } of free) {
        const action = state === "paused" ? "resume" : state === "held" ? "release" : undefined;
        if (action !== undefined && this.#paused.has(job)) await this.#tryChange(action, job);
      }
      return;
    }
    if (free.length === 0) return;
    const { job } = free[this.#random.below(free.length)];
    this.#paused.add(job);
    await this.#tryChange("pause", job, this.#random.below(2) === 0);
  }

  /** The job may have ended in the meantime. */
  async #tryChange(action: "pause" | "resume" | "release", job: number, release = false): Promise<void> {
    const body = { action, jobs: String(job), ...(release && { release }) };
    const { value } = await this.#sender.send<BatchAnswer>("POST", "/v1/batch", body);
    const [result] = value?.results ?? [];
    if (action !== "release" && result !== undefined && "job" in result) this.#changed[action]++;
  }

  /** Waits until the job's first start has written its line. */
  async #began(i: number): Promise<void> {
    while (!this.#isOver && sizeOf(this.#file("ran", i)) <= 0) await sleep(LOOK_MS);
  }

  async #ended(number: number): Promise<boolean> {
    const hasEnded = () => this.#records.find(({ job }) => job === number)?.endedAtMs !== undefined;
    while (!this.#isOver && !hasEnded()) await sleep(LOOK_MS);
    return hasEnded();
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      try {
        this.#records = await this.#scheduler.jobs();
      } catch (error) {
        if (!(error instanceof NoDaemonError)) throw error;
      }
      await sleep(LOOK_MS);
    }
  }
}

function nameOf({ job, attempt }: Pick<Start, "job" | "attempt">): string {
  return `${job}.${attempt}`;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** In bytes; −1: it does not exist. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? -1;
}
