/**
 * Tests that bodies of submits are checked job by job with the same results as by the schema of the whole
 * body, even for bodies made to be expensive.
 */

import { isRefusal } from "@tutti/protocol/refusal.ts";
import { submitBody } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { someJob } from "../app-for-tests.ts";
import { checked } from "./issues.ts";
import { submitPieces } from "./submit-body.ts";

function check(text: string | Buffer) {
  const pieces = submitPieces(Buffer.from(text));
  for (let count = 1; ; count++) {
    const { done, value } = pieces.next();
    if (done) return { value, count };
  }
}

const word = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom("\0", '"', "\\", "[{", "é\u{1f600}", "jobs"),
);
const value = fc.oneof(
  word,
  fc.integer(),
  fc.constant(null),
  fc.array(word, { maxLength: 3 }),
  fc.dictionary(word, word, { maxKeys: 3 }),
);
const job = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({
        command: fc.array(word, { minLength: 1, maxLength: 4 }),
        env: fc.dictionary(word, word, { maxKeys: 3 }),
      })
      .map((more) => someJob(more)),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        values: fc.dictionary(
          fc.oneof(fc.constantFrom("lr", "seed", "TUTTI_LINE", "TUTTI_JOB_ID", "__proto__"), word),
          fc.oneof(
            fc.array(word, { maxLength: 3 }),
            fc.array(fc.oneof({ weight: 50, arbitrary: fc.constant("x") }, value), {
              minLength: 60,
              maxLength: 70,
            }),
          ),
          { maxKeys: 3 },
        ),
      })
      .map((more) => someJob(more)),
  },
  {
    weight: 2,
    arbitrary: fc
      .dictionary(fc.constantFrom("command", "env", "cwd", "name", "after", "x", "__proto__"), value)
      .map((more) => someJob(more)),
  },
  { weight: 1, arbitrary: value },
);
const body = fc.oneof(
  { weight: 5, arbitrary: fc.record({ jobs: fc.array(job, { maxLength: 5 }) }) },
  {
    weight: 2,
    arbitrary: fc.record(
      { key: word, jobs: fc.array(job, { minLength: 1, maxLength: 3 }), other: value },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.dictionary(word, value) },
  { weight: 1, arbitrary: value },
);

describe("submitPieces", () => {
  test("accepts and returns the same as the schema, and refuses the rest with the same first issues", () => {
    fc.assert(
      fc.property(body, fc.constantFrom(undefined, 1, "\t"), (given, space) => {
        const text = JSON.stringify(given, undefined, space);
        const expected = submitBody.safeParse(JSON.parse(text));
        const found = check(text).value;
        expect(isRefusal(found)).toBe(!expected.success);
        if (expected.success) expect(found).toEqual(expected.data);
        else if (expected.error.issues.length === 1) {
          expect(found).toEqual(checked(JSON.parse(text), submitBody, "the body"));
        }
      }),
      { numRuns: 3000 },
    );
  });

  test("refuses any text that is not JSON", () => {
    const text = JSON.stringify({ key: "k", jobs: [someJob(), someJob({ name: "b" })] });
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom("", "{", "}", "[", "]", ",", '"', ":", " ", "\\", "1"),
        (at, other) => {
          const changed = text.slice(0, at) + other + text.slice(at + 1);
          let expected = true;
          try {
            expected = submitBody.safeParse(JSON.parse(changed)).success;
          } catch {
            expected = false;
          }
          expect([changed, !isRefusal(check(changed).value)]).toEqual([changed, expected]);
        },
      ),
      { numRuns: 5000 },
    );
  });

  test("a body with two lists of jobs is refused", () => {
    const jobs = JSON.stringify([someJob()]);
    for (const text of [
      `{"jobs":${jobs},"jobs":${jobs}}`,
      `{"jobs":[],"jobs":${jobs}}`,
      `{"jobs":${jobs},"\\u006aobs":${jobs}}`,
    ]) {
      expect(check(text).value, text).toMatchObject({ refused: "invalid" });
    }
    expect(check(`{"\\u006aobs":${jobs}}`).value).toEqual({ jobs: [someJob()] });
  });

  test("10,000 jobs in 14 MB are accepted in many pieces", () => {
    const env = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`VAR_${i}`, "v".repeat(20)]));
    const jobs = Array.from({ length: 10_000 }, (_, i) =>
      someJob({ env, name: `job ${i}`, command: ["x".repeat(400)] }),
    );
    const { value, count } = check(JSON.stringify({ jobs }));
    expect(value).toEqual({ jobs });
    expect(count).toBeGreaterThan(100);
  });

  test("long commands and environments are checked to the last entry", () => {
    const words = Array.from({ length: 50_000 }, (_, i) => `word ${i}`);
    const env = Object.fromEntries(words.map((word) => [word, word]));
    expect(check(JSON.stringify({ jobs: [someJob({ command: words, env })] })).value).toEqual({
      jobs: [someJob({ command: words, env })],
    });
    const messageOf = (more: object) =>
      (check(JSON.stringify({ jobs: [someJob(), someJob(more)] })).value as { message: string }).message;
    expect(messageOf({ command: [...words, 1] })).toMatch(
      /^Cannot use the body: jobs\[1\]\.command\[50000\]: is 1, expected a text$/,
    );
    expect(messageOf({ command: [...words, "a\0b"] })).toMatch(/command\[50000\]: contains a NUL/);
    expect(messageOf({ env: { ...env, last: 1 } })).toMatch(/jobs\[1\]\.env\.last: is 1, expected a text$/);
    expect(messageOf({ env: { ...env, "a=b": "c" } })).toMatch(/jobs\[1\]\.env.*contains "="/);
    expect(messageOf({ values: { x: [...words.slice(0, 100), 1] } })).toMatch(
      /jobs\[1\]\.values\.x\[100\]: is 1, expected a text$/,
    );
    expect(messageOf({ values: { x: words } })).toMatch(
      /jobs\[1\]\.values\.x: has 10001 entries, expected at most 10000 entries$/,
    );
    const variables = Object.fromEntries(words.map((_, i) => [`v${i}`, ["x"]]));
    expect(messageOf({ values: variables })).toMatch(/jobs\[1\]\.values: has no variable, or more than 64$/);
    const values = { x: words.slice(0, 10_000), TUTTI_LINE: words.slice(0, 10_000) };
    expect(check(JSON.stringify({ jobs: [someJob({ values })] })).value).toEqual({
      jobs: [someJob({ values })],
    });
    expect(messageOf({ after: Array(2000).fill({}) })).toMatch(/jobs\[1\]\.after/);
    expect(messageOf({ after: Array(2000).fill({ job: 1, ok: true }) })).toMatch(
      /jobs\[1\]\.after: has 1001 entries, expected at most 1000 entries$/,
    );
  });

  test.each([
    [
      "eight million numbers as a command",
      `{"jobs":[{"cwd":"/","env":{},"command":[${"1,".repeat(8e6)}1]}]}`,
    ],
    [
      "a million variables",
      `{"jobs":[{"cwd":"/","command":["a"],"env":{${Array.from({ length: 1e6 }, (_, i) => `"V${i}":"v"`).join()}}}]}`,
    ],
    ["a million other names", `{${Array.from({ length: 1e6 }, (_, i) => `"V${i}":1`).join()},"jobs":[]}`],
    ["much data around the jobs", `{"key":"${"k".repeat(1e6)}","jobs":[{}]}`],
    ["a million jobs", `{"jobs":[${"{},".repeat(1e6)}{}]}`],
  ])("%s are refused before they are parsed", (_, text) => {
    const parse = JSON.parse;
    let parsedBytes = 0;
    JSON.parse = (part: string, ...more) => {
      parsedBytes += part.length;
      return parse(part, ...more);
    };
    try {
      expect(check(text).value).toMatchObject({ refused: "invalid" });
    } finally {
      JSON.parse = parse;
    }
    expect(parsedBytes).toBe(0);
  });
});
