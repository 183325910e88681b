/** Tests the pictures of `tutti top` at fixed sizes, and what its keys do. */

import { displayWidth } from "@tutti/lab/report/text/table.ts";
import type { Job, MatrixAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import { type Frame, frameLines } from "./frame.ts";
import { LogLines, MAX_LINES } from "./log-lines.ts";
import { type Key, TopView } from "./top-view.ts";

const NOW_MS = new Date(2026, 10, 23, 12, 34, 56).getTime();

function job(number: number, fields: Partial<Job> = {}): Job {
  return {
    job: number,
    name: `name${number}`,
    user: "ada",
    queue: "default",
    state: "running",
    tasks: 1,
    cpus: [0],
    priority: 0,
    ranMs: 7000,
    submittedAtMs: NOW_MS - 10_000,
    startedAtMs: NOW_MS - 7000,
    attempt: 1,
    after: [],
    command: ["./a.out"],
    cwd: "/",
    stdout: "/out",
    stderr: "/err",
    ...fields,
  } as Job;
}

const waiting = (number: number, fields: Partial<Job> = {}) => {
  const { startedAtMs: _, ...rest } = job(number, { state: "queued", cpus: [], ...fields });
  return rest as Job;
};

const counts = {
  queued: 1,
  held: 0,
  starting: 0,
  running: 2,
  paused: 0,
  ending: 0,
  done: 0,
  failed: 0,
  cancelled: 0,
};
const status = { version: "0.1.0", user: "ada", cpus: 2, busyCpus: 2, counts } as unknown as StatusAnswer;
const matrix: MatrixAnswer = {
  schema: "tutti.matrix/1",
  sequence: 1,
  policy: "gang",
  sharing: "time",
  slotMs: 100,
  mode: "gang",
  cpus: [0, 1],
  epochMs: 0,
  nowMs: 1000,
  rows: [
    [
      { job: 1, name: "name1", cpus: [0] },
      { job: 2, name: "name2", cpus: [1] },
    ],
    [{ job: 3, name: "name3", cpus: [0, 1] }],
  ],
};
const JOBS = [job(1), job(2, { cpus: [1] }), waiting(4, { tasks: 2 })];

function viewOf(
  jobs: readonly Job[],
  fields: { matrix?: MatrixAnswer; status?: StatusAnswer } = {},
): TopView {
  const view = new TopView();
  view.show({
    status,
    matrix,
    matrixAtMs: 500,
    jobs: new Map(jobs.map((each) => [each.job, each])),
    ...fields,
  });
  return view;
}

/** The picture 100 ms after the matrix arrived: the slot after that of the answer. */
function picture(view: TopView, columns: number, lines: number, fields: Partial<Frame> = {}): string[] {
  const frame = { columns, lines, colour: false, nowMs: NOW_MS, monotonicMs: 600, ...fields };
  return frameLines(view, frame);
}

const typed = (text: string): Key => ({ name: text, text });
const press = (view: TopView, ...keys: readonly (string | Key)[]) =>
  keys.map((key) => view.press(typeof key === "string" ? typed(key) : key)).at(-1);

describe("the picture", () => {
  test("at 60 columns and 16 lines", () => {
    const view = viewOf(JOBS);
    view.log = new LogLines();
    view.log.add(Buffer.from("one\ntwo\n\tthree"));
    press(view, "j", { name: "return" });
    expect(picture(view, 60, 16)).toEqual([
      "2 of 2 CPUs busy, 2 running, 1 queued, 0 held       12:34:56",
      "gang, slot 100 ms, row 2 of 2, policy gang",
      "        0  1",
      "  row 1 1  2",
      "▶ row 2 3  3",
      `── 3 jobs ${"─".repeat(50)}`,
      "  job  name   state      CPUs      ran  limit  remark",
      "    1  name1  ▶ running     1  0:00:07      –  on CPU 0",
      ">   2  name2  ▶ running     1  0:00:07      –  on CPU 1",
      "    4  name4  · queued      2        –      –",
      `── standard output of job 2 (name2), follows ${"─".repeat(15)}`,
      "one",
      "two",
      "        three",
      "",
      "Enter log  p pause  c cancel  h hold  w why  ? help  q quit",
    ]);
  });

  test("fills the terminal and is never wider, at any size and with any names", () => {
    const jobs = Array.from({ length: 300 }, (_, i) =>
      job(i + 1, {
        name: i % 2 === 0 ? "日本語のとても長い名前".repeat(5) : `\u001b[2J${"x".repeat(i)}`,
        user: `\u001b]0;title\u0007user${i % 3}`,
        queue: i % 5 === 0 ? "short" : "default",
        state: i % 3 === 0 ? "queued" : "running",
      }),
    );
    const nodes = Array.from({ length: 6 }, (_, i) => ({ node: `node${i}`, cpus: [0, 1, 2, 3] }));
    const rows = Array.from({ length: 40 }, (_, i) => [
      { job: i + 1, name: "\u001b[31m", cpus: [0, 1], nodes: [{ node: "node1", cpus: [0, 1] }] },
    ]);
    const wide = { ...matrix, cpus: nodes.flatMap(({ cpus }) => cpus), nodes, rows };
    for (const columns of [1, 20, 59, 60, 80, 132, 200, 400])
      for (const lines of [1, 3, 15, 16, 24, 60])
        for (const keys of [[], ["l"], ["w"], ["?"], ["c"], ["/", "x"], ["p"], [{ name: "end" }]]) {
          const view = viewOf(jobs, { matrix: wide });
          view.problem = "The scheduler is gone; waiting until it is back.";
          view.why = [`${"words ".repeat(200)}${"w".repeat(500)}`];
          press(view, ...keys);
          const drawn = picture(view, columns, lines);
          expect(drawn.length).toBe(lines);
          for (const line of drawn) {
            expect(displayWidth(line)).toBeLessThanOrEqual(columns);
            expect(line).not.toMatch(/\p{Cc}/u);
          }
        }
  });

  test("a colour is only ever a colour: no other escape sequence, and the same text", () => {
    const view = viewOf([job(1, { name: "\u001b[2J\u009b31m" }), ...JOBS.slice(1)]);
    view.log = new LogLines();
    view.log.add(Buffer.from("\u001b[2J\u001b]0;title\u0007 \u009b2J\u202e\r\n"));
    press(view, "l");
    const coloured = picture(view, 100, 24, { colour: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test removes them
    const plain = coloured.map((line) => line.replace(/\u001b\[[\d;]*m/g, "").trimEnd());
    expect(plain).toEqual(picture(view, 100, 24));
    expect(plain.join("")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(plain.join("\n")).toContain("\\x1b[2J\\x1b]0;title\\x07 \\x9b2J\\u202e\n");
    expect(coloured.some((line) => line.startsWith("\u001b[7m>"))).toBe(true);
  });

  test("of a cluster names the nodes above their CPUs, and says how many are lost", () => {
    const nodes = ["n1", "n2"].map((node) => ({ node, cpus: [0, 1] }));
    const on = {
      ...matrix,
      cpus: [0, 1, 0, 1],
      nodes,
      rows: [
        [
          {
            job: 1,
            name: "name1",
            cpus: [1, 0],
            nodes: [
              { node: "n1", cpus: [1] },
              { node: "n2", cpus: [0] },
            ],
          },
        ],
      ],
    };
    const states = ["up", "lost"].map((state, i) => ({ node: `n${i + 1}`, state, cpus: 2 }));
    const drawn = picture(
      viewOf(JOBS, { matrix: on, status: { ...status, nodes: states } as StatusAnswer }),
      100,
      20,
    );
    expect(drawn.slice(0, 5)).toEqual([
      "tutti 0.1.0: 2 of 2 CPUs busy, nodes: 1 up, 1 lost, 2 running, 1 queued, 0 held             12:34:56",
      "gang, slot 100 ms, row 1 of 1, policy gang",
      "        n1   │n2",
      "        0  1 │0  1",
      "▶ row 1 ·  1 │1  ·",
    ]);
  });

  test("names as many keys as fit", () => {
    const foot = (columns: number) => picture(viewOf(JOBS), columns, 16).at(-1);
    expect(foot(87)).toContain("Up/Down select");
    expect(foot(80)).toBe("Enter log  p pause  c cancel  h hold  w why  / filter  ? help  q quit");
    expect(foot(60)).toBe("Enter log  p pause  c cancel  h hold  w why  ? help  q quit");
  });

  test("marks the selected line over the whole width, where there are colours", () => {
    const wide = picture(viewOf(JOBS), 100, 20, { colour: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the mark is an escape sequence
    const marks = wide.map((line) => /^\u001b\[7m(>.*)\u001b\[0m$/u.exec(line)?.[1] ?? "").filter(Boolean);
    expect(marks.map(displayWidth)).toEqual([100]);
  });

  test("says the next window in a line of its own", () => {
    const hour = 3_600_000;
    const window = { name: "disk", fromMs: NOW_MS + hour, untilMs: NOW_MS + 2 * hour, by: "root", atMs: 0 };
    const windows = [window, { ...window, name: "course" }];
    const drawn = picture(viewOf(JOBS, { status: { ...status, windows } }), 80, 20);
    expect(drawn.slice(1, 3)).toEqual([
      "window disk: nothing starts from 13:34:56 until 14:34:56, by root",
      "gang, slot 100 ms, row 2 of 2, policy gang",
    ]);
  });

  test("a terminal that is too small says so", () => {
    expect(picture(viewOf(JOBS), 59, 16).slice(0, 3)).toEqual([
      "This terminal is too small.",
      "It has 59 columns and 16 lines,",
      "expected 60 and 16; q quits.",
    ]);
  });
});

describe("the keys", () => {
  test("select a job, which stays selected when others come, go or start", () => {
    const view = viewOf(JOBS);
    press(view, "j", "j", "j", "j");
    expect(view.job?.job).toBe(4);
    view.show({ ...view.world!, jobs: new Map([0, 1, 4, 5].map((n) => [n, n === 4 ? job(4) : waiting(n)])) });
    expect([view.job?.job, view.selected]).toEqual([4, 0]);
    view.show({ ...view.world!, jobs: new Map([[5, waiting(5)]]) });
    expect(view.job?.job).toBe(5);
    view.show({ ...view.world!, jobs: new Map() });
    expect(view.job).toBeUndefined();
    expect(press(view, "p")).toBeUndefined();
  });

  test("a long list moves no further than necessary", () => {
    const view = viewOf(Array.from({ length: 50 }, (_, i) => job(i + 1)));
    const firstLine = () =>
      picture(view, 80, 16)[7]
        .trim()
        .split(/\s+/)
        .find((word) => word !== ">");
    expect(firstLine()).toBe("1");
    press(view, { name: "end" });
    const last = Number(firstLine());
    expect(view.pageLines).toBe(50 - last + 1);
    press(view, ...Array.from({ length: view.pageLines - 1 }, () => "k"));
    expect(Number(firstLine())).toBe(last);
    press(view, "k");
    expect(Number(firstLine())).toBe(last - 1);
  });

  test("ask for changes: of a whole line of an array, and cancel only after y", () => {
    const array = [5, 6, 7].map((n) => waiting(n, { array: 5, arrayIndex: n - 5, name: "sim" }));
    const view = viewOf([job(1), job(2, { state: "paused" }), waiting(3, { state: "held" }), ...array]);
    expect(press(view, "p")).toEqual({ kind: "change", action: "pause", numbers: [1] });
    expect(press(view, "j", "p")).toEqual({ kind: "change", action: "resume", numbers: [2] });
    expect(press(view, "j", "h")).toEqual({ kind: "change", action: "release", numbers: [3] });
    expect(press(view, "j", "h")).toEqual({ kind: "change", action: "hold", numbers: [5, 6, 7] });
    expect(press(view, "c", "n")).toBeUndefined();
    expect(picture(view, 80, 24).at(-1)).toBe("Nothing was changed.");
    expect(press(view, "c")).toBeUndefined();
    expect(picture(view, 80, 24).at(-1)).toBe(
      "Cancel jobs 5-7 (3 jobs of array sim)? y: yes, any other key: no",
    );
    expect(press(view, "y")).toEqual({ kind: "change", action: "cancel", numbers: [5, 6, 7] });
  });

  test("filter by selectors and parts of names; Escape ends the filter", () => {
    const jobs = [
      job(1, { name: "sim-a", user: "bob" }),
      waiting(2, { name: "build", queue: "short" }),
      job(3, { name: "Sim-b", state: "failed", endedAtMs: 5 }),
      job(4, { name: "x", state: "done", endedAtMs: 9 }),
    ];
    const shown = (filter: string) => {
      const view = viewOf(jobs);
      press(view, "/", ...filter, { name: "return" });
      return view.lines.map((line) => line.job);
    };
    expect(shown("")).toEqual([1, 2, 4, 3]);
    expect(shown("sim")).toEqual([1, 3]);
    expect(shown("state:fail")).toEqual([3]);
    expect(shown("sim @bob")).toEqual([1]);
    expect(shown("queue:short")).toEqual([2]);
    expect(shown("name:*i*d")).toEqual([2]);
    expect(shown("2-3")).toEqual([2, 3]);
    const view = viewOf(jobs);
    press(view, "/", "q", { name: "paste", text: "\u001b[2J" });
    expect(view.filter).toBe("q");
    press(view, { name: "backspace" }, "x", { name: "escape" });
    expect([view.filter, view.lines.length]).toEqual(["", 4]);
  });

  test("quit by q and Ctrl-C, but q is a letter in a filter, and no in an answer", () => {
    const ctrlC = { name: "c", ctrl: true, text: "\u0003" };
    expect(press(viewOf(JOBS), "q")).toEqual({ kind: "quit" });
    for (const keys of [[], ["/"], ["c"], ["?"], ["l"]])
      expect(press(viewOf(JOBS), ...keys, ctrlC)).toEqual({ kind: "quit" });
    expect(press(viewOf(JOBS), "/", "q")).toBeUndefined();
    expect(press(viewOf(JOBS), "c", "q")).toBeUndefined();
  });

  test("scroll in the output, which follows again at its end", () => {
    const view = viewOf(JOBS);
    view.log = new LogLines();
    for (let i = 0; i < 100; i++) view.log.add(Buffer.from(`line ${i}\n`));
    press(view, "l");
    expect(picture(view, 80, 24).at(-2)).toBe("line 99");
    press(view, { name: "pageup" });
    const drawn = picture(view, 80, 24);
    const below = view.pageLines - 1;
    expect(drawn.at(-2)).toBe(`line ${99 - below}`);
    expect(drawn.join("\n")).toContain(`(name1), ${below} lines below`);
    press(view, { name: "pagedown" }, { name: "pagedown" });
    expect(picture(view, 80, 24).at(-2)).toBe("line 99");
  });
});

test("the output keeps its last lines, and of a line its first characters, however it is cut", () => {
  const lines = new LogLines();
  const text = Buffer.from(
    `${"é".repeat(5000)}\n${Array.from({ length: 3000 }, (_, i) => i).join("\n")}\na\tb`,
  );
  for (let i = 0; i < text.length; i += 7) lines.add(text.subarray(i, i + 7));
  expect(lines.lines.length).toBe(MAX_LINES + 1);
  expect(lines.lines.slice(-2)).toEqual(["2999", "a       b"]);
  const long = new LogLines();
  long.add(Buffer.from("é".repeat(5000)));
  expect(long.lines).toEqual(["é".repeat(1000)]);
});
