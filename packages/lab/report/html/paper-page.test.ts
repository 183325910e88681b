import { describe, expect, test } from "vitest";
import type { ReproducedPaper, ReproducedValue } from "../../results/reproduction.ts";
import { deviates, deviation, deviationText, isFar, testLegend, valueColumns } from "../deviations.ts";
import { countReproduction, pageClaims } from "../paper-counts.ts";
import { indexLines, notInIndex, statusCounts } from "../paper-index.ts";
import { matrixSvg } from "../svg/matrix-svg.ts";
import { paperPage } from "./paper-page.ts";
import { papersIndex } from "./papers-index.ts";

const EVIL = `</style><script>alert(1)</script><img src=x>"'`;

/**
 * A paper with four values. Three have a published value: one deviates by 4 %, one by 50 % with a reason, one
 * by 100 % without a reason. The fourth has no published value.
 */
function reproduced(name = "a & b"): ReproducedPaper {
  const column = { name: "t", unit: "slots", meaning: "turnaround" };
  return {
    tutti: { version: "1.2.3" },
    paper: { key: "key", title: `On ${name}`, authors: "A. Author", published: "2000" },
    index: {
      entries: [
        { at: "1", says: "a table", shown: ["Table 1"] },
        { at: "2", says: "BR is better", statements: ["BR beats"] },
        { at: "2", says: "each is better", statements: ["BR beats", "BC beats"] },
        { at: "2", says: "the loser is faster", statements: ["BRMS beats"] },
        { at: "2", says: "a curve", shown: ["Figure 3"] },
        { at: "3", says: "bars", shown: ["Figure 4"] },
        { at: "4", says: name, notClaimed: "an opinion" },
      ],
      added: { shown: ["Figure 5"], statements: [] },
    },
    seed: 7,
    tables: [
      {
        id: "Table 1",
        title: name,
        labelColumns: ["scheme"],
        valueColumns: [column, { name: "wait", unit: "s", meaning: "wait" }],
        rows: [
          {
            labels: ["BC"],
            values: [
              { published: 100, ours: 104, halfWidth: 3 },
              { published: null, ours: 93, halfWidth: null },
            ],
          },
          {
            labels: ["BR"],
            values: [
              { published: 0.194, ours: 0.291, halfWidth: null, reason: "few sets of jobs" },
              { published: null, ours: 1019520, halfWidth: null },
            ],
          },
          {
            labels: ["BRMS"],
            values: [
              { published: 5, ours: 10, halfWidth: null },
              { published: null, ours: 6840, halfWidth: null },
            ],
          },
        ],
      },
    ],
    figures: [
      {
        id: "Figure 3",
        title: name,
        xAxis: "load",
        yAxis: "slots",
        series: [
          {
            name: "BC",
            ours: [
              [0.2, 30],
              [0.5, 60],
            ],
            published: [[0.2, 31]],
          },
        ],
      },
      {
        id: "Figure 4",
        title: "bars",
        xAxis: "queue",
        yAxis: "wait in s",
        categories: ["small", "large"],
        yScale: "log",
        series: [
          {
            name: "one",
            ours: [
              [1, 0],
              [2, 100],
            ],
          },
        ],
      },
    ],
    matrices: [
      {
        id: "Figure 5",
        title: "packing",
        steps: [
          {
            caption: "before",
            rows: [
              ["A", "A", null],
              [null, "B", "B"],
            ],
          },
        ],
      },
    ],
    statements: [
      { statement: "BR beats BC", holds: true, evidence: "1 < 2" },
      { statement: "BC beats BR", holds: false, evidence: "2 > 1" },
      { statement: "BRMS beats BC", holds: null, evidence: "1 ± 2" },
    ],
    notes: [name],
  };
}

describe("deviation", () => {
  test.each([
    [100, 104, "+4.0 %", false],
    [100, 90, "−10.0 %", false],
    [100, 89, "−11.0 %", true],
    [100, 100.01, "0.0 %", false],
    [0, 0, "0.0 %", false],
    [0, 1, "∞", true],
    [null, 1, "", false],
    [100, Number.NaN, "∞", true],
  ])("%s published, %s ours: %s, to be explained: %s", (published, ours, text, isBeyond) => {
    const value = { published, ours, halfWidth: null };
    expect(deviationText(value)).toBe(text);
    expect(deviates(value)).toBe(isBeyond);
  });

  test("deviation() is our value ÷ the published value − 1", () => {
    expect(deviation({ published: 4, ours: 5, halfWidth: null })).toBe(0.25);
  });
});

