/**
 * Studies: experiments that explain why numbers of a paper deviate, too long for the paper's page or on other
 * rules. Each is a committed table, docs/studies/KEY.md, made by `npm run studies -- KEY`.
 */
import type { WorkerOptions } from "../experiments/workers.ts";

export interface StudyTable {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** A picture of the table: a file next to the page. */
  readonly picture?: { readonly name: string; readonly svg: string };
}

export interface Study {
  /** Name of the page and on the command line, such as `zhou2000-seeds`. */
  readonly key: string;
  readonly title: string;
  /** What was tried and what came out, a paragraph each. */
  readonly text: readonly string[];
  run(options: WorkerOptions): Promise<readonly StudyTable[]>;
  /** A module with numbers that reasons on the page quote, by its path in the repository. */
  quoted?(tables: readonly StudyTable[]): { readonly path: string; readonly text: string };
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
