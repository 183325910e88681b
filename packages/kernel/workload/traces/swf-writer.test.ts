import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instance, Workload } from "../../core/jobs.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import type { Schedule } from "../../core/schedule.ts";
import { downey } from "../models/downey.ts";
import { prepare } from "../prepare.ts";
import { readSwf, readTrace, traceFile } from "../traces-for-tests.ts";
import { anyWorkload, workloadOf } from "../workloads-for-tests.ts";
import { writeScheduleSwf, writeSwf } from "./swf-writer.ts";

const written = (workload: Workload) => [...writeSwf(workload)].join("");

/** Makes a schedule that starts each job `waitS` after its submit time; NaN: never. */
function scheduleOf(instance: Instance, waitS: readonly number[], gang?: Schedule["gang"]): Schedule {
  const startS = instance.submitS.map((submit, i) => submit + waitS[i]);
  const endS = startS.map((start, i) => start + (gang === undefined ? 1 : 2) * instance.runS[i]);
  return { startS, endS, instants: 0, startsByRule: [], gang };
}

const gang: Schedule["gang"] = {
  slotS: 1,
  switchS: 0,
  rowsAtS: new Float64Array(0),
  rows: new Int32Array(0),
  maxRows: 2,
  activeProcessorSlots: 0,
  slots: 0,
  unifications: 0,
  moves: 0,
  migrations: 0,
  migrationS: 0,
};

/** Every field in its own range; run time and size such that the line can be simulated. */
const anyTrace = fc
  .array(
    fc.record({
      whole: fc.array(fc.oneof(fc.constant(-1), fc.nat(2 ** 31 - 1)), { minLength: 18, maxLength: 18 }),
      time: fc.array(fc.oneof(fc.constant(-1), fc.double({ min: 1e-9, max: 1e12, noNaN: true })), {
        minLength: 18,
        maxLength: 18,
      }),
      submit: fc.double({ min: 0, max: 1e9, noNaN: true }),
      run: fc.double({ min: 0, max: 1e9, noNaN: true }),
      size: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    }),
    { maxLength: 20 },
  )
  .map((jobs) =>
    jobs
      .sort((a, b) => a.submit - b.submit)
      .map(({ whole, time, submit, run, size }, i) => {
        const status = [-1, 0, 1, 5][Math.abs(whole[10]) % 4];
        const wholes = whole.slice(11, 17).join(" ");
        const start = `${i + 1} ${submit} ${time[2]} ${run} ${whole[4]} ${time[5]} ${time[6]}`;
        return `${start} ${whole[4] > 0 ? whole[7] : size} ${time[8]} ${time[9]} ${status} ${wholes} ${time[17]}`;
      }),
  );

