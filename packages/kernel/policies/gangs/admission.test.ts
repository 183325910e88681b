import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import type { Instance, JobIndex } from "../../core/jobs.ts";
import { parseParameters } from "../../core/parameters.ts";
import type { GangMachine, GangPolicyDefinition, ParameterValues } from "../../core/policy.ts";
import { stepRounds } from "../../simulator/gang-for-tests.ts";
import { simulateRounds } from "../../simulator/rounds.ts";
import { blockLevel } from "../../structures/matrix/buddy.ts";
import { arbitraryInstance, instanceOf } from "../instances-for-tests.ts";
import { bc } from "./buddy.ts";
import { br, brmms, brms } from "./buddy-blocks.ts";
import { gang } from "./gang.ts";
import { preset } from "./preset.ts";
import { wlv } from "./wlv.ts";

const SLOTS = { slotS: 1, switchS: 0 };
/** BC with whole blocks, under its own name. */
const wholeBc = preset(bc, { block: "exclusive" }, { name: "bc, exclusive blocks" });
const GANGS = [gang, bc, wholeBc, br, brms, brmms, wlv];
const QUEUES = ["fcfs", "first-fit", "easy"];

function set(definition: GangPolicyDefinition, ...settings: string[]): ParameterValues {
  return parseParameters(definition.name, definition.parameters, settings);
}

function slots(seconds: number): number {
  return Math.max(1, seconds);
}

/**
 * The naive twin: simulates space sharing on consecutive processors second by second. A job starts in the
 * leftmost gap. EASY promises the head the window that is free first according to the estimates (ties: the
 * leftmost). With `spare`, longer jobs may pass if they stay out of that window.
 */
function contiguousTwin(instance: Instance, queue: string, spare: boolean): number[] {
  const { count, processors, size, submitS, runS, estimateS } = instance;
  const startS = new Array<number>(count).fill(Number.NaN);
  const running: { job: JobIndex; first: number; endS: number; expectedS: number }[] = [];
  let waiting: JobIndex[] = [];
  let arrived = 0;
  for (let nowS = 0; arrived < count || waiting.length > 0; nowS++) {
    for (let i = running.length - 1; i >= 0; i--) if (running[i].endS <= nowS) running.splice(i, 1);
    while (arrived < count && submitS[arrived] <= nowS) waiting.push(arrived++);
    /** Leftmost window that is free at a time according to the estimates, without the given processors. */
    const window = (job: JobIndex, atS: number, without = { first: 0, end: 0 }): number => {
      for (let first = 0; first + size[job] <= processors; first++) {
        const end = first + size[job];
        const isTaken = running.some(
          (one) =>
            one.first < end && first < one.first + size[one.job] && (atS === nowS || one.expectedS > atS),
        );
        if (!isTaken && !(first < without.end && without.first < end)) return first;
      }
      return -1;
    };
    const start = (job: JobIndex, first: number) => {
      startS[job] = nowS;
      running.push({ job, first, endS: nowS + slots(runS[job]), expectedS: nowS + slots(estimateS[job]) });
      waiting = waiting.filter((other) => other !== job);
    };
    while (waiting.length > 0 && window(waiting[0], nowS) >= 0) start(waiting[0], window(waiting[0], nowS));
    if (waiting.length === 0 || queue === "fcfs") continue;
    const [head] = waiting;
    let shadowS = Infinity;
    let reserved = { first: 0, end: 0 };
    if (queue === "easy") {
      shadowS = Math.min(...running.map((one) => one.expectedS).filter((endS) => window(head, endS) >= 0));
      const first = window(head, shadowS);
      reserved = { first, end: first + size[head] };
    }
    for (const job of waiting.slice(1)) {
      const inTime = nowS + slots(estimateS[job]) <= shadowS;
      const first = inTime ? window(job, nowS) : spare ? window(job, nowS, reserved) : -1;
      if (first >= 0) start(job, first);
    }
  }
  return startS;
}

