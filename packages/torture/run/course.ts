/**
 * The course of a life, from an empty disk to the last job: arrivals with faults in between, then rest, and
 * what the judge says. It depends on the setting and its seed alone.
 */
import type { Caller, Service } from "@tutti/live/daemon/contract/service.ts";
import type { Answer } from "@tutti/protocol/refusal.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { judge } from "../judge/judge.ts";
import { FAULTS } from "./faults.ts";
import { CHECKS, WATCHES } from "./invariants/all.ts";
import { KINDS } from "./kinds.ts";
import type { Life } from "./life.ts";
import { giveUpForgotten } from "./restore.ts";
import { Story } from "./story.ts";

/** What a life has come to. */
export interface Verdict {
  readonly seed: number;
  readonly problems: readonly string[];
  readonly hours: number;
  readonly events: number;
  readonly jobs: number;
  readonly starts: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Of everything that was traced: the same seed gives the same. */
  readonly hash: string;
}

const HOUR_MS = 3_600_000;
/** When faults have ended, all jobs end within this time, or something stands still for ever. */
const END_MS = 30 * HOUR_MS;
const LOOK_MS = 1000;
/** Why a job is held whose attempt was lost while it was paused. */
const WAS_PAUSED = "it was paused when its attempt ended";

export class Course {
  readonly #life: Life;
  /** Stories that are not over. */
  #open = 0;

  constructor(life: Life) {
    this.#life = life;
  }

