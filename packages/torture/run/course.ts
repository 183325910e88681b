/**
 * The course of a life, from an empty disk to the last job: arrivals with faults in between, then rest, and
 * what the judge says. It depends on the setting and its seed alone.
 */
import { holds, type NumberRange } from "@tutti/kernel/core/number-ranges.ts";
import type { Caller, Service } from "@tutti/live/daemon/contract/service.ts";
import type { Answer } from "@tutti/protocol/refusal.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { judge } from "../judge/judge.ts";
import type { Random } from "../world/contract.ts";
import { atRest, CLUSTER_CHECKS, CLUSTER_WATCHES } from "./cluster/all.ts";
import { CLUSTER_FAULTS } from "./cluster/faults.ts";
import { CLUSTER_KINDS } from "./cluster/kinds.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { CHECKS, WATCHES } from "./invariants/all.ts";
import { KINDS } from "./kinds.ts";
import { isSettled, type Life } from "./life.ts";
import type { Inflicted } from "./recorded.ts";
import { giveUpForgotten } from "./restore.ts";
import { Story } from "./story.ts";
import { disturbUpgrade, putOlderStore } from "./upgrade.ts";

/** What a life has come to. */
export interface Verdict {
  readonly seed: number;
  readonly problems: readonly string[];
  readonly hours: number;
  readonly events: number;
  readonly jobs: number;
  readonly starts: number;
  readonly faults: Readonly<Record<string, number>>;
  /** Jobs and faults that came, or would have come without `only`. */
  readonly drawn: { readonly jobs: number; readonly faults: number };
  /** Of everything that was traced: the same seed gives the same. */
  readonly hash: string;
}

const HOUR_MS = 3_600_000;
/** When faults have ended, all jobs end within this time, or something goes on for ever. */
const END_MS = 30 * HOUR_MS;
/** Longer than any job waits for a time that it has asked for. */
const LONGEST_WAIT_MS = 3 * HOUR_MS;
const LOOK_MS = 1000;
/** A fault that somebody takes back is over within this time. */
const TAKEN_BACK_MS = 50;
/** packages/slurm/pilot.ts: what an administrator must do. */
const ASKS_AGAIN = '"tutti allocations start" asks for another one';
/** Why a job is held whose attempt was lost while it was paused. */
const WAS_PAUSED = "it was paused when its attempt ended";

export class Course {
  readonly #life: Life;
  /** Stories that are not over. */
  #open = 0;
  /** Faults that are not over. */
  #underWay = 0;
  #drawnJobs = 0;
  #drawnFaults = 0;
  #given = 0;
  /** When arrivals and faults end. */
  #untilMs: number;
  #isDone = false;

  constructor(life: Life) {
    this.#life = life;
    this.#untilMs = life.trueMs + life.setting.hours * HOUR_MS;
  }

