/**
 * Tests that the front end, driven by a fake clock and fake processes, decides exactly as the simulator, bit
 * for bit, for every policy of the registry with every value of every choice among its parameters. Runs in
 * which users and administrators interfere go around the loop: what the front end exports as a workload file
 * is read and simulated, and every job starts and ends at the instant at which it did.
 */

import type { Instance, Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { arbitraryInstance, instanceOf, seededInstance } from "@tutti/kernel/policies/instances-for-tests.ts";
import { choosePolicy, makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { JsonlReader } from "@tutti/kernel/workload/traces/jsonl.ts";
import { audit, auditLines } from "@tutti/lab/audit/audit.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import type { Resource } from "@tutti/protocol/resources.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ANNA, type Bench, makeBench, ROOT, runInstance } from "../front-end/front-end-for-tests.ts";
import { DecisionLog } from "./decision-log-for-tests.ts";

/** Live jobs have limits above 0. */
function withLimits(instance: Instance): Instance {
  return { ...instance, estimateS: instance.estimateS.map((estimateS) => Math.max(1, estimateS)) };
}

const usual = {
  seed: 7,
  processors: 16,
  count: SIZES.loopJobs,
  gapS: 10,
  maxRunS: 60,
  maxSize: 16,
  exactShare: 0.3,
  zeroShare: 0.05,
};
const INSTANCES = [
  seededInstance("usual", usual),
  seededInstance("all at once", { ...usual, gapS: 0, count: 60 }),
  seededInstance("crowded", { ...usual, gapS: 4, processors: 24, maxSize: 24, exactShare: 1 }),
  // Fractions that are exact in binary floating point.
  instanceOf(4, [
    { submitS: 0.125, runS: 2.5, size: 3 },
    { submitS: 0.125, runS: 0.25, estimateS: 8, size: 2 },
    { submitS: 1.375, runS: 4, size: 4 },
    { submitS: 2.625, runS: 0.125, size: 1 },
  ]),
].map(withLimits);

function choicesOf(definition: PolicyDefinition): PolicyChoice[] {
  const choices = [makeChoice(definition)];
  for (const spec of definition.parameters) {
    if (spec.kind !== "choice") continue;
    for (const value of spec.choices) {
      if (value !== spec.default) choices.push(makeChoice(definition, [`${spec.name}=${value}`]));
    }
  }
  // The admission queue, if there is one.
  if (definition.parameters.some(({ name }) => name === "rows")) {
    choices.push(makeChoice(definition, ["rows=2"]), makeChoice(definition, ["rows=3", "queue=easy"]));
  }
  return choices;
}

function expectSameDecisions(
  instance: Instance,
  choice: PolicyChoice,
  slotMs: number,
  disturb?: (bench: Bench) => void,
  leadMs = 0,
): void {
  const simulated = new DecisionLog();
  const schedule = simulate(instance, choice, { slotS: slotMs / 1000, switchS: 0, observer: simulated });
  const live = new DecisionLog();
  const bench = makeBench({
    cpus: instance.processors,
    config: { policy: choice.label, slotMs },
    slotted: choice.definition.sharing === "time",
    runMs: (job) => instance.runS[job - 1] * 1000,
    observer: live,
  });
  disturb?.(bench);
  runInstance(bench, instance, leadMs);
  expect(live.lines).toEqual(simulated.lines);
  if (disturb !== undefined) return;
  const jobs = bench.frontEnd.jobs(ROOT, {});
  expect(jobs.map(({ startedAtMs }) => startedAtMs)).toEqual([...schedule.startS].map((s) => s * 1000));
  expect(jobs.map(({ endedAtMs }) => endedAtMs)).toEqual([...schedule.endS].map((s) => s * 1000));
  expect(jobs.every(({ state, attempt }) => state === "done" && attempt === 1)).toBe(true);
}

describe("front end and simulator take the same decisions", () => {
  expect(POLICIES.length).toBeGreaterThan(10);
  for (const definition of POLICIES) {
    for (const [i, choice] of choicesOf(definition).entries()) {
      test(choice.label, () => {
        // Each variant on one workload, in turn; the default parameters on all.
        const instances = i === 0 ? INSTANCES : [INSTANCES[i % INSTANCES.length]];
        for (const instance of instances) expectSameDecisions(instance, choice, 1000);
      });
    }
  }

  test.each(["easy:order=wfp", "fpmpfs:waitLimit=60", "conservative", "gang"])(
    "%s, while the wall clock is set forth and back by an hour",
    (text) => {
      expectSameDecisions(INSTANCES[0], choosePolicy(text), 1000, (bench) => {
        for (let i = 1; i < 20; i++) {
          bench.clock.at(i * 70_000, () => {
            bench.clock.unixOffsetMs = i % 3 === 0 ? 0 : i % 3 === 1 ? 3_600_000 : -3_600_000;
          });
        }
      });
    },
  );

  test.each(POLICIES.map(({ name }) => name))(
    "%s, if jobs are submitted an hour before their begin: they arrive at their begin",
    (name) => expectSameDecisions(INSTANCES[0], choosePolicy(name), 1000, undefined, 3_600_000),
  );

  test("on drawn workloads with many ties, slots of 1 s and of 250 ms", () => {
    const any = fc.constantFrom(...POLICIES.map((definition) => makeChoice(definition)));
    fc.assert(
      fc.property(arbitraryInstance(12), any, fc.constantFrom(1000, 250), (instance, choice, slotMs) => {
        expectSameDecisions(withLimits(instance), choice, slotMs);
      }),
      { numRuns: 150 },
    );
  });
});

/**
 * Something that a user or an administrator does in a live run.
 * @returns what else the jobs of the instance ask for, by row
 */
type Disturb = (
  bench: Bench,
  instance: Instance,
  random: Random,
  /** After whole seconds, at which slots begin. */
  offsetS: number,
) => ((row: number) => Partial<SubmitJob>) | undefined;

const RESOURCES: readonly Resource[] = [
  { name: "gpu", units: ["0", "1", "2", "3"], isShared: false, variables: [] },
  { name: "licence", units: ["a", "b"], isShared: false, variables: [] },
];

/** What a job may use. */
const someUse = (random: Random): Record<string, number> => ({
  ...(random.below(2) === 0 && { gpu: 1 + random.below(4) }),
  ...(random.below(3) === 0 && { licence: 1 + random.below(2) }),
});

/** A retry takes half as long. */
const runMsOf = (runS: number, attempt: number) => runS * (attempt === 1 ? 1000 : 500);

const spanS = ({ submitS, count }: Instance) => submitS[count - 1] + 60;

const DISTURBANCES: Readonly<Record<string, Disturb>> = {
  // Each job that runs then. Live, other pauses are refused, except in the instant in which the job ends.
  pauses: ({ clock, frontEnd }, { submitS, runS, count }, random, offsetS) => {
    for (let job = 1; job <= count; job++) {
      const atS = submitS[job - 1] + offsetS + random.below(120);
      clock.at(atS * 1000, () => {
        const known = frontEnd.job(ANNA, job);
        if (isRefusal(known) || known.ranMs >= runMsOf(runS[job - 1], known.attempt)) return;
        void frontEnd.change(ANNA, { action: "pause" }, [job]);
      });
      const untilS = atS + (offsetS || 1) + random.below(150);
      clock.at(untilS * 1000, () => void frontEnd.change(ANNA, { action: "resume" }, [job]));
    }
    return undefined;
  },
  drains: ({ clock, frontEnd }, instance, random) => {
    for (let atS = 0; atS < spanS(instance); ) {
      const fromS = atS + 1 + random.below(800) / 4;
      const untilS = fromS + 1 + random.below(320) / 4;
      clock.at(fromS * 1000, () => void frontEnd.setDrain(ROOT, {}));
      clock.at(untilS * 1000, () => void frontEnd.setDrain(ROOT, undefined));
      atS = Math.ceil(untilS);
    }
    return undefined;
  },
  // Some begins have come before they change, and these changes are refused.
  begins: ({ clock, frontEnd }, { submitS, count }, random) => {
    const beginS = Array.from(submitS, (atS) => atS + 1 + random.below(200));
    for (let job = 1; job <= count; job += 2) {
      const atS = submitS[job - 1] + 0.25 + random.below(100);
      const beginAtMs = 1000 * (atS + 1 + random.below(200));
      clock.at(atS * 1000, () => {
        const known = frontEnd.job(ANNA, job);
        if (isRefusal(known) || known.notBeforeMs === undefined) return;
        void frontEnd.change(ANNA, { action: "update", update: { beginAtMs } }, [job]);
      });
    }
    return (row) => (row % 3 === 0 ? {} : { beginAtMs: beginS[row] * 1000 });
  },
  units: (_, { count }, random) => {
    const uses = Array.from({ length: count }, () => someUse(random));
    return (row) => ({ use: uses[row] });
  },
  edits: ({ clock, frontEnd }, { submitS, runS, processors, count }, random) => {
    for (let job = 1; job <= count; job++) {
      const atS = submitS[job - 1] + 0.25 + random.below(300) / 2;
      const update = {
        ...(random.below(2) === 0 && { tasks: 1 + random.below(processors) }),
        ...(random.below(2) === 0 && { limitMs: 1000 * (Math.max(1, runS[job - 1]) + random.below(60)) }),
        ...(random.below(2) === 0 && { use: { gpu: random.below(5) } }),
        name: `edited ${job}`,
      };
      clock.at(atS * 1000, () => void frontEnd.change(ANNA, { action: "update", update }, [job]));
    }
    const uses = Array.from({ length: count }, () => someUse(random));
    return (row) => ({ use: uses[row] });
  },
  // Not many: with each, jobs get new rows in the live table, and once it is full, gangs may change places.
  priorities: ({ clock, frontEnd }, { submitS, count }, random) => {
    for (let job = 1; job <= count; job += 5) {
      const atS = submitS[job - 1] + 0.25 + random.below(400) / 4;
      const priority = -random.below(4);
      clock.at(atS * 1000, () => void frontEnd.change(ANNA, { action: "priority", priority }, [job]));
    }
    const priorities = Array.from({ length: count }, (_, row) => (row % 4 > 0 ? 0 : -random.below(3)));
    return (row) => ({ priority: priorities[row] });
  },
  // Of the whole machine. Others: loop-windows.test.ts.
  windows: ({ clock, frontEnd }, instance, random) => {
    for (let i = 0; i < 6; i++) {
      const name = `window ${i}`;
      const atS = random.below(4 * spanS(instance)) / 4;
      const fromS = atS + random.below(800) / 4;
      const untilS = fromS + 1 + random.below(400) / 4;
      const body = { name, fromMs: fromS * 1000, untilMs: untilS * 1000 };
      clock.at(atS * 1000, () => void frontEnd.reserve(ROOT, body));
      if (i % 3 > 0) continue;
      clock.at((atS + random.below(400) / 4) * 1000, () => void frontEnd.unreserve(ROOT, name));
    }
    return undefined;
  },
  retries: (_, { count }, random) => {
    const waitsMs = Array.from({ length: count }, () => 1000 * (1 + random.below(40)));
    return (row) => ({ retries: 2, retryOn: ["75"], retryDelayMs: waitsMs[row] });
  },
};

/** Runs the instance with disturbances, and returns the workload file and the jobs. */
function runDisturbed(
  instance: Instance,
  choice: PolicyChoice,
  slotMs: number,
  disturbances: readonly Disturb[],
) {
  const bench = makeBench({
    cpus: instance.processors,
    config: { policy: choice.label, slotMs, resources: RESOURCES },
    slotted: choice.definition.sharing === "time",
    runMs: (job, attempt) => runMsOf(instance.runS[job - 1], attempt),
    // With retries, a job has one, two or three attempts.
    ends: (job, attempt) => ({ code: attempt <= job % 3 ? 75 : 0 }),
  });
  const random = new Random(11, choice.label);
  // Live, a gang that pauses within a slot loses the rest of it; simulated, it has the whole slot.
  const offsetS = choice.definition.sharing === "time" ? 0 : 0.25;
  const more = disturbances.map((disturb) => disturb(bench, instance, random, offsetS));
  runInstance(bench, instance, 0, (row) => Object.assign({}, ...more.map((fields) => fields?.(row))));
  const file = [...bench.frontEnd.exportJsonl(ROOT)].join("");
  return { bench, file };
}

/** Start, end and running time of each attempt, in s, by its start. */
const inOrder = (attempts: number[][]) => attempts.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);

