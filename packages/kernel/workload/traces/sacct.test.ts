import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import { hashWorkload } from "../hash.ts";
import { droppedOf, sampleBytes, sampleFile, wrongWith } from "./formats-for-tests.ts";
import { isSlurmHistory, SacctReader } from "./sacct.ts";
import { meaningOfState, parseDurationS, parseLimitS, parseTimeS } from "./sacct-fields.ts";
import { SACCT_RULES } from "./sacct-rules.ts";

const SAMPLE = "sacct-parsable2-sample.txt";

function read(text: string | Uint8Array, cuts: readonly number[] = []) {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const reader = new SacctReader("test.txt");
  let from = 0;
  for (const cut of [...cuts.map((c) => c % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    reader.push(bytes.subarray(from, cut));
    from = cut;
  }
  return reader.end();
}

const HEADER = "JobIDRaw|Submit|Start|End|Elapsed|State|AllocCPUS|ReqCPUS|Timelimit|User|Group|QOS|Partition";
const at = (hour: number) => `2024-02-29T${String(hour).padStart(2, "0")}:00:00`;
const DONE = {
  JobIDRaw: "7",
  Submit: at(1),
  Start: at(2),
  End: at(4),
  Elapsed: "02:00:00",
  State: "COMPLETED",
  AllocCPUS: "8",
  ReqCPUS: "4",
  Timelimit: "1-00:00:00",
  User: "ann",
  Group: "staff",
  QOS: "normal",
  Partition: "batch",
};
const line = (changes: Partial<typeof DONE> = {}) =>
  HEADER.split("|")
    .map((name) => ({ ...DONE, ...changes })[name as keyof typeof DONE])
    .join("|");
const one = (changes: Partial<typeof DONE>) => read(`${HEADER}\n${line(changes)}\n`);
const codes = (workload: ReturnType<typeof read>) => workload.diagnostics.map(({ code }) => code);

describe("parseDurationS()", () => {
  test.each([
    ["00:00:07", 7],
    ["01:02:03", 3723],
    ["7-20:39:39", 679_179],
    ["125-00:00:00", 10_800_000],
    ["05:30", 330],
    ["00:10.123", 10],
    ["100:00:00", 360_000],
  ])("%s is %d s", (text, seconds) => expect(parseDurationS(text)).toBe(seconds));

  test.each(["", "5", "1-2", "x", "1:2:3:4", "-1:00", "00:00:1", "Unknown", "9999999999:00:00"])(
    'refuses "%s"',
    (text) => expect(parseDurationS(text)).toBeNaN(),
  );
});

describe("parseTimeS()", () => {
  test("is the calendar's seconds since 1970, as Date counts them, for any time to 2200", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 7_258_118_399 }), (seconds) => {
        const text = new Date(seconds * 1000).toISOString().slice(0, 19);
        expect(parseTimeS(text)).toBe(seconds);
      }),
      { numRuns: 2000 },
    );
    expect(parseTimeS("1482357814")).toBe(1_482_357_814);
  });

  test("knows unknown times, and refuses days and hours that there are not", () => {
    for (const text of ["Unknown", "None", ""]) expect(parseTimeS(text)).toBeUndefined();
    for (const text of [
      "2024-13-01T00:00:00",
      "2024-00-01T00:00:00",
      "2024-02-30T00:00:00",
      "2024-04-31T00:00:00",
      "2024-01-01T24:00:00",
      "1969-12-31T23:59:59",
      "2024-01-01",
      "yesterday",
    ]) {
      expect(parseTimeS(text)).toBeNaN();
    }
  });
});

