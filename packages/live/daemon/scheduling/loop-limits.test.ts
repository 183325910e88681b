/**
 * Tests limits on the jobs of users, groups and queues against the simulator: a workload file of a run with
 * limits, simulated, has the same starts and ends under every policy that can take waiting jobs back. Slots
 * are longer than the gaps between submits, so jobs are let through within slots.
 */

import type { Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { JsonlReader } from "@tutti/kernel/workload/traces/jsonl.ts";
import { audit, auditLines } from "@tutti/lab/audit/audit.ts";
import { describe, expect, test } from "vitest";
import type { Caller } from "../contract/service.ts";
import {
  ANNA,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

const CPUS = 8;
const JOBS = 60;
const SPAN_S = 300;
/** With 16, gangs of brms that the limits let through late compete for extra slots with later submits. */
const SEEDS = [0, 16];
const CARLA: Caller = { uid: 1003, user: "carla", isAdministrator: false };
const USERS = [ANNA, BEN, CARLA];
const QUEUES = ["day", "night"];
const LIMITS = {
  runningCpus: 5,
  users: { ben: { runningJobs: 2, runningCpus: 8 } },
  groups: { lab: { runningCpus: 6, runningJobs: 4 } },
};
const TAKING_BACK = POLICIES.filter(({ capabilities }) => capabilities?.withdraw);

/** With an unlimited matrix, no job waits. */
function waitingChoice(definition: PolicyDefinition): PolicyChoice {
  const hasLimit = definition.parameters.some(({ name }) => name === "rows");
  return makeChoice(definition, hasLimit ? ["rows=3"] : []);
}

const PRIORITIES = [0, 0, 0, -1, -2];

/** Other things that happen, and that move jobs in the queue. */
function disturb({ clock, frontEnd }: Bench, random: Random, submitS: readonly number[]): void {
  for (let atS = 0; atS < SPAN_S; ) {
    const fromS = atS + 40 + random.below(400) / 4;
    const untilS = fromS + 1 + random.below(80) / 4;
    clock.at(fromS * 1000, () => void frontEnd.setDrain(ROOT, {}));
    clock.at(untilS * 1000, () => void frontEnd.setDrain(ROOT, undefined));
    atS = Math.ceil(untilS);
  }
  for (const [i, atS] of submitS.entries()) {
    if (random.below(3) > 0) continue;
    const update = {
      ...(random.below(2) === 0 && { tasks: 1 + random.below(4) }),
      ...(random.below(2) === 0 && { queue: QUEUES[random.below(2)] }),
      limitMs: 100_000,
    };
    clock.at((atS + 0.25 + random.below(160) / 4) * 1000, () => {
      void frontEnd.change(ROOT, { action: "update", update }, [i + 1]);
    });
    const priority = random.below(4) - 2;
    clock.at((atS + 0.25 + random.below(80) / 4) * 1000, () => {
      void frontEnd.change(ROOT, { action: "priority", priority }, [i + 1]);
    });
  }
  for (let i = 0; i < 2; i++) {
    const fromS = 50 + random.below(4 * SPAN_S) / 4;
    const body = { name: `window ${i}`, fromMs: fromS * 1000, untilMs: (fromS + 20) * 1000, users: ["ben"] };
    clock.at((fromS - random.below(120) / 4) * 1000, () => void frontEnd.reserve(ROOT, body));
  }
}

/** Jobs at different times in quarters of a second; the first comes at 0: workload files count from there. */
function run(policy: string, sharing: string, random: Random, isDisturbed: boolean): Bench {
  const ticks = new Set([0]);
  while (ticks.size < JOBS) ticks.add(random.below(4 * SPAN_S));
  const submitS = [...ticks].sort((a, b) => a - b).map((tick) => tick / 4);
  const runS = submitS.map(() => 1 + random.below(160) / 4);
  const queueClass = { processors: CPUS, processes: CPUS, threads: CPUS };
  const bench = makeBench({
    cpus: CPUS,
    config: {
      policy,
      slotMs: 1000,
      limits: LIMITS,
      queues: QUEUES.map((name, i) => ({
        queueClass: { name, ...queueClass },
        ...(i === 0 && { limits: { runningCpus: 6, runningJobs: 3 } }),
      })),
    },
    slotted: sharing === "time",
    groupsOf: ({ user }) => (user === "carla" ? [] : ["lab"]),
    runMs: (job) => runS[job - 1] * 1000,
  });
  for (const [i, atS] of submitS.entries()) {
    const asked = request({
      tasks: 1 + random.below(5),
      queue: QUEUES[random.below(2)],
      limitMs: 1000 * (runS[i] + random.below(60)),
      ...(isDisturbed && { priority: PRIORITIES[random.below(5)] }),
    });
    const caller = USERS[random.below(3)];
    bench.clock.at(atS * 1000, () => void bench.frontEnd.submit(caller, [asked]));
  }
  if (isDisturbed) disturb(bench, random, submitS);
  runToEnd(bench.clock);
  return bench;
}

function exported({ frontEnd }: Bench): Workload {
  const reader = new JsonlReader("export");
  reader.push(new TextEncoder().encode([...frontEnd.exportJsonl(ROOT)].join("")));
  const workload = reader.end();
  expect(workload.diagnostics.filter(({ action }) => action === "dropped")).toEqual([]);
  return workload;
}

function simulated(workload: Workload, choice: PolicyChoice) {
  const again = prepare(workload, CPUS, DEFAULT_RULES);
  const { startS, endS } = simulate(again, choice, { slotS: 1, switchS: 0 });
  return Array.from(again.id, (job, row) => ({ job, startS: startS[row], endS: endS[row] }));
}

const lived = ({ frontEnd }: Bench) =>
  frontEnd.jobs(ROOT, {}).map(({ job, startedAtMs, endedAtMs }) => ({
    job,
    startS: startedAtMs! / 1000,
    endS: endedAtMs! / 1000,
  }));

describe("a workload file of a run with limits, simulated, has the same starts and ends", () => {
  for (const isDisturbed of [false, true]) {
    const title = isDisturbed ? "$label, with drains, edits, priorities and windows" : "$label";
    test.each(TAKING_BACK.map(waitingChoice))(title, (choice) => {
      for (const seed of SEEDS) {
        const random = new Random(seed, choice.label);
        const bench = run(choice.label, choice.definition.sharing, random, isDisturbed);
        const workload = exported(bench);
        expect(workload.count).toBe(JOBS);
        const live = lived(bench);
        expect(simulated(workload, choice), `seed ${seed}`).toEqual(live);
        const again = prepare(workload, CPUS, DEFAULT_RULES);
        const audited = audit(again, choice, { slotS: 1, switchS: 0, probedInstants: 0 });
        expect(audited.ok, auditLines(choice.label, audited).join("\n")).toBe(true);
        // The limits matter.
        const { limits: _, ...unlimited } = workload;
        expect(simulated(unlimited, choice)).not.toEqual(live);
      }
    });
  }
});
