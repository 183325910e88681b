/**
 * Tests jobs that can run on several sizes: cases worked by hand, refusals, and metrics that read the
 * schedule.
 */

import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { timeFactor } from "@tutti/kernel/core/molding.ts";
import {
  type GangPolicyDefinition,
  type Policy,
  type PolicyChoice,
  type Pool,
  type SpacePolicyDefinition,
  StartRule,
} from "@tutti/kernel/core/policy.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { processorsInUse } from "@tutti/kernel/metrics/over-time.ts";
import { metricOf, summarise } from "@tutti/kernel/metrics/summary.ts";
import { conformanceInstances, instanceOf } from "@tutti/kernel/policies/instances-for-tests.ts";
import {
  drawnInterruptions,
  drawnMolding,
  drawnResources,
} from "@tutti/kernel/policies/interruptions-for-tests.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { hashWorkload } from "@tutti/kernel/workload/hash.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { writeScheduleSwf } from "@tutti/kernel/workload/traces/swf-writer.ts";
import { audit } from "@tutti/lab/audit/audit.ts";
import { jobsCsv } from "@tutti/lab/report/text/csv.ts";
import { describe, expect, test } from "vitest";

const SLOTS = { slotS: 1, switchS: 0 };

/** First come, first served. The head starts on the size that `choose` returns; 0: not now. */
function choosing(
  choose: (pool: Pool, job: number, jobs: Parameters<SpacePolicyDefinition["make"]>[1]) => number,
) {
  const definition: SpacePolicyDefinition = {
    name: "sized",
    title: "sized",
    sharing: "space",
    summary: "",
    rules: [],
    source: "",
    parameters: [],
    copesWith: () => ["outages", "resources"],
    guarantees: () => ({ headNeverFits: false, workConserving: false, keepsPromises: false }),
    make: (pool, jobs): Policy => {
      let waiting: number[] = [];
      return {
        depart: () => {},
        decide: (arrived) => {
          waiting = [...waiting, ...arrived].sort((a, b) => a - b);
          for (let head = waiting[0]; head !== undefined; head = waiting[0]) {
            const size = choose(pool, head, jobs);
            if (size === 0) return;
            pool.start(head, StartRule.head, size);
            waiting.shift();
          }
        },
      };
    },
  };
  return { definition, parameters: {}, label: "sized" };
}

/** As many processors as are free, within the job's range. */
const greedy = choosing((pool, job, { molding, size }) => {
  const [least, most] = [molding?.minSize[job] ?? size[job], molding?.maxSize[job] ?? size[job]];
  const sizes = Array.from({ length: most - least + 1 }, (_, i) => most - i);
  return sizes.find((one) => pool.fits(job, one)) ?? 0;
});

function moldable(
  instance: Instance,
  rows: readonly (readonly [min: number, max: number, serial: number])[],
): Instance {
  return {
    ...instance,
    molding: {
      minSize: Int32Array.from(rows, ([min]) => min),
      maxSize: Int32Array.from(rows, ([, max]) => max),
      serialShare: Float64Array.from(rows, ([, , serial]) => serial),
    },
  };
}

test("timeFactor() is Amdahl's law", () => {
  expect(timeFactor(0, 4, 8)).toBe(0.5);
  expect(timeFactor(1, 4, 8)).toBe(1);
  // On one processor 10 s, of which 2 do not get faster: 2 + 8 / 2 = 6 s on 2, 2 + 8 / 4 = 4 s on 4.
  expect(timeFactor(0.2, 2, 4)).toBeCloseTo(4 / 6, 14);
  expect(timeFactor(0.3, 5, 5)).toBe(1);
});

/**
 * 4 processors. The first takes all of them, the second waits for it; the third runs on its own size only.
 */
const instance = moldable(
  instanceOf(4, [
    { submitS: 0, runS: 12, size: 2, estimateS: 20 },
    { submitS: 1, runS: 6, size: 2, estimateS: 6 },
    { submitS: 1, runS: 6, size: 1, estimateS: 6 },
  ]),
  [
    [1, 8, 0],
    [1, 3, 0],
    [1, 1, 0],
  ],
);

