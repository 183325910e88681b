/**
 * Tests that jobs are served in order of priority: cases worked out by hand, from the text of a workload file
 * on, and a naive twin that sorts the whole queue at each instant. scheduling/loop.test.ts compares with the
 * live scheduler.
 */
import { describe, expect, test } from "vitest";
import type { Instance } from "../core/jobs.ts";
import { Random } from "../core/random.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import { simulate } from "../simulator/simulate.ts";
import { prepare } from "../workload/prepare.ts";
import { JsonlReader } from "../workload/traces/jsonl.ts";
import { seededInstance } from "./instances-for-tests.ts";
import { choosePolicy } from "./parse-policy.ts";

const SLOTS = { slotS: 1, switchS: 0 };

function read(...lines: object[]): Instance {
  const reader = new JsonlReader("file");
  const file = [{ schema: "tutti.workload-file/1", processors: 4 }, ...lines];
  reader.push(new TextEncoder().encode(file.map((line) => `${JSON.stringify(line)}\n`).join("")));
  const workload = reader.end();
  expect(workload.diagnostics).toEqual([]);
  return prepare(workload, 4, DEFAULT_RULES);
}

/** The starts of the jobs in a workload file, on 4 processors. */
const starts = (policy: string, ...lines: object[]) => [
  ...simulate(read(...lines), choosePolicy(policy), SLOTS).startS,
];

const job = (number: number, submitS: number, runS: number, tasks: number, priority?: number) => ({
  job: number,
  submitS,
  runS,
  limitS: runS,
  tasks,
  priority,
});
const edit = (number: number, atS: number, priority: number) => ({
  event: "edit",
  atS,
  job: number,
  set: { priority },
});

test("priorities of jobs and of edits are read; a file without any has none", () => {
  const plain = job(1, 0, 1, 1);
  const { priority, interruptions } = read(job(4, 0, 1, 1, -3), job(5, 0, 1, 1, 0), plain, edit(1, 1, 5));
  expect([...priority!]).toEqual([-3, 0, 0]);
  expect(interruptions!.withdrawals).toEqual([{ job: 2, fromS: 1, untilS: 1, change: { priority: 5 } }]);
  expect([...read(plain, edit(1, 1, 5)).priority!]).toEqual([0]);
  expect(read(plain).priority).toBeUndefined();
});

describe("on 4 processors, which job 1 has until 10 s", () => {
  const first = job(1, 0, 10, 4);

  test.each(["fcfs", "easy", "conservative", "first-fit", "gang:rows=1"])("under %s", (policy) => {
    // Three jobs of the whole machine for 2 s each.
    const three = [job(2, 1, 2, 4), job(3, 2, 2, 4, 5), job(4, 3, 2, 4, -1)];
    expect(starts(policy, first, ...three)).toEqual([0, 12, 10, 14]);
    // Job 4 passes all others, job 3 none of them.
    expect(starts(policy, first, ...three, edit(4, 4, 6), edit(3, 5, -2))).toEqual([0, 12, 14, 10]);
    // An edit before the submit counts, and so does the last one of two.
    expect(starts(policy, first, ...three, edit(4, 1, 9), edit(4, 4, 1))).toEqual([0, 14, 10, 12]);
    // A job that has started stays where it is, and a change to the same priority moves nobody.
    expect(starts(policy, first, ...three, edit(1, 4, -9), edit(2, 4, 0))).toEqual([0, 12, 10, 14]);
  });

  test("among equal keys of a queue order, the priority decides", () => {
    const jobs = [job(2, 1, 3, 4), job(3, 2, 2, 4), job(4, 3, 2, 4, 1)];
    expect(starts("fcfs:order=shortest", first, ...jobs)).toEqual([0, 14, 12, 10]);
  });

  test("a job with a higher priority takes the reservation of EASY's head", () => {
    // Job 2 would be first at 10 s. Job 3 comes, is first, and leaves one processor, on which 4 does not fit.
    const jobs = [job(2, 1, 5, 4), job(3, 2, 5, 3, 1), job(4, 3, 4, 2), job(5, 4, 5, 1, -1)];
    expect(starts("easy", first, ...jobs)).toEqual([0, 15, 10, 20, 10]);
  });

  test("one priority of all jobs is none, also for a policy that cannot take jobs back", () => {
    const jobs = [job(1, 0, 10, 4, -1), job(2, 1, 2, 4, -1), job(3, 2, 2, 4, -1)];
    expect(read(...jobs).priority).toBeUndefined();
    expect(starts("connected-reservation", ...jobs)).toEqual([0, 10, 12]);
  });

  test("a policy that cannot take jobs back is refused", () => {
    expect(() => starts("connected-reservation", first, job(2, 1, 2, 4, 1))).toThrow(
      /jobs have priorities, .* expected a policy with the capability "withdraw"/,
    );
  });
});