describe("a deviation and chance", () => {
  const value = (ours: number, t: number) => ({
    published: 100,
    ours,
    halfWidth: 1,
    test: { t, quantile: 2.1, otherCount: 20 },
  });

  test.each([
    ["near, chance", value(105, 2), false, false],
    ["near, but not by chance", value(105, 3), false, false],
    ["far, but by chance", value(120, -2.1), true, false],
    ["far, and not by chance", value(120, 2.11), true, true],
  ])("%s", (_, tested, far, needsReason) => {
    expect(isFar(tested)).toBe(far);
    expect(deviates(tested)).toBe(needsReason);
  });

  test("each of the four is counted in its place", () => {
    const paper = reproduced();
    const values = [value(105, 2), value(105, 3), value(120, -2.1), { ...value(120, 2.11), reason: "why" }];
    const [table] = paper.tables;
    const tested = { ...table, rows: [{ labels: ["BC"], values }] };
    const counts = countReproduction({ ...paper, tables: [tested] });
    expect(counts).toMatchObject({ compared: 4, tested: 4, within: 2, small: 1, byChance: 1, explained: 1 });
    expect(testLegend(tested)).toContain("of 20 runs");
    expect(testLegend(tested)).toContain("± 2.10 ");
    const kinds = (["constants", "fitted"] as const).map((kind) => ({ ...tested, kind }));
    const uncounted = countReproduction({ ...paper, tables: kinds });
    expect(uncounted).toMatchObject({ compared: 0, within: 0, constants: 4, fitted: 4 });
  });
});

test("countReproduction() counts values and statements", () => {
  expect(countReproduction(reproduced())).toEqual({
    compared: 3,
    tested: 0,
    within: 1,
    small: 0,
    byChance: 0,
    explained: 1,
    unexplained: 1,
    constants: 0,
    fitted: 0,
    unpublished: 3,
    statements: 3,
    holding: 1,
    open: 1,
    added: 0,
  });
  const { index, ...paper } = reproduced();
  const added = { shown: [], statements: ["BC beats"] };
  expect(countReproduction({ ...paper, index: { ...index, added } })).toMatchObject({
    statements: 2,
    holding: 1,
    open: 1,
    added: 1,
  });
});

test("pageClaims() says what is claimed and what is not, without counts of nothing", () => {
  const { claimed, notClaimed } = pageClaims(reproduced());
  expect(claimed).toEqual([
    "1 of 3 published values are within 10 % of Tutti's.",
    "1 of 3 statements hold in our numbers.",
    "1 figure of matrices made by the operations that the text describes.",
    "7 tables, figures and sentences of the paper are in the index. 5 are tested: 2 reproduced, 2 deviating, 1 open.",
  ]);
  expect(notClaimed).toEqual([
    "1 published value beyond the limits: not reproduced, with a reason next to it.",
    "1 published value beyond the limits, without a reason.",
    "1 statement of the text that does not hold.",
    "1 statement of the text neither shown nor refuted: a 95 % interval contains the limit.",
    "Chance is not judged for 3 published values: the paper does not say how many runs they are means of.",
    "3 values for which the paper prints no number.",
    "2 entries of the index that Tutti does not decide, such as definitions and background, each with a reason.",
  ]);
});

test("a table in another reading has counts of its own", () => {
  const { index, ...paper } = reproduced();
  const added = { shown: ["Table 1"], statements: [] };
  const other = { ...paper, index: { ...index, added } };
  expect(countReproduction(other)).toMatchObject({ compared: 0, within: 0, explained: 0, unexplained: 0 });
  expect(pageClaims(other).claimed).toContain(
    "Table 1: 1 of 3 published values within 10 %, 0 more differ by no more than chance.",
  );
});