describe("rows=1 is space sharing on consecutive processors", () => {
  for (const queue of QUEUES) {
    for (const [definition, spare] of [
      [gang, false],
      [wlv, true],
    ] as const) {
      test(`${definition.name}, queue=${queue}: every job starts when the naive twin starts it`, () => {
        const parameters = set(definition, "rows=1", `queue=${queue}`);
        fc.assert(
          fc.property(arbitraryInstance(25), (instance) => {
            const { startS } = simulateRounds(instance, definition, parameters, { slotS: 1, switchS: 0.5 });
            expect([...startS]).toEqual(contiguousTwin(instance, queue, spare));
          }),
          { numRuns: 120, seed: 5 },
        );
      });
    }
  }

  test("the twins differ where the rules differ", () => {
    // Job 2 waits for all 4 processors until 10 s. Job 3 would last too long; job 4 would end in time.
    const job = (submitS: number, runS: number, size: number) => ({ submitS, runS, size });
    const instance = (jobs: ReturnType<typeof job>[], processors: number): Instance =>
      ({
        count: jobs.length,
        processors,
        ...Object.fromEntries(
          (["submitS", "runS", "size"] as const).map((name) => [name, jobs.map((one) => one[name])]),
        ),
        estimateS: jobs.map((one) => one.runS),
      }) as unknown as Instance;
    const whole = instance([job(0, 10, 3), job(1, 5, 4), job(2, 20, 1), job(3, 5, 1)], 4);
    expect(contiguousTwin(whole, "fcfs", true)).toEqual([0, 10, 15, 15]);
    expect(contiguousTwin(whole, "first-fit", true)).toEqual([0, 22, 2, 10]);
    expect(contiguousTwin(whole, "easy", true)).toEqual([0, 10, 15, 3]);
    // The head takes processors 0 to 2, so job 3 may have the last one for any length of time.
    const part = instance([job(0, 10, 2), job(1, 5, 3), job(2, 20, 1)], 4);
    expect(contiguousTwin(part, "easy", false)).toEqual([0, 10, 10]);
    expect(contiguousTwin(part, "easy", true)).toEqual([0, 10, 2]);
  });
});

/**
 * Jobs of each cell of a matrix with room for `rows` rows, as far as the geometry of the policy goes; ends in
 * seconds.
 */
interface Present {
  readonly job: JobIndex;
  readonly rows: number[];
  readonly first: number;
  readonly endS: number;
}

/** Whether a job has room next to others; tries every block and every processor. */
function hasRoom(
  name: string,
  instance: Instance,
  present: readonly Present[],
  job: JobIndex,
  rows: number,
  limitKB: number,
) {
  const { size, processors } = instance;
  if (name === "any") {
    const lines = [...new Set(present.flatMap((one) => one.rows))];
    const usedIn = (row: number) =>
      present.reduce((sum, one) => sum + (one.rows.includes(row) ? size[one.job] : 0), 0);
    return lines.length < rows || lines.some((row) => processors - usedIn(row) >= size[job]);
  }
  const memoryOf = (one: JobIndex) => Math.min(instance.memoryKB?.[one] ?? 0, limitKB);
  const isBuddy = name !== "gang" && name !== "wlv";
  const step = isBuddy ? 1 << blockLevel(size[job]) : 1;
  const lines =
    name === "gang" || name.startsWith("bc") ? [...new Set(present.flatMap((one) => one.rows))] : undefined;
  for (let first = 0; first + size[job] <= processors; first += step) {
    const end = isBuddy ? Math.min(first + step, processors) : first + size[job];
    const covers = (one: Present, at: number) => {
      const width = name === wholeBc.name ? 1 << blockLevel(size[one.job]) : size[one.job];
      return one.first <= at && at < one.first + width;
    };
    const processorsOf = Array.from({ length: end - first }, (_, i) => first + i);
    const fits = processorsOf.every((at, i) => {
      const memory = present
        .filter((one) => covers(one, at))
        .reduce((sum, one) => sum + memoryOf(one.job), 0);
      return i >= size[job] || memory + memoryOf(job) <= limitKB;
    });
    if (!fits) continue;
    if (lines === undefined) {
      const slotsOf = (one: Present) => (name === "brms" ? one.rows.length : 1);
      const taken = processorsOf.map((at) =>
        present.filter((one) => covers(one, at)).reduce((sum, one) => sum + slotsOf(one), 0),
      );
      if (taken.every((n) => n < rows)) return true;
    } else {
      if (lines.length < rows) return true;
      const isFree = (row: number) =>
        processorsOf.every((at) => !present.some((one) => one.rows.includes(row) && covers(one, at)));
      if (lines.some(isFree)) return true;
    }
  }
  return false;
}

