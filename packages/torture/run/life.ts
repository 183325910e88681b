/** A life: a machine with its scheduler, which a supervisor starts again, and the requests of its users. */
import type { Change, Caller as LiveCaller, Service } from "@tutti/live/daemon/contract/service.ts";
import { type Answer, isRefusal, type Refusal } from "@tutti/protocol/refusal.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES, type JobState } from "@tutti/protocol/states.ts";
import { type JudgedJob, nameOf, type Span } from "../judge/history.ts";
import type { Decision } from "../node/decisions.ts";
import type { Step } from "../node/steps.ts";
import type { RunningProgram, Served } from "../node/world.ts";
import type { Caller, Process, Random } from "../world/contract.ts";
import type { Inflicted } from "./recorded.ts";
import type { Setting } from "./setting.ts";
import { type Disk, makeSite, type Site, type WorldParts } from "./site.ts";
import { type Moment, trueMs, Witness } from "./witness.ts";

/** An answer of the front end; neither value nor refusal: there was none. */
interface Reply<Value> {
  readonly value?: Value;
  readonly refusal?: string;
  /** A request that was not answered may have been received. */
  readonly mayHaveWorked: boolean;
}

const AGAIN_MS = 100;
const SELDOM_MS = 5000;
const LOOK_MS = 1000;
const LOOK_STEP_MS = 20;
const LATE_MS = 600_000;
const CALM_MS = 10_000;
/** The supervisor starts the scheduler again after this time. */
const RESTART_MS = [50, 2000, 30_000] as const;
/** Why a job is held that a restored store does not know to have been started. */
const HAS_RUN = /^attempt \d+ of this job\b/;
const BUSY: readonly JobState[] = ["starting", "running", "paused", "ending"];
export const ROOT: LiveCaller = { uid: 0, user: "root", isAdministrator: true };
const CLIENT_MS = 0.3;

export class Life {
  readonly setting: Setting;
  /** Each part of the life has a fork of it, so that it draws the same without the others. */
  readonly source: Random;
  /** Of the fault that was inflicted last. */
  random: Random;
  readonly site: Site;
  readonly witness: Witness;
  readonly jobs: JudgedJob[] = [];
  readonly quiet: Span[] = [];
  readonly lost = new Set<string>();
  /** Attempts whose start may have been lost before it was noted, with the power. */
  readonly unseen = new Set<string>();
  /** Attempts whose nodes may have been taken away, in a cluster. */
  readonly evicted = new Set<string>();
  readonly forgotten = new Set<number>();
  readonly restores: number[] = [];
  /** When the machine's clock was wrong. */
  readonly clocks: { fromMs: number; toMs: number; offsetMs: number }[] = [];
  /** Jobs that somebody has paused and will resume. */
  readonly paused = new Set<number>();
  /** Of these, those of which the front end has said that they are paused, as job.attempt. */
  readonly standing = new Set<string>();
  readonly problems: string[] = [];
  readonly faults: Inflicted[] = [];
  /** What the front end has last said of each job. */
  readonly records = new Map<number, Job>();
  wasAway = false;
  /** The state folder is at another place just now. */
  isAway = false;
  /** When the disk refused writes. */
  readonly spoilt: { fromMs: number; toMs: number }[] = [];
  /** When conductors were killed. */
  readonly deaths: number[] = [];
  isOver = false;
  /** Somebody has set that it ends now, without a judgement. */
  isStopped = false;
  /** Called after each event: somebody looks at the life, and changes nothing. */
  onStep: (() => void) | undefined;
  /** A front end that has ended is started again. */
  isSupervised = true;
  /** Since when no fault has spoilt disk or clock, stopped a process or suspended the machine. */
  calmSinceMs = 0;
  readonly #supervisor: Random;
  /** When the machine was last suspended no longer, or will be. */
  #awakeMs = 0;
  #serve: RunningProgram | undefined;
  #served: Served | undefined;
  /** Changes wait, so that a backup has all that was acknowledged. */
  #isClosed = false;
  /** What happens to requests that are under way if the front end dies. */
  readonly #unanswered = new Set<() => void>();
  /** Something of the run itself has gone on. */
  #isTouched = false;
  readonly #seenMs = new Map<Moment, number>();
  readonly #listeners = new Map<Moment, (() => void)[]>();
  /** Called for each process that a fault kills. */
  onKill?: (process: Process) => void;