describe("index of a paper", () => {
  test("the status of each entry follows from the numbers of its parts", () => {
    expect(indexLines(reproduced()).map(({ status, why, parts }) => [status, why, parts[0]?.anchor])).toEqual(
      [
        ["deviating", "2 of 3 values beyond 10 %, see the table for reasons", "table-1"],
        ["reproduced", "holds", "statement-1"],
        ["deviating", "1 of 2 statements do not hold: 2 > 1", "statement-1"],
        ["open", "open: 1 ± 2", "statement-3"],
        ["reproduced", "1 of 1 points within 10 %", "figure-3"],
        ["not claimed", "the paper prints no numbers of the figure; ours are drawn", "figure-4"],
        ["not claimed", "an opinion", undefined],
      ],
    );
  });

  test("an entry is open if a part is open and none deviates", () => {
    const paper = reproduced();
    const statusOf = (...statements: string[]) => {
      const entries = [{ at: "1", says: "", statements }];
      const [{ status, why }] = indexLines({ ...paper, index: { ...paper.index, entries } });
      return [status, why];
    };
    expect(statusOf("BR beats", "BRMS beats")).toEqual(["open", "1 of 2 statements are open: 1 ± 2"]);
    expect(statusOf("BC beats", "BRMS beats")).toEqual([
      "deviating",
      "1 of 2 statements do not hold: 2 > 1; 1 of 2 statements are open: 1 ± 2",
    ]);
  });

  test("claims that were tested are counted apart from the entries that are not claimed", () => {
    const paper = reproduced();
    expect(statusCounts([paper])).toBe(
      "5 claims tested: 2 reproduced, 2 deviating, 1 open. 2 more entries are not claimed: definitions, background, and what our numbers cannot decide.",
    );
    expect(statusCounts([paper, paper])).toMatch(
      /^10 claims tested: 4 reproduced, 4 deviating, 2 open\. 4 more/,
    );
  });

  test("parts without an entry are found, and an entry without its part is refused", () => {
    const paper = reproduced();
    expect(notInIndex(paper)).toEqual([]);
    expect(notInIndex({ ...paper, index: { ...paper.index, entries: [] } })).toEqual([
      "Table 1",
      "Figure 3",
      "Figure 4",
      "BR beats BC",
      "BC beats BR",
      "BRMS beats BC",
    ]);
    const entries = [{ at: "1", says: "nothing", shown: ["Table 9"] }];
    expect(() => indexLines({ ...paper, index: { ...paper.index, entries } })).toThrow(
      'Cannot make the index of key: the page has no table or figure "Table 9"',
    );
  });
});

describe("valueColumns()", () => {
  const columnOf = (unit: string, values: readonly ReproducedValue[]) => {
    const rows = values.map((value) => ({ labels: [], values: [value] }));
    const column = { name: "wait", unit, meaning: "" };
    const table = { id: "Table 1", title: "", labelColumns: [], valueColumns: [column], rows };
    const [{ heading, textsOf }] = valueColumns(table);
    return [
      heading,
      ...values.map(textsOf).map(({ published, ours, halfWidth }) => [published, ours, halfWidth]),
    ];
  };

  test("published values have the paper's digits, and ours are in the same unit", () => {
    expect(
      columnOf("s", [
        { published: 0.194, ours: 0.29, halfWidth: 0.0123 },
        { published: 11487.64, ours: 12345.6, halfWidth: null },
        { published: null, ours: 6840, halfWidth: Number.NaN },
      ]),
    ).toEqual(["wait, s", ["0.194", "0.290", "0.012"], ["11,487.64", "12,346", ""], ["–", "6,840", ""]]);
  });

  // By hand: the lower median, 6840 s, is 1.90 h; 93 s are 0.0258 h and 1019520 s are 283.2 h.
  test("without published values, seconds have one unit per column, which the heading names", () => {
    const values = [
      { published: null, ours: 93, halfWidth: null },
      { published: null, ours: 6840, halfWidth: 93 },
      { published: null, ours: 1019520, halfWidth: 6840 },
    ];
    expect(columnOf("s", values)).toEqual([
      "wait, h",
      ["–", "0.03", ""],
      ["–", "1.90", "0.03"],
      ["–", "283.20", "1.90"],
    ]);
    expect(columnOf("jobs", values.slice(1))).toEqual([
      "wait, jobs",
      ["–", "6,840", "93"],
      ["–", "1,019,520", "6,840"],
    ]);
  });

  // By hand: the lower median of 300, 600, 36000 and 72000 s is 10 min.
  test("the durations of a table share one unit", () => {
    const wait = (ours: number) => ({ published: null, ours, halfWidth: null });
    const columns = valueColumns({
      id: "Table 1",
      title: "",
      labelColumns: [],
      valueColumns: ["fcfs", "easy"].map((name) => ({ name, unit: "s", meaning: "" })),
      rows: [
        { labels: [], values: [wait(36_000), wait(300)] },
        { labels: [], values: [wait(72_000), wait(600)] },
      ],
    });
    expect(columns.map(({ heading }) => heading)).toEqual(["fcfs, min", "easy, min"]);
    expect(columns[0].textsOf(wait(72_000)).ours).toBe("1,200");
    expect(columns[1].textsOf(wait(300)).ours).toBe("5");
  });
});

