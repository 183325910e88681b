/**
 * Runs jobs that need GPUs and licences through the front end, on a fake machine. The watcher reads only what
 * the machine receives: the units in the environment of each launch, and which attempts have not ended.
 */

import { ofKind } from "@tutti/protocol/resources.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Config } from "../config/config.ts";
import { Store } from "../store/store.ts";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  type BenchOptions,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

const FOUR_GPUS = [
  { name: "gpu", units: ["0", "1", "2", "3"], isShared: false, variables: ["CUDA_VISIBLE_DEVICES"] },
  { name: "licence", units: ["a", "b"], isShared: false, variables: [] },
] as const satisfies Config["resources"];

const CPUS = 8;

function bench(policy: string, more: BenchOptions = {}): Bench {
  const { config, ...rest } = more;
  return makeBench({
    cpus: CPUS,
    ...rest,
    config: { policy, maxRows: 4, resources: FOUR_GPUS, ...config },
  });
}

/** Units that each attempt holds, as its processes see them. */
function heldBy({ machine }: Bench, variable = "TUTTI_GPUS"): Map<number, string[]> {
  const held = new Map<number, string[]>();
  for (const { job, phase, spec } of machine.attempts.values()) {
    const units = spec.env[variable];
    if (phase !== "ended" && units) held.set(job, units.split(","));
  }
  return held;
}

const submit = (of: Bench, fields: Partial<SubmitJob>, caller = ANNA) =>
  answerOf(of.clock, of.frontEnd.submit(caller, [request(fields)]));

const job = fc.record({
  tasks: fc.integer({ min: 1, max: 4 }),
  gpus: fc.integer({ min: 0, max: 4 }),
  licences: fc.integer({ min: 0, max: 2 }),
  seconds: fc.integer({ min: 1, max: 9 }),
  /** Until the next submit. */
  pauseMs: fc.constantFrom(0, 400, 2500),
});

/** Policies, and whether they leave nothing idle that a waiting job could use. */
const POLICIES: readonly (readonly [policy: string, isWorkConserving: boolean])[] = [
  ["fcfs", false],
  ["first-fit", true],
  ["easy", false],
  ["conservative", false],
  ["brmms", false],
  ["brmms:queue=first-fit", true],
  ["wlv", false],
  ["wlv:queue=first-fit", true],
  ["gang", false],
];

describe.each(POLICIES)("under %s, 40 jobs of 0 to 4 GPUs", (policy, isWorkConserving) => {
  test("never use a unit twice, get what they ask for, and all end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(job, { minLength: 40, maxLength: 40 }), async (jobs) => {
        const isSpace = ["fcfs", "first-fit", "easy", "conservative"].includes(policy);
        const of = bench(policy, { slotted: !isSpace, runMs: (number) => jobs[number - 1].seconds * 1000 });
        const check = (): void => {
          for (const [variable, kind] of [
            ["TUTTI_GPUS", "gpu"],
            ["TUTTI_LICENCE", "licence"],
          ] as const) {
            const held = heldBy(of, variable);
            const all = [...held.values()].flat();
            expect(new Set(all).size).toBe(all.length);
            for (const [number, units] of held)
              expect(units.length).toBe(jobs[number - 1][kind === "gpu" ? "gpus" : "licences"]);
          }
          if (isWorkConserving) expectBusy(of, jobs, isSpace);
        };
        for (const { tasks, gpus, licences, seconds, pauseMs } of jobs) {
          const use = { ...(gpus > 0 && { gpu: gpus }), ...(licences > 0 && { licence: licences }) };
          await submit(of, { tasks, limitMs: 1000 * seconds, use });
          check();
          for (let endMs = of.clock.nowMs() + pauseMs; of.clock.nextMs() <= endMs; check())
            of.clock.advanceTo(of.clock.nextMs());
        }
        for (; of.clock.nextMs() < Number.POSITIVE_INFINITY; check()) of.clock.advanceTo(of.clock.nextMs());
        expect(of.frontEnd.jobs(ANNA, {}).map(({ state }) => state)).toEqual(jobs.map(() => "done"));
      }),
      { numRuns: 6 },
    );
  });
});

