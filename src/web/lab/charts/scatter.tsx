/**
 * The first picture of jobs: when they were submitted and how large they are. Many jobs share a place, so the
 * picture counts the jobs of each cell of a grid and shows the count as darkness; no job is left out.
 */
import { useEffect, useRef } from "preact/hooks";
import { formatCount, formatDuration } from "../../../report/text/format.ts";
import type { Scatter } from "../messages.ts";

/** Cells of the grid; rows are powers of two of the size. */
const COLUMNS = 160;

interface Grid {
  readonly rows: number;
  /** Jobs per cell, row by row, from the smallest size. */
  readonly counts: Uint32Array;
  readonly most: number;
  readonly spanS: number;
}

interface ScatterProps {
  readonly jobs: Scatter;
  readonly name: string;
}

export function ScatterChart({ jobs, name }: ScatterProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const grid = gridOf(jobs);
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, grid);
  });
  const sums = Array.from({ length: grid.rows }, (_, row) =>
    grid.counts.subarray(row * COLUMNS, (row + 1) * COLUMNS).reduce((sum, count) => sum + count, 0),
  );
  return (
    <figure class="scatter">
      <figcaption>
        {name}: size against time of submit, {formatDuration(grid.spanS)} from left to right; darker is more
        jobs
      </figcaption>
      <canvas
        ref={canvas}
        width={COLUMNS}
        height={grid.rows}
        role="img"
        aria-label={`Jobs of ${name} by size and time of submit; the table below has the counts by size`}
      />
      <details>
        <summary>Table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">processors</th>
              <th scope="col" class="number">
                jobs
              </th>
            </tr>
          </thead>
          <tbody>
            {sums.map((sum, row) => (
              <tr key={row}>
                <th scope="row">
                  {row === 0 ? "1" : `${formatCount(2 ** row)} to ${formatCount(2 ** (row + 1) - 1)}`}
                </th>
                <td class="number">{formatCount(sum)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
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
  return { rows, counts, most, spanS };
}

function draw(canvas: HTMLCanvasElement, { rows, counts, most }: Grid): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const image = context.createImageData(COLUMNS, rows);
  // The colour of the text in light and in dark pages, more or less transparent.
  const [red, green, blue] = (getComputedStyle(canvas).color.match(/\d+/g) ?? ["0", "99", "163"]).map(Number);
  const scale = 1 / Math.log1p(most);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      const jobs = counts[row * COLUMNS + column];
      const at = 4 * ((rows - 1 - row) * COLUMNS + column);
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = jobs === 0 ? 0 : 50 + 205 * Math.log1p(jobs) * scale;
    }
  }
  context.putImageData(image, 0, 0);
}
