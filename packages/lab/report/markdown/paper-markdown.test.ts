import { describe, expect, test } from "vitest";
import type { ReproducedPaper } from "../../results/reproduction.ts";
import { lineFigureSvg } from "../svg/figure-svg.ts";
import { markdownPage, markdownTable, prose } from "./paper-markdown.ts";
import { papersIndexMarkdown } from "./papers-index.ts";

/** A name with everything that Markdown and HTML could take for their own. */
const EVIL = "a|b *c* _d_ `e` [f](g) <b>h</b> & \\i\n# j";

function reproduced(name: string): ReproducedPaper {
  return {
    tutti: { version: "1.2.3" },
    paper: { key: "key", title: `On ${name}`, authors: "A. Author", published: "2000" },
    index: {
      entries: [
        { at: "1", says: name, shown: ["Table 1"], statements: ["BR"] },
        { at: "2", says: "a dream", notClaimed: "an opinion" },
      ],
      added: { shown: ["Figure 3", "Figure 5"], statements: [] },
    },
    seed: 7,
    tables: [
      {
        id: "Table 1",
        title: name,
        labelColumns: ["scheme"],
        valueColumns: [{ name: "t", unit: "slots", meaning: "turnaround" }],
        rows: [
          { labels: [name], values: [{ published: 100, ours: 104, halfWidth: 3 }] },
          {
            labels: ["BR"],
            values: [
              {
                published: 100,
                ours: 150,
                halfWidth: 3,
                test: { t: 9.87, quantile: 2.093, otherCount: 20 },
                reason: "few sets of jobs",
              },
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
          },
        ],
      },
    ],
    matrices: [{ id: "Figure 5", title: "packing", steps: [{ caption: "before", rows: [["A", null]] }] }],
    statements: [{ statement: "BR beats BC", holds: false, evidence: "2 > 1" }],
    notes: [name],
  };
}

/** Cells of the rows of all tables: a naive reader that knows only escapes and bars. */
const rowsOf = (page: string) =>
  page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2, -2).split(/(?<!\\)(?:\\\\)* \| /));

test("an open statement is called open", () => {
  const paper = reproduced("a");
  const statements = [{ ...paper.statements[0], holds: null }];
  const [[, page]] = markdownPage({ ...paper, statements });
  expect(page).toContain("**Open**: BR beats BC<br>");
});

describe("markdownPage()", () => {
  const [[name, page], ...figures] = markdownPage(reproduced("a"));

  test("has values, tests, reasons, statements, matrices, and links its figures", () => {
    expect(name).toBe("key.md");
    for (const text of [
      "| scheme | t, slots |\n| :-- | --: |\n| a | **104** ± 3<br>100<br>+4.0 % |",
      "| BR | **150** ± 3<br>100<br>+50.0 % · t 9.87 [1] |",
      "of 20 runs",
      "1. few sets of jobs",
      '1. <a id="statement-1"></a>**Does not hold**: BR beats BC<br>\n   2 &gt; 1',
      "before:\n\n```text\nA .\n```",
      "![Figure 3. a](figures/key-figure-3.svg)",
      "`tutti lab reproduce key --seed 7`",
    ])
      expect(page).toContain(text);
    expect(figures).toEqual([["figures/key-figure-3.svg", lineFigureSvg(reproduced("a").figures[0])]]);
  });

  test("texts stay texts: every row of a table has as many cells as its heading", () => {
    const [[, evil]] = markdownPage(reproduced(EVIL));
    expect(rowsOf(evil).map((row) => row.length)).toEqual(rowsOf(page).map((row) => row.length));
    expect(evil).not.toContain("<b>");
    expect(evil.match(/^#/gm)).toEqual(page.match(/^#/gm));
  });
});

test("prose() escapes what Markdown reads", () => {
  expect(prose("a|b *c* <d> r_a [1] & \\")).toBe("a\\|b \\*c\\* &lt;d&gt; r\\_a \\[1\\] &amp; \\\\");
});

test("markdownTable() has a line for the alignment", () => {
  expect(markdownTable(["a", "b"], [":--", "--:"], [["1", "2"]])).toBe("| a | b |\n| :-- | --: |\n| 1 | 2 |");
});

test("papersIndexMarkdown() links pages and their parts, with the status of each entry", () => {
  const index = papersIndexMarkdown([reproduced("a")]);
  expect(index).toContain("[On a](key.md)");
  expect(index).toContain("1 claim tested: 0 reproduced, 1 deviating, 0 open. 1 more entry is not claimed");
  expect(index).toContain("[Table 1](key.md#table-1), [statement 1](key.md#statement-1)");
  expect(index).toContain("| 2 | a dream | not claimed | an opinion |");
});
