/**
 * A life: a machine with its scheduler and its users, from an empty disk to the last job, with faults in
 * between. It depends on its setting and its seed alone. At the end the judge says what went wrong.
 */
import type { Change, Caller as LiveCaller, Service } from "@tutti/live/daemon/contract/service.ts";
import { type Answer, isRefusal, type Refusal } from "@tutti/protocol/refusal.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import type { JobState } from "@tutti/protocol/states.ts";
import { type JudgedJob, nameOf, type Span } from "../judge/history.ts";
import { judge } from "../judge/judge.ts";
import type { NodeProgram } from "../node/program.ts";
import type { Caller, Process, Random } from "../world/contract.ts";
import { FAULTS } from "./faults.ts";
import { checkRest } from "./invariants/rest.ts";
import { watchRows } from "./invariants/rows.ts";
import { KINDS } from "./kinds.ts";
import { type Disk, makeSite, type Site, type WorldParts } from "./site.ts";
import { Story } from "./story.ts";
import type { Setting } from "./swarm.ts";
import { trueMs, Witness } from "./witness.ts";

/** An answer of the front end; neither value nor refusal: there was none. */
export interface Reply<Value> {
  readonly value?: Value;
  readonly refusal?: string;
  /** A request that was not answered may have been received. */
  readonly mayHaveWorked: boolean;
}

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
const AGAIN_MS = 100;
const LOOK_MS = 1000;
const CALM_MS = 10_000;
/** The supervisor starts the scheduler again after this time. */
const RESTART_MS = [50, 2000, 30_000] as const;
/** When faults have ended, all jobs end within this time, or something stands still for ever. */
const END_MS = 30 * HOUR_MS;
/** Why a job is held that a restored store does not know to have been started. */
const HAS_RUN = /^attempt \d+ of this job\b/;
const BUSY: readonly JobState[] = ["starting", "running", "paused", "ending"];
const ROOT: LiveCaller = { uid: 0, user: "root", isAdministrator: true };
const CLIENT_MS = 0.3;

export class Life {
  readonly setting: Setting;
  readonly random: Random;
  readonly site: Site;
  readonly witness: Witness;
  readonly jobs: JudgedJob[] = [];
  readonly quiet: Span[] = [];
  readonly lost = new Set<string>();
  readonly forgotten = new Set<number>();
  readonly restores: number[] = [];
  readonly clocks: { fromMs: number; toMs: number; offsetMs: number }[] = [];
  /** Jobs that somebody has paused and will resume. */
  readonly paused = new Set<number>();
  readonly problems: string[] = [];
  readonly counts: Record<string, number> = {};
  wasAway = false;
  isOver = false;
  /** Since when no fault has spoilt disk or clock, stopped a process or suspended the machine. */
  calmSinceMs = 0;
  #records = new Map<number, Job>();
  #serve: NodeProgram | undefined;
  #service: Service | undefined;
  #supervises = true;
  /** What happens to requests that are under way if the front end dies. */
  readonly #unanswered = new Set<() => void>();
  /** Something of the run itself has gone on. */
  #isTouched = false;

