import { describe, expect, test } from "vitest";
import type { ComparedPolicy } from "../../results/comparison.ts";
import type { MatrixRecord } from "../../results/matrix-record.ts";
import {
  barsOption,
  classesOption,
  overTimeOption,
  stripsOption,
  survivalOption,
} from "../browser/charts.ts";
import { ganttOption } from "../browser/gantt-chart.ts";
import { hint, momentLabel } from "../browser/labels.ts";
import { matrixOption } from "../browser/matrix-chart.ts";
import { comparison } from "../comparisons-for-tests.ts";
import { LIGHT } from "../svg/palette.ts";
import { escapeHtml, withoutControls } from "../text/escape.ts";
import { htmlReport } from "./html.ts";
import { chartFigures } from "./html-figures.ts";
import { pageData } from "./page-data.ts";

const OPTIONS = { chartScript: "draw();" };
const EVIL = `</script><script>alert(1)</script><img src=x onerror=alert(1)>"'\u2028`;

const DONE = {
  placed: 2,
  ended: 0,
  extraSlots: 0,
  released: 0,
  exchanges: 0,
  migrations: 0,
  rowsAdded: 3,
  rowsDeleted: 0,
};
/** Two instants: first job 11 alone, then also job 12 on processors 1 and 3 of the third row. */
const MATRIX: MatrixRecord = {
  boxJob: Int32Array.of(0, 1, 1),
  boxFirst: Int32Array.of(0, 1, 3),
  boxSize: Int32Array.of(2, 1, 1),
  boxRow: Int32Array.of(0, 2, 2),
  snapshots: [
    { atS: 0, rows: 1, row: [0], first: [0], end: [2], job: [0], done: DONE },
    { atS: 10, rows: 3, row: [0, 2, 2], first: [0, 1, 3], end: [2, 2, 4], job: [0, 1, 1], done: DONE },
  ],
  busiest: 1,
};

