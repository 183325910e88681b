import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineReader, matrixProblem, parseMessage } from "./wire.ts";

const IDENTITY = "0123456789abcdef".repeat(2);
const SPEC = {
  job: 1,
  attempt: 1,
  folder: "/f",
  command: ["true"],
  cwd: "/",
  env: { A: "b" },
  stdout: "/f/out",
  stderr: "/f/err",
  graceMs: 100,
};
const MATRIX = {
  sequence: 1,
  slotMs: 100,
  mode: "gang",
  rows: [[{ job: 1, attempt: 1, cpus: [0, 1] }], [{ job: 1, attempt: 1, cpus: [0, 1] }]],
};
const MEMBER = {
  job: 1,
  attempt: 1,
  folder: "/f",
  graceMs: 100,
  nodes: ["n1", "n2"],
  tasksRun: "each",
  ranks: [4, 5],
};
const GOOD: readonly object[] = [
  { type: "hello", protocol: 3, frontEnd: "x" },
  { type: "matrix", matrix: MATRIX },
  { type: "matrix", matrix: { ...MATRIX, paused: [{ job: 2, attempt: 1 }] } },
  { type: "launch", spec: SPEC },
  { type: "launch", spec: { ...SPEC, identity: IDENTITY } },
  { type: "keep", attempt: { job: 1, attempt: 1 }, identity: IDENTITY },
  { type: "stop", attempt: { job: 1, attempt: 1 }, kill: false, reason: "cancelled" },
  { type: "signal", attempt: { job: 1, attempt: 1 }, name: "SIGUSR1", to: "steps" },
  { type: "forget", attempt: { job: 1, attempt: 1 } },
  { type: "shutdown", killJobs: true },
  { type: "hello", protocol: 3, frontEnd: "x", owner: IDENTITY },
  { type: "ping", id: 0 },
  { type: "grid", epochMs: -12.5 },
  { type: "stage", matrix: { ...MATRIX, strict: true } },
  { type: "stage", matrix: { ...MATRIX, rows: [[{ job: 1, attempt: 1, cpus: [0], closed: true }]] } },
  { type: "turn", sequence: 1, atSlot: -3 },
  { type: "revoke", sequence: 1 },
  { type: "join", member: MEMBER },
  { type: "join", member: { ...MEMBER, identity: IDENTITY, uid: 1, gid: 1, limitMs: 5, ranks: [] } },
  { type: "step", spec: { ...SPEC, tasks: 8 }, step: ["srun", "-n8"] },
];

