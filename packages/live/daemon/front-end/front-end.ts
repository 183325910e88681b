/**
 * Accepts users' requests and the executor's reports, writes decisions to disk, then sends them to the
 * executor. This class is the front end's interface; cycle.ts handles requests in cycles.
 */
import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { type Answer, isRefusal, refuse } from "@tutti/protocol/refusal.ts";
import type { DrainBody, InputBody, Job, OffBody, SubmitJob, WindowBody } from "@tutti/protocol/schema.ts";
import { EventFeed } from "../book/event-feed.ts";
import { JobBook } from "../book/job-book.ts";
import { JobLimits } from "../book/job-limits.ts";
import { RunningTotals } from "../book/totals.ts";
import { usageOf } from "../book/usage.ts";
import type { Config } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import { mayAccess, refuseOthers } from "../contract/rights.ts";
import type {
  Caller,
  Change,
  JobQuery,
  Matrix,
  Service,
  TimeSpan,
  UsageQuestion,
  WhatIfQuestion,
} from "../contract/service.ts";
import { checkPriority, jobCount, readBatch, type SubmissionLimits } from "../contract/submission.ts";
import { Dispatcher } from "../dispatch/dispatcher.ts";
import { drain, untilConnected } from "../dispatch/shutdown.ts";
import { StoreAge } from "../dispatch/store-age.ts";
import type { Capabilities, Executor, NodeSource } from "../executor/executor.ts";
import { forecast } from "../forecast/model.ts";
import type { ForecastEngine } from "../forecast/thread.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { NewsDesk } from "../news/news-desk.ts";
import { LiveMachine } from "../scheduling/live-machine.ts";
import {
  choosePolicyFor,
  refuseMode,
  refuseResources,
  refuseUnlessCapable,
} from "../scheduling/policy-choice.ts";
import { Scheduler } from "../scheduling/scheduler.ts";
import { LiveShares } from "../shares/live-shares.ts";
import { sharesAnswerOf } from "../shares/shares-answer.ts";
import type { NumbersFile } from "../state/numbers.ts";
import type { StateWatch } from "../state/state-watch.ts";
import { messageOf } from "../store/store.ts";
import { WindowKeeper } from "../windows.ts";
import { Cycles } from "./cycle.ts";
import { setDrain, storedDrain } from "./drain.ts";
import { Forecaster } from "./forecast.ts";
import { forgetPlace } from "./last-place.ts";
import { Listing } from "./listing.ts";
import { sayOff } from "./off.ts";
import { explainWaiting } from "./pending-reason.ts";
import { Queries } from "./queries.ts";
import { Requests } from "./requests.ts";
import { Retention, type RetentionLimits } from "./retention.ts";
import { sendInput } from "./send-input.ts";
import { SteadyClock } from "./steady-clock.ts";
import { timelineOf } from "./timeline.ts";
import { answerDryRun, answerWhatIf, hypotheticalJobs } from "./what-if.ts";

interface FrontEndOptions
  extends Pick<FrontEndParts, "store" | "clock" | "launcher" | "config" | "bootId">,
    Partial<Pick<FrontEndParts, "maxJobs" | "maxStoreBytes">> {
  /** Shows whether the store is older than the last numbers; left out: a test without a state folder. */
  readonly numbers?: NumbersFile | undefined;
  /** Left out: a test without a state folder. */
  readonly watch?: StateWatch | undefined;
  readonly executor: Executor;
  /** Whether a user of this name could have jobs here; left out: a test in which all could. */
  readonly isUser?: ((name: string) => boolean) | undefined;
  readonly groupsOf?: ConstructorParameters<typeof JobLimits>[1];
  /** Overrides the policy of the last run. */
  readonly policy?: string | undefined;
  /** The policy whose file the configuration names. */
  readonly ownPolicy?: PolicyDefinition | undefined;
  /** Limits on stored ended jobs and events, in addition to `keepJobs`. */
  readonly retentionLimits?: Partial<RetentionLimits>;
  /** Makes forecasts; left out: made in this thread. */
  readonly forecastEngine?: ForecastEngine;
  /** Receives the policy's decisions; job rows are those of the driver's table. */
  readonly observer?: Observer | undefined;
}