  constructor(setting: Setting, random: Random, parts: WorldParts, log?: (line: string) => void) {
    this.setting = setting;
    this.random = random;
    this.site = makeSite(setting, parts, {
      log,
      serving: (program, service) => {
        if (program !== this.#serve) return;
        this.#service = service;
        this.trace("the front end serves");
      },
      failed: (program, error) => {
        const { name, message } = error as Error;
        this.problem(`${program.process.argv.slice(0, 2).join(" ")} failed: ${name}: ${message}`);
      },
    });
    this.witness = new Witness((line) => this.trace(line));
    this.site.install("/usr/bin/job", this.witness.job);
    this.site.install("/usr/bin/note", this.witness.note);
  }

  get machine() {
    return this.site.machine;
  }
  get files() {
    return this.site.files;
  }
  get disk(): Disk {
    return this.site.disk;
  }
  get root(): Caller {
    return this.site.root;
  }
  get state(): string {
    return this.site.state;
  }
  get trueMs(): number {
    return trueMs(this.site.timeline.nowUs);
  }
  /** What the machine's clock says. */
  get unixMs(): number {
    return this.machine.clock.unixMs();
  }
  /** Nothing has disturbed the machine for a moment. */
  get isCalm(): boolean {
    return this.trueMs - this.calmSinceMs > CALM_MS;
  }
  get service(): Service | undefined {
    return this.#service;
  }

  trace(line: string): void {
    this.site.trace(line);
  }

  problem(what: string): void {
    this.trace(`problem: ${what}`);
    this.problems.push(what);
  }

  sleep(ms: number): Promise<void> {
    const { timeline } = this.site;
    return new Promise((resolve) =>
      timeline.at(timeline.nowUs + Math.ceil(ms * 1000), () => {
        this.#isTouched = true;
        resolve();
      }),
    );
  }

  /** Waits until it is as described, or the life is over. */
  async until(condition: () => boolean, lookMs: number): Promise<boolean> {
    while (!this.isOver && !condition()) await this.sleep(lookMs);
    return condition();
  }

  // Requests ------------------------------------------------------------------------------------------------

  callerOf(user: string): LiveCaller {
    return user === "root" ? ROOT : { uid: this.site.uidOf(user), user, isAdministrator: false };
  }

  /** Asks once. The answer is lost if the front end dies before it arrives. */
  once<Value>(
    user: string,
    ask: (service: Service, caller: LiveCaller) => Promise<Answer<Value>> | Answer<Value>,
  ): Promise<Reply<Value>> {
    const program = this.#serve;
    const service = this.#service;
    if (program === undefined || service === undefined)
      return this.sleep(CLIENT_MS).then(() => ({ mayHaveWorked: false }));
    return new Promise((resolveFirst) => {
      let isHeard = false;
      const resolve = (reply: Reply<Value>) => {
        this.#unanswered.delete(cutOff);
        resolveFirst(reply);
      };
      const cutOff = () => void this.sleep(CLIENT_MS).then(() => resolve({ mayHaveWorked: isHeard }));
      this.#unanswered.add(cutOff);
      void this.sleep(CLIENT_MS).then(() =>
        program.run(() => {
          isHeard = true;
          void Promise.resolve(ask(service, this.callerOf(user))).then(
            async (answer) => {
              await this.sleep(CLIENT_MS);
              resolve(replyOf(answer));
            },
            async (error: Error) => {
              this.problem(`a request failed: ${error.name}: ${error.message}`);
              await this.sleep(CLIENT_MS);
              resolve({ mayHaveWorked: true });
            },
          );
        }),
      );
    });
  }

  /** Asks until there is an answer. */
  async send<Value>(
    user: string,
    ask: (service: Service, caller: LiveCaller) => Promise<Answer<Value>> | Answer<Value>,
  ): Promise<Reply<Value>> {
    let mayHaveWorked = false;
    while (!this.isOver) {
      const reply = await this.once(user, ask);
      mayHaveWorked ||= reply.mayHaveWorked;
      if (reply.value !== undefined || reply.refusal !== undefined) return { ...reply, mayHaveWorked };
      await this.sleep(AGAIN_MS);
    }
    return { mayHaveWorked };
  }

  changeOnce(change: Change, job: number): Promise<Reply<readonly Answer<Job>[]>> {
    return this.once("root", (service, caller) => service.change(caller, change, [job]));
  }

  /** @returns undefined: it has worked; otherwise why it was refused */
  async change(change: Change, job: number): Promise<string | undefined> {
    const { value, refusal, mayHaveWorked } = await this.send("root", (service, caller) =>
      service.change(caller, change, [job]),
    );
    const result = value?.[0];
    if (result !== undefined && !isRefusal(result)) return undefined;
    // What is refused after a request without an answer may have been done by it.
    return mayHaveWorked ? undefined : (result?.message ?? refusal);
  }

  /** The job as the front end says now; undefined: there was no answer, or there is no such job. */
  async asked(job: number): Promise<Job | undefined> {
    return (await this.once("root", (service, caller) => service.job(caller, job))).value;
  }

  async listed(states?: readonly JobState[]): Promise<readonly Job[] | undefined> {
    const reply = await this.once("root", (service, caller) => {
      const jobs: Job[] = [];
      for (const page of service.list(caller, states === undefined ? {} : { states })) jobs.push(...page);
      return jobs as readonly Job[];
    });
    return reply.value;
  }

  record(job: number): Job | undefined {
    return this.#records.get(job);
  }

  isForgotten({ reason = "" }: Job): boolean {
    return HAS_RUN.test(reason);
  }

  /** @returns a time at which every start that was under way had begun; undefined: the life is over */
  async allHaveBegun(): Promise<number | undefined> {
    while (!this.isOver) {
      const busy = await this.listed(BUSY);
      const begun = new Set(this.witness.starts.map(nameOf));
      if (busy?.every((job) => begun.has(nameOf(job)) || this.lost.has(nameOf(job)))) return this.trueMs;
      await this.sleep(LOOK_MS);
    }
    return undefined;
  }

  /** Attempts that have not ended as far as the front end has said. */
  unfinished(): string[] {
    const names: string[] = [];
    for (const start of this.witness.starts) {
      const record = this.#records.get(start.job);
      if (record === undefined || record.attempt > start.attempt) continue;
      if (record.endedAtMs === undefined) names.push(nameOf(start));
    }
    return names;
  }

  // The machine ---------------------------------------------------------------------------------------------

  #found(matches: (process: Process) => boolean): Process[] {
    return [...this.machine.processes.values()].filter((one) => one.end === undefined && matches(one));
  }

