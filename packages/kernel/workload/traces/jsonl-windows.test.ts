/** Tests when windows of the whole machine keep jobs from starting, with cases worked out by hand. */
import { describe, expect, test } from "vitest";
import type { Workload } from "../../core/jobs.ts";
import { JsonlReader } from "./jsonl.ts";

const HEAD = '{"schema":"tutti.workload-file/1","processors":16}';

function read(...lines: readonly string[]): Workload {
  const reader = new JsonlReader("test");
  reader.push(new TextEncoder().encode(lines.join("\n")));
  return reader.end();
}

const codes = ({ diagnostics }: Workload) =>
  diagnostics.map(({ code, examples }) => [code, examples[0].line]);
const job = (number: number, more: object = {}) =>
  JSON.stringify({ job: number, submitS: 0, runS: 10, limitS: 20, ...more });
const event = (kind: string, atS: number, more: object = {}) => JSON.stringify({ event: kind, atS, ...more });

describe("windows of the whole machine keep the jobs away that they do not name", () => {
  const withdrawals = (...lines: readonly string[]) => read(HEAD, ...lines).interruptions!.withdrawals;
  const disk = (fields: object = {}) => event("window", 5, { fromS: 100, untilS: 200, ...fields });
  const away = (job: number, fromS: number, untilS: number) => ({ job, fromS, untilS });

  test("from the last start, by the limit, or from the announcement if there is no limit", () => {
    const jobs = [
      job(1, { limitS: 30 }),
      job(2, { limitS: 300 }),
      job(3, { limitS: undefined, estimateS: 20 }),
      job(4, { submitS: 200 }),
    ];
    const expected = [away(0, 70, 200), away(1, 5, 200), away(2, 5, 200)];
    for (const processors of [undefined, 16, 20])
      expect(withdrawals(...jobs, disk({ processors }))).toEqual(expected);
    // A machine whose size the file does not state.
    const { interruptions } = read('{"schema":"tutti.workload-file/1"}', ...jobs, disk());
    expect(interruptions!.withdrawals).toEqual(expected);
  });

  test("unless they are of its users, or in its queues", () => {
    const lines = [
      job(1, { user: "anna", limitS: 30 }),
      job(2, { user: "ben", queue: "night", limitS: 30 }),
      job(3, { user: "ben", queue: "day", limitS: 30 }),
      job(4, { limitS: 30 }),
    ];
    const window = disk({ users: ["anna"], queues: ["night"] });
    expect(withdrawals(...lines, window)).toEqual([away(2, 70, 200), away(3, 70, 200)]);
  });

  test("until it is removed", () => {
    const remove = (atS: number) => event("unreserve", atS, { name: "disk" });
    const lines = [job(1, { limitS: 30 }), disk({ name: "disk" })];
    expect(withdrawals(...lines, remove(150))).toEqual([away(0, 70, 150)]);
    expect(withdrawals(...lines, remove(80))).toEqual([away(0, 70, 80)]);
    expect(read(HEAD, ...lines, remove(60))).not.toHaveProperty("interruptions");
    expect(codes(read(HEAD, ...lines, remove(200)))).toEqual([["event-without-begin", 4]]);
    expect(codes(read(HEAD, ...lines, remove(150), remove(160)))).toEqual([["event-without-begin", 5]]);
  });

  test("with the limit and the queue that they have at the time", () => {
    const edit = (atS: number, set: object) => event("edit", atS, { job: 1, set });
    const lines = [job(1, { limitS: 90, queue: "day" }), disk({ queues: ["night"] })];
    const edits = [edit(20, { limitS: 40 }), edit(70, { queue: "night" }), edit(80, { queue: "day" })];
    const found = withdrawals(...lines, ...edits)!.filter(({ change }) => change === undefined);
    expect(found).toEqual([away(0, 10, 20), away(0, 60, 70), away(0, 80, 200)]);
  });

  test("too many are refused", () => {
    const jobs = Array.from({ length: 1001 }, (_, i) => job(i));
    const windows = Array.from({ length: 1000 }, () => disk());
    expect(() => read(HEAD, ...jobs, ...windows)).toThrow("Cannot use 1000 windows with 1001 jobs");
  });
});
