import { describe, expect, test } from "vitest";
import { lineFigureSvg } from "./figure-svg.ts";

const FIGURE = {
  id: "Figure 1",
  title: "Turnaround & load",
  xAxis: "load",
  yAxis: "turnaround, slots",
  series: [
    {
      name: "BC",
      ours: [
        [0.2, 32],
        [0.5, 91],
      ],
      published: [
        [0.2, 31],
        [0.5, 70],
      ],
    },
    {
      name: "BR <1>",
      ours: [
        [0.2, 31],
        [0.5, 68],
      ],
    },
  ],
} as const;

describe("lineFigureSvg()", () => {
  test("is the approved figure", async () => {
    await expect(lineFigureSvg(FIGURE)).toMatchFileSnapshot("./golden/line-figure.svg");
  });

  test("draws ours solid and the published values dashed, and escapes names", () => {
    const svg = lineFigureSvg(FIGURE);
    expect(svg.match(/stroke-dasharray="6,4"/g)?.length).toBe(2); // the line and its legend
    expect(svg).toContain("BC, published");
    expect(svg).not.toContain("<1>");
    expect(svg).toContain('aria-label="Figure 1. Turnaround &amp; load"');
  });
});
