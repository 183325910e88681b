/** A part of a timeline as an SVG file. */

import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { formatDuration } from "@tutti/kernel/core/format.ts";
import { px } from "@tutti/lab/report/svg/chart.ts";
import { colourOf, type TimelineData } from "./data.ts";
import { arrange, type RowKind } from "./rows.ts";
import type { Stretch } from "./scale.ts";
import { detailLines } from "./text.ts";

/** With more bars than this, the SVG holds the picture instead of the bars. */
const MOST_BARS = 20_000;
const WIDTH = 1000;
const HEIGHT = 500;
const TOP = 34;
const BOTTOM = 26;

/** @param canvas the painted picture, which stands for the bars if there are very many */
export function timelineSvg(
  title: string,
  data: TimelineData,
  kind: RowKind,
  { fromMs, toMs }: Stretch,
  canvas: HTMLCanvasElement | null,
): string {
  const { bars, rows } = arrange(data, kind);
  const perMs = WIDTH / (toMs - fromMs);
  const perRow = HEIGHT / Math.max(1, rows);
  const shown: string[] = [];
  for (let bar = 0; bar < bars.length; bar++) {
    if (!(bars.fromMs[bar] < toMs && bars.toMs[bar] >= fromMs)) continue;
    const job = data.jobs[bars.job[bar]];
    const left = Math.max(0, (bars.fromMs[bar] - fromMs) * perMs);
    const right = Math.min(WIDTH, (bars.toMs[bar] - fromMs) * perMs);
    const height = (bars.endRow[bar] - bars.firstRow[bar]) * perRow;
    shown.push(
      `<rect x="${px(left)}" y="${px(TOP + bars.firstRow[bar] * perRow)}" width="${Math.max(0.4, right - left).toFixed(2)}" height="${Math.max(0.4, height).toFixed(2)}" fill="rgb(${colourOf(data, job).join(",")})" stroke="#ffffff" stroke-width="0.3"><title>${escapeHtml(detailLines(data, job).join(", "))}</title></rect>`,
    );
  }
  const picture = `<image href="${canvas?.toDataURL("image/png")}" y="${TOP}" width="${WIDTH}" height="${HEIGHT}" preserveAspectRatio="none"/>`;
  const bottom = HEIGHT + TOP + 18;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + TOP + BOTTOM}" font-family="sans-serif" font-size="12" fill="#55606a">`,
    `<rect width="${WIDTH}" height="${HEIGHT + TOP + BOTTOM}" fill="#ffffff"/>`,
    `<text x="0" y="20" font-size="15">${escapeHtml(title)}</text>`,
    ...(shown.length > MOST_BARS && canvas !== null ? [picture] : shown),
    `<text x="0" y="${bottom}">${data.cpus} processors, from top to bottom</text>`,
    `<text x="${WIDTH}" y="${bottom}" text-anchor="end">${formatDuration((toMs - fromMs) / 1000)} from left to right</text>`,
    "</svg>\n",
  ].join("\n");
}
