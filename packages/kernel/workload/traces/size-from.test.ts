/** Lines with more than 18 fields, and sizes from declared places, on a generated file in Frontier's form. */
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { Random } from "../../core/random.ts";
import { detectFormat } from "./formats.ts";
import { parseSizeFrom } from "./size-from.ts";
import { SwfReader } from "./swf.ts";
import { requireJobs } from "./swf-rules.ts";
import { writeSwf } from "./swf-writer.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function read(text: string, sizeFrom = "allocated"): Workload {
  const reader = new SwfReader("test.swf", 0, parseSizeFrom(sizeFrom));
  reader.push(bytesOf(text));
  return reader.end();
}

const codes = ({ diagnostics }: Workload) =>
  Object.fromEntries(diagnostics.map(({ code, action, count }) => [code, `${action} ${count}`]));

interface Job {
  readonly nodes: number;
  readonly runS: number;
}

/**
 * 21 fields: the 18 of the format, used GPUs, the soft limit and the descriptor. Field 5 counts nodes in some
 * lines and hardware threads in others.
 */
function frontierLog(jobs: readonly Job[]): string {
  const lines = jobs.map(({ nodes, runS }, i) => {
    const allocated = i % 2 === 0 ? nodes : nodes * 112;
    const swf = [
      i + 1,
      60 * i,
      5,
      runS,
      allocated,
      -1,
      -1,
      allocated,
      2 * runS,
      -1,
      1,
      7,
      3,
      -1,
      2,
      1,
      -1,
      -1,
    ];
    return [...swf, nodes * 8, -1, `frontier:${i % 3 === 0 ? "excl" : "shared"}:${nodes}x112`].join(" ");
  });
  return `; UnixStartTime: 1704067200\n; MaxNodes: 9408\n; MaxProcs: 1053696\n${lines.join("\n")}\n`;
}

const random = new Random(1, "frontier");
const JOBS: readonly Job[] = Array.from({ length: 2000 }, () => ({
  nodes: 1 + random.below(9408),
  runS: 1 + random.below(86400),
}));

describe("a log of 21 fields", () => {
  test("is read with its first 18, and says what the others are", () => {
    const workload = requireJobs(read(frontierLog(JOBS)));
    expect(workload.count).toBe(2000);
    expect([...workload.jobs.runS]).toEqual(JOBS.map(({ runS }) => runS));
    expect([...workload.jobs.size]).toEqual(JOBS.map(({ nodes }, i) => (i % 2 === 0 ? nodes : nodes * 112)));
    expect(workload.processors).toBe(1053696);
    expect(workload.sizeRule).toBeUndefined();
    expect(workload.diagnostics).toHaveLength(1);
    const { nodes } = JOBS[0];
    expect(workload.diagnostics[0]).toMatchObject({ code: "extra-fields", action: "kept", count: 2000 });
    expect(workload.diagnostics[0].examples[0]).toMatchObject({
      line: 4,
      value: `${nodes * 8} -1 frontier:excl:${nodes}x112`,
    });
    expect(workload.diagnostics[0].examples).toHaveLength(5);
  });

  test("gives its nodes with --size-from frontier, on a machine of nodes", () => {
    const workload = read(frontierLog(JOBS), "frontier");
    expect([...workload.jobs.size]).toEqual(JOBS.map(({ nodes }) => nodes));
    expect(workload.processors).toBe(9408);
    expect(workload.sizeRule).toMatch(/^size=frontier: .*nodes/);
    expect(codes(workload)).toEqual({ "extra-fields": "kept 2000" });
    // Hardware threads are not nodes: without MaxNodes, the size of the machine is unknown.
    expect(read(frontierLog(JOBS).replace("; MaxNodes: 9408\n", ""), "frontier").processors).toBeUndefined();
  });

  test("can be cut anywhere", () => {
    const bytes = bytesOf(frontierLog(JOBS.slice(0, 20)));
    for (let cut = 0; cut <= bytes.length; cut += 7) {
      const reader = new SwfReader("test.swf", 0, parseSizeFrom("frontier"));
      reader.push(bytes.subarray(0, cut));
      reader.push(bytes.subarray(cut));
      expect([...reader.end().jobs.size]).toEqual(JOBS.slice(0, 20).map(({ nodes }) => nodes));
    }
  });

  test("written again as 18 fields, it has the same jobs", () => {
    const workload = read(frontierLog(JOBS), "frontier");
    const again = read([...writeSwf(workload)].join(""));
    expect(again.jobs).toEqual(workload.jobs);
    expect(codes(again)).toEqual({});
  });

  test("a descriptor of another form has no size: the line is left out, with its text", () => {
    const log = frontierLog(JOBS.slice(0, 6)).split("\n");
    for (const [i, descriptor] of [
      "frontier:2500x112",
      "-1",
      "a:b:x112",
      "a:b:0x112",
      "a:b:9999999999x1",
    ].entries())
      log[3 + i] = log[3 + i].replace(/\S+$/, descriptor);
    const workload = read(log.join("\n"), "frontier");
    expect(codes(workload)).toEqual({ "no-declared-size": "dropped 5", "extra-fields": "kept 1" });
    expect(workload.diagnostics[0].examples.map(({ value }) => value)).toEqual([
      "frontier:2500x112",
      "-1",
      "a:b:x112",
      "a:b:0x112",
      "a:b:9999999999x1",
    ]);
  });
});

describe("--size-from", () => {
  const LINE = "1 0 -1 10 4 -1 -1 8 -1 -1 1 -1 -1 -1 -1 -1 -1 -1 16 x";

  test.each([
    ["allocated", 4],
    ["requested", 8],
    ["field=5", 4],
    ["field=19", 16],
  ])("%s", (place, size) => {
    expect([...read(LINE, place).jobs.size]).toEqual([size]);
  });

  test.each(["field=20", "field=21", "field=3"])("%s has no size", (place) => {
    expect(codes(read(LINE, place))).toEqual({ "no-declared-size": "dropped 1" });
  });

  test.each(["", "nodes", "field", "field=0", "field=1.5", "field=99999", "Frontier"])(
    "%s is refused",
    (text) => {
      expect(() => parseSizeFrom(text)).toThrow(InputError);
      expect(() => parseSizeFrom(text)).toThrow("expected allocated, requested, frontier, or field=N");
    },
  );

  test("is for traces in Standard Workload Format only", () => {
    expect(detectFormat(bytesOf(LINE)).hasSizePlaces).toBe(true);
    for (const other of ["JobID|Submit|Elapsed\n", '{ "jobs": [] }'])
      expect(detectFormat(bytesOf(other)).hasSizePlaces).toBeUndefined();
  });
});
