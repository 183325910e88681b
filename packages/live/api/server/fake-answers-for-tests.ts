/** What the fake service answers about jobs, as functions of the jobs, and about windows. */

import { refuse } from "@tutti/protocol/refusal.ts";
import type { Job, SubmitJob, Window, WindowBody } from "@tutti/protocol/schema.ts";
import type { Caller, UsageQuestion } from "../../daemon/contract/service.ts";

/** When the fake service begins. */
export const START_MS = 1_800_000_000_000;

export function whyOf({ job, state, tasks }: Job) {
  return {
    job,
    state,
    waitedMs: 180_000,
    tasks,
    freeCpus: 1,
    queuedBefore: 2,
    obstacles: [
      { kind: "cpus" as const, needed: tasks, free: 1, rows: 3, mostRows: 3 },
      { kind: "memory" as const, neededBytes: 3_000_000_000, freeBytes: 900_000_000 },
    ],
    forecast: {
      p10Ms: START_MS + 60_000,
      p50Ms: START_MS + 120_000,
      p90Ms: START_MS + 600_000,
      endP10Ms: START_MS + 660_000,
      endP50Ms: START_MS + 720_000,
      endP90Ms: START_MS + 1_200_000,
      pastErrorP50Ms: 90_000,
    },
  };
}

export function swfOf(ended: readonly Job[], cpus: number): string {
  const lines = ended.map(({ job, submittedAtMs, startedAtMs = 0, ranMs, tasks, limitMs }) =>
    [job, (submittedAtMs - START_MS) / 1000, (startedAtMs - submittedAtMs) / 1000, ranMs / 1000, tasks]
      .concat([-1, -1, tasks, limitMs === undefined ? -1 : limitMs / 1000])
      .concat([-1, 1, -1, -1, -1, -1, -1, -1, -1])
      .join(" "),
  );
  return `; MaxProcs: ${cpus}\n${lines.map((line) => `${line}\n`).join("")}`;
}

const NO_TOTALS = {
  ended: { done: 0, failed: 0, cancelled: 0 },
  starts: 0,
  waitMs: 0,
  ranMs: 0,
  cpuMs: 0,
  gpuMs: 0,
};

// biome-ignore lint/correctness/useYield: it has one step
function* noUsage(_: Caller, { fromMs, toMs = START_MS }: UsageQuestion) {
  return { fromMs, toMs, rows: [] };
}

function noShares() {
  return { policy: "fcfs", isUsed: false, halfLifeMs: 604_800_000, ofUsers: 0, users: [] };
}

async function dryRunOf(_: Caller, jobs: readonly SubmitJob[]) {
  return { jobs: jobs.length, queue: "default", estimateMs: 3_600_000 };
}

/** The requests of jobs that are run again. */
export function repeated(
  entries: ReadonlyMap<number, { readonly request: SubmitJob }>,
  jobs: readonly number[],
): SubmitJob[] {
  return jobs.flatMap((job) => entries.get(job)?.request ?? []);
}

export function policyOf(policy: string) {
  return { policy, rules: ["Jobs start in the order of their submission"], ownRules: 1, mostRows: 4 };
}

/** Windows that never begin. */
export class FakeWindows {
  readonly list: Window[] = [];

  async reserve({ isAdministrator, user: by }: Caller, body: WindowBody) {
    if (!isAdministrator) return refuse("not-yours", "Cannot add a window: only administrators may do that");
    const window = { fromMs: START_MS, ...body, by, atMs: START_MS };
    this.list.push(window);
    return { window };
  }

  async unreserve({ isAdministrator }: Caller, name: string) {
    if (!isAdministrator)
      return refuse("not-yours", "Cannot remove a window: only administrators may do that");
    const at = this.list.findIndex((window) => window.name === name);
    if (at < 0) return refuse("not-found", "Cannot remove the window: there is no such window");
    return { window: this.list.splice(at, 1)[0] };
  }
}

/** Answers that do not depend on jobs. */
export class FakeAnswers {
  readonly totals = NO_TOTALS;
  readonly usage = noUsage;
  readonly shares = noShares;
  readonly dryRun = dryRunOf;
}
