/**
 * Draws Ousterhout matrices as small grids: a line per row of the matrix, a column per processor, and one box
 * for neighbouring cells of a job.
 *
 *              1 2 3 4
 *            1 A A A .
 *            2 . B B C
 */

import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import type { ReproducedMatrices } from "../../results/reproduction.ts";
import { LIGHT } from "./palette.ts";

const CELL_WIDTH = 30;
const CELL_HEIGHT = 26;
/** Room for the numbers of rows and processors. */
const MARGIN = 22;

/** The matrices of one figure, side by side if there is room. */
export function matricesFigure({ id, title, steps }: ReproducedMatrices, anchor: string): string {
  const names = [...new Set(steps.flatMap(({ rows }) => rows.flat().filter((name) => name !== null)))];
  const grids = steps.map(
    ({ caption, rows }) =>
      `<div class="step">${matrixSvg(rows, caption, names)}<p class="note">${escapeHtml(caption)}</p></div>`,
  );
  return `<figure id="${anchor}"><figcaption><h2>${escapeHtml(`${id}. ${title}`)}</h2></figcaption><div class="steps">${grids.join("")}</div></figure>`;
}

/**
 * One matrix in the colours of the page.
 * @param names all jobs of the figure in the order of their colours, so that a job keeps its colour in all
 * steps
 */
export function matrixSvg(
  rows: readonly (readonly (string | null)[])[],
  caption: string,
  names: readonly string[],
): string {
  const columns = rows.reduce((max, row) => Math.max(max, row.length), 0);
  const width = MARGIN + columns * CELL_WIDTH + 1;
  const height = MARGIN + rows.length * CELL_HEIGHT + 1;
  const boxes = rows.flatMap((row, r) => stretches(row).map((stretch) => box(stretch, r, names)));
  const label = (x: number, y: number, text: number) =>
    `<text x="${x}" y="${y}" font-size="11" text-anchor="middle" fill="var(--muted)">${text}</text>`;
  const numbers = [
    ...rows.map((_, r) => label(MARGIN / 2 - 2, MARGIN + (r + 0.5) * CELL_HEIGHT + 4, r + 1)),
    ...Array.from({ length: columns }, (_, c) => label(MARGIN + (c + 0.5) * CELL_WIDTH, MARGIN - 7, c + 1)),
  ];
  return `<svg role="img" aria-label="${escapeHtml(`${caption}: ${inWords(rows)}`)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${numbers.join("")}${boxes.join("")}</svg>`;
}

interface Stretch {
  readonly name: string | null;
  readonly first: number;
  readonly end: number;
}

/** Joins neighbouring processors of the same job; idle slots stay single. */
function stretches(row: readonly (string | null)[]): Stretch[] {
  const joined: Stretch[] = [];
  for (let first = 0, end = 0; first < row.length; first = end) {
    const name = row[first] ?? null;
    end = first + 1;
    while (name !== null && end < row.length && row[end] === name) end++;
    joined.push({ name, first, end });
  }
  return joined;
}

function box({ name, first, end }: Stretch, row: number, names: readonly string[]): string {
  const x = MARGIN + first * CELL_WIDTH + 0.5;
  const y = MARGIN + row * CELL_HEIGHT + 0.5;
  const size = `width="${(end - first) * CELL_WIDTH}" height="${CELL_HEIGHT}"`;
  if (name === null) return `<rect x="${x}" y="${y}" ${size} fill="none" stroke="var(--line)"/>`;
  const colour = `var(--series-${names.indexOf(name) % LIGHT.series.length})`;
  return `<rect x="${x}" y="${y}" ${size} fill="${colour}" fill-opacity=".3" stroke="${colour}"/><text x="${x + ((end - first) * CELL_WIDTH) / 2}" y="${y + CELL_HEIGHT / 2 + 4}" font-size="12" text-anchor="middle" fill="var(--text)">${escapeHtml(name)}</text>`;
}

function inWords(rows: readonly (readonly (string | null)[])[]): string {
  return rows.map((row, r) => `row ${r + 1} ${row.map((name) => name ?? "idle").join(" ")}`).join("; ");
}