  async #look(): Promise<void> {
    const life = this.#life;
    while (!life.isOver) {
      const records = (await life.listed()) ?? [];
      for (const job of records) life.records.set(job.job, job);
      if (life.restores.length > 0) await giveUpForgotten(life, records);
      await life.sleep(60 * LOOK_MS);
    }
  }

  #exponential(meanMs: number): number {
    // Bounded, so that no life waits for ever; -ln is not the same on all engines.
    return meanMs * 2 * this.#life.random.unit();
  }

  async #arrivals(untilMs: number): Promise<void> {
    const life = this.#life;
    const kinds = weighted(KINDS, life.setting.kinds);
    while (kinds.length > 0 && life.trueMs < untilMs) {
      await life.sleep(this.#exponential(life.setting.arrivalMs));
      const count = life.random.chance(0.1) ? life.random.between(2, 8) : 1;
      for (let i = 0; i < count; i++) this.#tell(new Story(life, life.random.pick(kinds)));
    }
  }

  #tell(story: Story): void {
    const life = this.#life;
    this.#open++;
    void story.tell().then(
      () => this.#open--,
      (error: Error) => life.problem(`a story failed: ${error.message}`),
    );
  }

  async #faults(untilMs: number): Promise<void> {
    const life = this.#life;
    const faults = weighted(FAULTS, life.setting.faults);
    while (faults.length > 0) {
      await life.sleep(this.#exponential(life.setting.faultMs));
      if (life.trueMs >= untilMs) return;
      // A second fault often comes before the first has been got over.
      const fault = life.random.pick(faults);
      life.counts[fault.name] = (life.counts[fault.name] ?? 0) + 1;
      life.trace(`fault: ${fault.name}`);
      life.calmSinceMs = Number.POSITIVE_INFINITY;
      await fault.inflict(life);
      life.calmSinceMs = life.trueMs;
    }
  }

  /** @param settle returns when no promise has anything left to do */
  async run(settle: () => Promise<void>): Promise<Verdict> {
    const life = this.#life;
    const { timeline } = life.site;
    life.startServe();
    const untilMs = life.trueMs + life.setting.hours * HOUR_MS;
    let isDone = false;
    const course = async (): Promise<void> => {
      await Promise.all([this.#arrivals(untilMs), this.#faults(untilMs)]);
      life.trace("no more faults");
      await this.#end();
    };
    void this.#look();
    for (const watch of WATCHES) void watch(life);
    void course().then(
      () => {
        isDone = true;
      },
      (error: Error) => {
        life.problem(`the run itself failed: ${error.stack ?? error.message}`);
        isDone = true;
      },
    );
    await settle();
    while (!isDone && !life.isStopped && timeline.step(Number.POSITIVE_INFINITY)) {
      // What happens within the kernel alone leaves nothing to do.
      if (life.takeTouched()) await settle();
    }
    life.isOver = true;
    life.site.close();
    return {
      seed: life.setting.seed,
      problems: life.problems,
      hours: life.hours,
      events: timeline.count,
      jobs: life.jobs.length,
      starts: life.witness.starts.length,
      faults: life.counts,
      hash: life.site.hash(),
    };
  }

  /** Waits until all jobs and hooks have ended, and judges. */
  async #end(): Promise<void> {
    const life = this.#life;
    const untilMs = life.trueMs + END_MS;
    const isLate = () => life.trueMs > untilMs;
    await life.until(() => this.#open === 0 || isLate(), LOOK_MS);
    let records: readonly Job[] | undefined;
    const isEnded = (job: Job) =>
      job.endedAtMs !== undefined && job.news?.every(({ state }) => state !== "waiting") !== false;
    for (;;) {
      records = (await life.listed()) ?? records;
      for (const job of records ?? []) life.records.set(job.job, job);
      if ((records?.every(isEnded) && this.#open === 0) || isLate()) break;
      await this.#tidy(records ?? []);
      await life.sleep(5 * LOOK_MS);
    }
    if (isLate())
      for (const job of records?.filter((one) => !isEnded(one)) ?? [])
        life.problem(
          `job ${job.job} (${job.state}) has not ended ${END_MS / HOUR_MS} h after the last fault`,
        );
    const books = await life.send("root", (service, caller) => booksOf(service, caller));
    if (books.value !== undefined) life.problems.push(...this.#judge(records ?? [], books.value));
    await life.sleep(3 * LOOK_MS);
    life.problems.push(...CHECKS.flatMap((check) => check(life)));
    life.isSupervised = false;
  }

  /** Lets paused jobs go on, and gives up those that a restored store has forgotten. */
  async #tidy(records: readonly Job[]): Promise<void> {
    const life = this.#life;
    for (const job of records) {
      if (job.state !== "held") continue;
      if (job.reason?.startsWith(WAS_PAUSED)) await life.change({ action: "release" }, job.job);
    }
    await giveUpForgotten(life, records);
  }

  #judge(records: readonly Job[], books: Books): string[] {
    const life = this.#life;
    const { jobs, lost, forgotten, wasAway, wasSpoilt, restores, clocks, quiet, witness } = life;
    return judge({
      ...{ jobs, records, lost, forgotten, wasAway, wasSpoilt, restores, clocks, quiet },
      ...{ starts: witness.starts, reports: witness.reports, ...books },
      mostJobs: life.setting.runningJobs ?? Number.POSITIVE_INFINITY,
    });
  }
}

interface Books {
  readonly noted: ReadonlySet<string>;
  readonly exported: ReadonlySet<number>;
}

/** What the scheduler's events and exports say. */
function booksOf(service: Service, caller: Caller): Answer<Books> {
  const noted = new Set<string>();
  const stop = service.listen(caller, 0, ({ kind, job, data }) => {
    if (kind === "started") noted.add(`${job}.${(data as { attempt?: number } | undefined)?.attempt}`);
    return true;
  });
  stop();
  const swf = [...service.exportSwf(caller)].join("").split("\n");
  const inSwf = swf.filter((line) => /^\s*\d/.test(line)).map((line) => Number(line.trim().split(/\s+/)[0]));
  const jsonl = [...service.exportJsonl(caller)].join("").split("\n").filter(Boolean);
  const inJsonl = new Set(jsonl.map((line) => (JSON.parse(line) as { job?: number }).job));
  return { noted, exported: new Set(inSwf.filter((job) => inJsonl.has(job))) };
}

/** Each as often as its weight says. */
function weighted<Item extends { readonly name: string }>(
  items: readonly Item[],
  weights: Readonly<Record<string, number>>,
): Item[] {
  return items.flatMap((item) => Array<Item>(Math.round(10 * (weights[item.name] ?? 0))).fill(item));
}
