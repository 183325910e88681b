/** By hand: what a person should read about each value. */
import { expect, test } from "vitest";
import type { z } from "zod";
import { issueText } from "./issue-text.ts";
import { batchBody, submitJob, whatIfBody } from "./schema.ts";

function faults(schema: z.ZodType, value: unknown): string[] {
  const issues = schema.safeParse(value, { error: issueText }).error?.issues ?? [];
  return [...new Set(issues.map(({ path, message }) => `${path.join(".")}: ${message}`))];
}

const TASKS = "expected a whole number from 1 to 65536";
const JOB = { command: ["true"], cwd: "/", env: {} };

test.each<[object, string]>([
  [{ jobs: [{ tasks: 1e99 }] }, `jobs.0.tasks: is 1e+99, ${TASKS}`],
  [{ jobs: [{ tasks: 0 }] }, `jobs.0.tasks: is 0, ${TASKS}`],
  [{ jobs: [{ tasks: 1.5 }] }, `jobs.0.tasks: is 1.5, ${TASKS}`],
  [{ jobs: [{ tasks: "4" }] }, `jobs.0.tasks: is "4", ${TASKS}`],
  [{ jobs: [{ tasks: [4] }] }, `jobs.0.tasks: is a list, ${TASKS}`],
  [{ withoutCpus: -1 }, `withoutCpus: is -1, ${TASKS}`],
  [
    { jobs: [{ limitMs: 1e30 }] },
    "jobs.0.limitMs: is 1e+30, expected a whole number from 1 to 315360000000 (ten years)",
  ],
  [
    { jobs: [{ memoryBytes: -3 }] },
    "jobs.0.memoryBytes: is -3, expected a whole number from 1 to 9007199254740991",
  ],
  [{ jobs: [{ priority: 101 }] }, "jobs.0.priority: is 101, expected a whole number from -100 to 100"],
  [{ policies: [""] }, "policies.0: has 0 characters, expected at least 1 character"],
  [{ policies: ["x".repeat(501)] }, "policies.0: has 501 characters, expected at most 500 characters"],
  [{ policies: "easy" }, 'policies: is "easy", expected a list'],
  [{ jobs: [] }, "jobs: has 0 entries, expected at least 1 entry"],
  [{ withoutCpus: 1, colour: 2 }, ': has the unknown field "colour"'],
])("%j is refused with a message for people", (question, words) => {
  expect(faults(whatIfBody, question)).toEqual([words]);
});

test("a missing field, a wrong word and a wrong kind are named", () => {
  expect(faults(batchBody, { action: "stop" })).toEqual([
    'action: is "stop", expected one of cancel, hold, release, requeue, pause, resume, signal, priority, update',
    "jobs: is missing, expected a text",
  ]);
  expect(faults(batchBody, 5)).toEqual([": is 5, expected an object"]);
  expect(faults(submitJob, { ...JOB, held: "yes" })).toEqual(['held: is "yes", expected true or false']);
  expect(faults(submitJob, { ...JOB, command: [5] })).toEqual(["command.0: is 5, expected a text"]);
});

test("a long value is cut", () => {
  expect(faults(submitJob, { ...JOB, held: "x".repeat(100) })).toEqual([
    `held: is "${"x".repeat(60)}…", expected true or false`,
  ]);
});