describe("htmlReport()", () => {
  test("holds what was simulated, the numbers, the rules and the provenance", () => {
    const html = htmlReport(comparison(), OPTIONS);
    expect(html).toContain("<h1>2 policies on five-jobs.swf</h1>");
    for (const text of [
      "workload-hash",
      "hash-1",
      "overrun=raise",
      "1.2.3",
      "warmup=0",
      "one decision per instant",
    ]) {
      expect(html).toContain(text);
    }
    expect(html).toContain('<span class="best">7.80<span class="hidden"> (best)</span></span>');
    expect(html).toContain("draw();");
  });

  test("a chart frame, a description and a table for each kind of chart", () => {
    const charts = (html: string) => Array.from(html.matchAll(/data-chart="(\w+)"/g), ([, name]) => name);
    const space = htmlReport(comparison(), OPTIONS);
    expect(charts(space)).toEqual(["bars", "survival", "classes", "utilisation", "queue", "gantt"]);
    expect(charts(htmlReport(comparison({ gang: true }), OPTIONS))).toContain("rows");
    expect(space.match(/role="img" aria-label="[^"]+"/g)?.length).toBe(6);
    expect(space.match(/<summary>Show as a table/g)?.length).toBe(6);
  });

  test("loads nothing from the network and forbids it", () => {
    const html = htmlReport(comparison(), OPTIONS);
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/(?:src|href)="(?!data:)/);
    expect(html).not.toMatch(/https?:|@import|url\(/);
  });

  test("texts from outside are escaped, also inside the embedded data", () => {
    const html = htmlReport(comparison({ name: EVIL, labels: [EVIL, "easy"] }), OPTIONS);
    expect(html.match(/<script/gi)?.length).toBe(2);
    expect(html.match(/<\/script/gi)?.length).toBe(2);
    expect(html).not.toContain("<img");
    expect(html).not.toContain("\u2028");
    const [, data] = /id="report-data">(.*?)<\/script>/.exec(html)!;
    expect(JSON.parse(data!).policies[0]).toBe(withoutControls(EVIL));
  });

  test("is the same text for the same comparison", () => {
    expect(htmlReport(comparison(), OPTIONS)).toBe(htmlReport(comparison(), OPTIONS));
  });

  test("with replications shows intervals and paired differences", () => {
    const made = comparison();
    const policies = made.policies.map((policy, i) => ({
      ...policy,
      // The second seed of the second policy is a run of the first: its longest wait is shorter.
      replications: [policy.summary, i === 0 ? policy.summary : made.policies[0].summary],
      replicationHashes: [3, 4].map((seed) => ({ seed, name: "n", workload: "w", schedule: "s" })),
    }));
    const html = htmlReport({ ...made, policies }, OPTIONS);
    expect(html).toContain("<h2>2 replications</h2>");
    expect(html).toContain("<td>9.80 ±  0.00</td>");
    // Means 7.8 and 9.8: standard deviation √2, Student's 97.5 % quantile of one degree of freedom 12.706.
    expect(html).toContain("<td>8.80 ± 12.71</td>");
    expect(html).toContain("<td>−1.00 ± 12.71</td>");
    expect(html).toContain("<td>19 (seed 3, job 14)</td>");
    expect(html).toContain("<td>35 (seed 3, job 13)</td>");
    expect(html).toContain("mean response (s), difference from fcfs");
    expect(htmlReport(made, OPTIONS)).not.toContain("replications</h2>");
  });
});

describe("chart options", () => {
  const theme = { text: "#000", muted: "#555", line: "#ccc", surface: "#fff", font: "sans-serif", ...LIGHT };
  const data = pageData(comparison({ labels: ["<b>fcfs", "easy"] }));
  const series = (option: Record<string, unknown>) => option.series as { name?: string; data: unknown[] }[];

  test("one series, strip or bar per policy", () => {
    expect(series(barsOption(data, theme, data.metrics[0], "mean"))[0].data.length).toBe(2);
    expect(series(classesOption(data, theme, data.metrics[0], 600)).length).toBe(2);
    expect(series(survivalOption(data, theme)).map(({ name }) => name)).toEqual(["<b>fcfs", "easy"]);
    expect(series(overTimeOption(data, theme, data.queueMean, "jobs")).length).toBe(2);
    expect(stripsOption(data, theme, 300).grid).toHaveLength(2);
  });

  test("the strip of a gang policy does not flatten those of the others", () => {
    const gang = pageData(comparison({ gang: true }));
    const crowded = { ...gang, utilisation: [gang.utilisation[0], gang.utilisation[1].map(() => 2.5)] };
    const tops = (stripsOption(crowded, theme, 300).yAxis as { max: number }[]).map(({ max }) => max);
    expect(tops).toEqual([1, 3]);
  });

  test("the strips begin in one line, with room for the longest label of any of them", () => {
    const lefts = (most: number) => {
      const utilisation = [data.utilisation[0], data.utilisation[1].map(() => most)];
      return (stripsOption({ ...data, utilisation }, theme, 300).grid as { left: number }[]).map(
        ({ left }) => left,
      );
    };
    // A character of this size has up to 7 px, and 8 px are between a label and its axis.
    for (const [most, label] of [
      [1, "100 %"],
      [13, "1,300 %"],
      [200, "20,000 %"],
    ] as const) {
      const [first, second] = lefts(most);
      expect(first).toBe(second);
      expect(first).toBeGreaterThanOrEqual(7 * label.length + 8);
    }
  });

  test("names of classes are broken to fit a narrow screen", () => {
    const width = (px: number) =>
      (classesOption(data, theme, data.metrics[0], px).xAxis as { axisLabel: { width: number } }).axisLabel
        .width;
    expect(width(1100)).toBe(150);
    expect(width(400) * data.classes.length).toBeLessThanOrEqual(400);
  });

  test("one policy alone shows all of its statistics", () => {
    const made = comparison();
    const alone = pageData({ ...made, policies: made.policies.slice(0, 1) });
    const option = barsOption(alone, theme, alone.metrics[0], "mean");
    expect(option.yAxis).toMatchObject({
      data: ["mean", "median", "90th percentile", "95th percentile", "99th percentile", "longest"],
    });
    expect(series(option)[0].data[0]).toMatchObject({ value: 9.8 });
  });

  test("bars and classes have the unit of their axis: 90,000 s and 500,000 s are 25 h and 139 h", () => {
    const [wait] = data.metrics;
    const metric = {
      ...wait,
      values: { ...wait.values, mean: [90_000, 500_000] },
      byClass: [[90_000], [500_000]],
    };
    type Shown = { axisLabel: { formatter(value: number): string } };
    const bars = barsOption(data, theme, metric, "mean");
    const [{ label }] = bars.series as [{ label: { formatter(at: { dataIndex: number }): string } }];
    expect([0, 1].map((dataIndex) => label.formatter({ dataIndex }))).toEqual(["25 h", "139 h"]);
    expect((bars.xAxis as Shown).axisLabel.formatter(40)).toBe("40 h");
    const classes = classesOption(data, theme, metric, 600);
    expect(series(classes).map((one) => one.data)).toEqual([[25], [500_000 / 3600]]);
    expect((classes.yAxis as Shown).axisLabel.formatter(40)).toBe("40 h");
  });

  test("policies without values have no line", () => {
    const gang = pageData(comparison({ gang: true }));
    expect(series(overTimeOption(gang, theme, gang.rows, "rows")).map(({ name }) => name)).toEqual(["easy"]);
  });

  test("gangs are boxes of the Gantt chart, by row, and the slider chooses the instant of the matrix", () => {
    const made = comparison({ gang: true });
    const [fcfs, easy] = made.policies as [ComparedPolicy, ComparedPolicy];
    const withMatrix = { ...made, policies: [fcfs, { ...easy, matrix: MATRIX }] };
    const page = pageData(withMatrix);
    const chart = page.gantt!.charts[1]!;
    expect(chart).toMatchObject({ id: [11, 12], boxJob: [0, 1, 1], boxFirst: [0, 1, 3], boxRow: [0, 2, 2] });
    expect(series(ganttOption(page, theme, chart)).map((one) => one.data.length)).toEqual([1, 0, 2, 0, 0]);
    expect(matrixOption(page, theme, 0, 0)).toBeUndefined();
    const first = matrixOption(page, theme, 1, 0)!;
    expect(first.title).toMatchObject({ text: "After 0 s: 1 row, 50 % full" });
    const last = matrixOption(page, theme, 1, 1)!;
    expect(last.title).toMatchObject({ text: "After 10 s: 3 rows, 33.3 % full" });
    expect(series(last)[0].data).toEqual([
      [0, 0, 2, 11],
      [1, 2, 2, 12],
      [3, 2, 4, 12],
    ]);
    const html = htmlReport(withMatrix, OPTIONS);
    expect(html).toContain('data-chart="matrix"');
    expect(html).toContain('name="time" min="0" max="1000" value="1000"');
    expect(html).toContain("<td>10</td><td>3</td><td>2</td><td>2</td>");
  });

  test("every box of the Gantt chart is in the series of its wait", () => {
    const boxes = series(ganttOption(data, theme, data.gantt!.charts[0]!)).map((one) => one.data.length);
    expect(boxes).toEqual([2, 3, 0, 0, 0]);
  });

  test("a crowded Gantt chart begins where its caption says", () => {
    const made = comparison();
    const page = pageData(made);
    const gantt = { ...page.gantt!, shown: { fromS: 11, toS: 44 } };
    const option = ganttOption({ ...page, gantt }, theme, gantt.charts[0]!);
    expect((option.dataZoom as object[])[0]).toMatchObject({ start: 20, end: 80 });
    const text = chartFigures(made, { ...page, gantt });
    expect(text).toContain(
      "At first, the chart shows the time from 11 s to 44 s after the first submit; zoom out for the whole run.",
    );
    expect(chartFigures(made, page)).toContain("The whole run.");
  });

  test("classes without jobs are named, not drawn", () => {
    const made = comparison();
    const { classes } = made.policies[0].summary;
    const empty = classes.filter(({ jobs }) => jobs === 0);
    expect(empty.length).toBeGreaterThan(0);
    expect(data.classes.length).toBe(classes.length - empty.length);
    expect(data.metrics[0].byClass[0].length).toBe(data.classes.length);
    expect(data.metrics[0].byClass[0]).not.toContain(null);
    expect(chartFigures(made, data)).toContain(`Classes without jobs: ${escapeHtml(empty[0].label)}`);
  });

  test("tooltips escape labels", () => {
    expect(hint("<b>fcfs", [["<i>", "1 < 2"]])).not.toMatch(/<i>|<b>fcfs|1 < 2/);
    const { formatter } = survivalOption(data, theme).tooltip as { formatter(points: unknown[]): string };
    const text = formatter([{ dataIndex: 0, seriesName: "<b>fcfs", marker: "" }]);
    expect(text).toContain("&lt;b&gt;fcfs");
    expect(text).toContain("60.0 %");
  });

  test("momentLabel() gives day and clock after two days", () => {
    expect(momentLabel(3600)).toBe("after 60 min");
    expect(momentLabel(12 * 86400 + 6.5 * 3600)).toBe("day 12, 06:30");
  });
});
