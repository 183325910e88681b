/**
 * Reads gangs with phases from the text of a user's file: a line per turn, as CSV with a heading or as JSON
 * Lines, under the names of its own columns.
 */
import { InputError, messageOf } from "@tutti/kernel/core/errors.ts";
import { plural } from "@tutti/kernel/core/format.ts";
import { CsvError, parse } from "csv-parse/sync";
import type { PhasesInstance } from "./contract.ts";
import { fromEvents, type RecordedEvent } from "./recorded.ts";

type Column = "gang" | "hold" | "wait" | "units" | "submit" | "pool" | "save" | "restore";
const COLUMNS: readonly Column[] = ["gang", "hold", "wait", "units", "submit", "pool", "save", "restore"];
const MOST_S = 1e9;
/** Unix time and the like: only differences count. */
const LATEST_S = 1e11;
/** Half a millisecond would be no time at all. */
const LEAST_S = 0.001;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** What each event of a recorded lock has; other files of turns do not have all of these. */
const EVENT = ["kind", "t", "job", "pool"] as const;

type Row = Readonly<Record<string, unknown>>;

interface PhasesFileOptions {
  /** A path and its text, with a line `column=its name in the file` for each column with another name. */
  readonly columns: readonly [path: string, text: string] | undefined;
  /** Of each pool. */
  readonly units: number;
  readonly unitsPerNode: number;
  readonly resident: number;
  readonly saveS: number;
  readonly restoreS: number;
  /** Parameters, as NAME=VALUE, that are not as by default. */
  readonly changed: readonly string[];
}

/** @throws InputError that names file, line and value */
export function readPhases(path: string, text: string, options: PhasesFileOptions): PhasesInstance {
  const rows = rowsOf(path, text.replace(/^\uFEFF/, ""));
  if (rows.length === 0) throw new InputError(`Cannot use ${path}: it has no turn`);
  if (EVENT.every((name) => name in rows[0].row)) {
    const [set] = options.changed;
    if (set !== undefined)
      throw new InputError(`Cannot use ${set} with the events in ${path}: they say it themselves`);
    return fromEvents(
      path,
      rows.map((line) => eventOf(path, line)),
    ).instance;
  }
  const names = namesFrom(options.columns, path, new Set(rows.flatMap(({ row }) => Object.keys(row))));
  const turns = rows.map((line) => turnOf(path, line, names));
  checkUnits(path, turns, options.units);
  return instanceOf(path, turns, options);
}

interface Line {
  readonly line: number;
  readonly row: Row;
}

function rowsOf(path: string, text: string): readonly Line[] {
  if (text.includes("\0") || text.startsWith("\u001f"))
    throw new InputError(`Cannot read ${path}: it is not text, expected CSV or JSON Lines`);
  const begin = text.trimStart()[0];
  if (begin === "[")
    throw new InputError(
      `Cannot read ${path}: it is a JSON array, expected JSON Lines, an object in each line`,
    );
  return begin === "{" ? jsonLinesOf(path, text) : csvOf(path, text);
}

function csvOf(path: string, text: string): readonly Line[] {
  try {
    const found = parse(text, {
      columns: (heading: string[]) => {
        const twice = heading.find((name, i) => heading.indexOf(name) < i);
        if (twice !== undefined) throw new Error(`its heading has the column "${twice}" twice`);
        return heading;
      },
      ...{ delimiter: delimiterOf(text), info: true, trim: true, skip_empty_lines: true },
    });
    return (found as unknown as { info: { lines: number }; record: Row }[]).map(({ info, record }) => ({
      line: info.lines,
      row: record,
    }));
  } catch (error) {
    if (error instanceof CsvError && error.code === "CSV_RECORD_INCONSISTENT_COLUMNS")
      throw new InputError(
        `Cannot use ${path}, line ${error.lines}: it has ${plural((error.record as unknown[]).length, "value")}, expected ${(error.columns as unknown[]).length}, as in its heading; numbers have a decimal point`,
      );
    throw new InputError(`Cannot read ${path} as CSV: ${messageOf(error)}`);
  }
}