describe("start() on another size", () => {
  const schedule = simulate(instance, greedy, SLOTS);

  test("hand-worked: twice the processors, half the time", () => {
    expect([...schedule.startS]).toEqual([0, 6, 6]);
    expect([...schedule.endS]).toEqual([6, 10, 12]);
    expect(schedule.given).toEqual({ size: Int32Array.of(4, 3, 1), runS: Float64Array.of(6, 4, 6) });
    // The instance has not changed.
    expect([...instance.size, ...instance.runS]).toEqual([2, 2, 1, 12, 6, 6]);
  });

  test("metrics and files show the sizes given", () => {
    const summary = summarise(instance, schedule);
    expect(summary.machine.utilisation).toBeCloseTo((24 + 12 + 6) / (4 * 12), 12);
    expect(metricOf(summary, "slowdown").all.max).toBeCloseTo(9 / 4, 12);
    const { atS, value } = processorsInUse(instance, schedule);
    expect([...atS].map((at, i) => [at, value[i]])).toEqual([
      [0, 4],
      [10, 1],
      [12, 0],
    ]);
    expect([...jobsCsv(instance, schedule)].join("").split("\n").slice(1, 3)).toEqual([
      "1,0,0,6,0,6,4",
      "2,1,6,10,5,4,3",
    ]);
    const lines = [...writeScheduleSwf(instance, schedule)].join("").split("\n");
    expect(lines.filter((line) => /^2 /.test(line))[0]).toMatch(/^2 1 5 4 3 /);
  });

  test("from the start of a job on, a policy sees its size and the estimate for that size", () => {
    const seen: number[][] = [];
    const policy = choosing((_pool, job, { size, estimateS }) => {
      if (job > 0) seen.push([size[0], estimateS[0]]);
      return job === 0 ? 4 : 0;
    });
    simulate(instance, policy, SLOTS);
    expect(seen[0]).toEqual([4, 10]);
  });

  test.each<[string, number, string]>([
    ["too few", 0.5, "expected 1 to 8"],
    ["not whole", 1.5, "expected 1 to 8"],
    ["more than the job can use", 3, "expected 1 to 1"],
    ["more than are free", 5, "it needs 5 processors, 4 are free"],
  ])("is refused: %s", (_name, size, message) => {
    const policy = choosing((_pool, job) => (job === 2 || !message.includes("1 to 1") ? size : 1));
    expect(() => simulate(instance, policy, SLOTS)).toThrow(message);
  });

  test("is refused if jobs can run only on their own size", () => {
    const { molding: _, ...plain } = instance;
    expect(() =>
      simulate(
        plain,
        choosing(() => 1),
        SLOTS,
      ),
    ).toThrow("Cannot start job 1 on 1 processors: expected 2 to 2");
  });

  test("a job that was stopped continues on the size that it had", () => {
    const stopped = { ...instance, interruptions: { outages: [], stops: [{ job: 0, fromS: 2, untilS: 3 }] } };
    const first = choosing((pool, job, { size }) => {
      const wanted = job === 0 && pool.nowS < 2 ? 4 : size[job];
      return pool.fits(job, wanted) ? wanted : 0;
    });
    const { endS, given } = simulate(stopped, first, SLOTS);
    // Stopped at 2 with 4 s to go; jobs 2 and 3 (2 and 1 processors) are started and end at 8.
    expect([...endS, given?.size[0]]).toEqual([12, 8, 8, 4]);
    const other = choosing((pool, job) => (job === 0 ? (pool.nowS < 2 ? 4 : 2) : 0));
    expect(() => simulate(stopped, other, SLOTS)).toThrow(
      "Cannot start job 1 on 2 processors: expected 4 to 4",
    );
  });
});

describe("place() on another size", () => {
  /** Every job in its own row, on as many processors as it can use. */
  const widest = (beyond = 0): PolicyChoice<GangPolicyDefinition> => ({
    definition: {
      ...choosing(() => 0).definition,
      sharing: "time",
      make: (machine, jobs) => ({
        depart: () => {},
        decide: (arrived) => {
          for (const one of arrived)
            machine.place(one, machine.addRow(), 0, (jobs.molding?.maxSize[one] ?? 0) + beyond);
        },
      }),
    },
    parameters: {},
    label: "widest",
  });
  const gangs = moldable(
    instanceOf(4, [
      { submitS: 0, runS: 6, size: 2 },
      { submitS: 0, runS: 6, size: 1 },
    ]),
    [
      [1, 4, 0],
      [1, 2, 1],
    ],
  );

  test("hand-worked: rows in turn, one gang twice as fast, the other no faster", () => {
    const { endS, given, gang } = simulate(gangs, widest(), SLOTS);
    // The first has slots 0, 2 and 4; its row stays.
    expect([...endS]).toEqual([5, 12]);
    expect(given).toEqual({ size: Int32Array.of(4, 2), runS: Float64Array.of(3, 6) });
    expect(gang?.activeProcessorSlots).toBe(3 * 4 + 6 * 2);
  });

  test("is refused beyond the range, and passes the checker within", () => {
    expect(() => simulate(gangs, widest(1), SLOTS)).toThrow("expected 1 to 4");
    expect(audit(gangs, widest(), SLOTS)).toMatchObject({ ok: true });
    expect(audit(gangs, widest(1), SLOTS)).toMatchObject({ ok: false, violation: { rule: "wrong-size" } });
  });
});

test("prepare() keeps ranges within the machine, and the hash covers them", () => {
  const { workload } = instance;
  const { molding } = instance;
  const prepared = prepare({ ...workload, molding }, 4, DEFAULT_RULES);
  expect([...(prepared.molding?.maxSize ?? [])]).toEqual([4, 3, 1]);
  const three = prepare({ ...workload, molding }, 1, { ...DEFAULT_RULES, oversize: "drop" });
  expect(three.molding).toEqual({
    minSize: Int32Array.of(1),
    maxSize: Int32Array.of(1),
    serialShare: Float64Array.of(0),
  });
  expect(hashWorkload({ ...workload, molding })).not.toBe(hashWorkload(workload));
});

describe("a policy that chooses sizes passes the checker", () => {
  for (const [i, plain] of conformanceInstances().entries()) {
    test(plain.workload.name, () => {
      const drawn = drawnMolding(drawnResources(drawnInterruptions(plain, i), i), i);
      const result = audit(drawn, greedy, { ...SLOTS, probedInstants: 3_000 });
      expect(result.ok ? "ok" : result.violation).toBe("ok");
      if (result.ok && drawn.count > 10 && drawn.processors > 1)
        expect([...(result.schedule.given?.size ?? [])]).not.toEqual([...drawn.size]);
    });
  }
});
