/** One job of the kill loop, from its submit to its end, and what the test does with it in between. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BatchAnswer, Job, JobsAnswer, SubmitJob, UpdateBody } from "@tutti/protocol/schema.ts";
import type { Asked, JudgedJob } from "@tutti/torture/judge/history.ts";
import { hookOf, type Kind, makeAsked, NEVER_RETRIED, PROCESSES, scriptOf } from "./kinds.ts";
import { sleep } from "./scheduler.ts";
import { HAS_RUN, LOOK_MS, sizeOf, type World } from "./world.ts";

const HAS_STARTED = /cannot change once it has started|it has ended|only waiting jobs/;

export class Story {
  readonly #world: World;
  readonly #kind: Kind;
  readonly #job: JudgedJob;
  readonly #parts: readonly JudgedJob[];
  readonly #webhook: string;
  readonly #uid: number | undefined;

  constructor(world: World, kind: Kind, webhook: string) {
    this.#world = world;
    this.#kind = kind;
    this.#webhook = webhook;
    const { random, users } = world;
    const account = users.length === 0 ? undefined : users[random.below(users.length)];
    this.#uid = account?.uid;
    const first = this.#make(account?.user ?? "", kind.name, kind.ends?.(random) ?? [], kind.asks?.(random));
    this.#job = first;
    const then = kind.before;
    this.#parts = [first];
    if (then !== undefined) {
      const second = this.#make(first.user, `after ${then}`, [], NEVER_RETRIED);
      const after = { job: first, kind: then };
      world.jobs[second.index] = { ...second, after };
      this.#parts = [first, world.jobs[second.index]];
    }
  }

  #make(user: string, kind: string, ends: readonly string[], asks: Partial<Asked> = {}): JudgedJob {
    const { random, jobs } = this.#world;
    const index = jobs.length;
    const asked = { ...makeAsked(random, `${kind.replaceAll(" ", "-")}-${index}`), ...asks };
    const { hooks = random.below(4) === 0 ? (["onStart", "onEnd"] as const) : [], ...judged } =
      (kind === this.#kind.name && this.#kind.judged) || {};
    const job: JudgedJob = {
      ...{ kind, index, user, ends, hooks, ...judged },
      ...{ possible: [asked], formerNames: [], submittedAtMs: 0, numbers: [], reruns: [] },
    };
    jobs.push(job);
    return job;
  }

  async tell(): Promise<void> {
    if (!(await this.#submit())) return;
    await this.#kind.story?.(this);
    // The cancel must end it, however late it arrives.
    if (this.#job.cancelled !== "running" || this.#isGivenUp()) writeFileSync(this.#file("go"), "");
    await this.#ended(this.#job.numbers);
  }

  get #number(): number {
    return this.#job.numbers[0];
  }

  #file(folder: Parameters<World["file"]>[0], job = this.#job): string {
    return this.#world.file(folder, job.index);
  }

  #problem(what: string): void {
    this.#world.scheduler.problems.push(`job ${this.#number} (${this.#job.kind}): ${what}`);
  }

  async #submit(): Promise<boolean> {
    const { random, scheduler } = this.#world;
    const requests = this.#parts.map((job, part): SubmitJob => {
      const file = (folder: Parameters<World["file"]>[0]) => this.#file(folder, job);
      const { beginAtMs, retryOn, ...asked } = job.possible[0];
      const hooks = job.hooks.map((hook) => [hook, hook === "webhook" ? this.#webhook : hookOf(hook, file)]);
      return {
        ...{ ...asked, retryOn: [...retryOn], ...(beginAtMs !== undefined && { beginAtMs }) },
        command: ["sh", "-c", scriptOf(random, part === 0 ? this.#kind : { name: "" }, job, file)],
        cwd: scheduler.folder,
        env: { PATH: process.env.PATH ?? "" },
        ...(part === 0 && this.#kind.request?.(random)),
        ...Object.fromEntries(hooks),
        ...(job.hooks.includes("webhook") && { notify: ["start", "end"] }),
        ...(part > 0 && { after: [afterFirst(this.#kind.before)] }),
      };
    });
    for (const job of this.#parts) job.submittedAtMs = Date.now();
    const ask = this.#kind.hasNoKey ? this.#submitOnce(requests) : this.#submitWithKey(requests);
    const numbers = await ask;
    if (numbers === undefined) return false;
    if (this.#parts.length === 1) this.#job.numbers = numbers;
    else for (const [i, job] of this.#parts.entries()) job.numbers = [numbers[i]];
    return true;
  }

  async #submitWithKey(jobs: readonly SubmitJob[]): Promise<number[] | undefined> {
    const body = { jobs, key: `story-${this.#job.index}` };
    const reply = await this.#world.sender.send<JobsAnswer>("POST", "/v1/jobs", body, this.#uid);
    if (reply.refusal !== undefined) this.#problem(`its submit was refused: ${reply.refusal}`);
    return reply.value?.jobs.map(({ job }) => job);
  }

  /** It is not submitted again once the front end may have received it. */
  async #submitOnce(jobs: readonly SubmitJob[]): Promise<number[] | undefined> {
    while (!this.#world.isOver) {
      const reply = await this.#world.sender.once<JobsAnswer>("POST", "/v1/jobs", { jobs }, this.#uid);
      if (reply.refusal !== undefined) this.#problem(`its submit was refused: ${reply.refusal}`);
      this.#job.isUnheard = reply.mayHaveWorked;
      if (reply.value !== undefined || reply.mayHaveWorked) return reply.value?.jobs.map(({ job }) => job);
      await sleep(10);
    }
    return undefined;
  }

  /** Replaces all that the job asks for, or, while it runs, what can still change. */
  async edit(when: "held" | "any time" | "begin" | "runs"): Promise<void> {
    const { random, sender } = this.#world;
    const job = this.#job;
    const [before] = job.possible;
    const edition = makeAsked(random, `${before.name}-edited`);
    const { name, retries, retryOn, retryDelayMs } = edition;
    if (when === "runs") {
      job.formerNames = [before.name];
      await this.#began();
    }
    const maybe = [before];
    while (!this.#world.isOver) {
      const after: Asked =
        when === "runs"
          ? { ...before, name, retries, retryOn, retryDelayMs }
          : { ...edition, ...(when === "begin" && { beginAtMs: Date.now() + 500 + random.below(2000) }) };
      const { limitMs, tasks, beginAtMs } = after;
      const update: UpdateBody = {
        ...{ name, retries, retryDelayMs, retryOn: [...retryOn] },
        ...(when !== "runs" && { limitMs, tasks }),
        ...(beginAtMs !== undefined && { beginAtMs }),
      };
      // An answer that comes late may be about another begin, so this asks only once.
      const body = { action: "update", jobs: String(this.#number), update };
      const reply = await sender.once<BatchAnswer>("POST", "/v1/batch", body);
      if (reply.value === undefined) {
        if (reply.refusal !== undefined) this.#problem(`its edit was refused: ${reply.refusal}`);
        if (reply.mayHaveWorked) maybe.push(after);
        await sleep(10);
        continue;
      }
      const [result] = reply.value.results;
      const isDone = "job" in result;
      job.possible = isDone ? [after] : maybe;
      if (isDone) this.#world.count("update");
      else if (maybe.length === 1 && !(when === "any time" && HAS_STARTED.test(result.message))) {
        this.#problem(`its edit (${when}) was refused: ${result.message}`);
      }
      break;
    }
    if (when === "held") await this.#release();
  }

  async #release(): Promise<void> {
    this.#job.releasedAtMs = Date.now();
    await this.#must("release");
  }

  /** Holds a job that waits for its begin, and releases it later. */
  async hold(): Promise<void> {
    await this.#world.change("hold", this.#number);
    // It may have begun before, if the first request was cut off.
    let held: readonly Job[] | undefined;
    while (held === undefined && !this.#world.isOver) held = await this.#world.listed("held");
    // Nor do we hold it if it began, and is held because a restored store does not know that.
    if (!held?.some(({ job, reason = "" }) => job === this.#number && !HAS_RUN.test(reason))) return;
    await sleep(this.#world.random.below(2500));
    await this.#release();
  }

  async cancel(when: "waiting" | "running"): Promise<void> {
    if (when === "running") await this.#began();
    this.#job.cancelled = when;
    const why = await this.#world.change("cancel", this.#number);
    // An attempt whose shim was killed may have been the last one.
    if (why !== undefined && !this.#isGivenUp()) this.#problem(`its cancel was refused: ${why}`);
  }

  async requeue(): Promise<void> {
    await this.#began();
    this.#job.isRequeued = true;
    await this.#must("requeue");
  }

  async priority(): Promise<void> {
    const why = await this.#world.change("priority", this.#number, { priority: -5 });
    if (why !== undefined && !HAS_STARTED.test(why)) this.#problem(`its priority was refused: ${why}`);
  }

  async rerun(): Promise<void> {
    await this.#ended([this.#number]);
    const body = { jobs: String(this.#number), key: `again-${this.#job.index}` };
    const reply = await this.#world.sender.send<JobsAnswer>("POST", "/v1/rerun", body, this.#uid);
    if (reply.value === undefined) {
      // A restored store may have forgotten its end just now.
      await this.#world.findForgotten();
      if (this.#isGivenUp()) return;
      return this.#problem(`its rerun was refused: ${reply.refusal}`);
    }
    this.#job.reruns = reply.value.jobs.map(({ job }) => job);
    this.#world.count("rerun");
    await this.#ended(this.#job.reruns);
  }

  /** Pauses a job of several processes, and sees that it stands still until the test asks to resume it. */
  async pauseAndWatch(release: boolean): Promise<void> {
    const { scheduler, random, watched } = this.#world;
    const number = this.#number;
    watched.add(number);
    this.#job.isReleased = release;
    const beats = () => Array.from({ length: PROCESSES }, (_, p) => sizeOf(`${this.#file("beats")}.${p}`));
    const grows = async () => {
      const before = beats();
      const hasGrown = () => beats().every((size, p) => size > before[p]) || this.#isGivenUp();
      await this.#insist("resume", {}, hasGrown);
    };
    await this.#world.until(() => beats().every((size) => size > 0) || this.#isGivenUp());
    scheduler.mayStayStopped.add(number);
    await this.#insist("pause", release ? { release } : {}, this.#standsStill(beats));
    const standing = beats();
    const untilMs = performance.now() + random.below(2000);
    while (performance.now() < untilMs && !this.#world.isOver && !this.#isGivenUp()) {
      await sleep(LOOK_MS);
      const now = beats();
      if (String(now) === String(standing) || this.#isGivenUp()) continue;
      this.#problem(`is paused, and went on from ${standing} to ${now}`);
      break;
    }
    await grows();
    scheduler.mayStayStopped.delete(number);
    watched.delete(number);
    this.#world.disturbed.add(number);
  }

  /** Whether the conductor has taken over the pause and nothing moves; to be asked again and again. */
  #standsStill(beats: () => number[]): () => boolean {
    const mark = join(this.#world.scheduler.state, "conductor", "paused", `${this.#number}.1`);
    let last = beats();
    let same = 0;
    return () => {
      const now = beats();
      same = sizeOf(mark) >= 0 && String(now) === String(last) ? same + 1 : 0;
      last = now;
      return same >= 6 || this.#isGivenUp();
    };
  }

  /** Asks for a change until it has an effect: a restored store may have lost it before anybody noted it. */
  async #insist(action: "pause" | "resume", more: object, hasEffect: () => boolean): Promise<void> {
    const { restores } = this.#world;
    for (let asked = -1; !this.#world.isOver && !hasEffect(); await sleep(LOOK_MS)) {
      if (asked === restores.length) continue;
      if (asked < 0) await this.#must(action, more);
      else await this.#world.change(action, this.#number, more);
      asked = restores.length;
    }
  }

  /** Its shim was killed, or a restored store does not know that it has run. */
  #isGivenUp(): boolean {
    const { lost, forgotten } = this.#world;
    return forgotten.has(this.#number) || [...lost].some((name) => name.startsWith(`${this.#number}.`));
  }

  async #must(action: Parameters<World["change"]>[0], more: object = {}): Promise<void> {
    const why = await this.#world.change(action, this.#number, more);
    if (why !== undefined) await this.#world.findForgotten();
    if (why === undefined || this.#world.isOver || this.#isGivenUp()) return;
    this.#problem(`its ${action} was refused: ${why}`);
  }

  /** Waits until the job's first start has written its line. */
  async #began(): Promise<void> {
    await this.#world.until(() => sizeOf(this.#file("ran")) > 0);
  }

  async #ended(numbers: readonly number[]): Promise<void> {
    const hasEnded = (job: number) => this.#world.record(job)?.endedAtMs !== undefined;
    await this.#world.until(() => numbers.every(hasEnded));
  }
}

function afterFirst(kind: Kind["before"]) {
  return kind === "notok" ? { entry: 0, ok: false, kind } : { entry: 0, ok: kind === "ok" };
}
