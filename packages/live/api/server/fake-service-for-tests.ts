/**
 * Replaces the front end in the tests of API and command line. It follows the contract of Service (who may
 * see and change what, and what is refused) but keeps everything in memory and runs nothing. Tests advance
 * jobs with start() and finish().
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { matchesGlob } from "@tutti/kernel/core/glob.ts";
import { holds, type NumberRange, rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import { parseArray } from "@tutti/protocol/array.ts";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import { type Answer, isRefusal, type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type {
  Drain,
  DrainBody,
  InputBody,
  Job,
  MissingJobs,
  OffBody,
  SubmitJob,
  UpdateBody,
  WindowBody,
} from "@tutti/protocol/schema.ts";
import { isEnded, JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import type {
  Caller,
  Change,
  JobQuery,
  ListEnd,
  Service,
  Timeline,
  TimeSpan,
  WhatIf,
  WhatIfQuestion,
} from "../../daemon/contract/service.ts";
import {
  FakeAnswers,
  FakeWindows,
  policyOf,
  repeated,
  START_MS,
  swfOf,
  whyOf,
} from "./fake-answers-for-tests.ts";

interface Entry {
  info: Job;
  readonly uid: number;
  readonly request: SubmitJob;
}

export class FakeService extends FakeAnswers implements Service {
  readonly entries = new Map<number, Entry>();
  readonly events: DaemonEvent[] = [];
  readonly latestEvent = () => this.events.at(-1)?.sequence ?? 0;
  /** The requests that `submit` received, oldest first. */
  readonly submitted: SubmitJob[] = [];
  /** Jobs by user and key. */
  readonly keys = new Map<string, number[]>();
  policyText = "fcfs";
  drain: Drain | undefined;
  readonly #windows = new FakeWindows();
  onShutdown: (killJobs: boolean) => void = () => {};
  /** If set, every submit is refused with this. */
  refuseSubmits: Refusal | undefined;
  readonly #listeners = new Set<(event: DaemonEvent) => void>();
  readonly #folder: string;
  readonly #cpus: number;
  #next = 1;
  #nowMs = START_MS;

  /** @param folder where the jobs' folders are made */
  constructor(folder: string, cpus = 4) {
    super();
    this.#folder = folder;
    this.#cpus = cpus;
  }

  async rerun(caller: Caller, jobs: readonly number[], key?: string) {
    return this.submit(caller, repeated(this.entries, jobs), key);
  }

  async submit(caller: Caller, jobs: readonly SubmitJob[], key?: string) {
    if (this.refuseSubmits !== undefined) return this.refuseSubmits;
    const known = key === undefined ? undefined : this.keys.get(`${caller.uid} ${key}`);
    if (known !== undefined) return { jobs: known.map((job) => this.entries.get(job)!.info) };
    for (const { tasks = 1, priority = 0, after = [] } of jobs) {
      if (tasks > this.#cpus) {
        return refuse("too-large", `Cannot submit: ${tasks} CPUs are asked for, there are ${this.#cpus}`);
      }
      if (priority > 0 && !caller.isAdministrator) {
        return refuse("invalid", `Cannot set priority ${priority}: expected at most 0`);
      }
      const missing = after.find(({ job }) => job !== undefined && isRefusal(this.job(caller, job)));
      if (missing !== undefined)
        return refuse("invalid", `Cannot wait for job ${missing.job}: there is no such job`);
    }
    const infos: Job[] = [];
    for (const request of jobs) {
      this.submitted.push(request);
      const spec = request.array === undefined ? { indices: [undefined] } : parseArray(request.array);
      if (typeof spec === "string") return refuse("invalid", spec);
      const first = request.array === undefined ? undefined : this.#next;
      for (const index of spec.indices) infos.push(this.#add(caller, request, first, index));
    }
    if (key !== undefined)
      this.keys.set(
        `${caller.uid} ${key}`,
        infos.map(({ job }) => job),
      );
    return { jobs: infos };
  }

  *list(caller: Caller, query: JobQuery): Generator<readonly Job[], ListEnd, void> {
    const { states, numbers, name, queue, user, after = 0, most = 1e9, last = 1e9 } = query;
    const all = [...this.entries.values()]
      .filter((entry) => maySee(caller, entry))
      .map(({ info }) => info)
      .filter(({ state }) => states === undefined || states.includes(state))
      .filter((info) => (queue ?? info.queue) === info.queue && (user ?? info.user) === info.user)
      .filter((info) => (name === undefined || matchesGlob(info.name, name)) && holdsAny(numbers, info.job));
    const rest = all.slice(Math.max(0, all.length - last)).filter(({ job }) => job > after);
    yield rest.slice(0, most);
    const missing = numbers?.flatMap((range) => this.#missing(range)) ?? [];
    return {
      ...(rest.length > most && { next: rest[most - 1].job }),
      ...(numbers !== undefined && { missing }),
    };
  }

  *numbers(caller: Caller, query: JobQuery): Generator<undefined, readonly number[], void> {
    return [...this.list(caller, query)].flat().map(({ job }) => job);
  }

  #missing({ first, last }: NumberRange): MissingJobs[] {
    const upTo = Math.min(last, this.#next - 1);
    const gone = Array.from({ length: Math.max(0, upTo - first + 1) }, (_, i) => first + i).filter(
      (job) => !this.entries.has(job),
    );
    const forgotten = rangesOf(gone).map((range) => ({ ...range, because: "forgotten" as const }));
    const from = Math.max(first, this.#next);
    return from > last ? forgotten : [...forgotten, { first: from, last, because: "not given" }];
  }

  job(caller: Caller, job: number): Answer<Job> {
    const entry = this.entries.get(job);
    if (entry === undefined || !maySee(caller, entry)) {
      return refuse("not-found", `Cannot find job ${job}: there is no such job`);
    }
    return entry.info;
  }

  /** Tests write the files of their jobs themselves. */
  sendsInput = false;
  /** The pieces that were sent, of which all are taken. */
  readonly pieces: InputBody[] = [];

  async sendInput(caller: Caller, job: number, piece: InputBody) {
    const owner = this.ownerOf(caller, job);
    if (isRefusal(owner)) return owner;
    this.pieces.push(piece);
    const bytes = Buffer.from(piece.data ?? "", "base64").length;
    return { taken: piece.offset + bytes, reader: "open" } as const;
  }

  ownerOf(caller: Caller, job: number): Answer<number> {
    const info = this.job(caller, job);
    return isRefusal(info) ? info : process.getuid!();
  }

  async cancel(caller: Caller, job: number) {
    return this.#change(caller, job, ["queued", "held", "starting", "running"], "cancelled", "cancelled");
  }

  hold = (caller: Caller, job: number) => this.#change(caller, job, ["queued"], "held", "held");
  release = (caller: Caller, job: number) => this.#change(caller, job, ["held"], "queued", "released");
  requeue = (caller: Caller, job: number) => this.#change(caller, job, ["running"], "queued", "requeued");
  pause = (caller: Caller, job: number) => this.#change(caller, job, ["running"], "paused", "paused");
  resume = (caller: Caller, job: number) => this.#change(caller, job, ["paused"], "running", "resumed");

  async setPriority(caller: Caller, job: number, priority: number): Promise<Answer<Job>> {
    const info = this.job(caller, job);
    if (isRefusal(info)) return info;
    return this.#set(job, { priority }, "priority");
  }

  async update(caller: Caller, job: number, update: UpdateBody): Promise<Answer<Job>> {
    const info = this.job(caller, job);
    return isRefusal(info) ? info : this.#set(job, { ...update }, "updated");
  }

  async change(caller: Caller, change: Change, jobs: readonly number[]) {
    const changed: Answer<Job>[] = [];
    for (const job of jobs) {
      const answer =
        change.action === "priority"
          ? this.setPriority(caller, job, change.priority)
          : change.action === "update"
            ? this.update(caller, job, change.update)
            : change.action === "signal"
              ? this.job(caller, job)
              : this[change.action](caller, job);
      changed.push(await answer);
    }
    return changed;
  }

  async why(caller: Caller, job: number) {
    const info = this.job(caller, job);
    if (isRefusal(info)) return info;
    return whyOf(info);
  }

  matrix() {
    const running = [...this.entries.values()].filter(({ info }) => info.state === "running");
    const cpus = Array.from({ length: this.#cpus }, (_, i) => i);
    return {
      sequence: this.events.length,
      policy: this.policyText,
      sharing: "time" as const,
      slotMs: 100,
      mode: "gang" as const,
      cpus,
      nodes: [{ node: "localhost", cpus }],
      epochMs: 0,
      rows: running.map(({ info: { job, name, cpus } }) => [{ job, name, cpus }]),
    };
  }

  policy = () => policyOf(this.policyText);

  async setPolicy(caller: Caller, text: string) {
    if (!caller.isAdministrator) {
      return refuse("not-yours", "Cannot change the policy: only administrators may do that");
    }
    if (text === "nonsense") return refuse("invalid", 'Cannot find policy "nonsense"');
    this.policyText = text;
    this.#emit({ kind: "policy", data: { policy: text } });
    return { policy: text };
  }

  /** Overridden by tests of forecasts. */
  async whatIf(_: Caller, { policy = this.policyText, jobs }: WhatIfQuestion): Promise<Answer<WhatIf>> {
    if (policy === "nonsense") return refuse("invalid", 'Cannot find policy "nonsense"');
    const times = { p10Ms: 1, p50Ms: 2.5, p90Ms: 3, endP10Ms: 4, endP50Ms: 5, endP90Ms: 6 };
    const hypothetical = jobs?.map(() => ({ queue: "main", estimateMs: 3_600_000, ...times }));
    return {
      policy,
      jobs: [{ job: 1, ...times }],
      running: [],
      ...(hypothetical !== undefined && { hypothetical }),
    };
  }

  async timeline(_: Caller, { fromMs, toMs }: TimeSpan) {
    const { policyText: policy } = this;
    const cpus = Array.from({ length: this.#cpus }, (_, i) => i);
    function* steps(): Generator<undefined, Timeline, void> {
      yield undefined;
      const common = { atMs: START_MS, fromMs, toMs, policy, sharing: "space" as const };
      return { ...common, cpus, rows: 1, jobs: [], others: [{ job: 7, cpus: [0], fromMs: START_MS }] };
    }
    return steps();
  }

  /** Calls `onShutdown` unless it is refused. */
  async shutdown(caller: Caller, killJobs: boolean) {
    if (!caller.isAdministrator) return refuse("not-yours", "Cannot end: only administrators may do that");
    const running = this.status().counts.running;
    if (!killJobs && running > 0)
      return refuse("wrong-state", `Cannot end: ${running} ${running === 1 ? "job is" : "jobs are"} running`);
    this.onShutdown(killJobs);
    return { stopping: true } as const;
  }

  async setDrain(caller: Caller, drain: DrainBody | undefined): Promise<Answer<{ drain?: Drain }>> {
    if (!caller.isAdministrator) return refuse("not-yours", "Cannot drain: for administrators only");
    this.drain = drain === undefined ? undefined : { sinceMs: START_MS, by: caller.user, ...drain };
    this.#emit(
      drain === undefined
        ? { kind: "undrained", data: { by: caller.user } }
        : { kind: "drained", data: { by: caller.user, ...drain } },
    );
    return { ...(this.drain !== undefined && { drain: this.drain }) };
  }

  reserve = (caller: Caller, body: WindowBody) => this.#windows.reserve(caller, body);
  unreserve = (caller: Caller, name: string) => this.#windows.unreserve(caller, name);
  windows = () => this.#windows.list;
  allocations = () => ({ allocations: [{ name: "7", state: "RUNNING", nodes: ["n1"], leftMs: 60_000 }] });
  startAllocation = this.allocations;
  sayOff = (_: Caller, { nodes }: OffBody) => ({ nodes, jobs: [] });
  queues() {
    const of = (state: JobState) =>
      [...this.entries.values()].filter(({ info }) => info.state === state).length;
    const main = { name: "main", queued: of("queued"), running: of("running"), mostCpus: this.#cpus };
    const short = { name: "short", queued: 0, running: 0, mostCpus: 2, limitMs: 600_000 };
    return { queues: [main, { ...short, limits: { runningJobs: 1 } }] };
  }

  *exportJsonl(): Generator<string, void, void> {
    yield '{"schema":"tutti.workload-file/1"}\n';
  }

  *exportSwf(caller: Caller): Generator<string, void, void> {
    const ended = [...this.list(caller, { states: ["done", "failed"] })].flat();
    yield swfOf(ended, this.#cpus);
  }

  listen(caller: Caller, since: number, listener: (event: DaemonEvent) => unknown): () => void {
    const mine = (event: DaemonEvent) => {
      const entry = event.job === undefined ? undefined : this.entries.get(event.job);
      return entry === undefined || maySee(caller, entry) ? listener(event) : undefined;
    };
    for (const event of this.events) if (event.sequence > since && mine(event) === false) return () => {};
    this.#listeners.add(mine);
    return () => this.#listeners.delete(mine);
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  status() {
    const counts = Object.fromEntries(
      JOB_STATES.map((state) => [
        state,
        [...this.entries.values()].filter(({ info }) => info.state === state).length,
      ]),
    ) as Record<JobState, number>;
    return {
      startedAtMs: START_MS,
      cpus: this.#cpus,
      busyCpus: Math.min(this.#cpus, counts.running),
      counts,
      conductor: { connected: true, pid: 4242, freezer: "signals", lateP99Ms: 1.5 },
      ...(this.drain !== undefined && { drain: this.drain }),
      ...(this.#windows.list.length > 0 && { windows: this.#windows.list }),
      residentBytes: 70_000_000,
    };
  }

  strays() {
    return [];
  }

  /** Forgets a job that has ended. */
  forgetJob(job: number): void {
    this.entries.delete(job);
  }

  /** Empties the memory; numbering continues. */
  forget(): void {
    this.entries.clear();
    this.events.length = 0;
    this.submitted.length = 0;
    this.keys.clear();
  }

  /** Starts a job, whose output so far is `text`. */
  start(job: number, text = ""): void {
    const { info } = this.entries.get(job)!;
    const cpus = Array.from({ length: info.tasks }, (_, i) => i);
    mkdirSync(dirname(info.stdout), { recursive: true });
    writeFileSync(info.stdout, text);
    this.#set(
      job,
      { state: "running", startedAtMs: this.#tick(), attempt: info.attempt + 1, cpus },
      "started",
    );
  }

  /** Ends a job with an exit code. */
  finish(job: number, code = 0): void {
    this.#set(
      job,
      { state: code === 0 ? "done" : "failed", endedAtMs: this.#tick(), ranMs: 5000, code, cpus: [] },
      "ended",
    );
  }

  /** Ends a job without an exit code. */
  fail(job: number, reason: string): void {
    this.#set(job, { state: "failed", endedAtMs: this.#tick(), ranMs: 5000, reason, cpus: [] }, "ended");
  }

  #add(caller: Caller, request: SubmitJob, array: number | undefined, arrayIndex: number | undefined): Job {
    const job = this.#next++;
    const folder = join(this.#folder, String(job));
    const { tasks = 1, priority = 0, command, cwd, limitMs, memoryBytes } = request;
    const info: Job = {
      job,
      ...(array === undefined ? {} : { array }),
      ...(arrayIndex === undefined ? {} : { arrayIndex }),
      name: request.name ?? command[0],
      user: caller.user,
      queue: request.queue ?? "main",
      state: request.held ? "held" : "queued",
      tasks,
      priority,
      command,
      cwd,
      ...(limitMs === undefined ? {} : { limitMs }),
      ...(memoryBytes === undefined ? {} : { memoryBytes }),
      attempt: 0,
      submittedAtMs: this.#tick(),
      ranMs: 0,
      stdout: request.stdout ?? join(folder, "stdout"),
      stderr: request.stderr ?? join(folder, "stderr"),
      cpus: [],
      after: (request.after ?? []).flatMap(({ job }) => job ?? []),
    };
    this.entries.set(job, { info, uid: caller.uid, request });
    this.#emit({ kind: "submitted", job, user: caller.user });
    return info;
  }

  #change(
    caller: Caller,
    job: number,
    from: readonly JobState[],
    to: JobState,
    kind: DaemonEvent["kind"],
  ): Answer<Job> {
    const info = this.job(caller, job);
    if (isRefusal(info)) return info;
    if (!from.includes(info.state)) {
      return refuse(
        "wrong-state",
        `Cannot make job ${job} ${to}: it is ${info.state}, expected ${from.join(" or ")}`,
      );
    }
    return this.#set(job, { state: to, ...(isEnded(to) ? { endedAtMs: this.#tick() } : {}) }, kind);
  }

  #set(job: number, change: Partial<Job>, kind: DaemonEvent["kind"]): Job {
    const entry = this.entries.get(job)!;
    entry.info = { ...entry.info, ...change };
    this.#emit({ kind, job, user: entry.info.user });
    return entry.info;
  }

  #emit(event: Omit<DaemonEvent, "sequence" | "atMs">): void {
    const whole: DaemonEvent = { sequence: this.events.length + 1, atMs: this.#nowMs, ...event };
    this.events.push(whole);
    for (const listener of [...this.#listeners]) listener(whole);
  }

  #tick(): number {
    this.#nowMs += 1000;
    return this.#nowMs;
  }
}

function holdsAny(ranges: readonly NumberRange[] | undefined, number: number): boolean {
  return ranges === undefined || holds(ranges, number);
}

function maySee(caller: Caller, { uid }: Entry): boolean {
  return caller.isAdministrator || caller.uid === uid;
}
