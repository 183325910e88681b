/** One job of a life, from its submit to its end, and what its user does in between. */
import type { Change } from "@tutti/live/daemon/contract/service.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import type { Job, SubmitJob, UpdateBody } from "@tutti/protocol/schema.ts";
import { type Asked, type JudgedJob, nameOf } from "../judge/history.ts";
import type { Random } from "../world/contract.ts";
import type { Life } from "./life.ts";
import { longestPilotMs, type Setting, type Topic } from "./setting.ts";
import type { JobPlan } from "./witness.ts";

export interface Kind {
  readonly name: string;
  readonly about?: readonly Topic[];
  readonly weight?: number;
  readonly ends?: (random: Random) => readonly string[];
  readonly asks?: (random: Random, nowMs: number, ms: number) => Partial<Asked>;
  readonly request?: (random: Random, ms: number) => Partial<SubmitJob>;
  readonly plan?: (random: Random, ms: number) => Partial<JobPlan>;
  readonly judged?: Partial<Pick<JudgedJob, "hooks" | "most">>;
  /** How long before its limit it gets its signal. */
  readonly warnsMs?: (ms: number) => number;
  /** Another job of the same submit that waits for it in this way. */
  readonly before?: "ok" | "notok" | "any";
  readonly hasNoKey?: true;
  readonly story?: (story: Story) => Promise<void>;
}

const RETRY_ON = [["fail"], ["75", "SIGKILL"], ["3", "SIGBUS", "75"]] as const;
const HOUR_MS = 3_600_000;
/** Longer than any job of a life takes: it never comes to its limit. */
export const NO_LIMIT_MS = 200 * HOUR_MS;
/** Of a begin that never comes, however far faults set the clock. */
export const NEVER_MS = 20_000 * HOUR_MS;
const HAS_STARTED = /cannot change once it has started|it has ended|only waiting jobs/;
const AGAIN_MS = 200;
const LOOK_MS = 500;

export class Story {
  readonly #life: Life;
  readonly #random: Random;
  readonly #kind: Kind;
  readonly #job: JudgedJob;
  readonly #parts: readonly JudgedJob[];
  readonly #ms: number;
  readonly #user: string;

