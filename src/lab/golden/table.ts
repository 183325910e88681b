/**
 * The committed table of golden schedules: one line a cell, tab-separated, numbers with all their digits.
 *
 *   source  policy  jobs  processors  hash  meanWaitS  maxWaitS
 *   source  policy  refused  why
 */
import { type GoldenKey, goldenKeys } from "./cells.ts";
import type { GoldenResult } from "./run.ts";

/** Results by cell, in the order of the table. */
export type GoldenTable = ReadonlyMap<string, GoldenResult>;

const HEADING = "source\tpolicy\tjobs\tprocessors\thash\tmeanWaitS\tmaxWaitS";

export function keyOf({ source, policy }: GoldenKey): string {
  return `${source}\t${policy}`;
}

/** The table as text. `results` in the order of the cells. */
export function formatTable(cells: readonly GoldenKey[], results: readonly GoldenResult[]): string {
  return [HEADING, ...cells.map((cell, i) => lineOf(cell, results[i])), ""].join("\n");
}

/** @throws Error for a line that is no line of the table: the file is ours, so this is a damaged checkout */
export function parseTable(text: string): GoldenTable {
  const [heading, ...lines] = text.trimEnd().split("\n");
  if (heading !== HEADING) throw new Error(`Cannot read the golden table: its heading is "${heading}"`);
  return new Map(lines.map(parseLine));
}

/** A line for each cell whose result is not the one in the table; none when all is as it was. */
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

/** Lines of the table that no cell stands for any more. */
export function leftOver(table: GoldenTable): string[] {
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
    throw new Error(`Cannot read the golden table: "${line}" is no line of it`);
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
