import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { readSwf } from "../traces-for-tests.ts";
import { SwfReader } from "./swf.ts";
import { requireJobs } from "./swf-rules.ts";

/** Returns a good line with some fields replaced. Fields are numbered from 1, as in the format. */
function line(replaced: Readonly<Record<number, string>> = {}): string {
  const fields = [
    "1",
    "10",
    "5",
    "100",
    "4",
    "90",
    "7",
    "8",
    "200",
    "9",
    "1",
    "11",
    "12",
    "13",
    "14",
    "15",
    "-1",
    "-1",
  ];
  for (const [field, text] of Object.entries(replaced)) fields[Number(field) - 1] = text;
  return fields.join(" ");
}

const read = (text: string) => readSwf(text, "test.swf");
const codes = (workload: Workload) =>
  Object.fromEntries(workload.diagnostics.map(({ code, count }) => [code, count]));

describe("readSwf()", () => {
  test("puts each of the 18 fields in its column", () => {
    const { count, jobs, trace } = read(`${line()}\n`);
    expect(count).toBe(1);
    const values = Object.fromEntries(
      Object.entries({ ...jobs, ...trace }).map(([name, column]) => [name, [...column]]),
    );
    expect(values).toEqual({
      id: [1],
      submitS: [10],
      waitS: [5],
      runS: [100],
      size: [4],
      allocated: [4],
      cpuS: [90],
      usedMemoryKB: [7],
      requested: [8],
      estimateS: [200],
      requestedMemoryKB: [9],
      status: [1],
      user: [11],
      group: [12],
      application: [13],
      queue: [14],
      partition: [15],
      precedingJob: [-1],
      thinkTimeS: [-1],
    });
  });

  test.each([
    ["LF", `; a\n${line()}\n${line({ 1: "2" })}\n`],
    ["CRLF", `; a\r\n${line()}\r\n${line({ 1: "2" })}\r\n`],
    ["no line end at the end", `; a\n${line()}\n${line({ 1: "2" })}`],
    ["byte order mark", `\uFEFF; a\n${line()}\n${line({ 1: "2" })}\n`],
    ["tabs and blanks around", `; a\n  ${line().replaceAll(" ", "\t \t")}  \t\n${line({ 1: "2" })}\n`],
    ["blank lines", `\n\n; a\n \n${line()}\n\t\r\n${line({ 1: "2" })}\n\n`],
  ])("reads two jobs and a comment: %s", (_, text) => {
    const workload = read(text);
    expect([...workload.jobs.id]).toEqual([1, 2]);
    expect(workload.header).toEqual(["; a"]);
    expect(workload.diagnostics).toEqual([]);
  });

  test("a byte order mark may stand before a job line", () => {
    const workload = read(`\uFEFF${line({ 1: "6" })}\n`);
    expect([...workload.jobs.id]).toEqual([6]);
    expect(workload.diagnostics).toEqual([]);
  });

  test("anywhere else it is part of a field", () => {
    const workload = read(`${line({ 1: "6" })}\n\uFEFF${line({ 1: "9" })}\n`);
    expect([...workload.jobs.id]).toEqual([6, 7]);
    expect(codes(workload)).toEqual({ "bad-job-number": 1 });
  });

  test.each([
    ["12.5", 12.5],
    ["0.1", 0.1],
    ["1.", 1],
    [".5", 0.5],
    ["+7", 7],
    ["1e3", 1000],
    ["1.5E2", 150],
    ["-0", 0],
    ["0000000000000012", 12],
    ["123456789.123456789123456789", 123456789.12345679],
    ["999999999999", 999999999999],
    ["1e-7", 1e-7],
  ])("reads the number %s", (text, expected) => {
    expect(read(line({ 4: text })).jobs.runS[0]).toBe(expected);
  });

  test("any double comes back from its shortest text", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e12, noNaN: true }),
        (x) => read(line({ 4: String(x) })).jobs.runS[0] === x + 0,
      ),
      { numRuns: 2_000 },
    );
  });

  test.each([
    "NaN",
    "nan",
    "Infinity",
    "1e999",
    "abc",
    "--1",
    "-",
    "1,5",
    "0x10",
    "1e",
    ".",
    "1_000",
    "1e13",
    "١",
  ])("drops a line whose run time is %s and says line, field and value", (text) => {
    const workload = read(`; c\n${line()}\n${line({ 1: "2", 4: text })}\n`);
    expect(workload.count).toBe(1);
    expect(codes(workload)).toEqual({ "bad-needed-field": 1 });
    expect(workload.diagnostics[0]).toMatchObject({
      action: "dropped",
      examples: [{ line: 3, job: 2, field: "run time" }],
    });
  });

  test.each([
    ["short-line", line().slice(0, -6)],
    ["short-line", "12"],
    ["bad-needed-field", line({ 2: "x" })],
    ["bad-needed-field", line({ 5: "3.5" })],
    ["bad-needed-field", line({ 5: "2147483648" })],
    ["bad-needed-field", line({ 5: "-1", 8: "x" })],
    ["bad-needed-field", line({ 5: "x" })],
    ["negative-submit", line({ 2: "-1" })],
    ["negative-submit", line({ 2: "-0.5" })],
    ["no-run-time", line({ 4: "-1" })],
    ["no-processors", line({ 5: "-1", 8: "-1" })],
    ["no-processors", line({ 5: "0", 8: "0" })],
    ["part-of-job", line({ 11: "2" })],
    ["part-of-job", line({ 11: "3" })],
    ["part-of-job", line({ 2: "-1", 11: "4" })],
    ["long-line", line() + " ".repeat(65536)],
    ["long-line", "x".repeat(70000)],
  ])("drops under the code %s: %.60s", (code, bad) => {
    const workload = read(`${line()}\n${bad}\n${line({ 1: "2" })}\n`);
    expect([...workload.jobs.id]).toEqual([1, 2]);
    expect(codes(workload)).toEqual({ [code]: 1 });
    expect(workload.diagnostics[0].action).toBe("dropped");
    expect(workload.diagnostics[0].examples[0].line).toBe(2);
  });

  test("takes the allocated processors as size, the requested ones if none were allocated", () => {
    const { jobs, trace } = read(
      [line({ 5: "6", 8: "8" }), line({ 1: "2", 5: "-1", 8: "8" }), line({ 1: "3", 5: "0" })].join("\n"),
    );
    expect([...jobs.size]).toEqual([6, 8, 8]);
    expect([...(trace?.allocated ?? [])]).toEqual([6, -1, 0]);
    expect([...(trace?.requested ?? [])]).toEqual([8, 8, 8]);
  });

  test("keeps a summary line and drops the parts of a preempted job that follow it", () => {
    const parts = [
      line({ 1: "1", 4: "60", 11: "1" }),
      line({ 4: "20", 11: "2" }),
      line({ 2: "-1", 4: "40", 11: "3" }),
    ];
    const workload = read([...parts, line({ 1: "2" })].join("\n"));
    expect([...workload.jobs.id]).toEqual([1, 2]);
    expect([...workload.jobs.runS]).toEqual([60, 100]);
    expect(codes(workload)).toEqual({ "part-of-job": 2 });
  });

  test("keeps run time 0 and counts it", () => {
    const workload = read(line({ 4: "0" }));
    expect([...workload.jobs.runS]).toEqual([0]);
    expect(workload.diagnostics).toMatchObject([{ code: "zero-run-time", action: "kept", count: 1 }]);
  });

  test("an estimate of −1 is missing, 0 counts as missing, another negative one is a bad field", () => {
    const workload = read(
      [line({ 9: "-1" }), line({ 1: "2", 9: "0" }), line({ 1: "3", 9: "-5" })].join("\n"),
    );
    expect([...workload.jobs.estimateS]).toEqual([-1, -1, -1]);
    expect(codes(workload)).toEqual({ "zero-estimate": 1, "bad-field": 1 });
  });

  test.each([3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18])(
    "sets a bad field %d, which is not needed, to −1",
    (field) => {
      for (const text of ["x", "NaN", "-7", "1e400"]) {
        const workload = read(line({ [field]: text }));
        expect(workload.count).toBe(1);
        expect(codes(workload)).toEqual({ "bad-field": 1 });
        const good = read(line({ [field]: "-1" }));
        expect(workload.trace).toEqual(good.trace);
        expect(workload.jobs).toEqual(good.jobs);
        expect(good.diagnostics).toEqual([]);
      }
    },
  );

  test("sorts by submit time, keeps the order of the file among equal ones, counts what was out of order", () => {
    const submits = [30, 10, 20, 10, 40, 20];
    const workload = read(
      submits.map((s, i) => line({ 1: String(i + 1), 2: String(s), 12: String(i + 1) })).join("\n"),
    );
    expect([...workload.jobs.submitS]).toEqual([10, 10, 20, 20, 30, 40]);
    expect([...workload.jobs.id]).toEqual([2, 4, 3, 6, 1, 5]);
    expect([...(workload.trace?.user ?? [])]).toEqual([2, 4, 3, 6, 1, 5]);
    expect(workload.diagnostics).toMatchObject([
      {
        code: "unsorted-submit",
        action: "repaired",
        count: 3,
        examples: [{ line: 2 }, { line: 4 }, { line: 6 }],
      },
    ]);
  });

  test("gives jobs without a usable number, and the later ones of a number, new numbers above all others", () => {
    const numbers = ["5", "x", "5", "-1", "7", "3.5", "2147483648", "3", "5"];
    const workload = read(numbers.map((n) => line({ 1: n })).join("\n"));
    expect([...workload.jobs.id]).toEqual([5, 8, 9, 10, 7, 11, 12, 3, 13]);
    expect(codes(workload)).toEqual({ "bad-job-number": 4, "duplicate-job-number": 2 });
    expect(workload.diagnostics.find(({ code }) => code === "duplicate-job-number")?.examples[0]).toEqual({
      line: 3,
      job: 9,
      field: "job number",
      value: "5",
    });
  });

  test("finds a number used twice in a row, and one used again after larger ones", () => {
    expect([...read(["4", "4"].map((n) => line({ 1: n })).join("\n")).jobs.id]).toEqual([4, 5]);
    expect([...read(["4", "9", "4"].map((n) => line({ 1: n })).join("\n")).jobs.id]).toEqual([4, 9, 10]);
  });

  test("numbers go on from 1 where the largest Int32 is taken", () => {
    const workload = read(["2147483647", "1", "1", "x"].map((n) => line({ 1: n })).join("\n"));
    expect([...workload.jobs.id]).toEqual([2147483647, 1, 2, 3]);
  });
});