  constructor(setting: Setting, random: Random, parts: WorldParts, log?: (line: string) => void) {
    this.setting = setting;
    this.source = random;
    this.random = random;
    this.#supervisor = random.fork("supervisor");
    this.site = makeSite(setting, parts, {
      log,
      serving: (program, served) => {
        if (program !== this.#serve) return;
        this.#served = served;
        this.trace("the front end serves");
      },
      failed: (program, error) => {
        const { name, message } = error as Error;
        this.problem(`${program.process.argv.slice(0, 2).join(" ")} failed: ${name}: ${message}`);
      },
    });
    this.witness = new Witness((moment, line) => {
      this.trace(line);
      this.#happened(moment);
    });
    this.site.install("/usr/bin/job", this.witness.job);
    this.site.install("/usr/bin/note", this.witness.note);
    this.site.install("/usr/bin/part", this.witness.part);
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
  /** A time from which users count, in ms: not that of a clock which is days ahead for a while. */
  get soonMs(): number {
    return Math.ceil(Math.min(this.unixMs, this.trueMs));
  }
  /** Nothing has disturbed the machine for a moment. */
  get isCalm(): boolean {
    return this.trueMs - this.calmSinceMs > CALM_MS;
  }
  get service(): Service | undefined {
    return this.#served?.service;
  }
  /** Of the policy, since the front end has begun. */
  get decisions(): readonly Decision[] {
    return this.#served?.decisions ?? [];
  }
  /** How the front end's memory differs from what its record says; undefined: there is no front end. */
  differences(): readonly string[] | undefined {
    const served = this.#served;
    let found: readonly string[] | undefined;
    if (served !== undefined && this.#serve?.process.state === "S")
      this.#serve.run(() => (found = served.differences()));
    return found;
  }
  /** How long it has lasted. */
  get hours(): number {
    return this.site.timeline.nowUs / 3.6e9;
  }

  /**
   * For the host, whose engine alone knows of it: a promise was rejected and nobody has handled that. It is
   * one of the program that ran last. How programs exit is such a rejection, too, and no failure.
   */
  rejected(reason: unknown): void {
    this.site.world.running?.failed(reason, "unhandledRejection");
  }

  trace(line: string): void {
    this.site.trace(line);
  }

  problem(what: string): void {
    this.trace(`problem: ${what}`);
    this.problems.push(what);
  }

  /** Whether promises may have something to do: a program or the run has gone on since the last question. */
  takeTouched(): boolean {
    const isTouched = this.site.world.isTouched || this.#isTouched;
    this.site.world.isTouched = false;
    this.#isTouched = false;
    return isTouched;
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

  #happened(moment: Moment): void {
    this.#seenMs.set(moment, this.trueMs);
    for (const call of this.#listeners.get(moment)?.splice(0) ?? []) call();
  }

  /** When a job, or a hook, has last begun, ended or got a signal, or the machine has gone on. */
  get latestSeenMs(): number {
    const times = [...this.#seenMs].map(([moment, seenMs]) => (moment === "request" ? 0 : seenMs));
    return Math.max(this.#awakeMs, ...times);
  }

  /** What has happened of late, and so is likely to happen again. */
  get moments(): readonly Moment[] {
    const { trueMs: nowMs } = this;
    return [...this.#seenMs].filter(([, seenMs]) => nowMs - seenMs < LATE_MS).map(([moment]) => moment);
  }

  /** Waits until such a thing happens, at most this long. */
  async moment(moment: Moment, mostMs: number): Promise<void> {
    const listeners = this.#listeners.get(moment) ?? [];
    this.#listeners.set(moment, listeners);
    await Promise.race([new Promise<void>((resolve) => listeners.push(resolve)), this.sleep(mostMs)]);
  }

  /** Kinds of steps that a program has made. */
  stepsOf(process: Process): readonly Step[] {
    return [...(this.site.world.programs.get(process)?.steps ?? [])];
  }

  /**
   * Calls in the middle of what a program does: before or after one of its next steps of that kind.
   * @returns whether that has happened; not if it ends before, or takes longer
   */
  async atStep(
    process: Process,
    step: Step,
    count: number,
    mostMs: number,
    act: () => void,
  ): Promise<boolean> {
    const program = this.site.world.programs.get(process);
    if (program === undefined) return false;
    const untilMs = this.trueMs + mostMs;
    let left = count;
    program.onStep = (one) => {
      if (one !== step || --left !== 0) return;
      this.trace(`fault: at a step (${step}) of ${process.argv.join(" ").slice(0, 40)}`);
      act();
    };
    while (left > 0 && process.end === undefined && this.trueMs < untilMs) await this.sleep(LOOK_STEP_MS);
    program.onStep = undefined;
    return left <= 0;
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
    const service = this.service;
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
          const asked = ask(service, this.callerOf(user));
          // Questions are answered at once.
          if (asked instanceof Promise) this.#happened("request");
          // One that is killed in the middle of a cycle no longer answers.
          const isDead = () => program.process.isKilled || program.process.end !== undefined;
          void Promise.resolve(asked).then(
            async (answer) => {
              if (isDead()) return;
              await this.sleep(CLIENT_MS);
              resolve(replyOf(answer));
            },
            async (error: Error) => {
              if (isDead()) return;
              this.problem(`a request failed: ${error.name}: ${error.message}`);
              await this.sleep(CLIENT_MS);
              resolve({ mayHaveWorked: true });
            },
          );
        }),
      );
    });
  }

  /** Lets no change through until `open`, and waits until those under way have been answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.until(() => this.#unanswered.size === 0, AGAIN_MS);
  }

  open(): void {
    this.#isClosed = false;
  }

  /** Waits until changes are let through. */
  async mayChange(): Promise<void> {
    await this.until(() => !this.#isClosed, AGAIN_MS);
  }

  /** Asks until there is an answer. */
  async send<Value>(
    user: string,
    ask: (service: Service, caller: LiveCaller) => Promise<Answer<Value>> | Answer<Value>,
  ): Promise<Reply<Value>> {
    let mayHaveWorked = false;
    for (let againMs = AGAIN_MS; !this.isOver; againMs = Math.min(2 * againMs, SELDOM_MS)) {
      await this.mayChange();
      const reply = await this.once(user, ask);
      mayHaveWorked ||= reply.mayHaveWorked;
      if (reply.value !== undefined || reply.refusal !== undefined) return { ...reply, mayHaveWorked };
      await this.sleep(againMs);
    }
    return { mayHaveWorked };
  }

  async changeOnce(change: Change, job: number): Promise<Reply<readonly Answer<Job>[]>> {
    await this.mayChange();
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

  /** The job as the front end says, once it answers. */
  async asked(job: number): Promise<Job | undefined> {
    return (await this.send("root", (service, caller) => service.job(caller, job))).value;
  }

  async listed(states?: readonly JobState[]): Promise<readonly Job[] | undefined> {
    const reply = await this.once("root", (service, caller) => {
      const jobs: Job[] = [];
      for (const page of service.list(caller, states === undefined ? {} : { states })) jobs.push(...page);
      return jobs as readonly Job[];
    });
    return reply.value;
  }

  /**
   * Renews `records` of all that has not ended, or has just ended.
   * @returns whether there was an answer
   */
  async look(): Promise<boolean> {
    const { records } = this;
    const reply = await this.once("root", (service, caller) => {
      const found = [...service.list(caller, { states: ACTIVE_STATES })].flat();
      const active = new Set(found.map(({ job }) => job));
      for (const { numbers, reruns } of this.jobs)
        for (const number of [...numbers, ...reruns]) {
          const record = records.get(number);
          if (active.has(number) || (record !== undefined && isSettled(record))) continue;
          const job = service.job(caller, number);
          if (!isRefusal(job)) found.push(job as Job);
        }
      return found as readonly Job[];
    });
    for (const job of reply.value ?? []) records.set(job.job, job);
    return reply.value !== undefined;
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

  spoilDisk(how: "full" | "read-only" | "broken"): void {
    const isSpoilt = this.spoilt.at(-1)?.toMs === Number.POSITIVE_INFINITY;
    if (!isSpoilt) this.spoilt.push({ fromMs: this.trueMs, toMs: Number.POSITIVE_INFINITY });
    this.disk.spoil(how);
  }

  repairDisk(): void {
    this.spoilt[this.spoilt.length - 1].toMs = this.trueMs;
    this.disk.repair();
  }

  /** After a power cut. What has ended, and is not known yet, may be lost with what was not synced. */
  loseMemory(): void {
    for (const attempt of this.#attemptsOnDisk()) {
      this.lost.add(nameOf(attempt));
      // It may have begun a moment ago.
      if (attempt.state === "starting") this.unseen.add(nameOf(attempt));
    }
    // The store does not know what has run since its backup.
    for (const start of this.witness.starts)
      if (start.endedMs === undefined && this.forgotten.has(start.job)) this.lost.add(nameOf(start));
  }

  #attemptsOnDisk(): ReturnType<Site["attemptsInStore"]> {
    try {
      return this.site.attemptsInStore();
    } catch (error) {
      this.problem(`after a power cut, the store cannot be read: ${(error as Error).message}`);
      return [];
    }
  }

  // The machine ---------------------------------------------------------------------------------------------

  #found(matches: (process: Process) => boolean): Process[] {
    return this.site.machines.flatMap(({ processes }) =>
      [...processes.values()].filter((one) => one.end === undefined && matches(one)),
    );
  }

  frontEnds(): Process[] {
    return this.#found(({ argv }) => argv[1] === "/tutti/serve.js");
  }
  /** Of a cluster, there is one on each node of the pilot. */
  conductors(): Process[] {
    return this.#found(isConductor);
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
      process.machine.kill(process.pid, signal);
      if (signal !== "SIGKILL") return;
      if (isConductor(process)) this.deaths.push(this.trueMs);
      this.onKill?.(process);
    } catch {
      // It has just ended.
    }
  }

  suspend(forMs: number): void {
    this.machine.suspend(forMs);
    this.#awakeMs = Math.max(this.#awakeMs, this.trueMs + forMs);
  }

  setClock(byMs: number): void {
    const { clocks, trueMs: nowMs } = this;
    const last = clocks.at(-1);
    const isWrong = last !== undefined && last.toMs > nowMs;
    const offsetMs = (isWrong ? last.offsetMs : 0) + byMs;
    if (isWrong) last.toMs = nowMs;
    if (offsetMs !== 0) clocks.push({ fromMs: nowMs, toMs: Number.POSITIVE_INFINITY, offsetMs });
    this.machine.clock.step(byMs);
  }

  boot(): void {
    this.machine.boot();
    this.startServe();
  }

  startServe(): void {
    if (!this.machine.isOn || this.#serve !== undefined) return;
    // Nobody starts a scheduler without its state: it would begin a new one.
    if (this.isAway) return void this.#startAgain();
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
      this.#served = undefined;
      this.trace("the front end is gone");
      for (const cutOff of this.#unanswered) cutOff();
      this.#unanswered.clear();
      void this.#startAgain();
    });
  }

  async #startAgain(): Promise<void> {
    await this.sleep(this.#supervisor.below(this.#supervisor.pick(RESTART_MS)));
    if (this.isSupervised) this.startServe();
  }
}

function isConductor({ argv }: Process): boolean {
  return argv[0].startsWith("tutti-conductor ") || argv[1] === "/tutti/conductor.js";
}

/** Whether it has ended, and all hooks have run. */
export function isSettled({ endedAtMs, news = [] }: Job): boolean {
  return endedAtMs !== undefined && news.every(({ state }) => state !== "waiting");
}

function replyOf<Value>(given: Answer<Value>): Reply<Value> {
  const answer = given as Refusal | { readonly refused?: never };
  if (!isRefusal(answer)) return { value: given as Value, mayHaveWorked: false };
  // As the API says with 503: for now it cannot do anything.
  if (answer.refused === "unavailable") return { mayHaveWorked: false };
  return { refusal: answer.message, mayHaveWorked: false };
}
