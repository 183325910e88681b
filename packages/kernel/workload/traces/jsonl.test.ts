/** Tests the reader and the writer of workload files with lines whose meaning docs/workloads.md states. */
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { Random } from "../../core/random.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { hashWorkload } from "../hash.ts";
import { prepare } from "../prepare.ts";
import { droppedOf, wrongWith } from "./formats-for-tests.ts";
import { JsonlReader } from "./jsonl.ts";
import { writeJsonl } from "./jsonl-writer.ts";
import { writeSwf } from "./swf-writer.ts";

const HEAD = '{"schema":"tutti.workload-file/1","processors":16,"resources":{"gpu":4,"licence":2}}';

function read(...lines: readonly string[]): Workload {
  return readBytes(new TextEncoder().encode(`${lines.join("\n")}\n`));
}

function readBytes(bytes: Uint8Array, chunk = bytes.length): Workload {
  const reader = new JsonlReader("test");
  for (let at = 0; at < bytes.length; at += chunk) reader.push(bytes.subarray(at, at + chunk));
  return reader.end();
}

const codes = ({ diagnostics }: Workload) =>
  diagnostics.map(({ code, examples }) => [code, examples[0].line]);

/** A job of 10 s on one processor. */
const job = (number: number, more: object = {}) =>
  JSON.stringify({ job: number, submitS: 0, runS: 10, limitS: 20, ...more });
const event = (kind: string, atS: number, more: object = {}) => JSON.stringify({ event: kind, atS, ...more });