  get #isCluster(): boolean {
    return this.#life.setting.cluster !== undefined;
  }

  async #look(): Promise<void> {
    const life = this.#life;
    while (!life.isOver) {
      await life.look();
      if (life.restores.length > 0) await giveUpForgotten(life, [...life.records.values()]);
      if (this.#isCluster) await askAgain(life);
      await life.sleep(60 * LOOK_MS);
    }
  }

  async #arrivals(): Promise<void> {
    const life = this.#life;
    const { arrivalMs, kinds, only } = life.setting;
    const random = life.source.fork("arrivals");
    const drawn = weighted(this.#isCluster ? CLUSTER_KINDS : KINDS, kinds);
    let number = 0;
    while (drawn.length > 0 && !this.isClosing && number < last(only?.jobs)) {
      await life.sleep(gapMs(random, arrivalMs));
      const count = random.chance(0.1) ? random.between(2, 8) : 1;
      for (let i = 0; i < count; i++) {
        const kind = random.pick(drawn);
        if (isOneOf(only?.jobs, ++number)) this.#tell(new Story(life, kind, random.fork(`job ${number}`)));
      }
    }
    this.#drawnJobs = number;
  }

  #tell(story: { tell(): Promise<void> }): void {
    const life = this.#life;
    this.#open++;
    void story.tell().then(
      () => this.#open--,
      (error: Error) => life.problem(`a story failed: ${error.message}`),
    );
  }

  async #faults(): Promise<void> {
    const life = this.#life;
    const { faultMs, faults, only } = life.setting;
    const random = life.source.fork("faults");
    const drawn = weighted(this.#isCluster ? CLUSTER_FAULTS : FAULTS, faults);
    while (drawn.length > 0 && this.#drawnFaults < last(only?.faults)) {
      await life.sleep(gapMs(random, faultMs));
      if (this.isClosing) return;
      const fault = random.pick(drawn);
      // A second fault often comes before the first has been got over.
      if (isOneOf(only?.faults, ++this.#drawnFaults)) await this.#inflict(fault, this.#drawnFaults);
    }
  }

  /** @param number of those that are drawn; given ones have names instead */
  async #inflict(
    { name, inflict }: Fault,
    number: number | string,
    last?: () => Promise<unknown>,
  ): Promise<void> {
    const life = this.#life;
    const inflicted: Inflicted = { name, fromMs: life.trueMs };
    life.faults.push(inflicted);
    life.trace(`fault: ${name}`);
    this.#underWay++;
    life.calmSinceMs = Number.POSITIVE_INFINITY;
    life.random = life.source.fork(`fault ${number}`);
    await inflict(life, last);
    inflicted.toMs = life.trueMs;
    if (--this.#underWay === 0) life.calmSinceMs = life.trueMs;
  }

  /**
   * Inflicts a fault now, besides those that are drawn. One that lasts goes on until it is taken back, or
   * until no more faults are to come.
   * @returns takes it back
   */
  give(fault: Fault): () => void {
    let isTakenBack = false;
    const isOver = () => isTakenBack || this.isClosing;
    void this.#inflict(fault, `given ${++this.#given}`, () => this.#life.until(isOver, TAKEN_BACK_MS));
    return () => {
      isTakenBack = true;
    };
  }

  /** From now on, neither arrivals nor faults begin: what is left ends, and is judged. */
  close(): void {
    this.#untilMs = Math.min(this.#untilMs, this.#life.trueMs);
  }

  get isClosing(): boolean {
    return this.#life.trueMs >= this.#untilMs;
  }

  /** @param settle returns when no promise has anything left to do */
  async run(settle: () => Promise<void>): Promise<Verdict> {
    this.begin();
    await this.advance(Number.POSITIVE_INFINITY, settle);
    return this.end();
  }

  begin(): void {
    const life = this.#life;
    const { olderStore } = life.setting;
    if (olderStore !== undefined) for (const story of putOlderStore(life, olderStore)) this.#tell(story);
    life.startServe();
    const course = async (): Promise<void> => {
      if (olderStore !== undefined) await disturbUpgrade(life);
      await Promise.all([this.#arrivals(), this.#faults()]);
      await life.until(() => this.#underWay === 0, LOOK_MS);
      life.trace("no more faults");
      await this.#end();
    };
    void this.#look();
    for (const watch of this.#isCluster ? CLUSTER_WATCHES : WATCHES) void watch(life);
    void course().then(
      () => {
        this.#isDone = true;
      },
      (error: Error) => {
        life.problem(`the run itself failed: ${error.stack ?? error.message}`);
        this.#isDone = true;
      },
    );
  }

  /** Whether nothing more is to happen. */
  get isOver(): boolean {
    return this.#isDone || this.#life.isStopped;
  }

  /**
   * Lets everything happen until that instant of the timeline, or until the course is over.
   * @param settle returns when no promise has anything left to do
   */
  async advance(untilUs: number, settle: () => Promise<void>): Promise<void> {
    const life = this.#life;
    const { timeline } = life.site;
    await settle();
    while (!this.isOver && timeline.step(untilUs)) {
      // What happens within the kernel alone leaves nothing to do.
      if (life.takeTouched()) await settle();
      life.onStep?.();
    }
    if (!this.isOver) timeline.nowUs = Math.max(timeline.nowUs, untilUs);
  }

  end(): Verdict {
    const life = this.#life;
    const { timeline } = life.site;
    life.isOver = true;
    life.site.close();
    return {
      seed: life.setting.seed,
      problems: life.problems,
      hours: life.hours,
      events: timeline.count,
      jobs: life.jobs.length,
      starts: life.witness.starts.length,
      faults: countsOf(life.faults),
      drawn: { jobs: this.#drawnJobs, faults: this.#drawnFaults },
      hash: life.site.hash(),
    };
  }

  /** Waits until all jobs and hooks have ended, and judges. */
  async #end(): Promise<void> {
    const life = this.#life;
    const { runMs, maxRows } = life.setting;
    const sinceMs = life.trueMs;
    // In all rows together, the longest job takes this long from one event to the next.
    const stillMs = LONGEST_WAIT_MS + 2 * runMs[1] * maxRows;
    const isLate = () => {
      const stoodMs = life.trueMs - Math.max(sinceMs, life.latestSeenMs);
      // Faults may have set the clock back, and jobs wait for a time that it shows.
      const behindMs = Math.max(0, life.trueMs - life.unixMs);
      return stoodMs > stillMs + behindMs || life.trueMs - sinceMs > END_MS + behindMs;
    };
    await life.until(() => this.#open === 0 || isLate(), LOOK_MS);
    let records: readonly Job[] = [];
    for (;;) {
      await life.look();
      records = [...life.records.values()];
      if ((records.every(isSettled) && this.#open === 0) || isLate()) {
        records = (await life.listed()) ?? records;
        if (records.every(isSettled) || isLate()) break;
      }
      await this.#tidy(records);
      await life.sleep(5 * LOOK_MS);
    }
    for (const { job, state } of records.filter((one) => !isSettled(one)))
      life.problem(`job ${job} (${state}) has not ended, and nothing has happened for long`);
    const books = await life.send("root", (service, caller) => booksOf(service, caller));
    if (books.value !== undefined) life.problems.push(...this.#judge(records, books.value));
    await life.sleep(3 * LOOK_MS);
    if (this.#isCluster) await atRest(life);
    life.problems.push(...life.witness.problems);
    const checks = this.#isCluster ? CLUSTER_CHECKS : CHECKS;
    life.problems.push(...checks.flatMap((check) => check(life)));
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
    const { jobs, lost, unseen, forgotten, wasAway, spoilt, deaths, restores, clocks, quiet, witness } = life;
    return judge({
      ...{ jobs, records, lost, unseen, forgotten, wasAway, spoilt, deaths, restores, clocks, quiet },
      ...(this.#isCluster && { evicted: life.evicted }),
      ...{ starts: witness.starts, reports: witness.reports, ...books },
      mostJobs: life.setting.runningJobs ?? Number.POSITIVE_INFINITY,
    });
  }
}

/** After some pilots that have ended early, the scheduler says so, and an administrator asks for more. */
async function askAgain(life: Life): Promise<void> {
  const { value } = await life.once("root", (service) => service.allocations());
  if (value?.trouble?.includes(ASKS_AGAIN))
    await life.once("root", (service, caller) => service.startAllocation(caller));
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

function countsOf(faults: readonly Inflicted[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { name } of faults) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Between two of them. Bounded, so that no life waits for ever; -ln is not the same on all engines. */
function gapMs(random: Random, meanMs: number): number {
  return meanMs * 2 * random.unit();
}

function isOneOf(only: readonly NumberRange[] | undefined, number: number): boolean {
  return only === undefined || holds(only, number);
}

function last(only: readonly NumberRange[] | undefined): number {
  return only === undefined ? Number.POSITIVE_INFINITY : Math.max(0, ...only.map((range) => range.last));
}

/** Each as often as its weight says. */
function weighted<Item extends { readonly name: string }>(
  items: readonly Item[],
  weights: Readonly<Record<string, number>>,
): Item[] {
  return items.flatMap((item) => Array<Item>(Math.round(10 * (weights[item.name] ?? 0))).fill(item));
}
