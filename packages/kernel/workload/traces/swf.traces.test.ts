/**
 * Tests the reader on the real logs: compares every line with the naive twin, and checks the tables of the
 * README that comes with the logs.
 */
import { describe, expect, test } from "vitest";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { describeWorkload } from "../describe.ts";
import { prepare } from "../prepare.ts";
import { auditInstance } from "../prepare-for-tests.ts";
import { REAL_TRACES, readSwf, readTrace, traceBytes, traceFile } from "../traces-for-tests.ts";
import { readNaively } from "./naive-swf-for-tests.ts";

/**
 * The README's tables: lines in the file, usable jobs (submit ≥ 0, run time > 0, a known processor count),
 * processors, load, run time median/mean/max, size min/mean/max, serial and power-of-two shares in %, users.
 * The digits are as printed, so the tolerance is half a unit of the last digit; a whole unit for the load,
 * since that of LLNL-Atlas is 0.70454.
 */
const TABLE: Readonly<Record<string, readonly (number | undefined)[]>> = {
  "CTC-SP2": [77222, 77205, 338, 0.842, 1115, 11280, 71998, 1, 11.0, 336, 42.0, 40.7, 679],
  "LANL-CM5": [122060, 122055, 1024, 0.744, 414, 2582, 239892, 32, 101.3, 1024, 0, 100, 213],
  "SDSC-SP2": [59715, 54034, 128, 0.834, 359, 7391, 510209, 1, 12.3, 128, 23.2, 61.4, 437],
  "SDSC-Par": [32135, 32128, 400, 0.747, 209, 8755, 448070, 1, 18.3, 320, 8.3, 84.1, 60],
  "KTH-SP2": [28476, 28467, 100, 0.701, 847, 8875, 226709, 1, 7.7, 100, 32.9, 40.6, 214],
  "NASA-iPSC": [18239, 18066, 128, 0.466, 88, 772, 62643, 1, 16.8, 128, 27.2, 72.8, 69],
  HPC2N: [202871, 202871, 240, 0.602, 2873, 17024, 508620, 1, 6.4, 200, 42.1, 49.9, 257],
  "LLNL-Atlas": [43778, 36600, 9216, 0.704, 115, 6011, 849066, 8, 449.6, 9120, 0, 85.7, 131],
  lublin_256: [10000, 10000, 256, 1.061, 137, 4863, 124707, 1, 22.1, 256, 24.9, 61.2, undefined],
};
/**
 * The README counts the users of all lines there: also of jobs that never ran (9 and 3), and −1 as a user
 * (LLNL-Atlas).
 */
const USERS_THAT_RAN: Readonly<Record<string, number>> = { "SDSC-SP2": 428, "LLNL-Atlas": 127 };
/** Recorded waits, median and mean, of the logs in which every job has one and was started. */
const WAITS: Readonly<Record<string, readonly [number, number]>> = {
  HPC2N: [1599, 54108],
  "LANL-CM5": [2, 1846],
};
/**
 * Jobs that ran longer than their estimate, and jobs without one, from the README's list of oddities, minus
 * LANL's 3 jobs without a size.
 */
const OVERRUNS: Readonly<Record<string, readonly [number, number]>> = {
  "CTC-SP2": [7174, 6],
  "LANL-CM5": [40180, 11290 - 3],
  "KTH-SP2": [475, 0],
  HPC2N: [14817, 0],
};