/** Runs the policy and checks the matrix after every decision. */
function watched(
  definition: GangPolicyDefinition,
  parameters: ParameterValues,
  instance: Instance,
  slot: { slotS: number; switchS: number },
): GangPolicyDefinition {
  const rows = Number(parameters.rows) || Infinity;
  const limitKB = 1024 * Number(parameters.memory ?? 0) || Infinity;
  const name = parameters.place === "any" ? "any" : definition.name;
  const make: GangPolicyDefinition["make"] = (machine, jobs) => {
    const waiting = new Set<JobIndex>();
    const placed = new Set<JobIndex>();
    const promises: { job: JobIndex; startS: number }[] = [];
    const recorded = machine as GangMachine & { promise?: (job: JobIndex, startS: number) => void };
    recorded.promise = (job, startS) => {
      promises.push({ job, startS });
    };
    const policy = definition.make(machine, jobs, parameters);
    const look = (): Present[] =>
      [...placed].map((job) => {
        const runs: number[] = [];
        for (let run = machine.firstRunOfJob(job); run !== -1; run = machine.nextRunOfJob(run))
          runs.push(run);
        const work = Math.max(1, Math.ceil(instance.estimateS[job] / slot.slotS));
        const most = rows === Infinity ? machine.rowCount + 1 : rows;
        const left = work - (machine.servedSlots(job) ?? 0);
        return {
          job,
          rows: runs.map((run) => machine.runRow(run)),
          first: machine.runFirst(machine.firstRunOfJob(job)),
          endS: machine.nowS + left * most * (slot.slotS + (rows > 1 ? slot.switchS : 0)),
        };
      });
    return {
      depart(job) {
        placed.delete(job);
        policy.depart(job);
      },
      decide(arrived) {
        for (const job of arrived) waiting.add(job);
        promises.length = 0;
        policy.decide(arrived);
        for (const job of waiting) {
          if (machine.slotsOf(job) === 0) continue;
          waiting.delete(job);
          placed.add(job);
        }
        expect(machine.rowCount).toBeLessThanOrEqual(rows);
        const present = look();
        const room = (job: JobIndex, others: readonly Present[]) =>
          hasRoom(name, instance, others, job, rows, limitKB);
        const [head] = waiting;
        if (head === undefined) return;
        if (parameters.queue === "first-fit")
          for (const job of waiting) expect(room(job, present)).toBe(false);
        else expect(room(head, present)).toBe(false);
        if (parameters.queue !== "easy") return;
        expect(promises.map(({ job }) => job)).toEqual([head]);
        const [{ startS: shadowS }] = promises;
        if (rows === Infinity) return;
        // By the rule, the head has room at the shadow time with all admitted jobs, and not before.
        expect(
          room(
            head,
            present.filter((one) => one.endS > shadowS),
          ),
        ).toBe(true);
        for (const { endS } of present) {
          if (endS >= shadowS) continue;
          expect(
            room(
              head,
              present.filter((one) => one.endS > endS),
            ),
          ).toBe(false);
        }
      },
    };
  };
  return { ...definition, make };
}