/** No job waits that would fit: at the end of an instant, and with gangs at the beginning of a slot. */
function expectBusy(
  of: Bench,
  jobs: readonly { gpus: number; licences: number; tasks: number }[],
  isSpace: boolean,
) {
  if (!isSpace && of.clock.nowMs() % 100 > 0) return;
  const gpus = 4 - [...heldBy(of).values()].flat().length;
  const licences = 2 - [...heldBy(of, "TUTTI_LICENCE").values()].flat().length;
  const rows = of.frontEnd.matrix().rows.map((row) => CPUS - row.flatMap(({ cpus }) => cpus).length);
  for (const { job: number } of of.frontEnd.jobs(ANNA, { states: ["queued"] })) {
    const { tasks, gpus: needed, licences: wanted } = jobs[number - 1];
    // Gangs need neighbours, so only an empty row counts.
    const hasCpus = isSpace ? tasks <= (rows[0] ?? CPUS) : rows.length < 4;
    expect(hasCpus && needed <= gpus && wanted <= licences, `job ${number} waits`).toBe(false);
  }
}

describe("units of a job", () => {
  test("are in its environment and in its answer; a job without units sees no GPU", async () => {
    const of = bench("easy");
    await submit(of, { use: { gpu: 2, licence: 1 }, env: { CUDA_VISIBLE_DEVICES: "7" } });
    await submit(of, { env: { CUDA_VISIBLE_DEVICES: "7", HOME: "/h" } });
    const [first, second] = [...of.machine.attempts.values()].map(({ spec }) => spec.env);
    expect(first).toMatchObject({
      TUTTI_GPUS: "0,1",
      CUDA_VISIBLE_DEVICES: "0,1",
      CUDA_DEVICE_ORDER: "PCI_BUS_ID",
      TUTTI_LICENCE: "a",
    });
    expect(second).toMatchObject({ TUTTI_GPUS: "", CUDA_VISIBLE_DEVICES: "", TUTTI_LICENCE: "", HOME: "/h" });
    expect(second).not.toHaveProperty("CUDA_DEVICE_ORDER");
    expect(of.frontEnd.job(ANNA, 1)).toMatchObject({
      use: { gpu: 2, licence: 1 },
      units: { gpu: ["0", "1"], licence: ["a"] },
    });
    expect(of.frontEnd.job(ANNA, 2)).not.toHaveProperty("units");
  });

  test("without countable resources, a job keeps its user's variables", async () => {
    const of = bench("easy", { config: { resources: [] } });
    await submit(of, { env: { CUDA_VISIBLE_DEVICES: "7" } });
    const [{ spec }] = of.machine.attempts.values();
    expect(spec.env.CUDA_VISIBLE_DEVICES).toBe("7");
    expect(spec.env).not.toHaveProperty("TUTTI_GPUS");
  });

  test("shared units are given to any number of jobs, those that the fewest hold first", async () => {
    const resources = [{ ...FOUR_GPUS[0], units: ["0", "1"], isShared: true }];
    const of = bench("easy", { config: { resources } });
    for (let i = 0; i < 4; i++) await submit(of, { use: { gpu: 1 } });
    expect([...heldBy(of).values()]).toEqual([["0"], ["1"], ["0"], ["1"]]);
  });

  test("requests for unknown kinds, or for more than there are, are refused", async () => {
    const of = bench("easy");
    expect(await submit(of, { use: { gpus: 1 } })).toEqual({
      refused: "invalid",
      message:
        'Cannot use "gpus" (did you mean "gpu"?): the scheduler has no such resource, expected one of gpu, licence; administrators name them in the setting resources',
    });
    expect(await submit(of, { use: { gpu: 5 } })).toEqual({
      refused: "too-large",
      message: "Cannot provide 5 units of gpu: the scheduler has 4; ask for 4 or fewer",
    });
    const none = bench("easy", { config: { resources: [] } });
    expect(await submit(none, { use: { gpu: 1 } })).toMatchObject({
      refused: "invalid",
      message: expect.stringContaining("expected a job without it"),
    });
    // A kind may have the name of a property of every object.
    expect(await submit(of, { use: { constructor: 1 } })).toMatchObject({ refused: "invalid" });
    expect(ofKind({}, "constructor")).toBeUndefined();
  });

  test("policies that count only processors refuse them, and such a policy is refused while they wait", async () => {
    const queues = [
      {
        queueClass: { name: "q", processors: CPUS, processes: CPUS, threads: 1 },
      },
    ];
    const of = bench("connected-reservation", { config: { queues } });
    const because = "uses gpu, and this policy counts only processors; expected a policy such as easy";
    expect(await submit(of, { use: { gpu: 1 } })).toEqual({
      refused: "too-large",
      message: `Cannot submit under policy "connected-reservation": the job ${because}`,
    });
    const other = bench("easy", { config: { queues } });
    await submit(other, { use: { gpu: 1 } });
    expect(await answerOf(other.clock, other.frontEnd.setPolicy(ROOT, "connected-reservation"))).toEqual({
      refused: "wrong-state",
      message: `Cannot switch to policy "connected-reservation": job 1 ${because}`,
    });
  });

  test("an executor without countable resources refuses the setting", () => {
    const capabilities = { resources: "nodes have resources of their own" };
    expect(() => bench("easy", { capabilities })).toThrow(
      'Cannot count "gpu" here: nodes have resources of their own, expected a configuration without "resources"',
    );
    expect(() => bench("easy", { capabilities, config: { resources: [] } })).not.toThrow();
  });
});