describe("writeSwf()", () => {
  test("a trace comes back with every column, its header and its number of processors", () => {
    fc.assert(
      fc.property(
        anyTrace,
        fc.array(fc.stringMatching(/^[ -~é計]*$/), { maxLength: 5 }),
        (lines, comments) => {
          const text = [...comments.map((c) => `;${c}`), "; MaxProcs: 77", ...lines].join("\n");
          const workload = readSwf(text, "x");
          expect(workload.count).toBe(lines.length);
          expect(workload.diagnostics.filter(({ code }) => code !== "zero-run-time")).toEqual([]);
          expect(readSwf(written(workload), "x")).toEqual(workload);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a workload without trace columns comes back with its jobs", () => {
    fc.assert(
      fc.property(anyWorkload, (workload) => {
        const back = readSwf(written(workload), "test");
        expect(back.jobs).toEqual(workload.jobs);
        expect(back.processors).toBe(workload.processors);
      }),
      { numRuns: 300 },
    );
  });

  test("a generated workload comes back to the last bit", () => {
    const parameters = Object.fromEntries(downey.parameters.map((spec) => [spec.name, spec.default]));
    const workload = downey.generate({ ...parameters, jobs: 3000, unitS: 0, estimateFactor: 2 }, 1);
    const back = readSwf(written(workload), "x");
    expect(back.jobs).toEqual(workload.jobs);
    expect(back.processors).toBe(128);
    expect(back.header).toContain(`; Note: ${workload.name}`);
  });

  test("comes in pieces of bounded length", () => {
    const rows = Array.from({ length: 5000 }, (_, i) => ({ submitS: i, runS: 1.5, size: 1, estimateS: 2 }));
    const pieces = [...writeSwf(workloadOf(rows))];
    expect(pieces.length).toBeGreaterThan(4);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(100_000);
    expect(pieces.join("").match(/^\d/gm)).toHaveLength(5000);
  });

  test("a name with a line end does not break the header", () => {
    const back = readSwf(written({ ...workloadOf([]), name: "a\n1 2 3\r\nb" }), "x");
    expect(back.diagnostics).toEqual([]);
    expect(back.header.at(-1)).toBe("; Note: a 1 2 3 b");
  });

  test.skipIf(traceFile("KTH-SP2") === undefined).each(["KTH-SP2", "SDSC-SP2", "CTC-SP2"])(
    "the log %s comes back whole",
    (name) => {
      const workload = readTrace(name);
      const back = readSwf(written(workload), workload.name);
      expect({ ...back, diagnostics: [] }).toEqual({ ...workload, diagnostics: [] });
    },
  );
});

describe("writeScheduleSwf()", () => {
  const text = [
    "; Version: 2.2",
    "; Copyright: keep this notice",
    "; MaxProcs: 64",
    "7 10 999 100 4 50 -1 6 200 -1 1 3 -1 -1 -1 -1 -1 -1",
    "8 20 999 100 4 50 -1 6 60 -1 1 3 -1 -1 -1 -1 -1 -1",
    "9 30 999 100 16 50 -1 16 200 -1 0 3 -1 -1 -1 -1 -1 -1",
  ].join("\n");
  const workload = readSwf(text, "a.swf");

  test("fills in wait, run time and size as simulated and keeps the other fields", () => {
    const instance = prepare(workload, 8, { ...DEFAULT_RULES, overrun: "kill" });
    const lines = [...writeScheduleSwf(instance, scheduleOf(instance, [0, 35]), ["policy easy", "seed 1"])]
      .join("")
      .split("\n");
    expect(lines.filter((line) => /^\d/.test(line))).toEqual([
      "7 10 0 100 4 50 -1 6 200 -1 1 3 -1 -1 -1 -1 -1 -1",
      "8 20 35 60 4 50 -1 6 60 -1 0 3 -1 -1 -1 -1 -1 -1", // killed at its estimate
    ]);
    for (const expected of [
      "; Computer: Tutti simulation",
      "; MaxJobs: 2",
      "; Preemption: No",
      "; MaxProcs: 8",
      "; Note: jobs of a.swf",
      "; Note: overrun=kill: a job that runs past its estimate is killed at its estimate",
      "; Note: policy easy",
      "; Note: seed 1",
      ";   > Copyright: keep this notice",
      ";   > MaxProcs: 64",
    ]) {
      expect(lines).toContain(expected);
    }
    expect(lines.some((line) => line.startsWith("; Note: oversize-dropped, 1 jobs:"))).toBe(true);
  });

  test("read again, it is a trace of the simulated machine with the simulated starts", () => {
    const instance = prepare(workload, 16, DEFAULT_RULES);
    const schedule = scheduleOf(instance, [1.25, 2.5, 3]);
    const back = readSwf([...writeScheduleSwf(instance, schedule)].join(""), "x");
    expect(back.processors).toBe(16);
    expect(back.diagnostics).toEqual([]);
    expect([...(back.trace?.waitS ?? [])]).toEqual([1.25, 2.5, 3]);
    expect(back.jobs).toEqual(workload.jobs);
  });

  test("clipped jobs have the size that they were given and the one that they asked for", () => {
    const instance = prepare(workload, 8, { ...DEFAULT_RULES, oversize: "clip" });
    const back = readSwf([...writeScheduleSwf(instance, scheduleOf(instance, [0, 0, 0]))].join(""), "x");
    expect([...back.jobs.size]).toEqual([4, 4, 8]);
    expect([...(back.trace?.requested ?? [])]).toEqual([6, 6, 16]);
  });

  test("under time sharing the run time is the time from start to end, and the header says so", () => {
    const instance = prepare(workload, 16, DEFAULT_RULES);
    const out = [...writeScheduleSwf(instance, scheduleOf(instance, [0, 0, 0], gang))].join("");
    expect(out).toContain("; Preemption: TS\n");
    expect([...readSwf(out, "x").jobs.runS]).toEqual([200, 200, 200]);
  });

  test("a job that never started has wait, run time and allocation −1", () => {
    const instance = prepare(workload, 16, DEFAULT_RULES);
    const out = [...writeScheduleSwf(instance, scheduleOf(instance, [0, Number.NaN, 0]))].join("");
    expect(out).toContain("\n8 20 -1 -1 -1 50 -1 6 60 ");
  });

  test.skipIf(traceFile("SDSC-SP2") === undefined)("SDSC's copyright notice stays, word for word", () => {
    const log = readTrace("SDSC-SP2");
    const instance = prepare(log, 128, DEFAULT_RULES);
    const out = [
      ...writeScheduleSwf(
        instance,
        scheduleOf(
          instance,
          Array.from(instance.id, () => 0),
        ),
      ),
    ].join("");
    const words = (line: string) => line.replace(/[;>\s]+/g, " ");
    const kept = words(out);
    for (const line of log.header) expect(kept).toContain(words(line).trim());
    expect(out).toContain("provided that this copyright notice is preserved in all copies");
  });
});