describe("jobs", () => {
  test("a job has tasks × threads processors, its demands, and arrives at its begin time", () => {
    const workload = read(
      HEAD,
      '{"job":7,"submitS":5,"beginS":60,"tasks":2,"threads":4,"runS":50.5,"limitS":60,"use":{"gpu":1}}',
      '{"job":8,"submitS":6,"runS":1,"limitS":2,"estimateS":1.5,"user":"anna","queue":"night","name":"x","state":"failed"}',
    );
    expect(workload.processors).toBe(16);
    expect(workload.resources).toEqual([
      { name: "gpu", amount: 4 },
      { name: "licence", amount: 2 },
    ]);
    expect(Array.from(workload.jobs.id)).toEqual([8, 7]);
    expect(Array.from(workload.jobs.submitS)).toEqual([6, 60]);
    expect(Array.from(workload.jobs.runS)).toEqual([1, 50.5]);
    expect(Array.from(workload.jobs.size)).toEqual([1, 8]);
    expect(Array.from(workload.jobs.estimateS)).toEqual([1.5, 60]);
    expect(Array.from(workload.shape!.processes)).toEqual([1, 2]);
    expect(Array.from(workload.shape!.threads)).toEqual([1, 4]);
    expect(workload.demand!.map(({ kind, amount }) => [kind, ...amount])).toEqual([
      ["gpu", 0, 1],
      ["licence", 0, 0],
    ]);
    expect([workload.trace!.user[0], workload.trace!.queue[0], workload.trace!.status[0]]).toEqual([1, 1, 0]);
    expect(codes(workload)).toEqual([
      ["begins-later", 2],
      ["unsorted-submit", 3],
    ]);
  });

  test.each([
    ['{"job":1,"submitS":0,"runS":10', "not-an-object", undefined, '{"job":1,"submitS":0,"runS":10'],
    ["[1,2]", "not-an-object", undefined, "[1,2]"],
    ['{"submitS":0,"runS":10}', "unknown-line", undefined, '{"submitS":0,"runS":10}'],
    ['{"event":"earthquake","atS":1}', "unknown-line", "event", "earthquake"],
    [job(2, { submitS: -1 }), "bad-needed-field", "submitS", "-1"],
    [job(2, { submitS: undefined }), "bad-needed-field", "submitS", undefined],
    [job(2, { runS: "long" }), "bad-needed-field", "runS", "long"],
    [job(2, { runS: 1e13 }), "bad-needed-field", "runS", "10000000000000"],
    [job(2, { tasks: 0 }), "bad-needed-field", "tasks", "0"],
    [job(2, { tasks: 1.5 }), "bad-needed-field", "tasks", "1.5"],
    [job(2, { threads: 65536, tasks: 65536 }), "bad-needed-field", "tasks", "65536"],
    [job(2, { runS: undefined }), "not-ended", "runS", undefined],
  ])("%s is left out", (line, code, field, value) => {
    const workload = read(HEAD, job(1), line);
    expect(workload.count).toBe(1);
    expect(workload.diagnostics).toEqual([
      expect.objectContaining({
        code,
        action: "dropped",
        count: 1,
        examples: [{ line: 3, job: undefined, field, value }],
      }),
    ]);
  });

  test("a line of more than 1 MiB is left out, in whatever pieces it comes", () => {
    const text = [HEAD, job(1, { name: "x".repeat(1.5e6) }), job(2)].join("\n");
    for (const chunk of [1e9, 65_536]) {
      const workload = readBytes(new TextEncoder().encode(text), chunk);
      expect(Array.from(workload.jobs.id)).toEqual([2]);
      expect(codes(workload)).toEqual([["long-line", 2]]);
    }
  });

  test("a wrong value of a field that is not needed is left out, and the job stays", () => {
    const workload = read(HEAD, job(1, { user: 7, memoryBytes: -1, use: { gpu: "two" }, beginS: "soon" }));
    expect(workload.count).toBe(1);
    expect(workload.demand![0].amount[0]).toBe(0);
    expect(workload.diagnostics[0]).toMatchObject({ code: "bad-field", action: "repaired", count: 4 });
    expect(workload.diagnostics[0].examples.map(({ field, value }) => [field, value])).toEqual([
      ["user", "7"],
      ["memoryBytes", "-1"],
      ["use", '{"gpu":"two"}'],
      ["beginS", "soon"],
    ]);
  });

  test("a resource that the first line does not list is said, and not counted", () => {
    const workload = read(HEAD, job(1, { use: { disk: 1, gpu: 2 } }));
    expect(codes(workload)).toEqual([["unlisted-resource", 2]]);
    expect(workload.demand!.map(({ amount }) => amount[0])).toEqual([2, 0]);
  });

  test("a range of tasks becomes the sizes on which a job can run; a wrong end of it is left out", () => {
    const workload = read(
      HEAD,
      job(1, { tasks: 4, threads: 2, minTasks: 2, maxTasks: 6, serialShare: 0.1 }),
      job(2, { tasks: 3 }),
      job(3, { tasks: 3, minTasks: 4, maxTasks: 5 }),
      job(4, { tasks: 3, maxTasks: 2, serialShare: 2 }),
      job(5, { tasks: 8, maxTasks: 99 }),
    );
    const { molding } = workload;
    expect([...molding!.minSize]).toEqual([4, 3, 3, 3, 8]);
    expect([...molding!.maxSize]).toEqual([12, 3, 5, 3, 99]);
    expect([...molding!.serialShare]).toEqual([0.1, 0, 0, 0, 0]);
    const bad = workload.diagnostics.find(({ code }) => code === "bad-field")!;
    expect(bad.examples.map(({ line, field, value }) => [line, field, value])).toEqual([
      [4, "minTasks", "4"],
      [5, "serialShare", "2"],
      [5, "maxTasks", "2"],
    ]);
    const again = read(...[...writeJsonl(workload)].join("").trimEnd().split("\n"));
    expect(again.molding).toEqual(molding);
    expect(read(HEAD, job(2, { tasks: 3, minTasks: 3 })).molding).toBeUndefined();
    // The result says that there are such jobs, within the machine.
    const { diagnostics } = prepare(workload, 16, DEFAULT_RULES);
    expect(diagnostics.map(({ code, count, examples }) => [code, count, examples[2].value])).toEqual([
      ["other-sizes", 3, "8 to 16"],
    ]);
  });

  test("a job that needs more units than the machine has is left out when the workload is prepared", () => {
    const instance = prepare(read(HEAD, job(1, { use: { gpu: 5 } }), job(2)), 16, DEFAULT_RULES);
    expect(Array.from(instance.id)).toEqual([2]);
    expect(instance.diagnostics[0].code).toBe("resource-dropped");
  });
});