describe("parseLimitS() and meaningOfState()", () => {
  test("limits: durations, minutes where raw, none for UNLIMITED and Partition_Limit", () => {
    expect(parseLimitS("08:00:00", false)).toBe(28_800);
    expect(parseLimitS("480", true)).toBe(28_800);
    for (const text of ["UNLIMITED", "Partition_Limit", "partition_limit", ""]) {
      expect(parseLimitS(text, false)).toBeUndefined();
      expect(parseLimitS(text, true)).toBeUndefined();
    }
    expect(parseLimitS("soon", false)).toBeNaN();
    expect(parseLimitS("08:00:00", true)).toBeNaN();
  });

  test("states: long and short, with who cancelled, and words that are names of object members", () => {
    expect(meaningOfState("CANCELLED by 1000")).toBe("cancelled");
    expect(meaningOfState("CANCELLED+")).toBe("cancelled");
    expect(meaningOfState("CD")).toBe("completed");
    for (const state of ["TIMEOUT", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"]) {
      expect(meaningOfState(state)).toBe("failed");
    }
    for (const state of ["PENDING", "RUNNING", "SUSPENDED"]) expect(meaningOfState(state)).toBe("unfinished");
    for (const state of ["", "NEW_STATE", "constructor", "__proto__"]) {
      expect(meaningOfState(state)).toBe("unknown");
    }
  });
});

describe("new SacctReader()", () => {
  test("reads a job by the names of its fields, in any order, and passes over the others", () => {
    const direct = read(`${HEADER}\n${line()}\n${line({ JobIDRaw: "9", Submit: at(3), Start: at(3) })}`);
    expect(direct.jobs.id).toEqual(Int32Array.of(7, 9));
    expect(direct.jobs.submitS).toEqual(Float64Array.of(0, 7200));
    expect(direct.jobs.runS).toEqual(Float64Array.of(7200, 7200));
    expect(direct.jobs.size).toEqual(Int32Array.of(8, 8));
    expect(direct.jobs.estimateS).toEqual(Float64Array.of(86_400, 86_400));
    expect(direct.trace!.waitS).toEqual(Float64Array.of(3600, 0));
    expect(direct.trace!.requested).toEqual(Int32Array.of(4, 4));
    expect(direct.trace!.status).toEqual(Int32Array.of(1, 1));
    expect(direct.trace!.cpuS).toEqual(Float64Array.of(-1, -1));
    expect(direct.header).toContain("; Partition: 1 batch");
    expect(direct.header).toContain("; Note: time 0 is 2024-02-29T01:00:00, local time");
    expect(direct.diagnostics).toEqual([]);
    const order = [12, 3, 0, 8, 1, 5, 2, 11, 4, 7, 6, 10, 9];
    const shuffled = (text: string) => ["?", ...order.map((i) => text.split("|")[i])].join("|");
    const other = read(
      [HEADER, line(), line({ JobIDRaw: "9", Submit: at(3), Start: at(3) })].map(shuffled).join("\r\n"),
    );
    expect({ ...other.jobs }).toEqual({ ...direct.jobs });
    expect(other.trace).toEqual(direct.trace);
  });

  test("the older names NCPUS and JobID, raw fields, and start and end instead of the elapsed time do too", () => {
    const { jobs } = read(`JobID|Submit|Start|End|NCPUS|TimelimitRaw\n12|${at(1)}|${at(2)}|${at(5)}|3|90\n`);
    expect([jobs.id[0], jobs.runS[0], jobs.size[0], jobs.estimateS[0]]).toEqual([12, 10_800, 3, 5400]);
    expect(read(`JobID|Submit|ElapsedRaw|ReqCPUS|\n12|${at(1)}|77|3|\n`).jobs.runS[0]).toBe(77); // --parsable
  });

  test.each([
    ["step", { JobIDRaw: "7.batch" }],
    ["step", { JobIDRaw: "7.0" }],
    ["unfinished", { State: "RUNNING", End: "Unknown" }],
    ["unfinished", { State: "PENDING", Start: "Unknown", Elapsed: "00:00:00" }],
    ["not-started", { State: "CANCELLED by 5", Start: at(2), End: at(2), Elapsed: "00:00:00" }],
    ["not-started", { State: "CANCELLED", Start: "None", Elapsed: "00:00:00" }],
    ["no-submit-time", { Submit: "Unknown" }],
    ["bad-needed-field", { Submit: "noon" }],
    ["bad-needed-field", { Elapsed: "a while" }],
    ["bad-needed-field", { AllocCPUS: "", ReqCPUS: "many" }],
    ["no-run-time", { Elapsed: "", End: "Unknown" }],
    ["no-processors", { AllocCPUS: "0", ReqCPUS: "" }],
    ["wrong-field-count", { User: "ann|bob" }],
    ["long-line", { User: "x".repeat(70_000) }],
  ] as const)("leaves out %s: %o", (code, changes) => {
    const workload = one(changes);
    expect(workload.count).toBe(0);
    expect(codes(workload)).toEqual([code]);
    expect(workload.diagnostics[0]).toMatchObject({ action: "dropped", count: 1 });
    expect(workload.diagnostics[0].examples[0].line).toBe(2);
  });

  test.each([
    ["bad-field", { Timelimit: "forever" }, "estimateS", -1],
    ["no-time-limit", { Timelimit: "UNLIMITED" }, "estimateS", -1],
    ["no-time-limit", { Timelimit: "Partition_Limit" }, "estimateS", -1],
    ["bad-field", { AllocCPUS: "-8" }, "size", 4],
    ["zero-run-time", { Elapsed: "00:00:00" }, "runS", 0],
    ["unknown-state", { State: "NEW" }, "runS", 7200],
    ["bad-job-number", { JobIDRaw: "7_1" }, "id", 1],
  ] as const)("%s: %o gives %s = %d", (code, changes, column, value) => {
    const workload = one(changes);
    expect(workload.jobs[column][0]).toBe(value);
    expect(codes(workload)).toEqual([code]);
  });

  test("a job arrives when it becomes eligible; requeues and suspensions are noted", () => {
    const header = `${HEADER}|Eligible|Suspended`;
    const more = (eligible: string, suspended: string, changes: Partial<typeof DONE> = {}) =>
      `${line(changes)}|${eligible}|${suspended}`;
    const workload = read(
      [
        header,
        more(at(1), "00:00:00"),
        more("Unknown", "00:00:00", { JobIDRaw: "8" }),
        more("2024-02-29T01:30:00", "00:00:07", { JobIDRaw: "9", State: "REQUEUED" }),
      ].join("\n"),
    );
    expect([...workload.jobs.submitS]).toEqual([0, 0, 1800]);
    expect([...workload.trace!.waitS]).toEqual([3600, 3600, 1800]);
    expect([...workload.trace!.status]).toEqual([1, 1, 0]);
    expect(codes(workload).sort()).toEqual(["eligible-later", "requeued", "suspended"]);
    expect(workload.diagnostics.every(({ examples }) => examples[0].job === 9)).toBe(true);
  });

  test("times in Unix seconds say in the header when time 0 is", () => {
    const unix = { Submit: "1795397767", Start: "1795397768", End: "1795397772", Elapsed: "00:00:04" };
    const { header, trace } = one(unix);
    expect(header).toContain("; UnixStartTime: 1795397767");
    expect(trace!.waitS[0]).toBe(1);
    expect(isSlurmHistory({ header })).toBe(true);
    expect(isSlurmHistory({ header: ["; Computer: IBM SP2"] })).toBe(false);
  });

  test("starts before submits, jobs that ran again, and lines that are not in order are repaired", () => {
    const workload = read(
      [HEADER, line({ Start: at(0) }), line({ Submit: at(0), Start: at(1) }), line({ JobIDRaw: "3" })].join(
        "\n",
      ),
    );
    expect(codes(workload).sort()).toEqual([
      "duplicate-job-number",
      "start-before-submit",
      "unsorted-submit",
    ]);
    expect([...workload.jobs.submitS]).toEqual([0, 3600, 3600]);
    expect([...workload.trace!.waitS]).toEqual([3600, -1, 3600]);
    expect([...workload.jobs.id]).toEqual([8, 7, 3]);
  });

  test.each([
    ["", /it is empty, expected a first line/],
    ["\n\n", /it is empty/],
    ["JobID|Submit|State\n", /line 1 has no field Elapsed, AllocCPUS, expected a first line such as/],
    ["JobID  State\n---- ----\n", /line 1 has no field/],
    [`${"x".repeat(80_000)}\n`, /has no field/],
  ])("a text without a usable header is refused: %#", (text, message) => {
    expect(() => read(text)).toThrow(InputError);
    expect(() => read(text)).toThrow(message);
  });

  test("every rule has a test above or a cause in the reader", () => {
    const tested = [
      "step unfinished not-started no-submit-time bad-needed-field no-run-time no-processors wrong-field-count",
      "long-line bad-field no-time-limit zero-run-time unknown-state bad-job-number duplicate-job-number",
      "start-before-submit unsorted-submit eligible-later requeued suspended",
    ].join(" ");
    expect(tested.split(" ").sort()).toEqual(Object.keys(SACCT_RULES).sort());
  });
});

describe.skipIf(sampleFile(SAMPLE) === undefined)("the sample of a real log", () => {
  test("all 335 jobs are there or left out for a reason; values are those of a plain reading", () => {
    const bytes = sampleBytes(SAMPLE);
    const workload = read(bytes);
    expect(wrongWith(workload)).toBeUndefined();
    const [header, ...lines] = new TextDecoder().decode(bytes).trim().split("\n");
    const names = header.split("|");
    const rows = lines.map((text) =>
      Object.fromEntries(text.split("|").map((value, i) => [names[i], value])),
    );
    expect(rows).toHaveLength(335);
    const ran = rows.filter((row) => !(row.State.startsWith("CANCELLED") && row.Elapsed === "00:00:00"));
    expect(workload.count).toBe(ran.length);
    expect(droppedOf(workload)).toBe(335 - ran.length);
    const seconds = (text: string) => Date.parse(`${text}Z`) / 1000;
    // Slurm starts no job before it is eligible; a requeued one is so 121 s after its new submit.
    const arrival = (row: (typeof ran)[number]) => Math.max(seconds(row.Submit), seconds(row.Eligible));
    const first = Math.min(...ran.map(arrival));
    const byId = new Map(ran.map((row) => [Number(row.JobIDRaw), row]));
    for (let i = 0; i < workload.count; i++) {
      const row = byId.get(workload.jobs.id[i])!;
      expect(workload.jobs.submitS[i]).toBe(arrival(row) - first);
      expect(workload.jobs.size[i]).toBe(Number(row.NCPUS));
      expect(workload.trace!.waitS[i]).toBe(seconds(row.Start) - arrival(row));
      // The log's clock and Slurm's elapsed time differ only by summer time and suspensions.
      expect(workload.jobs.runS[i]).toBe(seconds(row.End) - seconds(row.Start));
    }
  });

  test("pieces cut anywhere give the same workload", () => {
    const bytes = sampleBytes(SAMPLE);
    const whole = hashWorkload(read(bytes));
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (cuts) => {
        expect(hashWorkload(read(bytes, cuts))).toBe(whole);
      }),
      { numRuns: 30 },
    );
  });
});

