/**
 * Reads SWF a second time, naively: splits the text into lines and the lines into words, and applies rule
 * after rule. Tests use it as the oracle.
 */

export interface NaiveResult {
  /** Rows in submit order: [job number, submit, run, size, estimate, then the 18 fields after repair]. */
  readonly rows: readonly (readonly number[])[];
  /** Occurrences by diagnostic code. */
  readonly codes: Readonly<Record<string, number>>;
  readonly header: readonly string[];
  /** Lines that are neither blank nor comments. */
  readonly jobLines: number;
}

const BLANK = /[ \t\v\f\r]+/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const WHOLE = [0, 4, 7, 10, 11, 12, 13, 14, 15, 16];
const MAX_INT32 = 2 ** 31 - 1;

export function readNaively(bytes: Uint8Array): NaiveResult {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replace(/^\xef\xbb\xbf/, "");
  const codes: Record<string, number> = {};
  const note = (code: string) => {
    codes[code] = (codes[code] ?? 0) + 1;
  };
  const header: string[] = [];
  const found: number[][] = [];
  let jobLines = 0;
  let last = 0;
  for (const line of text.split("\n")) {
    const words = line.split(BLANK).filter((word) => word !== "");
    if (words.length === 0) continue;
    if (words[0].startsWith(";")) {
      header.push(Buffer.from(line.replace(/\r$/, ""), "latin1").toString("utf8"));
      continue;
    }
    jobLines++;
    const fields = words.map((word) =>
      NUMBER.test(word) && Number.isFinite(Number(word)) ? Number(word) + 0 : Number.NaN,
    );
    const code = whyDropped(fields);
    if (code !== undefined) {
      note(code);
      continue;
    }
    if (fields.length > 18) note("extra-fields");
    fields.length = 18;
    for (let k = 1; k < 18; k++) {
      if (isIn(k, fields[k]) && (fields[k] >= 0 || fields[k] === -1)) continue;
      fields[k] = -1;
      note("bad-field");
    }
    if (fields[8] === 0) {
      fields[8] = -1;
      note("zero-estimate");
    }
    if (fields[3] === 0) note("zero-run-time");
    if (fields[1] < last) note("unsorted-submit");
    last = fields[1];
    found.push(fields);
  }
  const used = new Set<number>();
  const valid = found.map((fields) => fields[0]).filter((n) => isIn(0, n) && n >= 0);
  let next = valid.reduce((most, n) => Math.max(most, n), 0);
  for (const fields of found) {
    const bad = !(isIn(0, fields[0]) && fields[0] >= 0);
    if (bad) note("bad-job-number");
    else if (used.has(fields[0])) note("duplicate-job-number");
    if (bad || used.has(fields[0])) {
      do next = next === MAX_INT32 ? 1 : next + 1;
      while (valid.includes(next));
      fields[0] = next;
    }
    used.add(fields[0]);
  }
  const rows = found
    .map((fields) => [
      fields[0],
      fields[1],
      fields[3],
      fields[4] > 0 ? fields[4] : fields[7],
      fields[8],
      ...fields,
    ])
    .sort((a, b) => a[1] - b[1]);
  return { rows, codes, header, jobLines };
}

function isIn(field: number, value: number): boolean {
  return WHOLE.includes(field) ? value <= MAX_INT32 && Number.isInteger(value) : value <= 1e12;
}

function whyDropped(fields: readonly number[]): string | undefined {
  if (fields.length < 18) return "short-line";
  if ([2, 3, 4].includes(fields[10])) return "part-of-job";
  const needed = fields[4] > 0 ? [1, 3, 4] : [1, 3, 4, 7];
  if (needed.some((k) => !isIn(k, fields[k]))) return "bad-needed-field";
  if (fields[1] < 0) return "negative-submit";
  if (fields[3] < 0) return "no-run-time";
  if (fields[4] <= 0 && fields[7] <= 0) return "no-processors";
  return undefined;
}