  frontEnds(): Process[] {
    return this.#found(({ argv }) => argv[1] === "/tutti/serve.js");
  }
  conductors(): Process[] {
    const title = `tutti-conductor ${this.state}/conductor`;
    return this.#found(({ argv }) => argv[0] === title || argv[1] === "/tutti/conductor.js");
  }
  guardians(): Process[] {
    return this.#found(({ argv }) => argv.includes("tutti-guardian"));
  }
  hookRunners(): Process[] {
    return this.#found(({ argv }) => argv[1] === "/tutti/hooks.js");
  }
  shims(): { readonly process: Process; readonly job: number; readonly attempt: number }[] {
    return this.site
      .claims()
      .filter(
        ({ process }) => process.end === undefined && process.argv.some((word) => word.includes("launch")),
      );
  }

  signal(process: Process, signal: string): void {
    try {
      this.machine.kill(process.pid, signal);
    } catch {
      // It has just ended.
    }
  }

  boot(): void {
    this.machine.boot();
    this.#startServe();
  }

  #startServe(): void {
    if (!this.machine.isOn || this.#serve !== undefined) return;
    let process: Process;
    try {
      process = this.site.startServe();
    } catch (error) {
      this.trace(`the scheduler cannot be started: ${(error as Error).message}`);
      void this.#startAgain();
      return;
    }
    const program = this.site.programOf(process);
    this.#serve = program;
    program.onEnd(() => {
      this.#isTouched = true;
      this.#serve = undefined;
      this.#service = undefined;
      this.trace("the front end is gone");
      for (const cutOff of this.#unanswered) cutOff();
      this.#unanswered.clear();
      void this.#startAgain();
    });
  }

  async #startAgain(): Promise<void> {
    await this.sleep(this.random.below(this.random.pick(RESTART_MS)));
    if (this.#supervises) this.#startServe();
  }

  // The course of a life --------------------------------------------------------------------------------------

  async #look(): Promise<void> {
    while (!this.isOver) {
      for (const job of (await this.listed()) ?? []) this.#records.set(job.job, job);
      await this.sleep(60 * LOOK_MS);
    }
  }