describe("a gang in the matrix", () => {
  test("holds its units in all rows", async () => {
    const of = bench("brmms", { slotted: true, runMs: () => 1000 });
    await submit(of, { tasks: CPUS, use: { gpu: 4 } });
    await submit(of, { tasks: CPUS, use: { gpu: 1 } });
    of.clock.advanceTo(900);
    expect(of.frontEnd.matrix().rows).toHaveLength(1);
    expect(of.frontEnd.job(ANNA, 2)).toMatchObject({ state: "queued" });
    runToEnd(of.clock);
    expect(of.frontEnd.job(ANNA, 2)).toMatchObject({ state: "done" });
  });
});

describe("a paused job", () => {
  test.each([
    ["brmms", false],
    ["brmms", true],
    ["easy", false],
    ["easy", true],
    ["conservative", true],
  ])("keeps its units under %s, with --release: %s", async (policy, release) => {
    const of = bench(policy, { slotted: true, runMs: () => 1000 });
    await submit(of, { tasks: 2, use: { gpu: 2 }, limitMs: 5000 });
    of.clock.advanceTo(300);
    await answerOf(of.clock, of.frontEnd.change(ANNA, { action: "pause", release }, [1]));
    await submit(of, { tasks: 2, use: { gpu: 2 }, limitMs: 5000 });
    await submit(of, { tasks: 2, use: { gpu: 3 }, limitMs: 5000 });
    of.clock.advanceTo(10_000);
    expect([1, 2, 3].map((number) => of.frontEnd.job(ANNA, number))).toMatchObject([
      { state: "paused", units: { gpu: ["0", "1"] } },
      { state: "done", units: { gpu: ["2", "3"] } },
      { state: "queued" },
    ]);
    await answerOf(of.clock, of.frontEnd.change(ANNA, { action: "resume" }, [1]));
    runToEnd(of.clock, 60_000);
    expect([1, 3].map((number) => of.frontEnd.job(ANNA, number))).toMatchObject([
      { state: "done" },
      { state: "done", units: { gpu: ["0", "1", "2"] } },
    ]);
  });
});

