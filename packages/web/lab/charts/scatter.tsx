/**
 * The first picture of jobs: when they were submitted and how large they are. Many jobs share a place, so the
 * picture counts the jobs of each cell of a grid and shows the count as darkness; no job is left out.
 */

import { formatCount, formatDuration } from "@tutti/kernel/core/format.ts";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Scatter } from "../messages.ts";
import { Figure } from "./figure.tsx";

/** Cells of the grid; rows are powers of two of the size. */
const COLUMNS = 160;

interface Grid {
  readonly rows: number;
  /** Jobs per cell, row by row, from the smallest size. */
  readonly counts: Uint32Array;
  readonly most: number;
  readonly fromS: number;
  readonly spanS: number;
}

interface ScatterProps {
  readonly jobs: Scatter;
  readonly title: string;
}

export function ScatterChart({ jobs, title }: ScatterProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const grid = useMemo(() => gridOf(jobs), [jobs]);
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, grid);
  });
  return (
    <Figure
      title={title}
      heading="h3"
      name="jobs"
      note={`Size against time of submit, ${formatDuration(grid.spanS)} from left to right; darker is more jobs.`}
      table={{
        headings: ["processors", "jobs"],
        rows: Array.from({ length: grid.rows }, (_, row) => [sizesOf(row), formatCount(sumOf(grid, row))]),
      }}
      csv={() => csvOf(grid)}
      svg={() => scatterSvg(grid)}
    >
      <canvas
        ref={canvas}
        class="scatter"
        width={COLUMNS}
        height={grid.rows}
        role="img"
        aria-label={`${title} by size and time of submit. The table below has the counts by size.`}
      />
    </Figure>
  );
}

function gridOf({ submitS, size }: Scatter): Grid {
  const count = submitS.length;
  const fromS = count === 0 ? 0 : submitS[0];
  const spanS = count === 0 ? 0 : submitS[count - 1] - fromS;
  let largest = 1;
  for (let job = 0; job < count; job++) if (size[job] > largest) largest = size[job];
  const rows = 32 - Math.clz32(largest);
  const counts = new Uint32Array(rows * COLUMNS);
  const scale = spanS > 0 ? (COLUMNS - 1e-6) / spanS : 0;
  let most = 0;
  for (let job = 0; job < count; job++) {
    const cell = (31 - Math.clz32(size[job])) * COLUMNS + Math.floor((submitS[job] - fromS) * scale);
    const jobs = ++counts[cell];
    if (jobs > most) most = jobs;
  }
  return { rows, counts, most, fromS, spanS };
}

function sizesOf(row: number): string {
  return row === 0 ? "1" : `${formatCount(2 ** row)} to ${formatCount(2 ** (row + 1) - 1)}`;
}

function sumOf({ counts }: Grid, row: number): number {
  return counts.subarray(row * COLUMNS, (row + 1) * COLUMNS).reduce((sum, count) => sum + count, 0);
}

/** How dark a cell is, from 0 to 1; a cell with one job can be seen. */
function shadeOf(jobs: number, most: number): number {
  return jobs === 0 ? 0 : 0.2 + (0.8 * Math.log1p(jobs)) / Math.log1p(most);
}

function* csvOf({ rows, counts, fromS, spanS }: Grid): Generator<readonly (string | number)[]> {
  yield ["from_s", "to_s", "smallest_size", "largest_size", "jobs"];
  const at = (column: number) => fromS + (column * spanS) / COLUMNS;
  for (let column = 0; column < COLUMNS; column++)
    for (let row = 0; row < rows; row++)
      yield [at(column), at(column + 1), 2 ** row, 2 ** (row + 1) - 1, counts[row * COLUMNS + column]];
}

const CELL = { width: 5, height: 16 };
const LABEL = 60;

function scatterSvg({ rows, counts, most, spanS }: Grid): string {
  const width = LABEL + COLUMNS * CELL.width;
  const height = rows * CELL.height + 22;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" fill="#55606a">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
  ];
  for (let row = 0; row < rows; row++) {
    const top = (rows - 1 - row) * CELL.height;
    parts.push(`<text x="${LABEL - 6}" y="${top + 12}" text-anchor="end">${2 ** row}</text>`);
    for (let column = 0; column < COLUMNS; column++) {
      const jobs = counts[row * COLUMNS + column];
      if (jobs === 0) continue;
      parts.push(
        `<rect x="${LABEL + column * CELL.width}" y="${top}" width="${CELL.width}" height="${CELL.height - 1}" fill="#0063a3" fill-opacity="${shadeOf(jobs, most).toFixed(2)}"/>`,
      );
    }
  }
  parts.push(
    `<text x="${LABEL}" y="${height - 6}">jobs by processors and time of submit, ${formatDuration(spanS)} from left to right</text>`,
  );
  return `${parts.join("\n")}\n</svg>\n`;
}

function draw(canvas: HTMLCanvasElement, { rows, counts, most }: Grid): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const image = context.createImageData(COLUMNS, rows);
  // The accent colour of light and of dark pages, more or less transparent.
  const [red, green, blue] = (getComputedStyle(canvas).color.match(/\d+/g) ?? ["0", "99", "163"]).map(Number);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      const at = 4 * ((rows - 1 - row) * COLUMNS + column);
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = 255 * shadeOf(counts[row * COLUMNS + column], most);
    }
  }
  context.putImageData(image, 0, 0);
}