describe("paperPage()", () => {
  const page = paperPage(reproduced());

  test("holds published values, ours, deviations, reasons, statements, notes, command, seed and version", () => {
    for (const text of [
      "<b>104</b>",
      "± 3",
      "100<br>+4.0 %",
      "0.194<br>+50.0 % <sup>1</sup>",
      "<li>few sets of jobs</li>",
      '<th scope="col">wait, h</th>',
      "<td><b>0.03</b></td>",
      "<td><b>283.20</b></td>",
      "<td><b>1.90</b></td>",
      ">holds</span>",
      ">does not hold</span>",
      '<span class="verdict undecided">open</span>',
      "2 &gt; 1",
      "On a &amp; b",
      "tutti lab reproduce key --seed 7",
      "tutti 1.2.3",
    ])
      expect(page).toContain(text);
  });

  test("marks missing reasons, and nothing else", () => {
    expect(page.match(/no reason given/g)?.length).toBe(1);
    expect(page).toMatch(/5<br>\+100\.0 % <strong class="missing">no reason given/);
  });

  test("draws published values dashed and categories as bars, and has a table for every figure", () => {
    expect(page.match(/stroke-dasharray="6,4"/g)?.length).toBe(2); // the line and its legend
    expect(page).toContain(">small</text>");
    expect(page.match(/Show as a table/g)?.length).toBe(2);
    expect(page).toContain('<th scope="row">large</th><td>100</td>');
  });

  test("needs no script and no network, and forbids both", () => {
    expect(page).toContain("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"");
    expect(page).not.toMatch(/<script|https?:|@import|src=/);
    expect(page.match(/href="[^"]*"/g)).toEqual(['href="data:,"', 'href="index.html"']);
  });

  test("ids in the figures are unique, and all references have their target", () => {
    const ids = Array.from(page.matchAll(/ id="([^"]*)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of page.matchAll(/url\(#([^)]*)\)/g)) expect(ids).toContain(id);
  });

  test("texts are escaped", () => {
    const evil = paperPage(reproduced(EVIL));
    expect(evil).not.toMatch(/<script|<img/);
    expect(evil.match(/<\/style/g)?.length).toBe(1);
  });

  test("is the same text for the same numbers", () => {
    expect(paperPage(reproduced())).toBe(page);
  });
});

test("matrixSvg() draws a gang as one box and describes the matrix in words", () => {
  const rows = [
    ["A", "A", null],
    [null, "B", "B"],
  ];
  const svg = matrixSvg(rows, "before", ["A", "B"]);
  expect(svg.match(/<rect/g)?.length).toBe(4);
  expect(svg.match(/width="60" height="26" fill="var\(--series-/g)?.length).toBe(2);
  expect(svg).toContain('aria-label="before: row 1 A A idle; row 2 idle B B"');
});

test("papersIndex() links every page and counts its results", () => {
  const html = papersIndex([reproduced()]);
  expect(html).toContain('<a href="key.html">On a &amp; b</a>');
  expect(html).toContain("<td>1 of 3</td><td>0</td><td>1</td><td>1</td><td>1 of 3</td><td>1</td>");
});
