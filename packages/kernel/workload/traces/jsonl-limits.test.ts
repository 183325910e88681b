/** Tests the limits in the first line of workload files. */
import { describe, expect, test } from "vitest";
import type { Workload } from "../../core/jobs.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { hashWorkload } from "../hash.ts";
import { prepare } from "../prepare.ts";
import { JsonlReader } from "./jsonl.ts";
import { writeJsonl } from "./jsonl-writer.ts";

function read(...lines: readonly string[]): Workload {
  const reader = new JsonlReader("test");
  reader.push(new TextEncoder().encode(`${lines.join("\n")}\n`));
  return reader.end();
}

const job = (number: number, more: object = {}) =>
  JSON.stringify({ job: number, submitS: 0, runS: 10, limitS: 20, ...more });

describe("limits", () => {
  const limits = {
    runningCpus: 8,
    users: { anna: { runningJobs: 2 } },
    groups: { lab: { runningCpus: 12, users: ["anna", "ben"] } },
    queues: { night: { runningJobs: 1 } },
  };
  const head = (more: unknown) =>
    `{"schema":"tutti.workload-file/1","processors":16,"limits":${JSON.stringify(more)}}`;

  test("are read, written to workload files, and part of the hash, and so are users and queues of jobs", () => {
    const workload = read(head(limits), job(1, { user: "anna" }));
    expect(workload.limits).toEqual(limits);
    expect(read(...[...writeJsonl(workload)].join("").trimEnd().split("\n")).limits).toEqual(limits);
    const others = [
      read('{"schema":"tutti.workload-file/1","processors":16}', job(1, { user: "anna" })),
      read(head({ ...limits, runningCpus: 7 }), job(1, { user: "anna" })),
      read(head(limits), job(1, { user: "ben" })),
      read(head(limits), job(1, { user: "anna", queue: "night" })),
    ];
    expect(new Set([workload, ...others].map(hashWorkload)).size).toBe(5);
  });

  test.each([
    [{ runningCpus: 0 }],
    [{ runningJobs: 1.5 }],
    [{ users: { anna: 3 } }],
    [{ groups: { lab: { runningCpus: 4 } } }],
    [{ groups: { lab: { runningCpus: 4, users: "anna" } } }],
    [{ queues: [] }],
    [7],
  ])("%j are refused", (bad) => {
    expect(() => read(head(bad), job(1))).toThrow(/line 1 has the limits .* docs\/workloads.md says/);
  });

  test("a job that a limit never lets start is left out, by the limit of its user, group or queue", () => {
    const tight = { ...limits, queues: { night: { runningCpus: 1 } } };
    const workload = read(
      head(tight),
      job(1, { user: "ben", tasks: 8 }),
      job(2, { user: "ben", tasks: 9 }),
      job(3, { user: "carla", tasks: 2, queue: "night" }),
      job(4, { tasks: 16 }),
    );
    for (const rules of [DEFAULT_RULES, { ...DEFAULT_RULES, oversize: "clip" as const }]) {
      const instance = prepare(workload, 16, rules);
      expect(Array.from(instance.id)).toEqual([1, 4]);
      const dropped = instance.diagnostics.find(({ code }) => code === "limit-dropped");
      expect(dropped).toMatchObject({ count: 2 });
      expect(dropped!.examples.map(({ job, field }) => [job, field])).toEqual([
        [2, "user ben"],
        [3, "queue night"],
      ]);
    }
  });
});