describe("which jobs are admitted", () => {
  for (const [definition, ...settings] of [
    ...GANGS.map((one) => [one] as const),
    [gang, "place=any"] as const,
  ]) {
    for (const queue of QUEUES) {
      test(`${[definition.name, ...settings].join(":")}, queue=${queue}: never too many rows, no job waits unnecessarily, the forecast is the naive one`, () => {
        fc.assert(
          fc.property(arbitraryInstance(18), fc.integer({ min: 1, max: 4 }), (instance, rows) => {
            const parameters = set(definition, ...settings, `rows=${rows}`, `queue=${queue}`);
            const slot = { slotS: 2, switchS: 0.5 };
            stepRounds(instance, watched(definition, parameters, instance, slot), parameters, slot);
          }),
          { numRuns: 60, seed: 11 },
        );
      });
    }
  }

  for (const definition of [br, brmms, wlv]) {
    for (const queue of QUEUES) {
      test(`${definition.name}, queue=${queue}, memory: the same`, () => {
        fc.assert(
          fc.property(
            arbitraryInstance(14),
            fc.constantFrom(0, 2, 3),
            fc.array(fc.constantFrom(100, 400, 1024, 3000), { minLength: 14, maxLength: 14 }),
            (drawn, rows, memoryKB) => {
              const instance = { ...drawn, memoryKB: Float64Array.from(memoryKB.slice(0, drawn.count)) };
              const parameters = set(definition, `rows=${rows}`, `queue=${queue}`, "memory=1");
              stepRounds(instance, watched(definition, parameters, instance, SLOTS), parameters, SLOTS);
            },
          ),
          { numRuns: 60, seed: 12 },
        );
      });
    }
  }

  for (const definition of GANGS) {
    test(`${definition.name}: the machine that skips slots gives the same schedule as the one that steps them`, () => {
      fc.assert(
        fc.property(
          arbitraryInstance(16),
          fc.integer({ min: 1, max: 3 }),
          fc.constantFrom(...QUEUES),
          fc.constantFrom("arrival", "shortest", "wfp"),
          (instance, rows, queue, order) => {
            const parameters = set(definition, `rows=${rows}`, `queue=${queue}`, `queueOrder=${order}`);
            const slot = { slotS: 2, switchS: 0.5 };
            const schedule = simulateRounds(instance, definition, parameters, slot);
            const stepped = stepRounds(instance, definition, parameters, slot);
            expect([...schedule.startS]).toEqual(stepped.startS);
            expect([...schedule.endS]).toEqual(stepped.endS);
          },
        ),
        { numRuns: 60, seed: 13 },
      );
    });
  }
});

describe("limits by hand", () => {
  test("rows=0 and memory=0 is the policy itself", () => {
    const parameters = set(br);
    expect(br.guarantees(parameters)).toEqual({
      headNeverFits: true,
      workConserving: true,
      keepsPromises: true,
    });
  });

  test("a gang whose memory does not fit waits although rows are free", () => {
    const columns = {
      workload: {},
      count: 3,
      processors: 2,
      submitS: Float64Array.of(0, 0, 0),
      runS: Float64Array.of(4, 4, 4),
      estimateS: Float64Array.of(4, 4, 4),
      size: Int32Array.of(2, 1, 1),
      memoryKB: Float64Array.of(700, -1, 400),
    };
    const instance = columns as unknown as Instance;
    const parameters = set(br, "memory=1", "jobMemory=1", "queue=first-fit");
    // Job 1 counts as jobMemory, all of a processor's memory; job 2 needs 400 KB in addition to 700 of 1024.
    const { startS, endS } = simulateRounds(instance, br, parameters, SLOTS);
    expect([...startS]).toEqual([0, 4, 4]);
    expect([...endS]).toEqual([4, 8, 8]);
  });

  test("settings under which room cannot be forecast are refused", () => {
    const instance = instanceOf(4, []);
    const make = (definition: GangPolicyDefinition, ...settings: string[]) =>
      simulateRounds(instance, definition, set(definition, "rows=2", ...settings), SLOTS);
    expect(() => make(wlv, "array=ring", "queue=easy")).toThrow(InputError);
    expect(() => make(wlv, "migrate=3")).toThrow('Cannot limit rows or memory with "migrate=3"');
  });
});