describe("mutated output of sacct", () => {
  const text = [
    HEADER,
    ...Array.from({ length: 12 }, (_, i) =>
      line({
        JobIDRaw: String(i),
        Submit: at(i),
        Start: at(i + 1),
        User: `u${i % 3}`,
        State: i % 4 ? "COMPLETED" : "FAILED",
      }),
    ),
  ].join("\n");
  const pieces = [
    "",
    "|",
    "||",
    "\n",
    "\r\n",
    "-",
    ":",
    "T",
    "9999999999",
    "Unknown",
    "UNLIMITED",
    "RUNNING",
    "CANCELLED by 1",
    ".batch",
    "\u0000",
    "é",
    "\ufeff",
    "|".repeat(3000),
    "7".repeat(400),
    "-1",
    "1e9",
    "NaN",
    "__proto__",
  ];

  test("never makes anything but a sound workload or an InputError, and counts every line", () => {
    let read_ = 0;
    let refused = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(text.length), fc.nat(30), fc.constantFrom(...pieces)), {
          minLength: 1,
          maxLength: 6,
        }),
        fc.array(fc.nat(3000), { maxLength: 3 }),
        (edits, cuts) => {
          let mutant = text;
          for (const [from, length, piece] of edits) {
            mutant = mutant.slice(0, from) + piece + mutant.slice(from + length);
          }
          try {
            const workload = read(mutant, cuts);
            expect(wrongWith(workload)).toBeUndefined();
            const lines = mutant.split("\n").filter((line) => line.replace("\ufeff", "").trim() !== "");
            expect(workload.count + droppedOf(workload)).toBe(lines.length - 1);
            read_++;
          } catch (error) {
            if (!(error instanceof InputError)) throw error;
            refused++;
          }
        },
      ),
      { numRuns: 3000 },
    );
    expect(read_).toBeGreaterThan(1000);
    expect(refused).toBeGreaterThan(50);
  });

  test("bytes of any kind are refused or read, in time linear in their number", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(() => read(bytes)).toThrow(InputError); // no header by chance
      }),
      { numRuns: 500 },
    );
    expect(() => read("|".repeat(2_000_000))).toThrow(InputError);
    expect(read(`${HEADER}\n${"x|".repeat(2_000_000)}`).diagnostics[0].code).toBe("long-line");
  });
});