describe("the first line", () => {
  test.each([
    ["", "it is empty"],
    ["{", "line 1 is not a JSON object"],
    ['{"schema":"tutti.workload-file/2"}', "line 1 has the schema tutti.workload-file/2"],
    ['{"schema":"tutti.workload-file/1","processors":0}', "line 1 has 0 processors"],
    [
      '{"schema":"tutti.workload-file/1","resources":{"gpu":1.5}}',
      'line 1 has the resources {"gpu":1.5}, and these are not at most 64 names with whole amounts',
    ],
  ])("%s is refused", (line, why) => {
    const bytes = new TextEncoder().encode(line);
    expect(() => readBytes(bytes)).toThrow(InputError);
    expect(() => readBytes(bytes)).toThrow(
      `Cannot read "test" as a workload file: ${why}, expected a first line such as {"schema":"tutti.workload-file/1","processors":16}`,
    );
  });
});

describe("events", () => {
  const never = Number.POSITIVE_INFINITY;

  test("pauses keep the processors, or release them; drains and holds have a beginning and an end", () => {
    const { interruptions } = read(
      HEAD,
      job(1),
      job(2),
      event("pause", 3, { job: 1 }),
      event("resume", 5, { job: 1 }),
      event("pause", 4, { job: 2, release: true }),
      event("resume", 9, { job: 2 }),
      event("drain", 20),
      event("undrain", 30),
      event("hold", 6, { job: 2 }),
      event("release", 7, { job: 2 }),
      event("cancel", 8, { job: 1 }),
      event("edit", 2, { job: 1, set: { tasks: 3, limitS: 40, use: { gpu: 1 } } }),
      event("edit", 3, { job: 1, set: { threads: 2, beginS: 50 } }),
      // Changes nothing that a policy sees.
      event("edit", 3.5, { job: 1, set: { name: "x" } }),
    );
    expect(interruptions).toEqual({
      outages: [],
      freezes: [{ job: 0, fromS: 3, untilS: 5 }],
      stops: [{ job: 1, fromS: 4, untilS: 9 }],
      drains: [{ fromS: 20, untilS: 30 }],
      withdrawals: [
        { job: 0, fromS: 2, untilS: 2, change: { size: 3, estimateS: 40, use: { gpu: 1 } } },
        { job: 0, fromS: 3, untilS: 50, change: { size: 6 } },
        { job: 1, fromS: 6, untilS: 7 },
        { job: 0, fromS: 8, untilS: never },
      ],
    });
  });

  test("a begin that changes before it has come is the arrival; later, the job leaves until its last begin", () => {
    const edit = (atS: number, number: number, beginS: number) =>
      event("edit", atS, { job: number, set: { beginS } });
    const { jobs, interruptions } = read(
      HEAD,
      ...[job(1, { beginS: 100 }), job(2), job(3, { beginS: 20 })],
      ...[edit(10, 1, 70), edit(30, 1, 50), edit(40, 1, 5), edit(60, 1, 80)],
      ...[edit(10, 2, 90), edit(20, 2, 30), edit(50, 2, 60)],
    );
    expect([...jobs.id]).toEqual([2, 3, 1]);
    // Job 1 at 40 s, when its begin had long been over.
    expect([...jobs.submitS]).toEqual([0, 20, 40]);
    const away = interruptions!.withdrawals!.map(({ job: row, fromS, untilS }) => [row, fromS, untilS]);
    expect(away).toEqual([
      [2, 10, 10],
      [0, 10, 20],
      [0, 20, 30],
      [2, 30, 30],
      [2, 40, 40],
      [0, 50, 60],
      [2, 60, 80],
    ]);
  });

  test("an event is about the attempt of a job that has arrived last", () => {
    const { jobs, interruptions } = read(
      HEAD,
      ...[job(7, { attempt: 2, beginS: 37 }), job(7, { attempt: 1, beginS: 4 }), job(8, { submitS: 9 })],
      ...[event("pause", 5, { job: 7 }), event("resume", 6, { job: 7 })],
      ...[event("pause", 40, { job: 7 }), event("resume", 42, { job: 7 }), event("hold", 1, { job: 7 })],
    );
    expect([...jobs.id]).toEqual([9, 8, 7]);
    expect(interruptions).toMatchObject({
      freezes: [
        { job: 0, fromS: 5, untilS: 6 },
        { job: 2, fromS: 40, untilS: 42 },
      ],
      withdrawals: [{ job: 0, fromS: 1 }],
    });
  });

  test("a window takes the processors with the highest numbers that are there; fewer processors are an outage", () => {
    const workload = read(
      HEAD,
      job(1),
      event("window", 1, { fromS: 10, untilS: 20, processors: 4 }),
      event("window", 2, { fromS: 15, untilS: 25, processors: 3 }),
      event("window", 3, { fromS: 15, untilS: 18, processors: 2, first: 0, users: ["anna"] }),
      event("capacity", 30, { processors: 12 }),
      event("capacity", 40, { processors: 16 }),
      event("window", 5, { fromS: 35, untilS: 36, processors: 13 }),
    );
    expect(workload.interruptions!.outages).toEqual([
      { first: 12, processors: 4, fromS: 10, untilS: 20, announcedS: 1 },
      { first: 9, processors: 3, fromS: 15, untilS: 25, announcedS: 2 },
      { first: 0, processors: 2, fromS: 15, untilS: 18, announcedS: 3 },
      { first: 12, processors: 4, fromS: 30, untilS: 40 },
      { first: 0, processors: 12, fromS: 35, untilS: 36, announcedS: 5 },
    ]);
    expect(codes(workload)).toEqual([
      ["reserved-window", 5],
      ["window-too-large", 8],
    ]);
    prepare(workload, 16, DEFAULT_RULES);
  });

  test.each([
    [event("resume", 3, { job: 1 }), "event-without-begin"],
    [event("undrain", 3), "event-without-begin"],
    [event("release", 3, { job: 1 }), "event-without-begin"],
    [event("pause", 3, { job: 99 }), "no-such-job"],
    [event("pause", -3, { job: 1 }), "bad-needed-field"],
    [event("edit", 3, { job: 1, set: { size: 3 } }), "bad-needed-field"],
    [event("window", 3, { fromS: 2, untilS: 9, processors: 1 }), "bad-needed-field"],
    [event("window", 3, { fromS: 9, untilS: 9, processors: 1 }), "bad-needed-field"],
    [event("drain", 3), "never-ends"],
    [event("pause", 3, { job: 1 }), "never-ends"],
    [event("policy", 3, { policy: "easy" }), "policy-change"],
  ])("%s is counted", (line, code) => {
    expect(codes(read(HEAD, job(1), line))).toEqual([[code, 3]]);
  });

  test("a machine without processors can have no windows", () => {
    const window = event("window", 1, { fromS: 10, untilS: 20, processors: 4 });
    expect(() => read('{"schema":"tutti.workload-file/1"}', job(1), window)).toThrow(
      "Cannot use the event in line 3: the first line does not state the processors of the machine",
    );
  });

  test("10,001 windows are refused", () => {
    const windows = Array.from({ length: 10_001 }, (_, i) =>
      event("window", i, { fromS: i, untilS: i + 1, processors: 1 }),
    );
    expect(() => read(HEAD, job(1), ...windows)).toThrow("Cannot use more than 10000 windows");
  });
});

