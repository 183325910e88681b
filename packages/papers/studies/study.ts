/**
 * Defines a study: an experiment that explains why our numbers deviate from a paper's. It takes too long for
 * the paper's page, or uses other rules. `npm run studies -- KEY` writes its page, docs/studies/KEY.md.
 */
import type { CellResult, Kind } from "@tutti/lab/experiments/kinds.ts";
import type { WorkerOptions } from "@tutti/lab/experiments/workers.ts";
import type { PlacedCell } from "../paper.ts";
import { Results } from "../results.ts";
import { runCells } from "../run-cells.ts";

export interface StudyTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** A figure of the table: a file next to the page. */
  readonly picture?: { readonly name: string; readonly svg: string };
}

export interface Study {
  /** Name of the page and on the command line, such as `zhou2000-seeds`. */
  readonly key: string;
  /** Of the page, if it is not docs/studies/KEY.md. */
  readonly path?: string;
  readonly title: string;
  /** What was tried and what came out, a paragraph each. */
  readonly text: readonly string[];
  run(options: WorkerOptions): Promise<readonly StudyTable[]>;
  /** A module, by its path in the repository, with the numbers that reasons on the paper's page quote. */
  quoted?(tables: readonly StudyTable[]): { readonly path: string; readonly text: string };
}

/** Runs the cells; their results are found by their places. */
export async function resultsOf<Place, K extends Kind>(
  placed: readonly PlacedCell<Place, K>[],
  options: WorkerOptions,
): Promise<Results<Place, CellResult<K>>> {
  const cells = placed.map(({ cell }) => cell);
  return new Results(placed, await runCells(cells, options));
}

/** Where the committed page is; its pictures are next to it. */
export function pagePath({ key, path }: Study): string {
  return path ?? `docs/studies/${key}.md`;
}

/** The committed page. */
export function studyPage({ key, title, text }: Study, tables: readonly StudyTable[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    `# ${title}`,
    "",
    ...text.flatMap((paragraph) => [paragraph, ""]),
    "```sh",
    `npm run studies -- ${key}`,
    "```",
    "",
    ...tables.flatMap(({ title, columns, rows, picture }) => [
      `## ${title}`,
      "",
      ...(picture === undefined ? [] : [`![${title}](${picture.name})`, ""]),
      line(columns),
      line(columns.map((_, i) => (i === 0 ? "---" : "---:"))),
      ...rows.map(line),
      "",
    ]),
  ].join("\n");
}

/** Such as `−3.1 %`. */
export function percentText(ours: number, published: number): string {
  const percent = 100 * (ours / published - 1);
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(1)} %`;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