describe("why a job waits", () => {
  test("names the resource, the caller's jobs that hold it, and how much others hold", async () => {
    const of = bench("easy");
    await submit(of, { use: { gpu: 2 } });
    await submit(of, { use: { gpu: 1 } }, BEN);
    await submit(of, { use: { gpu: 2 } });
    expect(await of.frontEnd.why(ANNA, 3)).toMatchObject({
      obstacles: [
        { kind: "units", resource: "gpu", needed: 2, free: 1, holders: [{ job: 1, units: 2 }], others: 1 },
      ],
    });
  });
});

describe("after a restart", () => {
  /** The front end is killed; the next one has these resources. */
  function restarted(of: Bench, config: Partial<Config>, policy = "easy"): Bench {
    of.machine.forgetListeners();
    const { clock, machine, store } = of;
    return makeBench({ cpus: CPUS, clock, machine, store, config: { policy, maxRows: 4, ...config } });
  }

  test("units of running jobs are not given out again", async () => {
    const of = bench("easy", { runMs: () => 10_000 });
    await submit(of, { use: { gpu: 3 } });
    const again = restarted(of, { resources: FOUR_GPUS });
    await submit(again, { use: { gpu: 2 } });
    await submit(again, { use: { gpu: 1 } });
    expect([...heldBy(again)]).toEqual([
      [1, ["0", "1", "2"]],
      [3, ["3"]],
    ]);
    runToEnd(again.clock);
    expect(again.frontEnd.job(ANNA, 2)).toMatchObject({ state: "done", units: { gpu: ["0", "1"] } });
  });

  test("a unit that is no longer configured stays with its job and is not given out again", async () => {
    const of = bench("easy", { runMs: () => 10_000 });
    await submit(of, { use: { gpu: 1 } });
    const again = restarted(of, { resources: [{ ...FOUR_GPUS[0], units: ["1", "2"] }] });
    expect(again.frontEnd.job(ANNA, 1)).toMatchObject({ state: "running", units: { gpu: ["0"] } });
    await submit(again, { use: { gpu: 2 } });
    expect([...heldBy(again)]).toEqual([
      [1, ["0"]],
      [2, ["1", "2"]],
    ]);
  });

  test("a waiting job that asks for more than is left waits for the units to come back", async () => {
    const of = bench("easy", { runMs: () => 1000 });
    await submit(of, { use: { gpu: 4 } });
    await submit(of, { use: { gpu: 4 } });
    const fewer = restarted(of, { resources: [{ ...FOUR_GPUS[0], units: ["0", "1"] }] });
    runToEnd(fewer.clock);
    expect(await fewer.frontEnd.why(ANNA, 2)).toMatchObject({
      obstacles: [{ kind: "capacity-units", resource: "gpu", needed: 4, present: 2, configured: 2 }],
    });
    expect(fewer.frontEnd.job(ANNA, 2)).toMatchObject({
      reason: "cannot start: needs 4 gpu, and the configuration names 2",
    });
    const none = restarted(fewer, { resources: [] });
    expect(await none.frontEnd.why(ANNA, 2)).toMatchObject({
      obstacles: [{ kind: "capacity-units", resource: "gpu", needed: 4, present: 0 }],
    });
    const back = restarted(none, { resources: FOUR_GPUS });
    runToEnd(back.clock);
    expect(back.frontEnd.job(ANNA, 2)).toMatchObject({ state: "done" });
  });

  test("units that were shared and are not now are free when the last of their jobs has ended", async () => {
    const of = bench("easy", {
      runMs: (number) => 10_000 * number,
      config: { resources: [{ ...FOUR_GPUS[0], units: ["0"], isShared: true }] },
    });
    await submit(of, { use: { gpu: 1 }, limitMs: 10_000 });
    await submit(of, { use: { gpu: 1 }, limitMs: 20_000 });
    const again = restarted(of, { resources: [{ ...FOUR_GPUS[0], units: ["0"] }] });
    await submit(again, { use: { gpu: 1 }, limitMs: 1000 });
    again.clock.advanceTo(15_000);
    expect(again.frontEnd.job(ANNA, 3)).toMatchObject({ state: "queued" });
    runToEnd(again.clock);
    expect(again.frontEnd.job(ANNA, 3)).toMatchObject({ state: "done" });
  });

  test.each(["easy", "conservative", "first-fit"])(
    "a gang that %s stops for lack of CPUs keeps its units until it has ended",
    async (policy) => {
      const of = bench("brmms", { slotted: true, runMs: () => 2000 });
      await submit(of, { tasks: CPUS, use: { gpu: 2 }, limitMs: 3000 });
      await submit(of, { tasks: CPUS, use: { gpu: 1 }, limitMs: 3000 });
      of.clock.advanceTo(500);
      expect(of.frontEnd.matrix().rows).toHaveLength(2);
      await answerOf(of.clock, of.frontEnd.setPolicy(ROOT, policy));
      await submit(of, { tasks: 1, use: { gpu: 2 }, limitMs: 1000 });
      await submit(of, { tasks: 1, use: { gpu: 4 }, limitMs: 1000 });
      for (; of.clock.nextMs() < Number.POSITIVE_INFINITY; of.clock.advanceTo(of.clock.nextMs())) {
        const all = [...heldBy(of).values()].flat();
        expect(new Set(all).size).toBe(all.length);
      }
      expect(of.frontEnd.jobs(ANNA, {}).map(({ state }) => state)).toEqual(["done", "done", "done", "done"]);
    },
  );

  test("the units of an attempt are on disk before it is launched", async () => {
    const store = new Store(":memory:", 0);
    const of = bench("easy", { store });
    const before: unknown[] = [];
    const { apply } = of.machine;
    of.machine.apply = (commands) => {
      for (const command of commands)
        if (command.type === "launch") before.push(store.job(command.spec.job)?.units);
      apply.call(of.machine, commands);
    };
    await submit(of, { use: { gpu: 1 } });
    expect(before).toEqual([{ gpu: ["0"] }]);
  });
});

