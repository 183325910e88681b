/**
 * Fair share live, with a fake clock and fake processes, compared with the simulator on the exported
 * workload.
 */

import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { JsonlReader } from "@tutti/kernel/workload/traces/jsonl.ts";
import { expect, test } from "vitest";
import {
  ANNA,
  BEN,
  type Bench,
  type BenchOptions,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

const HOUR_MS = 3_600_000;
const SHARES = { halfLifeDays: 7, users: { anna: 3, ben: 1 }, groups: {} };

interface Load {
  readonly submitS: number;
  readonly runS: number;
  readonly tasks: number;
  readonly isAnna: boolean;
}

/**
 * Both users submit more than they will get of 8 CPUs in an hour. At most one job a second: the order in
 * which requests of one instant are handled is fair, too, and the job numbers follow it.
 */
function load(): Load[] {
  const random = new Random(14, "live shares");
  const jobs: Omit<Load, "submitS">[] = [];
  for (const isAnna of [false, true]) {
    for (
      let cpuS = 0;
      cpuS < (isAnna ? 0.9 : 0.35) * 3600 * 8;
      cpuS += jobs.at(-1)!.runS * jobs.at(-1)!.tasks
    )
      jobs.push({ runS: 30 + random.below(60), tasks: 1 + random.below(2), isAnna });
  }
  const order = jobs.map((job) => ({ job, at: random.uniform() })).sort((a, b) => a.at - b.at);
  return order.map(({ job }, i) => ({ ...job, submitS: i }));
}

function submitAll(bench: Bench, jobs: readonly Load[]): void {
  for (const { submitS, runS, tasks, isAnna } of jobs) {
    bench.clock.at(submitS * 1000, () => {
      void bench.frontEnd.submit(isAnna ? ANNA : BEN, [request({ tasks, limitMs: runS * 1000 })]);
    });
  }
}

function benchOf(policy: string, jobs: readonly Load[], more: Partial<BenchOptions> = {}): Bench {
  return makeBench({
    cpus: 8,
    config: { policy, slotMs: 1000, shares: SHARES },
    slotted: policy.startsWith("wlv"),
    runMs: (job) => jobs[job - 1].runS * 1000,
    ...more,
  });
}

/** CPU time held in the first hour. */
function heldMs(bench: Bench, isAnna: boolean): number {
  let sum = 0;
  for (const { user, cpus, startedAtMs, endedAtMs, ranMs } of bench.frontEnd.jobs(ROOT, {})) {
    if ((user === "anna") !== isAnna || startedAtMs === undefined || endedAtMs === undefined) continue;
    const inHourMs = Math.max(0, Math.min(HOUR_MS, endedAtMs) - startedAtMs);
    if (inHourMs > 0) sum += cpus.length * ranMs * (inHourMs / (endedAtMs - startedAtMs));
  }
  return sum;
}

test.each(["fcfs:order=fair-share", "easy:order=fair-share", "wlv:rows=3:queueOrder=fair-share"])(
  "%s gives users their shares of an hour, and the laboratory decides the same on the exported workload",
  (policy) => {
    const jobs = load();
    const bench = benchOf(policy, jobs);
    submitAll(bench, jobs);
    runToEnd(bench.clock);
    const [annaMs, benMs] = [heldMs(bench, true), heldMs(bench, false)];
    expect(annaMs + benMs).toBeGreaterThan(0.75 * 8 * HOUR_MS);
    expect(Math.abs(annaMs / (annaMs + benMs) / 0.75 - 1)).toBeLessThan(0.05);
    expect(Math.abs(benMs / (annaMs + benMs) / 0.25 - 1)).toBeLessThan(0.05);

    const reader = new JsonlReader("export");
    reader.push(new TextEncoder().encode([...bench.frontEnd.exportJsonl(ROOT)].join("")));
    const instance = prepare(reader.end(), 8, DEFAULT_RULES);
    const { startS, endS } = simulate(instance, choosePolicy(policy), { slotS: 1, switchS: 0 });
    const simulated = Array.from(instance.id, (job, row) => ({ job, startS: startS[row], endS: endS[row] }));
    const live = bench.frontEnd.jobs(ROOT, {}).map(({ job, startedAtMs, endedAtMs }) => ({
      job,
      startS: startedAtMs! / 1000,
      endS: endedAtMs! / 1000,
    }));
    expect(simulated.sort((a, b) => a.job - b.job)).toEqual(live);
    // The order matters: by arrival, other jobs start first.
    const byArrival = simulate(instance, choosePolicy(policy.replace("fair-share", "arrival")), {
      slotS: 1,
      switchS: 0,
    });
    expect([...byArrival.startS]).not.toEqual([...startS]);
  },
);