describe("writeJsonl()", () => {
  const lines = [
    HEAD,
    job(1, { tasks: 2, threads: 2, use: { gpu: 1, disk: 3 }, user: "anna", priority: -5, retries: 2 }),
    job(2, { submitS: 1, beginS: 8, estimateS: 11, after: [{ job: 1, if: "ok" }], memoryBytes: 1e9 + 1 }),
    job(3, { submitS: 9, limitS: undefined, state: "done" }),
    event("drain", 2),
    event("undrain", 4),
    event("edit", 3, { job: 2, set: { limitS: 30 } }),
    event("window", 5, { fromS: 10, untilS: 20, processors: 4, users: ["anna"], name: "course" }),
  ];

  test("what it writes is read as the same jobs, events and notes", () => {
    const workload = read(...lines);
    const again = readBytes(new TextEncoder().encode([...writeJsonl(workload)].join("")));
    expect(hashWorkload(again)).toBe(hashWorkload(workload));
    for (const field of [
      "events",
      "interruptions",
      "resources",
      "demand",
      "shape",
      "trace",
      "notes",
    ] as const)
      expect(again[field]).toEqual(workload[field]);
    expect([...writeJsonl(again)].slice(1)).toEqual([...writeJsonl(workload)].slice(1));
  });

  test("a converted SWF trace has the size of the machine and the names of queues", () => {
    const text = [...writeSwf(read(HEAD, job(1, { queue: "night" })))].join("");
    expect(text).toContain("; MaxProcs: 16\n; Queue: 1 night\n");
    expect(text).toContain("\n1 0 -1 10 1 -1 -1 1 20 -1 -1 -1 -1 -1 1 -1 -1 -1\n");
  });
});