test("what a job uses can change while it waits, is kept when it runs again, and is exported", async () => {
  const of = bench("easy");
  const update = async (job: number, use: Record<string, number>) => {
    const change = { action: "update", update: { use } } as const;
    const answer = await answerOf(of.clock, of.frontEnd.change(ANNA, change, [job]));
    return "refused" in answer ? answer : answer[0];
  };
  await submit(of, { use: { gpu: 4 } });
  await submit(of, { use: { gpu: 2 } });
  expect(of.frontEnd.job(ANNA, 2)).toMatchObject({ state: "queued" });
  expect(await update(2, { gpu: 5 })).toMatchObject({ refused: "too-large" });
  expect(await update(2, { disk: 1 })).toMatchObject({ refused: expect.any(String) });
  expect(await update(2, { licence: 1 })).toMatchObject({ use: { licence: 1 } });
  runToEnd(of.clock);
  // Both ran at once: the second one no longer waits for GPUs.
  expect([1, 2].map((job) => of.frontEnd.job(ANNA, job))).toMatchObject([
    { startedAtMs: 0 },
    { startedAtMs: 0 },
  ]);
  expect(await answerOf(of.clock, of.frontEnd.rerun(ANNA, [2], undefined))).toMatchObject({
    jobs: [{ job: 3, repeats: 2, use: { licence: 1 } }],
  });
  const lines = [...of.frontEnd.exportJsonl(ROOT)].join("").trimEnd().split("\n");
  const [head, ...rest] = lines.map((line) => JSON.parse(line));
  expect(head).toMatchObject({ resources: { gpu: 4, licence: 2 } });
  expect(rest.map(({ job, use, event, set }) => [event, job, use ?? set?.use])).toEqual([
    [undefined, 1, { gpu: 4 }],
    // As it was submitted.
    [undefined, 2, { gpu: 2 }],
    [undefined, 3, { licence: 1 }],
    ["edit", 2, { licence: 1 }],
  ]);
});