describe("the header", () => {
  test.each([
    ["; MaxProcs: 338\n; MaxNodes: 512", 338],
    ["; MaxNodes: 512\n; MaxProcs: 338", 338],
    ["; MaxNodes: 338 (batch partition; 512 total)", 338],
    [";MaxProcs:64", 64],
    [";   maxprocs : 64 processors", 64],
    ["; MaxProcs: -1\n; MaxNodes: 100", 100],
    ["; MaxProcs: unknown", undefined],
    ["; MaxProcs: 99999999999", undefined],
    ["; Note: MaxProcs: 12", undefined],
    ["; Computer: x", undefined],
  ])("of %j names %s processors", (header, expected) => {
    expect(read(`${header}\n${line()}\n`).processors).toBe(expected);
  });

  test("keeps every comment line as it stands, from anywhere in the file", () => {
    const comments = ["; Version: 2.2", ";", ";   continued   ", "  ; indented", "; Ångström – 計算機"];
    const workload = read(`${comments.slice(0, 4).join("\n")}\n${line()}\n${comments[4]}\n`);
    expect(workload.header).toEqual(comments);
  });

  test("is cut at 1 MiB of comments and at 64 KiB a line, so memory is bounded", () => {
    const workload = read(`; ${"x".repeat(70000)}\n${`; ${"y".repeat(998)}\n`.repeat(1100)}${line()}\n`);
    expect(workload.count).toBe(1);
    expect(workload.header.length).toBe(Math.floor(1048576 / 1001));
    expect(codes(workload)).toEqual({ "header-cut": 1 + 1100 - workload.header.length });
    expect(workload.diagnostics[0].action).not.toBe("dropped"); // that word is for job lines
  });
});

