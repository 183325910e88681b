import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeHtml, scriptJson, scriptSource, withoutControls } from "../html/escape.ts";
import {
  durationFormatter,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  sharedTimeUnit,
} from "./format.ts";
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

  test("a shared unit makes durations comparable", () => {
    const seconds = [0, 4548, 6840, 390060];
    const unit = sharedTimeUnit(seconds);
    expect(seconds.map((value) => formatDuration(value, unit))).toEqual(["0 h", "1.26 h", "1.90 h", "108 h"]);
  });
});

describe("durationFormatter()", () => {
  test.each([
    ["one unit that suits all", [0, 4548, 6840, 168840], ["0 h", "1.26 h", "1.90 h", "46.9 h"]],
    ["days stay days next to hours", [6840, 7200, 389664], ["1.90 h", "2 h", "4.51 d"]],
    ["each its own where they differ widely", [93, 6840, 1019520], ["93 s", "1.90 h", "11.8 d"]],
    ["missing values have no say", [Number.NaN, 7200, 9000], ["–", "2 h", "2.50 h"]],
    ["differences", [-7200, 9000], ["−2 h", "2.50 h"]],
  ])("%s", (_, seconds, texts) => {
    expect(seconds.map(durationFormatter(seconds))).toEqual(texts);
  });

  test("prints no duration as a small fraction of its unit", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.5, max: 1e9, noNaN: true }), { minLength: 1 }), (seconds) => {
        for (const text of seconds.map(durationFormatter(seconds)))
          expect(Number.parseFloat(text.replaceAll(",", ""))).toBeGreaterThanOrEqual(0.5);
      }),
    );
  });
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

  test("scriptJson() is the same JSON without <, >, & and the two line ends", () => {
    fc.assert(
      fc.property(
        fc.anything({ values: [fc.constantFrom("</script>", "<!--", "\u2028", "&", "a")] }),
        (value) => {
          const plain = JSON.stringify(value);
          if (plain === undefined) return;
          const text = scriptJson(value);
          expect(text).not.toMatch(/[<>&\u2028\u2029]/);
          expect(JSON.parse(text)).toEqual(JSON.parse(plain));
        },
      ),
    );
  });

  test("scriptSource() refuses text that would end the script", () => {
    expect(scriptSource("a < b")).toBe("a < b");
    expect(() => scriptSource('x = "</SCRIPT>"')).toThrow('holds "</SCRIPT"');
    expect(() => scriptSource("x<!--y")).toThrow("expected none");
  });

  test("withoutControls() removes characters that control terminals and text direction", () => {
    expect(withoutControls("a\u001b[2Jb\u202ec\td\ne\u0085")).toBe("a[2Jbc d e");
  });
});
