/**
 * Compares forecasts with one simulation of everything. The twin never sees a live state: it simulates all
 * jobs from the first submit on, with the hypothetical job among them. The forecast knows only the state at
 * the instant of the question. If running times are the estimates, both must give the same starts and ends.
 * In every second state, jobs also need some of four units of a resource.
 */

import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { instanceOf, type TestJob } from "@tutti/kernel/policies/instances-for-tests.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { expect, test } from "vitest";
import { DEFAULT_CONFIG } from "../config/config.ts";
import { forecast, NUMBERS_OF_JOB } from "./model.ts";
import { worldOf } from "./world-for-tests.ts";

/** Policies that decide by the present alone, so that the state says everything. */
const POLICIES = [
  "fcfs",
  "easy",
  "conservative",
  "first-fit",
  "easy:order=shortest",
  "first-fit:order=largest",
  "fcfs:order=smallest",
  "dynp",
];
const SLOTS = { slotS: 1, switchS: 0 };
const UNITS = [{ name: "gpu", amount: 4 }];

/** Units come with each job, because an instance sorts the jobs. */
interface NeedyJob extends TestJob {
  readonly units: number;
}

function needyInstance(processors: number, jobs: readonly NeedyJob[]): Instance {
  const sorted = [...jobs].sort((a, b) => a.submitS - b.submitS);
  const instance = instanceOf(processors, sorted);
  if (jobs.every(({ units }) => units === 0)) return instance;
  return { ...instance, resources: UNITS, demand: [Int32Array.from(sorted, ({ units }) => units)] };
}

/** Jobs up to an instant, in quarters of a second, which floating point adds without rounding. */
function randomJobs(random: Random, processors: number): { jobs: NeedyJob[]; atS: number } {
  const quarters = (below: number) => random.below(4 * below) / 4;
  const count = 1 + random.below(30);
  const jobs = Array.from({ length: count }, () => ({
    submitS: quarters(200),
    runS: 0.25 + quarters(random.below(4) === 0 ? 300 : 60),
    size: 1 + random.below(random.below(3) === 0 ? processors : Math.ceil(processors / 3)),
    units: 0,
  }));
  return { jobs: jobs.sort((a, b) => a.submitS - b.submitS), atS: quarters(200) };
}

test("the forecast of a hypothetical job is its start after a submit, to the ms, in 10,000 states", () => {
  const random = new Random(11, "states");
  const needs = new Random(11, "units");
  const counts = { waited: 0, atOnce: 0, running: 0, waiting: 0 };
  for (let state = 0; state < 10_000; state++) {
    const policy = POLICIES[state % POLICIES.length];
    const choice = choosePolicy(policy);
    const processors = 1 + random.below(16);
    const { jobs, atS } = randomJobs(random, processors);
    const areNeedy = Math.floor(state / POLICIES.length) % 2 === 1;
    const units = () => (areNeedy ? needs.below(5) : 0);
    const before = jobs.filter(({ submitS }) => submitS < atS).map((job) => ({ ...job, units: units() }));
    const asked = {
      submitS: atS,
      runS: 0.25 + random.below(400) / 4,
      size: 1 + random.below(processors),
      units: units(),
    };

    const now = simulate(needyInstance(processors, before), choice, SLOTS);
    const rows = before.map((_, row) => row);
    const running = rows.filter((row) => now.startS[row] < atS && now.endS[row] > atS);
    // What would start at this very instant still waits.
    const waiting = rows.filter((row) => !(now.startS[row] < atS));
    const columns = [...running.map((row) => before[row]), ...waiting.map((row) => before[row]), asked];
    const firstWaiting = running.length;
    const size = Int32Array.from(columns, (job) => job.size);
    const task = {
      queues: DEFAULT_CONFIG.queues,
      slotS: 1,
      running: running.length,
      world: {
        ...worldOf(running.length, size),
        ...(areNeedy && {
          resources: UNITS,
          demand: [{ kind: "gpu", amount: Int32Array.from(columns, (job) => job.units) }],
        }),
      },
      estimateMs: Float64Array.from(columns, ({ runS }) => 1000 * runS),
      ranMs: Float64Array.from(columns, (_, i) =>
        i < firstWaiting ? 1000 * (atS - now.startS[running[i]]) : 0,
      ),
      kind: new Int32Array(columns.length),
      kin: [{ ratios: new Float64Array(0), areSiblings: false }],
      isLimited: new Uint8Array(columns.length),
      history: { ratios: new Float64Array(0), launchMs: new Float64Array(0) },
      scenarios: [
        {
          policy,
          parameters: choice.parameters,
          processors,
          size,
          waiting: Int32Array.from({ length: columns.length - firstWaiting }, (_, i) => firstWaiting + i),
        },
      ],
    };
    // Without history, the first replication takes the estimates.
    const [times] = forecast(task, () => false);

    const whole = simulate(needyInstance(processors, [...before, asked]), choice, SLOTS);
    const twin = [...waiting, before.length].flatMap((row) => [
      whole.startS[row] - atS,
      whole.endS[row] - atS,
    ]);
    const found = [...times.subarray(NUMBERS_OF_JOB * firstWaiting)];
    const medians = found.filter((_, i) => i % NUMBERS_OF_JOB === 1 || i % NUMBERS_OF_JOB === 4);
    const wrong = medians.findIndex((s, i) => Math.abs(s - twin[i]) > 0.001);
    if (wrong >= 0) expect({ state, policy, medians }).toEqual({ state, policy, medians: twin });
    counts[twin.at(-2)! > 0 ? "waited" : "atOnce"]++;
    counts.running += running.length;
    counts.waiting += waiting.length;
  }
  // The states are worth the comparison.
  expect(counts.waited).toBeGreaterThan(2500);
  expect(counts.atOnce).toBeGreaterThan(1000);
  expect(counts.waiting / 10_000).toBeGreaterThan(2);
  expect(counts.running / 10_000).toBeGreaterThan(1);
});
