/**
 * Reads, writes and compares the committed table of golden schedules: one line per cell, fields separated by
 * tabs, numbers with all their digits.
 *
 *   source  policy  jobs  processors  hash  meanWaitS  maxWaitS
 *   source  policy  refused  reason
 */
import { type GoldenKey, goldenKeys } from "./cells.ts";
import type { GoldenResult } from "./run.ts";

/** Results by cell, in the order of the table. */
export type GoldenTable = ReadonlyMap<string, GoldenResult>;

const HEADING = "source\tpolicy\tjobs\tprocessors\thash\tmeanWaitS\tmaxWaitS";

export function keyOf({ source, policy }: GoldenKey): string {
  return `${source}\t${policy}`;
}

/** The table as text. @param results in the order of the cells */
export function formatTable(cells: readonly GoldenKey[], results: readonly GoldenResult[]): string {
  return [HEADING, ...cells.map((cell, i) => lineOf(cell, results[i])), ""].join("\n");
}

/** @throws Error for a bad line; the file is committed, so the checkout must be damaged */
export function parseTable(text: string): GoldenTable {
  const [heading, ...lines] = text.trimEnd().split("\n");
  if (heading !== HEADING) throw new Error(`Cannot read the golden table: its heading is "${heading}"`);
  return new Map(lines.map(parseLine));
}

/** One line for each cell whose result differs from the table. */
export function differences(
  table: GoldenTable,
  cells: readonly GoldenKey[],
  results: readonly GoldenResult[],
): string[] {
  return cells.flatMap((cell, i) => {
    const expected = table.get(keyOf(cell));
    const now = lineOf(cell, results[i]);
    if (expected === undefined) return [`not in the table: ${now}`];
    const before = lineOf(cell, expected);
    return now === before ? [] : [`expected ${before}\n     got ${now}`];
  });
}

/** Lines of the table that belong to no cell. */
export function orphanLines(table: GoldenTable): string[] {
  const known = new Set(goldenKeys().map(keyOf));
  return [...table.keys()].filter((key) => !known.has(key));
}

function lineOf(cell: GoldenKey, result: GoldenResult): string {
  if ("refused" in result) return `${keyOf(cell)}\trefused\t${result.refused}`;
  const { jobs, processors, hash, meanWaitS, maxWaitS } = result;
  return [keyOf(cell), jobs, processors, hash, meanWaitS, maxWaitS].join("\t");
}

function parseLine(line: string): [string, GoldenResult] {
  const [source = "", policy = "", jobs = "", ...rest] = line.split("\t");
  const key = keyOf({ source, policy });
  if (jobs === "refused" && rest.length === 1) return [key, { refused: rest[0] }];
  const [processors, hash = "", meanWaitS, maxWaitS] = rest;
  if (rest.length !== 4 || !/^[0-9a-f]{16}$/.test(hash)) {
    throw new Error(`Cannot read the golden table: "${line}" is not a line of the table`);
  }
  return [
    key,
    {
      jobs: Number(jobs),
      processors: Number(processors),
      hash,
      meanWaitS: Number(meanWaitS),
      maxWaitS: Number(maxWaitS),
    },
  ];
}