describe("SwfReader", () => {
  const text =
    "\uFEFF; Computer: Größe 計算機\r\n; MaxProcs: 64\r\n" +
    `${line({ 6: "12.25" })}\r\n\n${line({ 1: "2", 2: "9", 4: "x" })}\n${line({ 1: "2", 2: "9" })}\n; ${"é".repeat(40000)}\n` +
    `${"z".repeat(66000)}\n${line({ 1: "1", 2: "1e1", 9: "0" })}`;
  const bytes = new TextEncoder().encode(text);
  const whole = readSwf(bytes, "test.swf");

  test("push() gives the same workload wherever the chunks are split", () => {
    expect(whole.count).toBe(3);
    expect(whole.header).toHaveLength(2);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const reader = new SwfReader("test.swf");
        let from = 0;
        for (const cut of [...cuts.sort((a, b) => a - b), bytes.length]) {
          // A copy that is overwritten afterwards: the reader must not keep a chunk.
          const chunk = bytes.slice(from, cut);
          reader.push(chunk);
          chunk.fill(0);
          from = cut;
        }
        expect(reader.end()).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });

  test("push() takes one byte at a time", () => {
    const reader = new SwfReader("test.swf");
    for (const byte of bytes) reader.push(Uint8Array.of(byte));
    expect(reader.end()).toEqual(whole);
  });

  test("a wrong hint of the length changes nothing", () => {
    for (const hint of [1, 64, 10_000_000]) {
      const reader = new SwfReader("test.swf", hint);
      reader.push(bytes);
      expect(reader.end()).toEqual(whole);
    }
  });

  test("columns have no spare room", () => {
    const many = readSwf(
      `${Array.from({ length: 1000 }, (_, i) => line({ 1: String(i + 1) })).join("\n")}\n`,
      "x",
    );
    expect(many.count).toBe(1000);
    for (const column of Object.values({ ...many.jobs, ...many.trace })) {
      expect(column.length).toBe(1000);
      expect(column.buffer.byteLength).toBe(1000 * column.BYTES_PER_ELEMENT);
    }
  });

  test.each([
    [65536, 1],
    [65537, 0],
  ])("a line of %d bytes gives %d jobs, in one chunk or in two", (length, expected) => {
    const padded = new TextEncoder().encode(`${line().padEnd(length)}\n`);
    expect(readSwf(padded, "x").count).toBe(expected);
    const reader = new SwfReader("x");
    reader.push(padded.subarray(0, 40_000));
    reader.push(padded.subarray(40_000));
    expect(reader.end().count).toBe(expected);
  });

  test("refuses to go on after end()", () => {
    const reader = new SwfReader("x");
    reader.end();
    expect(() => reader.push(bytes)).toThrow(/push after end/);
    expect(() => reader.end()).toThrow(/end called twice/);
  });
});

