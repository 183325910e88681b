/** Tests that malformed requests are refused with a reason or carried out, and never crash the daemon. */

import { InputError } from "@tutti/kernel/core/errors.ts";
import { refuse } from "@tutti/protocol/refusal.ts";
import { submitJob, updateBody } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { ANNA, answerOf, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const CODES = new Set<string>([
  "not-found",
  "not-yours",
  "invalid",
  "wrong-state",
  "too-large",
  "full",
  "unavailable",
]);

function checkAnswer(answer: unknown): void {
  expect(typeof answer === "object" && answer !== null).toBe(true);
  const { refused, message } = answer as { refused?: string; message?: string };
  if (refused === undefined) return;
  expect(CODES.has(refused)).toBe(true);
  // "unavailable" would mean that the cycle failed.
  expect(refused).not.toBe("unavailable");
  expect(message).toMatch(/^Cannot .{5,}[^.]$/s);
  expect(message!.length).toBeLessThan(600);
}

/** A valid request with one or two fields replaced by arbitrary values. */
const mutated = fc
  .tuple(
    fc.constantFrom(
      "command",
      "script",
      "tasks",
      "name",
      "queue",
      "cwd",
      "env",
      "limitMs",
      "memoryBytes",
      "stdout",
      "stderr",
      "after",
      "array",
      "priority",
      "held",
      "retries",
      "__proto__",
      "constructor",
      "uid",
    ),
    fc.oneof(
      fc.anything({ maxDepth: 2, maxKeys: 3 }),
      fc.string(),
      fc.double(),
      fc.integer(),
      fc.array(fc.string({ unit: "binary" })),
      fc.array(fc.record({ job: fc.integer(), ok: fc.boolean() }), { maxLength: 3 }),
      fc.constantFrom(
        "a\0b",
        "/x".repeat(3000),
        "\u001b[31mred",
        "<script>",
        "%j%a%x%",
        "../../etc",
        { base64: "QUFB", word: 0 },
        { base64: "QUFB", word: 1 },
        { base64: "QUFB" },
        { base64: "no base64", word: 0 },
        { base64: "A".repeat(2 ** 21), word: 0 },
        -0,
        1e300,
        [],
        {},
      ),
    ),
  )
  .map(([field, value]) => Object.defineProperty({ ...request() }, field, { value, enumerable: true }));

describe("FrontEnd against anything", () => {
  test("submit answers every request, and accepted jobs can be listed, explained and exported", async () => {
    let { clock, frontEnd } = makeBench({ config: { policy: "easy" }, runMs: () => 1 });
    let count = 0;
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 4, arbitrary: mutated }, { weight: 1, arbitrary: fc.anything() }),
        async (one) => {
          if (++count % 2000 === 0)
            ({ clock, frontEnd } = makeBench({ config: { policy: "easy" }, runMs: () => 1 }));
          const { data } = submitJob.safeParse(one);
          if (data === undefined) return;
          const answer = await answerOf(clock, frontEnd.submit(ANNA, [data]));
          checkAnswer(answer);
          if ("refused" in answer) return;
          accepted++;
          for (const { job } of answer.jobs) {
            expect(JSON.parse(JSON.stringify(frontEnd.job(ANNA, job)))).toMatchObject({ job, user: "anna" });
            await frontEnd.why(ANNA, job);
          }
          clock.advanceTo(clock.nowMs() + 5);
        },
      ),
      { numRuns: 10_000 },
    );
    expect(accepted).toBeGreaterThan(250);
    expect([...frontEnd.exportSwf(ROOT)].join("")).not.toContain("NaN");
    expect(await answerOf(clock, frontEnd.submit(ANNA, [request()]))).toHaveProperty("jobs");
  });

  test("every other request is answered, too", async () => {
    const { clock, frontEnd } = makeBench({ config: { policy: "gang" } });
    // The API passes on numbers only; what becomes of other values is a matter of its schema.
    const number = fc.oneof(fc.double(), fc.integer({ min: -1, max: 3 }));
    const value = fc.oneof(fc.anything({ maxDepth: 1 }), number);
    await answerOf(clock, frontEnd.submit(ROOT, [request({ held: true }), request()]));
    await fc.assert(
      fc.asyncProperty(number, value, async (job, other) => {
        const calls = [frontEnd.cancel, frontEnd.hold, frontEnd.release, frontEnd.requeue];
        for (const call of calls) checkAnswer(await answerOf(clock, call.call(frontEnd, ROOT, job)));
        const { data } = updateBody.safeParse({ priority: other });
        if (data?.priority !== undefined)
          checkAnswer(await answerOf(clock, frontEnd.setPriority(ROOT, job, data.priority)));
        checkAnswer(frontEnd.job(ROOT, job));
        checkAnswer(await frontEnd.why(ROOT, job));
      }),
      { numRuns: 500 },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.constantFrom("gang:rows=0", "gang:rows=1e9", "easy:order")),
        async (text) => {
          checkAnswer(await answerOf(clock, frontEnd.setPolicy(ROOT, text)));
        },
      ),
      { numRuns: 300 },
    );
    expect(refuse("full", "x")).toEqual({ refused: "full", message: "x" });
  });
});

describe("readConfig", () => {
  test("reads every field, and fills in the rest", () => {
    const { config } = readConfig(
      `{ "policy": "easy", "slotMs": 50, "cpus": [3, 1],
         "queues": [{ "name": "short", "processors": 2, "elapsedBelowS": 60, "defaultLimitMs": 5000 }] }`,
      "tutti.json",
    );
    expect(config).toMatchObject({ policy: "easy", slotMs: 50, mode: "gang", cpus: [1, 3], graceMs: 5000 });
    expect(config.queues).toMatchObject([
      { queueClass: { name: "short", processors: 2, elapsedBelowS: 60 }, defaultLimitMs: 5000 },
    ]);
    expect(readConfig("{}", "x").config.queues.map(({ queueClass }) => queueClass.name)).toEqual(["default"]);
  });

  test.each([
    ["{", /Cannot read "t": .*expected JSON/],
    ["[]", /Cannot use \[\] as the configuration in "t": expected an object/],
    [
      '{"slotms": 5}',
      /"slotms" in the configuration in "t", line 1: there is no such field \(did you mean "slotMs"\?\)/,
    ],
    ['{"slotMs": 5}', /Cannot use 5 as slotMs in "t", line 1: expected a whole number from 20 to 60000/],
    ['{"cpus": [1, 1]}', /expected a list of different CPU numbers/],
    ['{"mode": "both"}', /expected gang or concurrent/],
    ['{"queues": []}', /Cannot use 0 queue classes/],
    ['{"queues": [{"name": "a b", "processors": 1}]}', /Cannot use "a b" as name of queue class 1/],
    ['{"queues": [{"name": "a", "processors": 1.5}]}', /expected a whole number from 1/],
  ])("refuses %s", (text, message) => {
    expect(() => readConfig(text, "t")).toThrow(message);
    expect(() => readConfig(text, "t")).toThrow(InputError);
  });

  test("never throws anything else", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        try {
          readConfig(text, "t");
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
