import { escapeHtml, withoutControls } from "@tutti/kernel/core/escape.ts";
import {
  columnFormatter,
  durationColumn,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  largestTimeUnit,
  momentLabel,
} from "@tutti/kernel/core/format.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { displayWidth, renderTable, shorten } from "./table.ts";

describe("formatNumber()", () => {
  test.each([
    [0, "0"],
    [7, "7"],
    [0.5, "0.50"],
    [0.0123, "0.012"],
    [0.00012, "1.2e−4"],
    [1.006, "1.01"],
    [9.996, "10.0"],
    [12.34, "12.3"],
    [99.96, "100"],
    [123.4, "123"],
    [999.7, "1,000"],
    [1234567.8, "1,234,568"],
    [-12.34, "−12.3"],
    [Number.NaN, "–"],
    [Number.POSITIVE_INFINITY, "∞"],
  ])("%d is %s", (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });
});

test("momentLabel() gives day and clock after two days", () => {
  expect(momentLabel(3600)).toBe("after 60 min");
  expect(momentLabel(12 * 86400 + 6.5 * 3600)).toBe("day 12, 06:30");
});

describe("formatDuration()", () => {
  test.each([
    [0, "0 s"],
    [119, "119 s"],
    [120, "2 min"],
    [5399, "90.0 min"],
    [5400, "1.50 h"],
    [7200, "2 h"],
    [172800, "2 d"],
    [28771200, "333 d"],
    [Number.NaN, "–"],
  ])("%d s is %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  test("a given unit makes neighbouring durations comparable", () => {
    const unit = durationColumn([4548, 6840, 390060]).unit;
    expect([0, 4548, 390060].map((value) => formatDuration(value, unit))).toEqual(["0 h", "1.26 h", "108 h"]);
  });

  test.each([
    [1, "1 s"],
    [60, "1 min"],
    [36000, "10 h"],
    [86400, "1 d"],
  ])("%d s in the largest unit are %s", (seconds, text) => {
    expect(formatDuration(seconds, largestTimeUnit(seconds))).toBe(text);
  });
});

describe("durationColumn()", () => {
  // By hand: 4548 s are 1.2633 h, 390060 s 108.35 h; 93 s are 0.0258 h, 1019520 s 283.2 h.
  test.each([
    ["the unit of the lower median", [4548, 6840, 390060], "h", ["1.26", "1.90", "108.35"]],
    ["one unit where they differ widely", [93, 6840, 1019520], "h", ["0.03", "1.90", "283.20"]],
    ["a bound where nothing would be left", [9, 6840, 7200], "h", ["<0.01", "1.90", "2.00"]],
    ["zeros and missing values have no say", [0, Number.NaN, 9000], "h", ["0.00", "–", "2.50"]],
    ["one digit from 10 on, none from 100 on", [66600, 43200], "h", ["18.5", "12.0"]],
    ["whole numbers stay whole", [7200, 14400, 0], "h", ["2", "4", "0"]],
    ["differences", [-7200, 9000, -9], "h", ["−2.00", "2.50", ">−0.01"]],
    ["small numbers have two digits", [0.0021, 0.0123], "s", ["0.0021", "0.0123"]],
    ["no durations", [Number.NaN, 0], "s", ["–", "0"]],
    ["none at all", [], "s", []],
  ])("%s", (_, seconds, unit, texts) => {
    const column = durationColumn(seconds);
    expect(column.heading("mean wait")).toBe(`mean wait (${unit})`);
    expect(seconds.map(column.format)).toEqual(texts);
  });

  test("lines up the digits, and no duration looks like none", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), { minLength: 1 }), (seconds) => {
        const texts = seconds.map(durationColumn(seconds).format);
        const decimals = texts.map((text) => text.split(".")[1]?.length ?? 0);
        expect(new Set(decimals).size).toBe(1);
        for (const text of texts) expect(text).toMatch(/[1-9]/);
      }),
    );
  });

  test("half of the durations are at least one unit, in a unit that suits the median", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1, max: 1e9, noNaN: true }), { minLength: 1 }), (seconds) => {
        const { unit } = durationColumn(seconds);
        const small = seconds.filter((value) => value < unit.seconds);
        expect(2 * small.length).toBeLessThan(seconds.length + 1);
      }),
    );
  });
});

test("columnFormatter() gives the numbers of a column the digits that the smallest needs", () => {
  const values = [8638.7, 59.3, 235];
  expect(values.map(columnFormatter(values))).toEqual(["8,638.7", "59.3", "235.0"]);
});