describe("requireJobs()", () => {
  test("passes a workload with jobs through", () => {
    const workload = read(line());
    expect(requireJobs(workload)).toBe(workload);
  });

  test.each([
    ["", /Cannot use the jobs of "test.swf": it has no jobs, expected lines of 18 numbers/],
    ["; MaxProcs: 12\n\n", /it has no jobs/],
    [
      "<!doctype html>\n<p>x\n",
      /line 1 has fewer than 18 fields: "<!doctype html>", expected 18 numbers.*none of its 2 lines/,
    ],
    [
      "\u001f\u008b\u0000\u0001abc",
      /as a trace in Standard Workload Format: line 1 has fewer than 18 fields: "\?\?+abc"/,
    ],
    [line({ 4: "abc" }), /line 1 has the run time "abc", expected 18 numbers/],
    [`\n${"q".repeat(80000)}`, /line 2 is longer than 64 KiB: "q{40}", expected/],
    [
      `${line({ 4: "-1" })}\n${line({ 2: "-3" })}\n${line({ 4: "-1" })}`,
      /none of its 3 job lines can be simulated \(no-run-time 2, negative-submit 1\)/,
    ],
  ])("says in one line why there is no job in %.30j", (text, message) => {
    const workload = read(text);
    expect(workload.count).toBe(0);
    expect(() => requireJobs(workload)).toThrow(InputError);
    expect(() => requireJobs(workload)).toThrow(message);
    expect(() => requireJobs(workload)).not.toThrow(/\n/);
  });
});