/** The caller of the front end's own requests. */
const SELF: Caller = { uid: -1, user: "", isAdministrator: true };
const MAX_JOBS = 200_000;
/** More than the jobs and the history of 50 users can take, even if all of them use their full shares. */
const MAX_STORE_BYTES = 2 ** 33;
/** Ten open timelines cost at most one forecast in this time. */
const MAX_TIMELINE_AGE_MS = 5000;

export class FrontEnd implements Service {
  readonly totals = new RunningTotals();
  readonly #options: FrontEndOptions;
  /** What its parts share. */
  readonly context: FrontEndParts;
  readonly #requests: Requests;
  readonly #dispatcher: Dispatcher;
  readonly #queries: Queries;
  readonly #listing: Listing;
  readonly #windows: WindowKeeper;
  /** Makes forecasts on request; after its start, for every job. */
  readonly forecaster: Forecaster;
  /** Does nothing until it is started. */
  readonly retention: Retention;
  readonly news: NewsDesk;
  readonly #cycles: Cycles;
  readonly #storeAge: StoreAge;
  readonly #startedAtMs: number;
  readonly #drained = Promise.withResolvers<void>();

  constructor(given: FrontEndOptions) {
    const clock = new SteadyClock(given.clock);
    const options = { ...given, clock };
    const { store, config, executor, launcher } = options;
    refuseMode(config, executor.capabilities);
    refuseResources(config.resources, executor.capabilities);
    const machine = new LiveMachine(executor, config.pack, config.resources);
    this.#options = options;
    this.#storeAge = new StoreAge(store, launcher, options.numbers);
    const book = new JobBook(store, this.#storeAge.latestJob, new JobLimits(config, options.groupsOf));
    const feed = new EventFeed(store, this.#storeAge.latestEvent);
    const shares = new LiveShares(options, book, (job) => scheduler.ranMs(job, clock.nowMs()));
    const nowMs = clock.nowMs();
    const unixMs = clock.unixMs();
    this.#startedAtMs = unixMs;
    const scheduler = new Scheduler(
      {
        machine,
        slotMs: config.slotMs,
        maxRows: config.maxRows,
        queueClasses: config.queues.map(({ queueClass }) => queueClass),
        originMs: nowMs,
        monotonicOf: (timeMs) => nowMs - Math.max(0, unixMs - timeMs),
        shares,
        observer: options.observer,
      },
      book,
      this.#choiceAtStart(),
    );
    machine.drain = storedDrain(store);
    this.news = new NewsDesk(options);
    const context: FrontEndParts = {
      news: this.news,
      executor,
      store,
      clock,
      config,
      launcher,
      book,
      feed,
      scheduler,
      shares,
      limits: submissionLimits(machine, clock, config, executor.capabilities),
      maxJobs: options.maxJobs ?? MAX_JOBS,
      maxStoreBytes: options.maxStoreBytes ?? MAX_STORE_BYTES,
      bootId: options.bootId,
    };
    this.context = context;
    feed.listen(SELF, feed.latest, (event) => this.totals.note(event, (job) => book.find(job)));
    this.#dispatcher = new Dispatcher(context, this.#storeAge);
    this.#requests = new Requests(context, this.#dispatcher);
    this.#windows = new WindowKeeper(context, options.isUser ?? (() => true));
    this.#queries = new Queries(context, this.#dispatcher, this.#windows);
    this.#listing = new Listing(context, (record) => this.#queries.info(record));
    this.forecaster = new Forecaster(
      context,
      options.forecastEngine ?? (async (task) => forecast(task, undefined, options.ownPolicy)),
    );
    this.retention = new Retention(context, options.retentionLimits);
    this.#cycles = new Cycles({
      context,
      clock,
      executor,
      dispatcher: this.#dispatcher,
      past: this.#storeAge,
      windows: this.#windows,
      numbers: options.numbers,
      watch: options.watch,
      afterCycle: (hadRequests) => {
        if (hadRequests) this.forecaster.wake();
        this.retention.wake();
      },
    });
  }