test("formatCount() and formatPercent()", () => {
  expect([formatCount(28475), formatCount(Number.NaN)]).toEqual(["28,475", "–"]);
  expect([formatPercent(0.7014), formatPercent(Number.NaN)]).toEqual(["70.1 %", "–"]);
});

describe("renderTable()", () => {
  const columns = [
    { title: "policy", align: "left", dropOrder: 0 },
    { title: "mean wait", align: "right", dropOrder: 0 },
    { title: "median", align: "right", dropOrder: 1 },
    { title: "p95", align: "right", dropOrder: 2 },
  ] as const;
  const rows = [
    ["easy:order=shortest", "1.26 h", "0 h", "6.23 h"],
    ["fcfs", "108 h", "133 h", "240 h"],
  ];

  test("aligns texts to the left and numbers to the right", () => {
    expect(renderTable(columns, rows, { width: 80 })).toBe(
      "policy               mean wait  median     p95\n" +
        "easy:order=shortest     1.26 h     0 h  6.23 h\n" +
        "fcfs                     108 h   133 h   240 h\n",
    );
  });

  test("leaves out the least important columns and names them", () => {
    expect(renderTable(columns, rows, { width: 40 })).toBe(
      "policy               mean wait  median\n" +
        "easy:order=shortest     1.26 h     0 h\n" +
        "fcfs                     108 h   133 h\n" +
        "not shown at this width: p95\n",
    );
  });

  test("then shortens texts", () => {
    expect(renderTable(columns, rows, { width: 24 }).split("\n")[1]).toBe("easy:order=s…     1.26 h");
  });

  test("is never wider than asked, apart from columns that must stay, whatever the cells contain", () => {
    const cell = fc.string({ unit: "grapheme", maxLength: 30 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, fc.string({ maxLength: 9 }), cell, cell)),
        fc.integer({ min: 24, max: 120 }),
        (table, width) => {
          for (const line of renderTable(columns, table, { width }).trimEnd().split("\n")) {
            expect(displayWidth(line)).toBeLessThanOrEqual(width);
          }
        },
      ),
    );
  });

  test("colour is bold for the heading only, and control characters never come through", () => {
    const text = renderTable(columns.slice(0, 1), [["a\u001b[31mb\nc"]], { width: 20, colour: true });
    expect(text).toBe("\u001b[1mpolicy\u001b[22m\na[31mb c\n");
  });
});

test("shorten() counts wide characters twice", () => {
  expect(shorten("接続予約", 8)).toBe("接続予約");
  expect(shorten("接続予約", 7)).toBe("接続予…");
  expect(shorten("abc", 1)).toBe("…");
});

describe("escaping", () => {
  test("escapeHtml() leaves no character that could open or close anything", () => {
    expect(escapeHtml(`<a href="x" id='y'>&`)).toBe("&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
  });

  test("withoutControls() removes characters that control terminals and text direction", () => {
    expect(withoutControls("a\u001b[2Jb\u202ec\td\ne\u0085")).toBe("a[2Jbc d e");
  });
});

test("a column with a least width is shortened to the room that is left, and left out where that is less", () => {
  const columns = [
    { title: "job", align: "right", dropOrder: 0 },
    { title: "queue", align: "left", dropOrder: 2 },
    { title: "remark", align: "left", dropOrder: 1, leastWidth: 8 },
  ] as const;
  const table = (width: number) => renderTable(columns, [["7", "short", "waits for job 6"]], { width });
  expect(table(27)).toBe("job  queue  remark\n  7  short  waits for job 6\n");
  expect(table(20)).toBe("job  remark\n  7  waits for job 6\nnot shown at this\nwidth: queue\n");
  expect(table(13)).toMatch(/^job {2}remark\n {2}7 {2}waits f…\n/);
  expect(table(12)).toMatch(/^job\n {2}7\n/);
});

test("a column that may shrink is shortened to a third of the width before others are left out", () => {
  const columns = [
    { title: "job", align: "right", dropOrder: 0 },
    { title: "name", align: "left", dropOrder: 0, shrinksFirst: true },
    { title: "CPUs", align: "right", dropOrder: 1 },
  ] as const;
  const rows = [["7", "a-rather-long-name-of-a-job-in-an-array", "4"]];
  expect(renderTable(columns, rows, { width: 36 })).toBe(
    "job  name                       CPUs\n  7  a-rather-long-name-of-a-…     4\n",
  );
  expect(renderTable(columns, rows, { width: 21 })).toBe("job  name        CPUs\n  7  a-rather-…     4\n");
});