  #exponential(meanMs: number): number {
    // Bounded, so that no life waits for ever; -ln is not the same on all engines.
    return meanMs * 2 * this.random.unit();
  }

  async #arrivals(untilMs: number): Promise<void> {
    const kinds = weighted(KINDS, this.setting.kinds);
    while (kinds.length > 0 && this.trueMs < untilMs) {
      await this.sleep(this.#exponential(this.setting.arrivalMs));
      const count = this.random.chance(0.1) ? this.random.between(2, 8) : 1;
      for (let i = 0; i < count; i++) this.#tell(new Story(this, this.random.pick(kinds)));
    }
  }

  #open = 0;

  #tell(story: Story): void {
    this.#open++;
    void story.tell().then(
      () => this.#open--,
      (error: Error) => this.problem(`a story failed: ${error.message}`),
    );
  }

  async #faults(untilMs: number): Promise<void> {
    const faults = weighted(FAULTS, this.setting.faults);
    while (faults.length > 0) {
      await this.sleep(this.#exponential(this.setting.faultMs));
      if (this.trueMs >= untilMs) return;
      // A second fault often comes before the first has been got over.
      const fault = this.random.pick(faults);
      this.counts[fault.name] = (this.counts[fault.name] ?? 0) + 1;
      this.trace(`fault: ${fault.name}`);
      this.calmSinceMs = Number.POSITIVE_INFINITY;
      await fault.inflict(this);
      this.calmSinceMs = this.trueMs;
    }
  }

  /** @param settle returns when no promise has anything left to do */
  async run(settle: () => Promise<void>): Promise<Verdict> {
    const { timeline } = this.site;
    this.#startServe();
    const untilMs = this.trueMs + this.setting.hours * HOUR_MS;
    let isDone = false;
    const course = async (): Promise<void> => {
      await Promise.all([this.#arrivals(untilMs), this.#faults(untilMs)]);
      this.trace("no more faults");
      await this.#end();
    };
    void this.#look();
    void watchRows(this);
    void course().then(
      () => {
        isDone = true;
      },
      (error: Error) => {
        this.problem(`the run itself failed: ${error.stack ?? error.message}`);
        isDone = true;
      },
    );
    await settle();
    while (!isDone && timeline.step(Number.POSITIVE_INFINITY)) {
      // What happens within the kernel alone leaves nothing to do.
      if (!this.site.world.isTouched && !this.#isTouched) continue;
      this.site.world.isTouched = false;
      this.#isTouched = false;
      await settle();
    }
    this.isOver = true;
    this.site.close();
    return {
      seed: this.setting.seed,
      problems: this.problems,
      hours: timeline.nowUs / 3.6e9,
      events: timeline.count,
      jobs: this.jobs.length,
      starts: this.witness.starts.length,
      faults: this.counts,
      hash: this.site.hash(),
    };
  }

  /** Waits until all jobs and hooks have ended, and judges. */
  async #end(): Promise<void> {
    const untilMs = this.trueMs + END_MS;
    const isLate = () => this.trueMs > untilMs;
    await this.until(() => this.#open === 0 || isLate(), LOOK_MS);
    let records: readonly Job[] | undefined;
    const isEnded = (job: Job) =>
      job.endedAtMs !== undefined && job.news?.every(({ state }) => state !== "waiting") !== false;
    for (;;) {
      records = (await this.listed()) ?? records;
      for (const job of records ?? []) this.#records.set(job.job, job);
      if ((records?.every(isEnded) && this.#open === 0) || isLate()) break;
      await this.#tidy(records ?? []);
      await this.sleep(5 * LOOK_MS);
    }
    if (isLate())
      for (const job of records?.filter((one) => !isEnded(one)) ?? [])
        this.problem(
          `job ${job.job} (${job.state}) has not ended ${END_MS / HOUR_MS} h after the last fault`,
        );
    const books = await this.send("root", (service, caller) => booksOf(service, caller));
    if (books.value !== undefined) this.problems.push(...this.#judge(records ?? [], books.value));
    await this.sleep(3 * LOOK_MS);
    this.problems.push(...checkRest(this));
    this.#supervises = false;
  }

  /** Gives up jobs of which a restored store does not know that they have run. */
  async #tidy(records: readonly Job[]): Promise<void> {
    for (const job of records) {
      if (job.state !== "held" || !this.isForgotten(job)) continue;
      this.forgotten.add(job.job);
      if (!job.reason?.includes("is already running")) await this.change({ action: "cancel" }, job.job);
    }
  }

  #judge(records: readonly Job[], books: Books): string[] {
    const { jobs, lost, forgotten, wasAway, restores, clocks, quiet, witness } = this;
    return judge({
      ...{ jobs, records, lost, forgotten, wasAway, restores, clocks, quiet },
      ...{ starts: witness.starts, reports: witness.reports, ...books },
      mostJobs: this.setting.runningJobs ?? Number.POSITIVE_INFINITY,
    });
  }
}

interface Books {
  readonly noted: ReadonlySet<string>;
  readonly exported: ReadonlySet<number>;
}

/** What the scheduler's events and exports say. */
function booksOf(service: Service, caller: LiveCaller): Answer<Books> {
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

function replyOf<Value>(given: Answer<Value>): Reply<Value> {
  const answer = given as Refusal | { readonly refused?: never };
  if (!isRefusal(answer)) return { value: given as Value, mayHaveWorked: false };
  // As the API says with 503: for now it cannot do anything.
  if (answer.refused === "unavailable") return { mayHaveWorked: false };
  return { refusal: answer.message, mayHaveWorked: false };
}

/** Each as often as its weight says. */
function weighted<Item extends { readonly name: string }>(
  items: readonly Item[],
  weights: Readonly<Record<string, number>>,
): Item[] {
  return items.flatMap((item) => Array<Item>(Math.round(10 * (weights[item.name] ?? 0))).fill(item));
}