  /** Handles remaining requests and disconnects from executor and store; jobs continue. */
  stop(): void {
    this.#cycles.stop();
    this.retention.stop();
    this.news.stop();
    this.forecaster.stop();
  }

  /** Number of jobs with a process, and of attempts that the store does not know. */
  runningCount(): number {
    return [...this.context.book.withProcess()].length + this.#dispatcher.strays.count;
  }

  /** Warnings from the start for people, one or more sentences each. */
  get warnings(): readonly string[] {
    return this.#storeAge.warnings;
  }

  strays(caller: Caller) {
    return this.#dispatcher.strays.seenBy(caller, this.#options.clock.nowMs());
  }

  /** Resolves when `shutdown` has ended the conductor. */
  get drained(): Promise<void> {
    return this.#drained.promise;
  }

  async shutdown(caller: Caller, killJobs: boolean, keepAllocation = false) {
    const refusal = refuseOthers(caller, "end the scheduler");
    if (refusal !== undefined) return refusal;
    const { clock, executor } = this.#options;
    const { nodeSource } = executor;
    if (keepAllocation) {
      if (nodeSource === undefined) return NO_ALLOCATIONS;
      this.#drained.resolve();
      return { stopping: true } as const;
    }
    const { health } = this.#dispatcher;
    const ending = { clock, executor, health, runningCount: () => this.runningCount() };
    await untilConnected(killJobs, ending);
    const running = this.runningCount();
    if (running > 0 && !killJobs) {
      return refuse(
        "wrong-state",
        `Cannot end the scheduler: ${running} ${running === 1 ? "job is" : "jobs are"} running; wait, cancel them, or use --kill to end them`,
      );
    }
    // From now on, nothing starts.
    this.#cycles.drain();
    const givenBack = namesPaidFor(nodeSource);
    const notEnded = await drain(killJobs, ending);
    const notReleased = await nodeSource?.release().then(
      () => undefined,
      ({ message }: Error) => message,
    );
    if (notEnded === undefined && notReleased === undefined) forgetPlace(this.context.store);
    this.#drained.resolve();
    const warnings = [notEnded, notReleased].filter((warning) => warning !== undefined);
    const warning = warnings.length > 0 ? warnings.join(" ") : undefined;
    const isBack = notReleased === undefined && givenBack.length > 0;
    return { stopping: true, warning, ...(isBack && { givenBack }) } as const;
  }

  allocations() {
    const { nodeSource } = this.#options.executor;
    if (nodeSource === undefined) return NO_ALLOCATIONS;
    const { allocations, trouble, rests, bill } = nodeSource;
    return { allocations: [...allocations], trouble, rests, ...(bill && { bill }) };
  }

  startAllocation(caller: Caller) {
    const refusal = refuseOthers(caller, "ask for nodes");
    if (refusal !== undefined) return refusal;
    this.#options.executor.nodeSource?.again();
    return this.allocations();
  }

  sayOff(caller: Caller, body: OffBody) {
    const { executor } = this.#options;
    return sayOff({ ...this.context, executor, health: this.#dispatcher.nodes.health }, caller, body);
  }

  submit(
    caller: Caller,
    jobs: readonly SubmitJob[],
    key?: string,
  ): Promise<Answer<{ readonly jobs: readonly Job[] }>> {
    const batch = readBatch(caller, jobs, this.context.limits);
    if (isRefusal(batch)) return Promise.resolve(batch);
    return this.#cycles.ask(caller.uid, jobCount(batch), (nowMs) =>
      this.#requests.submit(caller, batch, key, nowMs),
    );
  }

  rerun(caller: Caller, jobs: readonly JobNumber[], key?: string) {
    return this.#cycles.ask(caller.uid, jobs.length, (nowMs) =>
      this.#requests.rerun(caller, jobs, key, nowMs),
    );
  }

