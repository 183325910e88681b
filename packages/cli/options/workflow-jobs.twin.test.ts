/**
 * Tests what a resumed workflow runs against a twin that looks at every pair of jobs: random tasks, of which
 * an earlier run has left jobs in random states.
 */

import { parseArray } from "@tutti/protocol/array.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { WorkflowTask } from "./workflow.ts";
import { workflowEntries } from "./workflow-jobs.ts";

const INDICES = [1, 2, 3];
const STATES = ["done", "failed", "cancelled", "running", "queued", undefined] as const;

const task = fc.record({
  isArray: fc.boolean(),
  /** How it waits for each earlier task; undefined: not at all. */
  waits: fc.array(fc.constantFrom(undefined, "ok", "any", "notok", "each"), { minLength: 4, maxLength: 4 }),
  states: fc.array(fc.constantFrom(...STATES), { minLength: 3, maxLength: 3 }),
});

/** A job of a task: `t1` or `t1[2]`. */
const label = (name: string, index?: number) => (index === undefined ? name : `${name}[${index}]`);
const indicesOf = ({ array }: Pick<SubmitJob, "array">): (number | undefined)[] =>
  array === undefined ? [undefined] : [...(parseArray(array) as { indices: number[] }).indices];

test("exactly the jobs that have not succeeded run, after exactly those that must end first", () => {
  fc.assert(
    fc.property(fc.array(task, { minLength: 1, maxLength: 5 }), (drawn) => {
      const tasks: WorkflowTask[] = drawn.map(({ isArray, waits }, t) => ({
        name: `t${t}`,
        job: { name: `t${t}`, command: ["c"], cwd: "/", env: {}, ...(isArray && { array: "1-3" }) },
        after: waits.slice(0, t).flatMap((how, other) => {
          const isEach = how === "each" && isArray && drawn[other].isArray;
          if (how === undefined || (how === "each" && !isEach)) return [];
          const kind = how === "each" || how === "notok" ? { kind: how as "each" | "notok" } : {};
          return [{ task: `t${other}`, ok: how === "ok" || how === "each", ...kind }];
        }),
      }));
      const stateOf = new Map<string, Job["state"] | undefined>();
      const earlier: Job[] = [];
      const labelOf = new Map<number, string>();
      for (const [t, { isArray, states }] of drawn.entries()) {
        const array = earlier.length + 1;
        for (const [i, index] of (isArray ? INDICES : [undefined]).entries()) {
          stateOf.set(label(`t${t}`, index), states[i]);
          if (states[i] === undefined) continue;
          const job = earlier.length + 1;
          labelOf.set(job, label(`t${t}`, index));
          const place = index === undefined ? {} : { array, arrayIndex: index };
          earlier.push({ job, name: `t${t}`, command: ["c"], state: states[i], ...place } as unknown as Job);
        }
      }
      const isKept = (name: string) => ["done", "running", "queued"].includes(stateOf.get(name) ?? "");

      // The twin: each job that does not count as run, with all jobs for which it waits.
      const expected = new Map<string, string[]>();
      for (const { name, job, after } of tasks) {
        for (const index of indicesOf(job)) {
          if (isKept(label(name, index))) continue;
          const others = after.flatMap(({ task: other, ok, kind }) =>
            indicesOf(tasks.find((one) => one.name === other)!.job)
              .filter((otherIndex) => kind !== "each" || otherIndex === index)
              .filter((otherIndex) => kind === "notok" || stateOf.get(label(other, otherIndex)) !== "done")
              .map((otherIndex) => `${label(other, otherIndex)} ${ok} ${kind === "notok"}`),
          );
          expected.set(label(name, index), others.sort());
        }
      }

      const entries = workflowEntries(tasks, earlier);
      const found = new Map<string, string[]>();
      for (const { name = "", after = [], ...entry } of entries) {
        for (const index of indicesOf(entry)) {
          const others = after.flatMap(({ job, entry: before, ok, kind }) => {
            const how = `${ok} ${kind === "notok"}`;
            if (job !== undefined && kind !== "each") return [`${labelOf.get(job)} ${how}`];
            const other = job === undefined ? entries[before!] : earlier[job - 1];
            const members = kind === "each" ? [index] : indicesOf(other as SubmitJob);
            return members.map((member) => `${label(other.name!, member)} ${how}`);
          });
          expect(found.has(label(name, index))).toBe(false);
          found.set(label(name, index), others.sort());
        }
      }
      expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: 1000 },
  );
});
