/**
 * Tests checks of jobs that the OpenAPI document does not show, and limits that are defined in only one
 * place.
 */
import { expect, test } from "vitest";
import { MAX_LIMIT_MS, MAX_NAME_LENGTH, MAX_STRING_LENGTH } from "./limits.ts";
import { submitBody, submitJob } from "./schema.ts";
import { ACTIVE_STATES, ENDED_STATES, hasProcess, isEnded, JOB_STATES } from "./states.ts";

const JOB = { command: ["true"], cwd: "/", env: {} };

function fault(more: object): string {
  const issue = submitJob.safeParse({ ...JOB, ...more }).error?.issues[0];
  return issue === undefined ? "" : `${issue.path.join(".")}: ${issue.message}`;
}

test.each<[object, string]>([
  [{ command: [""] }, "command: has an empty first word, expected the name of a program"],
  [{ command: ["sh", "a\0"] }, "command.1: contains a NUL character"],
  [{ name: "a\0b" }, "name: contains a NUL character"],
  [{ queue: "\0" }, "queue: contains a NUL character"],
  [{ cwd: "here" }, "cwd: is not absolute, expected a path that begins with /"],
  [{ env: { "A=B": "" } }, "env.A=B: Invalid key in record"],
  [{ script: { base64: "QUF", word: 0 } }, "script.base64: is not base64"],
  [{ script: { base64: "Q=FB", word: 0 } }, "script.base64: is not base64"],
  [
    { limitMs: MAX_LIMIT_MS + 1 },
    `limitMs: is ${MAX_LIMIT_MS + 1}, expected a whole number from 1 to ${MAX_LIMIT_MS} (ten years)`,
  ],
])("%j is refused", (more, words) => {
  expect(fault(more)).toBe(words);
});

test.each<[object]>([
  [{ command: ["x".repeat(MAX_STRING_LENGTH)] }],
  [{ name: "x".repeat(MAX_NAME_LENGTH), limitMs: MAX_LIMIT_MS }],
  [{ script: { base64: "", word: 0 } }],
  [{ script: { base64: "QUFB", word: 0 }, command: ["sh", ""] }],
])("a job at its limits is accepted", (more) => {
  expect(fault(more)).toBe("");
});

test("a key must not contain a NUL character", () => {
  expect(submitBody.safeParse({ jobs: [JOB], key: "\0" }).success).toBe(false);
});

test("a job in any state is live or has ended; an ended job has no process", () => {
  expect(JOB_STATES).toEqual([...ACTIVE_STATES, ...ENDED_STATES]);
  expect(JOB_STATES.filter(isEnded)).toEqual(ENDED_STATES);
  expect(JOB_STATES.filter((state) => isEnded(state) && hasProcess(state))).toEqual([]);
});