interface TwinJob {
  readonly row: number;
  readonly submitS: number;
  readonly runS: number;
  readonly estimateS: number;
  readonly size: number;
  startS: number;
}

/** Goes from instant to instant with nothing but lists. */
function twinStarts(instance: Instance, isEasy: boolean): number[] {
  const { count, processors, submitS, runS, estimateS, size } = instance;
  const jobs = Array.from(
    { length: count },
    (_, row): TwinJob => ({
      row,
      submitS: submitS[row],
      runS: runS[row],
      estimateS: estimateS[row],
      size: size[row],
      startS: Number.POSITIVE_INFINITY,
    }),
  );
  const priority = [...instance.priority!];
  const edits = [...(instance.interruptions?.withdrawals ?? [])].sort((a, b) => a.fromS - b.fromS);
  const isRunning = (one: TwinJob, atS: number) => one.startS <= atS && atS < one.startS + one.runS;
  for (let nowS = 0; jobs.some(({ startS }) => startS === Number.POSITIVE_INFINITY); nowS++) {
    for (; edits[0]?.fromS <= nowS; edits.shift())
      if (!(jobs[edits[0].job].startS < nowS)) priority[edits[0].job] = edits[0].change!.priority!;
    // One job after the other.
    for (let hasStarted = true; hasStarted; ) {
      hasStarted = false;
      const waiting = jobs.filter((one) => one.submitS <= nowS && one.startS === Number.POSITIVE_INFINITY);
      waiting.sort((a, b) => priority[b.row] - priority[a.row] || a.row - b.row);
      const running = jobs.filter((one) => isRunning(one, nowS));
      const free = processors - running.reduce((sum, one) => sum + one.size, 0);
      const [head, ...others] = waiting;
      if (head === undefined) break;
      let next = head.size <= free ? head : undefined;
      if (next === undefined && isEasy) {
        const expectedS = (one: TwinJob) => one.startS + one.estimateS;
        const freeAt = (timeS: number) =>
          running.reduce((sum, one) => sum + (expectedS(one) <= timeS ? one.size : 0), free);
        const endsS = running.map(expectedS).sort((a, b) => a - b);
        const shadowS = endsS.find((timeS) => freeAt(timeS) >= head.size)!;
        const spare = freeAt(shadowS) - head.size;
        next = others.find(
          (one) => one.size <= free && (nowS + one.estimateS <= shadowS || one.size <= spare),
        );
      }
      if (next === undefined) continue;
      next.startS = nowS;
      hasStarted = true;
    }
  }
  return jobs.map(({ startS }) => startS);
}

/** Jobs with priorities, which change while they wait; all times are whole seconds. */
function drawn(seed: number): Instance {
  const shape = {
    processors: 16,
    count: 60,
    gapS: 8,
    maxRunS: 60,
    maxSize: 16,
    exactShare: 0.3,
    zeroShare: 0,
  };
  const plain = seededInstance("priorities", { ...shape, seed });
  const random = new Random(seed, "priorities");
  const withdrawals = Array.from({ length: 40 }, () => {
    const one = random.below(plain.count);
    const fromS = plain.submitS[one] + random.below(80);
    return { job: one, fromS, untilS: fromS, change: { priority: random.below(5) - 2 } };
  });
  return {
    ...plain,
    priority: plain.size.map(() => random.below(3) - 1),
    interruptions: { outages: [], stops: [], withdrawals },
  };
}

describe("the naive twin starts all jobs at the same times", () => {
  test.each([
    ["fcfs", false],
    ["easy", true],
  ])("under %s", (policy, isEasy) => {
    let moved = 0;
    for (let seed = 0; seed < 20; seed++) {
      const instance = drawn(seed);
      const schedule = simulate(instance, choosePolicy(policy), SLOTS);
      expect([...schedule.startS], `seed ${seed}`).toEqual(twinStarts(instance, isEasy));
      const { priority: _, interruptions: __, ...plain } = instance;
      const { startS } = simulate(plain, choosePolicy(policy), SLOTS);
      if (startS.some((atS, row) => atS !== schedule.startS[row])) moved++;
    }
    // The priorities matter.
    expect(moved).toBe(20);
  });
});