describe.each([...REAL_TRACES, "lublin_256"])("trace %s", (name) => {
  test.skipIf(traceFile(name) === undefined)(
    "readSwf() gives the naive twin's rows, counts and header",
    () => {
      const bytes = traceBytes(name);
      const { count, jobs, trace, header, diagnostics } = readSwf(bytes, name);
      const expected = readNaively(bytes);
      expect(count).toBe(expected.rows.length);
      expect(header).toEqual(expected.header);
      expect(Object.fromEntries(diagnostics.map((d) => [d.code, d.count]))).toEqual(expected.codes);
      const dropped = diagnostics.reduce((sum, d) => sum + (d.action === "dropped" ? d.count : 0), 0);
      expect(count + dropped).toBe(expected.jobLines);
      if (trace === undefined) throw new Error("a log has trace columns");
      // In the order of the naive rows: five core columns, then the format's fields.
      const columns = [
        jobs.id,
        jobs.submitS,
        jobs.runS,
        jobs.size,
        jobs.estimateS,
        jobs.id,
        jobs.submitS,
        trace.waitS,
        jobs.runS,
        trace.allocated,
        trace.cpuS,
        trace.usedMemoryKB,
        trace.requested,
        jobs.estimateS,
        trace.requestedMemoryKB,
        trace.status,
        trace.user,
        trace.group,
        trace.application,
        trace.queue,
        trace.partition,
        trace.precedingJob,
        trace.thinkTimeS,
      ];
      let different = 0;
      expected.rows.forEach((row, i) => {
        for (let k = 0; k < columns.length; k++) if (columns[k][i] !== row[k]) different++;
      });
      expect(different).toBe(0);
    },
  );

  test.skipIf(traceFile(name) === undefined)(
    "describeWorkload() gives the facts of the README's tables",
    () => {
      const [
        lines,
        usable,
        processors,
        load,
        runMedian,
        runMean,
        runMax,
        sizeMin,
        sizeMean,
        sizeMax,
        serial,
        powers,
        users,
      ] = TABLE[name];
      const workload = readTrace(name);
      const facts = describeWorkload(workload);
      const dropped = workload.diagnostics.reduce(
        (sum, d) => sum + (d.action === "dropped" ? d.count : 0),
        0,
      );
      expect(facts.jobs + dropped).toBe(lines);
      expect(facts.jobs - facts.zeroRunJobs).toBe(usable);
      expect(facts.processors).toBe(processors);
      const near = (actual: number | undefined, printed: number | undefined, digits: number) =>
        expect(Math.abs((actual ?? Number.NaN) - (printed ?? Number.NaN))).toBeLessThanOrEqual(
          0.5 * 10 ** -digits + 1e-9,
        );
      expect(Math.abs((facts.offeredLoad ?? Number.NaN) - (load ?? Number.NaN))).toBeLessThan(0.001);
      near(facts.runS?.median, runMedian, 0);
      near(facts.runS?.mean, runMean, 0);
      expect(facts.runS?.max).toBe(runMax);
      expect(facts.size?.min).toBe(sizeMin);
      near(facts.size?.mean, sizeMean, 1);
      expect(facts.size?.max).toBe(sizeMax);
      near(100 * (facts.serialShare ?? Number.NaN), serial, 1);
      near(100 * (facts.powerOfTwoShare ?? Number.NaN), powers, 1);
      expect(facts.users).toBe(USERS_THAT_RAN[name] ?? users);
      if (name in WAITS) {
        near(facts.waitS?.median, WAITS[name][0], 0);
        near(facts.waitS?.mean, WAITS[name][1], 0);
      }
    },
  );

  test.skipIf(traceFile(name) === undefined)(
    "prepare() accounts for every job under both overrun rules",
    () => {
      const workload = readTrace(name);
      const processors = workload.processors ?? Number.NaN;
      for (const overrun of ["raise", "kill"] as const) {
        const instance = prepare(workload, processors, { ...DEFAULT_RULES, overrun });
        auditInstance(instance);
        expect(instance.count).toBe(workload.count); // no job asks for more than MaxProcs, says the README
        const codes = Object.fromEntries(instance.diagnostics.map((d) => [d.code, d.count]));
        if (name in OVERRUNS) {
          expect(codes[overrun === "raise" ? "overrun-raised" : "overrun-killed"]).toBe(OVERRUNS[name][0]);
          expect(codes["estimate-missing"] ?? 0).toBe(OVERRUNS[name][1]);
        }
      }
    },
  );
});
