/**
 * Tests the configuration file: JSON and TOML, the line of each mistake, the schema, and the example in docs.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { configSchema } from "@tutti/protocol/config.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseQueue } from "../contract/submission.ts";
import { request } from "../front-end/front-end-for-tests.ts";
import { choosePolicyFor } from "../scheduling/policy-choice.ts";
import { DEFAULT_CONFIG, readConfig } from "./config.ts";

const parseConfig = (text: string, file: string) => readConfig(text, file).config;

const example = readFileSync(fileURLToPath(new URL("../../../../docs/tutti.toml", import.meta.url)), "utf8");

describe("docs/tutti.toml", () => {
  test("each queue is in the line of its own heading", () => {
    const { lines } = readConfig(example, "tutti.toml");
    const headings = example.split("\n").flatMap((line, i) => (line.startsWith("[[queues]]") ? [i + 1] : []));
    expect(headings.length).toBeGreaterThan(2);
    expect(headings.map((_, i) => lines.get(`queues[${i}]`))).toEqual(headings);
  });

  test("has the defaults, as its comments say, and its queues choose like those of the paper", () => {
    const { queues, ...rest } = parseConfig(example, "tutti.toml");
    const { queues: _, ...defaults } = DEFAULT_CONFIG;
    expect(rest).toEqual(defaults);
    const limits = {
      cpus: 512,
      cpusOfNode: undefined,
      whyNever: () => undefined,
      mostTasks: () => Number.POSITIVE_INFINITY,
      limitMs: Number.POSITIVE_INFINITY,
      memoryBytes: 1,
      signalsBeforeLimit: true as const,
      jobHooks: true,
      tasksRunEach: false,
      resources: [],
      queues,
    };
    const queueOf = (tasks: number, limitMs?: number) =>
      chooseQueue(request({ tasks, ...(limitMs !== undefined && { limitMs }) }), limits);
    expect(queueOf(4, 600_000)).toMatchObject({ queue: "ss8" });
    expect(queueOf(4, 8_000_000)).toMatchObject({ queue: "s8" });
    expect(queueOf(9, 600_000)).toMatchObject({ queue: "d32" });
    expect(queueOf(33)).toMatchObject({ queue: "d512" });
    expect(queueOf(513)).toMatchObject({ refused: "too-large" });
    choosePolicyFor("connected-reservation", { queues });
  });

  test("has exactly the settings of the schema", () => {
    const { properties } = configSchema() as { properties: Record<string, object> };
    const named = new Set(
      [...example.matchAll(/^(?:# )?(\w+) = |^\[\[(\w+)\]\]/gm)].map(([, a, b]) => a ?? b),
    );
    for (const field of Object.keys(properties)) expect(named, field).toContain(field);
    const everything = Object.fromEntries(Object.keys(properties).map((field) => [field, undefined]));
    expect(parseConfig(JSON.stringify(everything), "x.json")).toEqual(DEFAULT_CONFIG);
  });
});

test.each([
  ["f.toml", '[resources]\ngpu = ["0", "1"]\n# disk\nmy-disk = { units = 2, shared = true }\n'],
  ["f.json", '{"resources": {\n"gpu": ["0", "1"],\n\n"my-disk": {"units": 2, "shared": true}}}'],
])("%s: each resource has the line of its own", (file, text) => {
  const { lines } = readConfig(text, file);
  expect([lines.get("resources.gpu"), lines.get("resources.my-disk")]).toEqual([2, 4]);
});

test("the schema and readConfig() require the same of a queue", () => {
  const { properties } = configSchema() as { properties: { queues: { items: { required: string[] } } } };
  const { required } = properties.queues.items;
  const queue = Object.fromEntries(required.map((field) => [field, "a"]));
  expect(parseConfig(JSON.stringify({ queues: [queue] }), "x.json").queues).toHaveLength(1);
  for (const field of required) {
    const { [field]: _, ...less } = queue;
    expect(() => parseConfig(JSON.stringify({ queues: [less] }), "x.json"), field).toThrow(field);
  }
});

describe("aliases of queues", () => {
  const withAliases = (first: string, second: string) =>
    parseConfig(
      `[[queues]]\nname = "short"\naliases = ${first}\n[[queues]]\nname = "long"\naliases = ${second}\n`,
      "f.toml",
    );

  test("are read", () => {
    const { queues } = withAliases('["compute", "cpu"]', "[]");
    expect(queues.map(({ aliases }) => aliases)).toEqual([["compute", "cpu"], undefined]);
  });

  test.each([
    ['["a", "long"]', '["b"]', /^Cannot use "long" as queues\[0\].aliases\[1\] in .*: it is already a name/],
    ['["a"]', '["b", "a"]', /^Cannot use "a" as queues\[1\].aliases\[1\] in .* name of queue "short"/],
    ['["a b"]', '["b"]', /^Cannot use "a b" as queues\[0\].aliases\[0\] in "f.toml".*: expected a word/],
    ['"a"', '["b"]', /^Cannot use "a" as queues\[0\].aliases in "f.toml", line 3: expected a list/],
  ])("%s and %s: a name that means two queues, or none, is refused", (first, second, message) => {
    expect(() => withAliases(first, second)).toThrow(message);
  });
});

describe("limits", () => {
  const TOML = `[limits]
runningCpus = 8
[limits.users.ben]
runningJobs = 2
[limits.users.anna]
runningCpus = 16
[limits.groups.lab]
waitingJobs = 9
cpuHours = 0.5
[[queues]]
name = "q"
runningJobs = 3
`;

  test("of users, groups and queues have their values and lines", () => {
    const { config, lines } = readConfig(TOML, "f.toml");
    expect(config.limits).toEqual({
      runningCpus: 8,
      users: { ben: { runningJobs: 2 }, anna: { runningCpus: 16 } },
      groups: { lab: { waitingJobs: 9, cpuHours: 0.5 } },
    });
    expect(config.queues[0].limits).toEqual({ runningJobs: 3 });
    const fields = ["limits", "limits.users.ben", "limits.users.anna", "limits.groups.lab"];
    expect(fields.map((field) => lines.get(field))).toEqual([1, 3, 5, 7]);
  });

  test.each([
    [
      "runningCpus = 8",
      "runningCpus = 0",
      /^Cannot use 0 as limits.runningCpus in "f.toml", line 2: expected a whole/,
    ],
    [
      "runningCpus = 16",
      'runningCpus = "x"',
      /^Cannot use "x" as limits.users.anna.runningCpus in "f.toml", line 6: /,
    ],
    [
      "runningCpus = 16",
      "cpus = 16",
      /^Cannot use "cpus" in limits.users.anna in "f.toml", line 6: .*runningJobs/,
    ],
    [
      "[limits.groups.lab]",
      '[limits.groups."a b"]',
      /^Cannot use "a b" in limits.groups in "f.toml".*: expected a name/,
    ],
    [
      "waitingJobs = 9",
      "waitingJobs = -1",
      /^Cannot use -1 as limits.groups.lab.waitingJobs in "f.toml", line 8: /,
    ],
    [
      "runningJobs = 3",
      "runningJobs = 1.5",
      /^Cannot use 1.5 as queues\[0\].runningJobs in "f.toml", line 12: /,
    ],
    [
      "cpuHours = 0.5",
      "cpuHours = 0",
      /^Cannot use 0 as limits.groups.lab.cpuHours in "f.toml", line 9: expected a number of CPU hours above 0/,
    ],
    [
      "cpuHours = 0.5",
      "cpuHour = 1",
      /^Cannot use "cpuHour" in limits.groups.lab in "f.toml", line 9: .*did you mean "?cpuHours/,
    ],
    [
      "runningJobs = 3",
      "cpuHours = 3",
      /^Cannot use "cpuHours" in queues\[0\] in "f.toml", line 12: there is no such field/,
    ],
    [
      "[limits.groups.lab]",
      "[limits.group.lab]",
      /^Cannot use "group" in limits in "f.toml".*did you mean "?groups/,
    ],
  ])("%s as %s is refused with line and value", (right, wrong, message) => {
    expect(() => readConfig(TOML.replace(right, wrong), "f.toml")).toThrow(message);
  });
});

describe("mistakes", () => {
  const TOML = `slotMs = 100
cpus = [0,
  1]

[[queues]]
name = "short"
processors = 2

[[queues]]
name = "long"
processors = 4
`;
  const JSON_TEXT = JSON.stringify(
    {
      slotMs: 100,
      cpus: [0, 1],
      queues: [
        { name: "sh{ort", processors: 2 },
        { name: "long", processors: 4 },
      ],
    },
    null,
    1,
  );

  test.each([
    ["slotMs = 100", "slotMs = 1", /^Cannot use 1 as slotMs in "f.toml", line 1: expected a whole number/],
    ["  1]", "  -1]", /as cpus\[1\] in "f.toml", line 2: /],
    ["processors = 4", "procesors = 4", /"procesors" in queues\[1\] in "f.toml", line 11: .*did you mean/],
    [
      "processors = 4",
      "processors = 0",
      /Cannot use 0 as processors of queue class "long" in "f.toml", line 11: /,
    ],
    [
      "processors = 4",
      "processors = 4\ndefaultLimitMs = 0.5",
      /queues\[1\].defaultLimitMs in "f.toml", line 12/,
    ],
    [
      '"long"',
      '"short"',
      /queue class 2 in "f.toml", line 10: an earlier class has that name; choose another/,
    ],
    ["slotMs = 100", "# slotMs = 100\nslotMs = 1", /as slotMs in "f.toml", line 2: /],
    [
      "processors = 4",
      "processors = 4\n# defaultLimitMs = 9\ndefaultLimitMs = 0.5",
      /defaultLimitMs in "f.toml", line 13/,
    ],
    ["processors = 4", "processors = = 4", /Cannot read "f.toml", line 11, column \d+: /],
  ])("TOML: %s as %s", (right, wrong, message) => {
    expect(TOML.split(right)).toHaveLength(2);
    expect(() => parseConfig(TOML.replace(right, wrong), "f.toml")).toThrow(message);
    parseConfig(TOML, "f.toml");
  });

  test.each([
    ["web = { submit = true }", { submit: true }],
    ["\n[web]\nsubmit = true", { submit: true }],
    ["web = { submit = 1 }", /^Cannot use 1 as web.submit in "f.toml", line 1: expected true or false$/],
    [
      "[web]\nsumbit = true",
      /"sumbit" in web in "f.toml", line 2: .*did you mean "submit"\?.*expected submit$/,
    ],
  ])("web: %s", (text, expected) => {
    if (expected instanceof RegExp) expect(() => parseConfig(text, "f.toml")).toThrow(expected);
    else expect(parseConfig(text, "f.toml").web).toEqual(expected);
  });

  test.each([
    ['"slotMs": 100', '"slotMs": "100"', /Cannot use "100" as slotMs in "f.json", line 2: /],
    ['"processors": 4', '"processors": -4', /queue class "long" in "f.json", line 14: /],
    ['"processors": 4', '"procesors": 4', /"procesors" in queues\[1\] in "f.json", line 14: /],
    ['"processors": 4', '"processors": }', /Cannot read "f.json": Unexpected token '}'.*; expected JSON/],
  ])("JSON: %s as %s", (right, wrong, message) => {
    expect(JSON_TEXT.split(right)).toHaveLength(2);
    expect(() => parseConfig(JSON_TEXT.replace(right, wrong), "f.json")).toThrow(message);
    parseConfig(JSON_TEXT, "f.json");
  });

  test("an older name is read, with a note and in messages; both names together are refused", () => {
    const { config, lines, notes } = readConfig("slotMs = 50\nmostRows = 7\n", "f.toml");
    expect(config).toEqual({ ...DEFAULT_CONFIG, slotMs: 50, maxRows: 7 });
    expect([lines.get("maxRows"), lines.has("mostRows")]).toEqual([2, false]);
    expect(notes).toEqual([
      '"mostRows" in "f.toml", line 2 is the older name of "maxRows", and still works; write "maxRows"',
    ]);
    expect(readConfig("maxRows = 7\n", "f.toml").notes).toEqual([]);
    expect(() => parseConfig("\nmostRows = 0", "f.toml")).toThrow(
      /^Cannot use 0 as maxRows in "f.toml", line 2: /,
    );
    expect(() => parseConfig("maxRows = 4\nmostRows = 4", "f.toml")).toThrow(
      /^Cannot use "mostRows" and "maxRows" together in "f.toml", line 2: .*use only "maxRows"$/,
    );
  });

  test("any TOML file is read or refused with a message", () => {
    fc.assert(
      fc.property(fc.nat(TOML.length), fc.nat(12), fc.string({ maxLength: 12 }), (at, length, text) => {
        try {
          readConfig(TOML.slice(0, at) + text + TOML.slice(at + length), "f.toml");
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
