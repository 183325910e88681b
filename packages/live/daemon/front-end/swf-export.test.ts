import type { Job } from "@tutti/protocol/schema.ts";
import type { JobState } from "@tutti/protocol/states.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JobRecord } from "../contract/record.ts";
import { exportSwf } from "./swf-export.ts";

const FACTS = { cpus: 4, policy: "easy", queues: ["short", "main"], keptSinceMs: 0 };

const info = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  user: fc.constantFrom("anna", "ben"),
  queue: fc.constantFrom("main", "short", "gone"),
  state: fc.constantFrom<JobState>("queued", "running", "done", "failed", "cancelled"),
  // The clock may have been set back between two submits.
  submittedAtMs: fc.integer({ min: 1_000_000, max: 1_000_020 }),
  startedAtMs: fc.option(fc.integer({ min: 1_000_010, max: 1_000_040 }), { nil: undefined }),
});

const make = (fields: readonly object[]): JobRecord[] =>
  fields.map(
    (one, i) => ({ ...one, job: i + 1, tasks: 1, ranMs: 5, after: [], command: [] }) as unknown as JobRecord,
  );

function linesOf(jobs: readonly JobRecord[], pageSize: number, find: (job: number) => JobRecord | undefined) {
  const infos = jobs as unknown as readonly Job[];
  const pages = Array.from({ length: Math.ceil(jobs.length / pageSize) }, (_, i) =>
    infos.slice(i * pageSize, (i + 1) * pageSize),
  );
  const lines = [...exportSwf(pages, find, FACTS)].join("").trimEnd().split("\n");
  return {
    head: lines.filter((line) => line.startsWith(";")),
    rows: lines.filter((line) => !line.startsWith(";")),
  };
}

test("exportSwf() lists started jobs by submit time, and numbers names by first occurrence", () => {
  fc.assert(
    fc.property(
      fc.array(info, { maxLength: 30, size: "max" }),
      fc.integer({ min: 1, max: 7 }),
      (fields, pageSize) => {
        const jobs = make(fields);
        const { head, rows } = linesOf(jobs, pageSize, (job) => jobs[job - 1]);
        const started = jobs
          .filter(({ startedAtMs }) => startedAtMs !== undefined)
          .sort((a, b) => a.submittedAtMs - b.submittedAtMs || a.job - b.job);
        expect(head).toContain(`; MaxJobs: ${started.length}`);
        expect(head).toContain("; Queue: 1 short");
        expect(rows.map((row) => Number(row.split(" ")[0]))).toEqual(started.map(({ job }) => job));
        for (const field of [11, 13]) {
          const words = started.map(({ user, name }) => (field === 11 ? user : name));
          const numbers = [...new Set(words)];
          expect(rows.map((row) => Number(row.split(" ")[field]))).toEqual(
            words.map((word) => numbers.indexOf(word) + 1),
          );
        }
      },
    ),
  );
});

test("a job that is forgotten between the two passes is left out, and the others keep their lines", () => {
  const jobs = make(
    Array.from({ length: 5 }, (_, i) => ({
      name: "a",
      user: "anna",
      state: "done",
      submittedAtMs: i,
      startedAtMs: 9,
    })),
  );
  const { rows } = linesOf(jobs, 2, (job) => (job === 3 ? undefined : jobs[job - 1]));
  expect(rows.map((row) => row.split(" ")[0])).toEqual(["1", "2", "4", "5"]);
});