  constructor(life: Life, kind: Kind, random: Random) {
    this.#life = life;
    this.#random = random;
    this.#kind = kind;
    const [least, most] = life.setting.runMs;
    // On a scale of factors: many short ones, few long ones.
    this.#ms = Math.ceil(least * (most / least) ** this.#random.unit());
    this.#user = this.#random.pick(life.setting.users);
    const first = this.#make(
      kind.name,
      kind.ends?.(this.#random) ?? [],
      kind.asks?.(this.#random, life.soonMs, this.#ms),
    );
    this.#job = first;
    this.#parts = [first];
    if (kind.before !== undefined) {
      const second = this.#make(`after ${kind.before}`, [], { retries: 1, retryOn: ["SIGXCPU"] });
      const after = { job: first, kind: kind.before };
      life.jobs[second.index] = { ...second, after };
      this.#parts = [first, life.jobs[second.index]];
    }
  }

  #make(kind: string, ends: readonly string[], asks: Partial<Asked> = {}): JudgedJob {
    const { jobs, setting } = this.#life;
    const index = jobs.length;
    const asked = {
      ...makeAsked(this.#random, `${kind.replaceAll(" ", "-")}-${index}`, setting),
      ...asks,
    };
    const isFirst = kind === this.#kind.name;
    const { hooks = this.#random.chance(0.2) ? (["onStart", "onEnd"] as const) : [], ...judged } =
      (isFirst && this.#kind.judged) || {};
    const warnsMs = isFirst ? this.#kind.warnsMs?.(this.#ms) : undefined;
    const job: JudgedJob = {
      ...{ kind, index, user: this.#user, ends, hooks, ...judged },
      ...(warnsMs !== undefined && { signalMs: asked.limitMs! - warnsMs }),
      ...{ possible: [asked], formerNames: [], submittedAtMs: 0, numbers: [], reruns: [] },
    };
    jobs.push(job);
    return job;
  }

  async tell(): Promise<void> {
    if (!(await this.#submit())) return;
    await this.#kind.story?.(this);
    this.#life.witness.go.add(this.#job.index);
  }

  get #number(): number {
    return this.#job.numbers[0];
  }

  #problem(what: string): void {
    this.#life.problem(`job ${this.#number} (${this.#job.kind}): ${what}`);
  }

  #requestOf(job: JudgedJob, part: number): SubmitJob {
    const { beginAtMs, retryOn, ...asked } = job.possible[0];
    const kind = part === 0 ? this.#kind : undefined;
    const hooks = job.hooks.map((hook) => [hook, `note ${hook}`]);
    const plan: JobPlan = {
      index: job.index,
      ms: this.#ms,
      computes: false,
      ends: job.ends,
      ...kind?.plan?.(this.#random, this.#ms),
    };
    return {
      ...{ ...asked, retryOn: [...retryOn], ...(beginAtMs !== undefined && { beginAtMs }) },
      command: ["/usr/bin/job", JSON.stringify(plan)],
      cwd: "/tmp",
      env: { PATH: "/usr/bin:/bin" },
      ...kind?.request?.(this.#random, this.#ms),
      ...(kind?.warnsMs !== undefined && {
        limitSignal: { name: "SIGUSR1", beforeMs: kind.warnsMs(this.#ms), batchOnly: true },
      }),
      ...Object.fromEntries(hooks),
      ...(part > 0 && { after: [afterFirst(this.#kind.before)] }),
    };
  }

  async #submit(): Promise<boolean> {
    const requests = this.#parts.map((job, part) => this.#requestOf(job, part));
    for (const job of this.#parts) job.submittedAtMs = this.#life.trueMs;
    const numbers = this.#kind.hasNoKey
      ? await this.#submitOnce(requests)
      : await this.#submitWithKey(requests);
    if (numbers === undefined) return false;
    if (this.#parts.length === 1) this.#job.numbers = numbers;
    else for (const [i, job] of this.#parts.entries()) job.numbers = [numbers[i]];
    return true;
  }

  async #submitWithKey(jobs: readonly SubmitJob[]): Promise<number[] | undefined> {
    const key = `story-${this.#job.index}`;
    const reply = await this.#life.send(this.#user, (service, caller) => service.submit(caller, jobs, key));
    if (reply.refusal !== undefined) this.#problem(`its submit was refused: ${reply.refusal}`);
    return reply.value?.jobs.map(({ job }) => job);
  }

  /** It is not submitted again once the front end may have received it. */
  async #submitOnce(jobs: readonly SubmitJob[]): Promise<number[] | undefined> {
    while (!this.#life.isOver) {
      await this.#life.mayChange();
      const reply = await this.#life.once(this.#user, (service, caller) => service.submit(caller, jobs));
      if (reply.refusal !== undefined) this.#problem(`its submit was refused: ${reply.refusal}`);
      this.#job.isUnheard = reply.mayHaveWorked;
      if (reply.value !== undefined || reply.mayHaveWorked) return reply.value?.jobs.map(({ job }) => job);
      await this.#life.sleep(AGAIN_MS);
    }
    return undefined;
  }

  /** Replaces all that the job asks for, or, while it runs, what can still change. */
  async edit(when: "held" | "any time" | "begin" | "runs"): Promise<void> {
    const job = this.#job;
    const [before] = job.possible;
    const edition = makeAsked(this.#random, `${before.name}-edited`, this.#life.setting);
    const { name, retries, retryOn, retryDelayMs } = edition;
    // What can still change while it starts and runs.
    const isSmall = when === "runs" || (edition.tasks === before.tasks && edition.limitMs === before.limitMs);
    if (isSmall) job.formerNames = [before.name];
    if (when === "runs") await this.#began();
    const maybe = [before];
    while (!this.#life.isOver) {
      const after: Asked =
        when === "runs"
          ? { ...before, name, retries, retryOn, retryDelayMs }
          : {
              ...edition,
              ...(when === "begin" && {
                beginAtMs: this.#life.soonMs + this.#random.between(500, 60_000),
              }),
            };
      const { limitMs, tasks, beginAtMs } = after;
      const update: UpdateBody = {
        ...{ name, retries, retryDelayMs, retryOn: [...retryOn] },
        ...(when !== "runs" && { limitMs, tasks }),
        ...(beginAtMs !== undefined && { beginAtMs }),
      };
      // An answer that comes late may be about another begin, so this asks only once.
      const reply = await this.#life.changeOnce({ action: "update", update }, this.#number);
      if (reply.value === undefined) {
        if (reply.refusal !== undefined) this.#problem(`its edit was refused: ${reply.refusal}`);
        if (reply.mayHaveWorked) maybe.push(after);
        await this.#life.sleep(AGAIN_MS);
        continue;
      }
      const [result] = reply.value;
      const isDone = !isRefusal(result);
      job.possible = isDone ? [after] : maybe;
      if (!isDone && maybe.length === 1 && !(when === "any time" && HAS_STARTED.test(result.message)))
        this.#problem(`its edit (${when}) was refused: ${result.message}`);
      break;
    }
    if (when === "held") await this.#release();
  }

  async #release(): Promise<void> {
    this.#job.releasedAtMs = this.#life.trueMs;
    await this.#must({ action: "release" });
  }

  /** Holds a job that waits for its begin, and releases it later. */
  async hold(): Promise<void> {
    await this.#life.change({ action: "hold" }, this.#number);
    // It may have begun before, if the first request was cut off.
    const record = await this.#life.asked(this.#number);
    if (record?.state !== "held" || this.#life.isForgotten(record)) return;
    await this.#life.sleep(this.#random.below(20_000));
    await this.#release();
  }

  async cancel(when: "waiting" | "running"): Promise<void> {
    if (when === "running") await this.#began();
    this.#job.cancelled = when;
    const why = await this.#life.change({ action: "cancel" }, this.#number);
    if (why !== undefined && !this.#isGivenUp()) this.#problem(`its cancel was refused: ${why}`);
  }

  async requeue(): Promise<void> {
    await this.#began();
    this.#job.isRequeued = true;
    await this.#must({ action: "requeue" });
  }

  async priority(): Promise<void> {
    const why = await this.#life.change({ action: "priority", priority: -5 }, this.#number);
    if (why !== undefined && !HAS_STARTED.test(why)) this.#problem(`its priority was refused: ${why}`);
  }

  async rerun(): Promise<void> {
    const hasEnded = () => this.#life.records.get(this.#number)?.endedAtMs !== undefined;
    await this.#life.until(hasEnded, LOOK_MS);
    const key = `again-${this.#job.index}`;
    const number = this.#number;
    const reply = await this.#life.send(this.#user, (service, caller) =>
      service.rerun(caller, [number], key),
    );
    if (reply.value === undefined) {
      if (!this.#isGivenUp()) this.#problem(`its rerun was refused: ${reply.refusal}`);
      return;
    }
    this.#job.reruns = reply.value.jobs.map(({ job }) => job);
  }

  /** Pauses a job, sees that it stands still, and resumes it. */
  async pause(release: boolean): Promise<void> {
    await this.#began();
    this.#job.isReleased = release;
    this.#life.paused.add(this.#number);
    await this.#must({ action: "pause", ...(release && { release }) });
    const record = await this.#life.asked(this.#number);
    const gang = record?.state === "paused" ? nameOf(record) : "";
    this.#life.standing.add(gang);
    await this.#life.sleep(this.#random.below(Math.ceil(this.#ms)));
    this.#life.standing.delete(gang);
    await this.#must({ action: "resume" });
    this.#life.paused.delete(this.#number);
  }

  /** Its attempt was lost, or a restored store does not know that it has run. */
  #isGivenUp(): boolean {
    const { lost, forgotten } = this.#life;
    return forgotten.has(this.#number) || [...lost].some((name) => name.startsWith(`${this.#number}.`));
  }

  async #must(change: Change): Promise<void> {
    const why = await this.#life.change(change, this.#number);
    if (why === undefined || this.#life.isOver || this.#isGivenUp()) return;
    this.#problem(`its ${change.action} was refused: ${why}`);
  }

  /** Waits until the job's first start has begun, or it has ended without one. */
  async #began(): Promise<void> {
    const { witness } = this.#life;
    const number = this.#number;
    const isOver = (record: Job | undefined) => record?.endedAtMs !== undefined;
    await this.#life.until(
      () => witness.starts.some(({ job }) => job === number) || isOver(this.#life.records.get(number)),
      LOOK_MS,
    );
  }
}

function afterFirst(kind: Kind["before"]) {
  return kind === "notok" ? { entry: 0, ok: false, kind } : { entry: 0, ok: kind === "ok" };
}

function makeAsked(random: Random, name: string, { cpus, cluster }: Setting): Asked {
  return {
    name,
    tasks: random.chance(0.5) ? 1 : random.between(1, cpus),
    // No job may have a limit that is longer than a pilot.
    limitMs: (cluster === undefined ? NO_LIMIT_MS : longestPilotMs(cluster) / 2) + random.below(1000),
    retries: random.between(1, 3),
    retryOn: random.pick(RETRY_ON),
    retryDelayMs: random.between(1000, 1300),
  };
}