function attemptsOf({ store }: Bench): number[][] {
  const startedMs = new Map<number, number>();
  const attempts: number[][] = [];
  for (const { event } of store.eventsAfter(0, 100_000)) {
    const { startedAtMs = 0, ranMs = 0 } = (event.data ?? {}) as { startedAtMs?: number; ranMs?: number };
    if (event.kind === "started") startedMs.set(event.job!, startedAtMs);
    if (event.kind === "ended" || event.kind === "requeued")
      attempts.push([startedMs.get(event.job!)! / 1000, event.atMs / 1000, ranMs / 1000]);
  }
  return inOrder(attempts);
}

/** The simulator takes waiting jobs back only from these. */
const TAKING_BACK = POLICIES.filter(({ capabilities }) => capabilities?.withdraw);

describe("a workload file of the front end, simulated, has the same starts and ends", () => {
  const instances = [INSTANCES[0], INSTANCES[2]].map(fromZero);

  const alone = Object.keys(DISTURBANCES).filter((name) => name !== "windows");
  const all = "begins, drains, edits, pauses, retries, units and windows";
  for (const name of [
    ...alone,
    "begins, edits and drains",
    "units, pauses and drains",
    "drains, edits and priorities",
    all,
  ]) {
    const disturbances = name.split(/, | and /).map((one) => DISTURBANCES[one]);
    test.each(TAKING_BACK.map(waitingChoice))(`${name} under $label`, (choice) => {
      let compared = 0;
      for (const instance of instances) {
        const { file, bench } = runDisturbed(instance, choice, 1000, disturbances);
        const reader = new JsonlReader("export");
        reader.push(new TextEncoder().encode(file));
        const workload = reader.end();
        expect(workload.diagnostics.filter(({ action }) => action === "dropped")).toEqual([]);
        if (!["units", "priorities", "retries"].includes(name))
          expect(workload.events!.length).toBeGreaterThan(2);
        if (name === "priorities" && choice.definition.sharing === "space")
          expect(startsInOrder(workload)).toBe(false);
        const retried = name.includes("retries") ? instance.count : 0;
        expect(workload.count).toBe(instance.count + retried);
        const again = prepare(workload, instance.processors, DEFAULT_RULES);
        const { startS, endS } = simulate(again, choice, { slotS: 1, switchS: 0 });
        const simulated = Array.from(again.runS, (runS, row) => [startS[row], endS[row], runS]);
        // Once the live table is full, a new policy takes over, and it may plan otherwise.
        if (name.includes("priorities") && hasFullTable(bench)) continue;
        compared++;
        expect(inOrder(simulated)).toEqual(attemptsOf(bench));
        // The audit reads all of it, too. One instance is enough.
        if (instance !== instances[1]) continue;
        const audited = audit(again, choice, { slotS: 1, switchS: 0, probedInstants: 0 });
        expect(audited.ok, auditLines(choice.label, audited).join("\n")).toBe(true);
      }
      if (name === "priorities") expect(compared).toBe(instances.length);
    });
  }
});

function hasFullTable({ store }: Bench): boolean {
  const isFull = (data: unknown) => JSON.stringify(data ?? "").includes("the table of jobs is full");
  return store.eventsAfter(0, 100_000).some(({ event }) => isFull(event.data));
}

/** Whether jobs started in the order in which they arrived. */
function startsInOrder({ notes, count }: Workload): boolean {
  const startS = Array.from({ length: count }, (_, row) => Number(notes![row].startS));
  return startS.every((atS, row) => row === 0 || atS >= startS[row - 1]);
}

/** With an unlimited matrix, no job waits. */
function waitingChoice(definition: PolicyDefinition): PolicyChoice {
  const hasLimit = definition.parameters.some(({ name }) => name === "rows");
  return makeChoice(definition, hasLimit ? ["rows=2"] : []);
}

/** Submitted from 0 s on: workload files count time from the first submit. */
function fromZero(instance: Instance): Instance {
  return { ...instance, submitS: instance.submitS.map((atS) => atS - instance.submitS[0]) };
}
