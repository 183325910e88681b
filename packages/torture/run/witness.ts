/**
 * What really happened: jobs and hooks tell it here, by the world's true time, whatever happens to disks and
 * clocks. The judge compares it with what the scheduler says.
 */

import type { Report, Start } from "../judge/history.ts";
import type { Program, Sys, Wait } from "../world/contract.ts";

/** Unix time at which every world begins, in ms. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

export function trueMs(nowUs: number): number {
  return EPOCH_MS + nowUs / 1000;
}

/** For people: month, day and time. */
export function timeOf(nowUs: number): string {
  return new Date(trueMs(nowUs)).toISOString().slice(5, 23);
}

/** What a job of the run does, as the argument of its program. */
export interface JobPlan {
  readonly index: number;
  /** How long it takes, and whether it computes in that time or waits. */
  readonly ms: number;
  readonly computes: boolean;
  /** How its attempts end: codes and signals; further ones exit with 0. A limit never comes to its end. */
  readonly ends: readonly string[];
  /** Notes this signal. It then ends soon, as after a checkpoint. */
  readonly notes?: string;
  /** What TERM does; left out: it ends the job. */
  readonly onTerm?: "ignore" | number;
  /** Waits until the run releases it. */
  readonly untilGo?: boolean;
  /** Other processes of it, which do the same for as long as it lives. */
  readonly processes?: number;
  /** Leaves a process in a session of its own. */
  readonly leaves?: boolean;
  readonly memoryBytes?: number;
  /** Starts processes on all nodes of its gang by srun. */
  readonly spreads?: boolean;
}

/** What may just have happened to a job, or be about to happen. */
export type Moment = "request" | "begin" | "signal" | "term" | "end" | "hook";

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
type SeenStart = Mutable<Start> & {
  signals: number[];
  readonly index: number;
  /** Of its gang, in a cluster. */
  readonly nodes: readonly string[];
};

/** Part of its time that a job takes after its signal; it gets half of its time. */
const CHECKPOINT = 0.3;
/** How often a job looks whether it may go. */
const LOOK_US = 250_000;
const LEFT_BEHIND_US = 3_600_000_000;

export class Witness {
  readonly starts: SeenStart[] = [];
  readonly reports: Report[] = [];
  /** Jobs of the run that may end. */
  readonly go = new Set<number>();
  /** What must never happen. */
  readonly problems: string[] = [];
  readonly #tasks = new Set<string>();
  readonly #note: (moment: Moment, line: string) => void;

  constructor(note: (moment: Moment, line: string) => void) {
    this.#note = note;
  }

  /** /usr/bin/job PLAN */
  readonly job: Program = function* (this: Witness, sys: Sys): Generator<Wait, number> {
    const plan = JSON.parse(sys.self.argv[1] ?? "{}") as JobPlan;
    const { environment: env } = sys.self;
    const nowMs = () => trueMs(sys.machine.timeline.nowUs);
    const attempt = Number(env.TUTTI_ATTEMPT);
    const start: SeenStart = {
      index: plan.index,
      job: Number(env.TUTTI_JOB_ID),
      attempt,
      tasks: Number(env.TUTTI_NTASKS),
      name: env.TUTTI_JOB_NAME ?? "",
      units: `${env.TUTTI_GPUS ?? ""},${env.TUTTI_LICENCE ?? ""}`.split(",").filter(Boolean),
      beganMs: nowMs(),
      signals: [],
      nodes: (env.TUTTI_NODELIST ?? "").split(","),
    };
    const rank = env.SLURM_STEP_ID === undefined ? "0" : (env.SLURM_PROCID ?? "0");
    const task = `${start.job}.${attempt} task ${rank}`;
    if (this.#tasks.has(task)) this.problems.push(`${task} began twice`);
    this.#tasks.add(task);
    // Of several tasks, the first one speaks for all.
    if (rank === "0") this.starts.push(start);
    this.#note("begin", rank === "0" ? `job ${start.job}.${attempt} begins` : `job ${task} begins`);
    let isNoted = false;
    if (plan.notes !== undefined)
      sys.onSignal(plan.notes, () => {
        start.signals.push(nowMs());
        this.#note("signal", `job ${start.job}.${attempt} gets its signal`);
        isNoted = true;
      });
    const { onTerm } = plan;
    if (onTerm !== undefined)
      sys.onSignal("SIGTERM", () => {
        this.#note("term", `job ${start.job}.${attempt} is asked to end`);
        if (onTerm !== "ignore") sys.machine.exit(sys.self, onTerm);
      });
    if (plan.memoryBytes !== undefined) sys.allocate(plan.memoryBytes);
    const wait = { for: plan.computes ? "work" : "time" } as const;
    for (let i = 1; i < (plan.processes ?? 1); i++)
      sys.fork(function* () {
        for (;;) yield { ...wait, us: LOOK_US * 40 };
      });
    if (plan.spreads === true)
      sys.fork(function* (child) {
        return yield* child.exec(["/usr/bin/srun", "/usr/bin/part"]);
      });
    if (plan.leaves === true)
      sys.fork(function* (child) {
        child.newSession();
        yield { for: "time", us: LEFT_BEHIND_US };
        return 0;
      });
    if (plan.notes === undefined) yield { ...wait, us: plan.ms * 1000 };
    else {
      while (!isNoted) yield { for: "signal" };
      yield { for: "time", us: Math.round(plan.ms * 1000 * CHECKPOINT) };
    }
    while (plan.untilGo === true && !this.go.has(plan.index)) yield { for: "time", us: LOOK_US };
    const end = plan.ends[attempt - 1] ?? "0";
    start.endedMs = nowMs();
    this.#note("end", `job ${start.job}.${attempt} reaches its end ${end}`);
    if (end.startsWith("SIG")) {
      if (end !== "SIGKILL") sys.onSignal(end, "default");
      sys.kill(sys.self.pid, end);
      yield { for: "signal" };
    }
    return Number(end);
  }.bind(this);

  /** /usr/bin/part, a task that a job has started by srun: it lasts as long as the job */
  readonly part: Program = function* (): Generator<Wait, number> {
    for (;;) yield { for: "work", us: LEFT_BEHIND_US };
  };

  /** /usr/bin/note HOOK, in a hook of a job */
  readonly note: Program = function* (this: Witness, sys: Sys): Generator<Wait, number> {
    const { environment: env } = sys.self;
    yield { for: "step" };
    this.reports.push({
      hook: (sys.self.argv[1] ?? "") as Report["hook"],
      event: env.TUTTI_EVENT ?? "",
      job: Number(env.TUTTI_JOB),
      attempt: Number(env.TUTTI_ATTEMPT),
      id: env.TUTTI_EVENT_ID ?? "",
      state: env.TUTTI_JOB_STATE ?? "",
    });
    this.#note("hook", `hook ${sys.self.argv[1]} of job ${env.TUTTI_JOB} runs for ${env.TUTTI_EVENT}`);
    return 0;
  }.bind(this);
}