  list = (caller: Caller, query: JobQuery) => this.#listing.list(caller, query);

  numbers = (caller: Caller, query: JobQuery) => this.#listing.numbers(caller, query);

  job(caller: Caller, job: JobNumber): Answer<Job> {
    return this.#shown(this.#requests.find(caller, job));
  }

  ownerOf(caller: Caller, job: JobNumber): Answer<number> {
    const record = this.#requests.find(caller, job);
    return isRefusal(record) ? record : record.uid;
  }

  get sendsInput(): boolean {
    return this.#options.executor.sendInput !== undefined;
  }

  async sendInput(caller: Caller, job: JobNumber, piece: InputBody) {
    const record = this.#requests.find(caller, job);
    return isRefusal(record) ? record : sendInput(this.#options.executor, record, piece);
  }

  change(caller: Caller, change: Change, jobs: readonly JobNumber[]) {
    const priority = change.action === "priority" ? change.priority : 0;
    const refusal = checkPriority(caller, priority);
    if (refusal !== undefined) return Promise.resolve(refusal);
    return this.#cycles.ask(caller.uid, jobs.length, () =>
      jobs.map((job) => this.#shown(this.#requests.change(caller, change, job))),
    );
  }

  async why(caller: Caller, job: JobNumber) {
    const before = this.#requests.find(caller, job);
    if (isRefusal(before)) return before;
    const forecast = before.state === "queued" ? await this.forecaster.of(before) : undefined;
    if (this.#cycles.isStopped) return this.#cycles.refusal();
    // The job may have changed while the forecast was made.
    const record = this.#requests.find(caller, job);
    if (isRefusal(record)) return record;
    return explainWaiting(record, {
      ...this.context,
      executorTrouble: this.#dispatcher.health.trouble,
      next: this.#options.executor.nodeSource?.next,
      forecast,
      sees: (other: JobRecord) => mayAccess(caller, other),
    });
  }

  matrix = (): Matrix => this.#queries.matrix();

  policy = () => this.#queries.policy();

  setPolicy(caller: Caller, text: string): Promise<Answer<{ readonly policy: string }>> {
    const refusal = refuseOthers(caller, "switch the policy");
    if (refusal !== undefined) return Promise.resolve(refusal);
    let choice: PolicyChoice;
    try {
      choice = this.#choose(text);
      this.context.scheduler.parametersFor(choice);
    } catch (error) {
      return Promise.resolve(refuse("invalid", messageOf(error)));
    }
    return this.#cycles.ask(caller.uid, 0, () => this.#requests.setPolicy(caller, choice));
  }

  setDrain(caller: Caller, drain: DrainBody | undefined) {
    return this.#cycles.ask(caller.uid, 0, () => setDrain(this.context, caller, drain));
  }

  reserve(caller: Caller, window: WindowBody) {
    return this.#cycles.ask(caller.uid, 0, () => this.#windows.reserve(caller, window));
  }

  unreserve(caller: Caller, name: string) {
    return this.#cycles.ask(caller.uid, 0, () => this.#windows.unreserve(caller, name));
  }

  windows = () => this.#windows.list();

  queues = (caller?: Caller) => this.#queries.queues(caller);

  shares = (caller: Caller) => sharesAnswerOf(this.context, caller);

  usage = (caller: Caller, question: UsageQuestion) => usageOf(this.context, caller, question);

  exportSwf = (caller: Caller) => this.#listing.exportSwf(caller);

  exportJsonl = (caller: Caller) => this.#listing.exportJsonl(caller);

  latestEvent = (): number => this.context.feed.latest;

  listen: Service["listen"] = (...asked) => this.context.feed.listen(...asked);

  status(caller: Caller = SELF) {
    return this.#queries.status(caller, this.#startedAtMs, this.#trouble, this.forecaster.record());
  }

  async whatIf(caller: Caller, question: WhatIfQuestion) {
    const { policy, withoutCpus = 0 } = question;
    let choice = this.context.scheduler.choice;
    try {
      if (policy !== undefined) choice = this.#choose(policy);
      this.context.scheduler.parametersFor(choice);
    } catch (error) {
      return refuse("invalid", messageOf(error));
    }
    const hypothetical = hypotheticalJobs(this.#requests, this.context, caller, question, choice);
    if (isRefusal(hypothetical)) return hypothetical;
    const asked = { choice, hypothetical, withoutCpus };
    const answer = await answerWhatIf(this.context, this.forecaster, caller, asked);
    return this.#cycles.isStopped ? this.#cycles.refusal() : answer;
  }

  async dryRun(caller: Caller, jobs: readonly SubmitJob[]) {
    const batch = readBatch(caller, jobs, this.context.limits);
    if (isRefusal(batch)) return batch;
    const accepted = this.#requests.check(caller, batch);
    if (isRefusal(accepted)) return accepted;
    const answer = await answerDryRun(this.context, this.forecaster, caller, accepted);
    return this.#cycles.isStopped ? this.#cycles.refusal() : answer;
  }

  async timeline(caller: Caller, span: TimeSpan) {
    const forecasts = await this.forecaster.present(MAX_TIMELINE_AGE_MS);
    if (this.#cycles.isStopped) return this.#cycles.refusal();
    return timelineOf(this.context, caller, span, forecasts);
  }

  /** All current problems as one text. */
  get #trouble(): string | undefined {
    const { scheduler, executor } = this.context;
    const troubles = [this.#cycles.trouble, this.#storeAge.trouble, scheduler.trouble, executor.trouble];
    return troubles.filter((text) => text !== undefined).join("; ") || undefined;
  }

  /** The policy that the last run was switched to, if it can still be used, else the configured one. */
  #choiceAtStart(): PolicyChoice {
    const { store, config, policy } = this.#options;
    if (policy !== undefined) return this.#choose(policy);
    try {
      return this.#choose(store.meta("policy") ?? config.policy);
    } catch {
      return this.#choose(config.policy);
    }
  }

  /** @throws InputError for a policy that cannot run here */
  #choose(text: string): PolicyChoice {
    const choice = choosePolicyFor(text, this.#options.config, this.#options.ownPolicy);
    refuseUnlessCapable(choice, this.#options.executor.capabilities);
    return choice;
  }

  #shown(answer: Answer<JobRecord>): Answer<Job> {
    return isRefusal(answer) ? answer : this.#queries.info(answer);
  }
}

/** What jobs may ask for on the machine as it can be. */
function submissionLimits(
  machine: LiveMachine,
  clock: { nowMs(): number },
  { queues, resources, hooks }: Pick<Config, "queues" | "resources" | "hooks">,
  { tasksRunEach, takesInput, signalsBeforeLimit, nodeResources }: Capabilities,
): SubmissionLimits {
  return {
    get cpus() {
      return machine.mostProcessors;
    },
    get cpusOfNode() {
      return machine.cpusOfNode;
    },
    mostTasks: (threads) => machine.mostTasks(threads),
    get memoryBytes() {
      return machine.mostMemoryBytes;
    },
    get limitMs() {
      return machine.mostLimitMs;
    },
    whyNever: (job) => machine.whyNever(job, clock.nowMs()),
    tasksRunEach,
    jobHooks: hooks.jobs,
    signalsBeforeLimit,
    takesInput,
    queues,
    resources,
    nodeResources,
  };
}

/** Of the allocations that cost something, such as pilots of Slurm; a host of ssh is nobody's for a while. */
function namesPaidFor(source: NodeSource | undefined): string[] {
  if (source?.bill === undefined) return [];
  return source.allocations.flatMap(({ name, nodes }) =>
    name === undefined || nodes.length === 0 ? [] : [name],
  );
}

const NO_ALLOCATIONS = refuse(
  "wrong-state",
  "Cannot find an allocation: the nodes of this scheduler neither come nor go, expected one such as tutti serve --on slurm starts, without --native",
);