test("5000 damaged files: every line is a job, an event, or counted, and nothing throws but InputError", () => {
  const random = new Random(3, "damage");
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)];
  const values = [
    -1,
    0,
    1,
    2.5,
    1e300,
    2 ** 31,
    "x",
    "",
    null,
    true,
    [],
    {},
    [{}],
    { gpu: 1 },
    { __proto__: 1 },
    17,
  ];
  const fields = ["job", "submitS", "runS", "tasks", "threads", "limitS", "use", "after", "event", "atS"];
  const more = [
    "fromS",
    "untilS",
    "processors",
    "first",
    "set",
    "release",
    "beginS",
    "user",
    "__proto__",
    "toString",
  ];
  const kinds = [
    "pause",
    "resume",
    "drain",
    "undrain",
    "window",
    "capacity",
    "edit",
    "hold",
    "release",
    "cancel",
  ];
  let jobs = 0;
  let events = 0;
  for (let run = 0; run < 5000; run++) {
    const lines: string[] = [];
    for (let i = 1 + random.below(5); i > 0; i--) {
      const entry: Record<string, unknown> =
        random.below(2) === 0
          ? { job: random.below(5), submitS: random.below(9), runS: random.below(9), limitS: 9 }
          : {
              ...{
                event: pick(kinds),
                atS: random.below(9),
                job: random.below(5),
                processors: 1 + random.below(20),
              },
              ...{ fromS: 9, untilS: 9 + random.below(9), set: { tasks: 1 + random.below(20) } },
            };
      if (random.below(3) === 0) entry[pick([...fields, ...more])] = pick(values);
      let line = JSON.stringify(entry);
      if (random.below(8) === 0) line = line.slice(0, random.below(line.length));
      lines.push(line);
    }
    const bytes = new TextEncoder().encode([random.below(50) === 0 ? lines[0] : HEAD, ...lines].join("\n"));
    if (random.below(4) === 0) bytes[random.below(bytes.length)] = random.below(256);
    let workload: Workload;
    try {
      workload = readBytes(bytes, 1 + random.below(bytes.length));
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      continue;
    }
    expect(wrongWith(workload)).toBe(undefined);
    const { length } = new TextDecoder()
      .decode(bytes)
      .split("\n")
      .slice(1)
      .filter((line) => line.trim() !== "");
    const used = workload.events?.length ?? 0;
    expect(workload.count + used + droppedOf(workload)).toBe(length);
    jobs += workload.count;
    events += used;
    for (const { job: row } of workload.interruptions?.withdrawals ?? [])
      expect(row).toBeLessThan(workload.count);
    prepare(workload, 16, DEFAULT_RULES);
    readBytes(new TextEncoder().encode([...writeJsonl(workload)].join("")));
  }
  expect(jobs).toBeGreaterThan(2500);
  expect(events).toBeGreaterThan(1500);
});