/** The one that the heading has most of. */
function delimiterOf(text: string): string {
  const [heading] = text.trimStart().split("\n", 1);
  const counts = [",", ";", "\t"].map((one) => [one, heading.split(one).length] as const);
  return counts.reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

function jsonLinesOf(path: string, text: string): readonly Line[] {
  return text.split("\n").flatMap((one, i) => {
    if (one.trim() === "") return [];
    const at = `${path}, line ${i + 1}`;
    let row: unknown;
    try {
      row = JSON.parse(one);
    } catch (error) {
      throw new InputError(`Cannot read ${at}, as JSON: ${messageOf(error)}`);
    }
    if (typeof row !== "object" || row === null || Array.isArray(row))
      throw new InputError(`Cannot use ${at}: ${one.trim().slice(0, 40)}, expected an object`);
    return [{ line: i + 1, row: row as Row }];
  });
}

function eventOf(path: string, { line, row }: Line): RecordedEvent {
  const { t, kind, job, pool, wait_ms, restore_ms, ckpt_ms } = row;
  const refuse = (name: string, expected: string) => {
    const is = JSON.stringify(row[name]) ?? "missing";
    throw new InputError(`Cannot use ${path}, line ${line}: ${name} is ${is}, expected ${expected}`);
  };
  for (const name of ["kind", "job", "pool"]) if (typeof row[name] !== "string") refuse(name, "a name");
  if (!(typeof t === "number" && Math.abs(t) <= LATEST_S)) refuse("t", "seconds");
  for (const name of ["wait_ms", "restore_ms", "ckpt_ms"]) {
    const ms = row[name];
    if (ms !== undefined && ms !== null && !(typeof ms === "number" && ms >= 0 && ms <= 1000 * MOST_S))
      refuse(name, "milliseconds");
  }
  const number = (ms: unknown) => (typeof ms === "number" ? Math.round(ms) : undefined);
  return {
    ...{ t: Number(t), kind: String(kind), job: String(job), pool: String(pool) },
    ...{ wait_ms: number(wait_ms), restore_ms: number(restore_ms), ckpt_ms: number(ckpt_ms) },
  };
}

function namesFrom(
  columns: PhasesFileOptions["columns"],
  file: string,
  found: ReadonlySet<string>,
): ReadonlyMap<Column, string> {
  const names = new Map<Column, string>();
  const [path, all] = columns ?? ["", ""];
  for (const [i, line] of all.split("\n").entries()) {
    const text = line.trim();
    if (text === "" || text.startsWith("#")) continue;
    const refuse = (expected: string): never => {
      throw new InputError(`Cannot use ${path}, line ${i + 1}: "${text}", expected ${expected}`);
    };
    const [before, ...rest] = text.split("=");
    const column = COLUMNS.find((one) => one === before.trim());
    const name = rest.join("=").trim();
    if (column === undefined || name === "") return refuse(`COLUMN=NAME with one of ${COLUMNS.join(", ")}`);
    if (names.has(column)) refuse(`one name for ${column}`);
    const other = [...names].find(([, taken]) => taken === name);
    if (other !== undefined) refuse(`another name than that of ${other[0]}`);
    if (!found.has(name)) refuse(`a column of ${file} (${[...found].slice(0, 20).join(", ")})`);
    names.set(column, name);
  }
  return names;
}

interface FileTurn {
  readonly line: number;
  readonly gang: string;
  readonly pool: string;
  readonly units: number;
  readonly submitS: number;
  readonly holdS: number;
  readonly waitS: number;
  readonly saveS: number | undefined;
  readonly restoreS: number | undefined;
}

function turnOf(path: string, { line, row }: Line, names: ReadonlyMap<Column, string>): FileTurn {
  const nameOf = (column: Column) => names.get(column) ?? column;
  const cellOf = (column: Column) => row[nameOf(column)];
  const refuse = (column: Column, expected: string): never => {
    const value = cellOf(column);
    const is = value === undefined || value === "" ? "empty" : JSON.stringify(value).slice(0, 60);
    throw new InputError(
      `Cannot use ${path}, line ${line}: ${nameOf(column)} is ${is}, expected ${expected}`,
    );
  };
  const required = (column: Column) => {
    if (nameOf(column) in row) return;
    throw new InputError(
      `Cannot use ${path}, line ${line}: it has no "${column}", expected one of its columns (${Object.keys(row).join(", ")}) named by a line "${column}=NAME" in the file of columns=`,
    );
  };
  // A column that is there says something in each line.
  const isMissing = (column: Column) => !(nameOf(column) in row);
  const text = (column: Column) => {
    const value = cellOf(column);
    const isName = (typeof value === "string" && value !== "") || Number.isFinite(value);
    return isName ? String(value) : refuse(column, "a name");
  };
  const number = (column: Column, expected: string, isRight: (value: number) => boolean) => {
    const value = cellOf(column);
    const isNumber = typeof value === "number" || (typeof value === "string" && DECIMAL.test(value));
    return isNumber && isRight(Number(value)) ? Number(value) : refuse(column, expected);
  };
  const seconds = (column: Column, leastS: number) =>
    number(column, `seconds, ${leastS} to ${MOST_S}`, (value) => value >= leastS && value <= MOST_S);
  required("gang");
  required("hold");
  return {
    line,
    gang: text("gang"),
    pool: isMissing("pool") ? "units" : text("pool"),
    units: isMissing("units")
      ? 1
      : number("units", "an integer of 1 or more", (value) => value >= 1 && Number.isInteger(value)),
    submitS: isMissing("submit")
      ? 0
      : number("submit", `seconds, 0 to ${LATEST_S}`, (value) => value >= 0 && value <= LATEST_S),
    holdS: seconds("hold", LEAST_S),
    waitS: isMissing("wait") ? 0 : seconds("wait", 0),
    saveS: isMissing("save") ? undefined : seconds("save", 0),
    restoreS: isMissing("restore") ? undefined : seconds("restore", 0),
  };
}

/** A gang holds as many units in all its turns in a pool, and no more than there are. */
function checkUnits(path: string, turns: readonly FileTurn[], most: number): void {
  const firstOf = new Map<string, FileTurn>();
  for (const turn of turns) {
    const { line, gang, pool, units } = turn;
    const key = JSON.stringify([gang, pool]);
    const first = firstOf.get(key) ?? turn;
    firstOf.set(key, first);
    const at = `${path}, line ${line}: gang ${gang} has ${units} units`;
    if (units > most)
      throw new InputError(`Cannot use ${at}: expected at most ${most}; units= says how many there are`);
    if (units !== first.units)
      throw new InputError(`Cannot use ${at}: expected ${first.units}, as in line ${first.line}`);
  }
}

function instanceOf(name: string, turns: readonly FileTurn[], options: PhasesFileOptions): PhasesInstance {
  const { units, unitsPerNode, resident } = options;
  const gangs = [...Map.groupBy(turns, ({ gang }) => gang).entries()].sort(
    ([, [a]], [, [b]]) => a.submitS - b.submitS,
  );
  const all = gangs.flatMap(([, own]) => own);
  const [[, [{ submitS: beginS, line: beginLine }]]] = gangs;
  for (const [gang, [{ line, submitS }]] of gangs)
    if (submitS - beginS > MOST_S)
      throw new InputError(
        `Cannot use ${name}, line ${line}: gang ${gang} comes ${submitS - beginS} s after that of line ${beginLine}, expected at most ${MOST_S}`,
      );
  const pools = [...new Set(turns.map(({ pool }) => pool))];
  const milliseconds = (of: (turn: FileTurn) => number) =>
    Float64Array.from(all, (turn) => Math.round(1000 * of(turn)));
  const firstTurn = new Int32Array(gangs.length + 1);
  for (const [i, [, own]] of gangs.entries()) firstTurn[i + 1] = firstTurn[i] + own.length;
  return {
    ...{ name, resident, firstTurn },
    pools: pools.map((pool) => ({ name: pool, units, unitsPerNode })),
    gangs: gangs.map(([gang]) => gang),
    submitMs: Float64Array.from(gangs, ([, [{ submitS }]]) => Math.round(1000 * (submitS - beginS))),
    turns: {
      pool: Int32Array.from(all, ({ pool }) => pools.indexOf(pool)),
      units: Int32Array.from(all, ({ units }) => units),
      holdMs: milliseconds(({ holdS }) => holdS),
      waitMs: milliseconds(({ waitS }) => waitS),
      keepMs: new Float64Array(all.length).fill(-1),
      saveMs: milliseconds(({ saveS = options.saveS }) => saveS),
      restoreMs: milliseconds(({ restoreS = options.restoreS }) => restoreS),
    },
  };
}