describe("parseMessage()", () => {
  test("returns each valid message unchanged", () => {
    for (const message of GOOD) expect(parseMessage(JSON.stringify(message))).toEqual(message);
  });

  test.each([
    [{ ...SPEC, folder: "f" }, "absolute"],
    [{ ...SPEC, cwd: "/a\0b" }, "absolute"],
    [{ ...SPEC, command: [] }, "command"],
    [{ ...SPEC, command: ["a\0"] }, "command"],
    [{ ...SPEC, env: { "A=B": "" } }, "environment"],
    [{ ...SPEC, env: { A: 1 } }, "environment"],
    [{ ...SPEC, uid: -1 }, "uid"],
    [{ ...SPEC, limitMs: 1.5 }, "limitMs"],
    [{ ...SPEC, graceMs: undefined }, "graceMs"],
    [{ ...SPEC, job: "1" }, "job"],
    [{ ...SPEC, identity: IDENTITY.toUpperCase() }, "identity"],
    [{ ...SPEC, identity: `${IDENTITY}\n` }, "identity"],
    [{ ...SPEC, identity: 7 }, "identity"],
  ])("refuses a launch with a wrong field %#", (spec, word) => {
    const answer = parseMessage(JSON.stringify({ type: "launch", spec }));
    expect(answer.type).toBe("malformed");
    expect("message" in answer && answer.message).toContain(word);
  });

  test.each([
    [{ type: "hello", protocol: 4, frontEnd: "x" }, "protocol 4"],
    [{ type: "hello", protocol: 2, frontEnd: "x" }, "the revision e32fa342 of Tutti speaks 1 to 3"],
    [{ type: "hello", protocol: 3, frontEnd: "x", owner: 5 }, "owner"],
    [{ type: "ping" }, "id"],
    [{ type: "grid", epochMs: null }, "epochMs"],
    [{ type: "stage", matrix: { ...MATRIX, strict: false } }, "strict"],
    [{ type: "matrix", matrix: { ...MATRIX, paused: {} } }, "paused is not a list"],
    // The name of a gang becomes the name of a file.
    [{ type: "matrix", matrix: { ...MATRIX, paused: [{ job: "../1", attempt: 1 }] } }, "job"],
    [
      { type: "stage", matrix: { ...MATRIX, rows: [[{ job: 1, attempt: 1, cpus: [], closed: 1 }]] } },
      "closed",
    ],
    [{ type: "turn", sequence: 1, atSlot: 0.5 }, "atSlot"],
    [{ type: "turn", sequence: -1, atSlot: 1 }, "sequence"],
    [{ type: "revoke" }, "sequence"],
    [{ type: "join" }, "member"],
    [{ type: "join", member: { ...MEMBER, ranks: [1, 1] } }, "twice"],
    [{ type: "join", member: { ...MEMBER, ranks: [-1] } }, "ranks"],
    [{ type: "join", member: { ...MEMBER, ranks: ["../x"] } }, "ranks"],
    [{ type: "join", member: { ...MEMBER, folder: "f" } }, "folder"],
    [{ type: "join", member: { ...MEMBER, nodes: [] } }, "nodes"],
    [{ type: "join", member: { ...MEMBER, tasksRun: "twice" } }, "tasksRun"],
    [{ type: "join", member: { ...MEMBER, graceMs: -1 } }, "graceMs"],
    [{ type: "step", spec: SPEC, step: ["srun"] }, "tasks"],
    [{ type: "step", spec: { ...SPEC, tasks: 2 }, step: [] }, "step"],
    [{ type: "step", spec: { ...SPEC, tasks: 2, cwd: "x" }, step: ["srun"] }, "absolute"],
  ])("refuses a message of protocol 3 with a wrong field %#", (message, word) => {
    const answer = parseMessage(JSON.stringify(message));
    expect(answer.type).toBe("malformed");
    expect("message" in answer && answer.message).toContain(word);
  });

  test("names the field that is wrong, with its place, and what it expects", () => {
    for (const wrong of [
      { limitSignal: { name: "TERM", beforeMs: 1, to: "all" } },
      { nodes: [{ node: "n1", cpus: [-1] }] },
      { input: "file" },
    ]) {
      const [field] = Object.keys(wrong);
      const answer = parseMessage(JSON.stringify({ type: "launch", spec: { ...SPEC, ...wrong } }));
      expect(answer).toMatchObject({ type: "malformed", message: expect.stringContaining(`spec.${field}`) });
    }
    const stop = { type: "stop", attempt: { job: 1, attempt: 1 }, kill: false, reason: "boredom" };
    expect(parseMessage(JSON.stringify(stop))).toMatchObject({
      message:
        'Cannot read a message: reason "boredom" is not none or cancelled or time-limit or memory-limit or shutdown or requeued, expected a message of the conductor\'s protocol',
    });
  });

  test("never throws, and returns only known types", () => {
    const known = new Set([...GOOD.map((message) => (message as { type: string }).type), "malformed"]);
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      // A valid message with one change in its text.
      fc.tuple(fc.constantFrom(...GOOD), fc.nat(), fc.string({ maxLength: 3 })).map(([message, at, text]) => {
        const good = JSON.stringify(message);
        const place = at % good.length;
        return good.slice(0, place) + text + good.slice(place + 1);
      }),
    );
    fc.assert(
      fc.property(line, (text) => known.has(parseMessage(text).type)),
      { numRuns: 3000 },
    );
  });
});

test.each([
  [{ sequence: -1 }, "sequence"],
  [{ slotMs: 19.9 }, "slotMs"],
  [{ slotMs: 60_001 }, "slotMs"],
  [{ fromSlot: "7" }, "fromSlot"],
  [{ fromSlot: 0.5 }, "fromSlot"],
  [{ mode: "x" }, "mode"],
  [{ rows: [{}] }, "rows"],
  [{ rows: [[{ job: 1, attempt: 1, cpus: [1, 1] }]] }, "twice"],
  [
    {
      rows: [
        [
          { job: 1, attempt: 1, cpus: [1] },
          { job: 2, attempt: 1, cpus: [1] },
        ],
      ],
    },
    "twice",
  ],
  [
    {
      rows: [
        [
          { job: 1, attempt: 1, cpus: [1] },
          { job: 1, attempt: 1, cpus: [0] },
        ],
      ],
    },
    "twice",
  ],
  [{ rows: [[{ job: 1, attempt: 1, cpus: [1] }], [{ job: 1, attempt: 1, cpus: [0] }]] }, "other CPUs"],
])("matrixProblem() names the mistake in a matrix %#", (wrong, word) => {
  expect(matrixProblem(MATRIX)).toBeUndefined();
  expect(matrixProblem({ ...MATRIX, ...wrong })).toContain(word);
});

describe("LineReader", () => {
  test("push() returns the same lines for every division of the bytes into chunks", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), fc.array(fc.nat(30)), (words, cuts) => {
        const lines = words.map((word) => word.replaceAll("\n", "").toWellFormed());
        const bytes = Buffer.from(`${lines.join("\n")}\n`);
        const reader = new LineReader();
        const got: string[] = [];
        let from = 0;
        for (const cut of [...cuts, bytes.length]) {
          got.push(...(reader.push(bytes.subarray(from, Math.min(bytes.length, from + cut))) ?? []));
          from = Math.min(bytes.length, from + cut);
        }
        expect(got).toEqual(lines.length === 0 ? [""] : lines);
      }),
    );
  });

  test("push() gives up on a line without end", () => {
    const reader = new LineReader();
    const chunk = Buffer.alloc(2 ** 20, "x");
    let answer: readonly string[] | undefined = [];
    for (let i = 0; i < 17 && answer !== undefined; i++) answer = reader.push(chunk);
    expect(answer).toBeUndefined();
  });
});
