/**
 * Reads gangs with phases from the text of a user's file: a line per turn, as CSV with a heading or as JSON
 * Lines, under the names of its own columns.
 */
import { InputError, messageOf } from "@tutti/kernel/core/errors.ts";
import { parse } from "csv-parse/sync";
import type { PhasesInstance } from "./contract.ts";
import { fromEvents, type RecordedEvent } from "./recorded.ts";

/** What a line may say, and what holds if it does not. */
const COLUMNS = {
  gang: undefined,
  hold: undefined,
  wait: 0,
  units: 1,
  submit: 0,
  pool: "units",
  save: undefined,
  restore: undefined,
} as const;
type Column = keyof typeof COLUMNS;
type Row = Readonly<Record<string, unknown>>;

interface PhasesFileOptions {
  /** A path and its text, with a line `column=its name in the file` for each column with another name. */
  readonly columns: readonly [path: string, text: string] | undefined;
  /** Of a pool that the file names; undefined: as many as its largest gang needs. */
  readonly units: number | undefined;
  readonly unitsPerNode: number;
  readonly resident: number;
  readonly saveS: number;
  readonly restoreS: number;
}

/** @throws InputError that names file, line and value */
export function readPhases(path: string, text: string, options: PhasesFileOptions): PhasesInstance {
  const rows = rowsOf(path, text);
  if (rows.length === 0) throw new InputError(`Cannot use ${path}: it has no turn`);
  if ("kind" in rows[0].row) {
    const events = rows.map(({ row }) => row as unknown as RecordedEvent);
    return { ...fromEvents(path, events).instance };
  }
  const names = namesFrom(options.columns);
  return instanceOf(
    path,
    rows.map((line) => turnOf(path, line, names)),
    options,
  );
}

interface Line {
  readonly line: number;
  readonly row: Row;
}

function rowsOf(path: string, text: string): readonly Line[] {
  if (!text.trimStart().startsWith("{")) {
    try {
      const found = parse(text, { columns: true, info: true, bom: true, trim: true, skip_empty_lines: true });
      return (found as unknown as { info: { lines: number }; record: Row }[]).map(({ info, record }) => ({
        line: info.lines,
        row: record,
      }));
    } catch (error) {
      throw new InputError(`Cannot read ${path} as CSV: ${messageOf(error)}`);
    }
  }
  return text.split("\n").flatMap((one, i) => {
    if (one.trim() === "") return [];
    try {
      return [{ line: i + 1, row: JSON.parse(one) as Row }];
    } catch (error) {
      throw new InputError(`Cannot read ${path}, line ${i + 1}, as JSON: ${messageOf(error)}`);
    }
  });
}

function namesFrom(columns: PhasesFileOptions["columns"]): ReadonlyMap<Column, string> {
  const names = new Map<Column, string>();
  const [path, all] = columns ?? ["", ""];
  for (const [i, line] of all.split("\n").entries()) {
    const text = line.trim();
    if (text === "" || text.startsWith("#")) continue;
    const [column, ...name] = text.split("=");
    if (!(column.trim() in COLUMNS) || name.length === 0)
      throw new InputError(
        `Cannot use ${path}, line ${i + 1}: "${text}", expected COLUMN=NAME with one of ${Object.keys(COLUMNS).join(", ")}`,
      );
    names.set(column.trim() as Column, name.join("=").trim());
  }
  return names;
}

interface FileTurn {
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
  const read = (column: Column): unknown => {
    const name = names.get(column) ?? column;
    const value = row[name];
    if (value !== undefined && value !== "") return value;
    const fallback = COLUMNS[column];
    if (fallback !== undefined || column === "save" || column === "restore") return fallback;
    throw new InputError(
      `Cannot use ${path}, line ${line}: it has no "${name}", expected one of its columns (${Object.keys(row).join(", ")}) named by a line "${column}=NAME" in the file of columns=`,
    );
  };
  const number = (column: Column, least: number, isWhole = false): number => {
    const value = read(column);
    const found = Number(value);
    if (found >= least && found <= 1e9 && (!isWhole || Number.isInteger(found))) return found;
    const expected = isWhole ? `an integer of ${least} or more` : "seconds, 0 or more";
    throw new InputError(
      `Cannot use ${path}, line ${line}: ${names.get(column) ?? column} is "${value}", expected ${expected}`,
    );
  };
  const cost = (column: "save" | "restore") => (read(column) === undefined ? undefined : number(column, 0));
  return {
    gang: String(read("gang")),
    pool: String(read("pool")),
    units: number("units", 1, true),
    submitS: number("submit", 0),
    holdS: number("hold", 0),
    waitS: number("wait", 0),
    saveS: cost("save"),
    restoreS: cost("restore"),
  };
}

function instanceOf(name: string, turns: readonly FileTurn[], options: PhasesFileOptions): PhasesInstance {
  const { unitsPerNode, resident } = options;
  const gangs = [...Map.groupBy(turns, ({ gang }) => gang).entries()].sort(
    ([, [a]], [, [b]]) => a.submitS - b.submitS,
  );
  const all = gangs.flatMap(([, own]) => own);
  const pools = [...new Set(turns.map(({ pool }) => pool))];
  const largest = (pool: string) => Math.max(...turns.map((turn) => (turn.pool === pool ? turn.units : 0)));
  const milliseconds = (of: (turn: FileTurn) => number) =>
    Float64Array.from(all, (turn) => Math.round(1000 * of(turn)));
  const firstTurn = new Int32Array(gangs.length + 1);
  for (const [i, [, own]] of gangs.entries()) firstTurn[i + 1] = firstTurn[i] + own.length;
  return {
    ...{ name, resident, firstTurn },
    pools: pools.map((pool) => {
      const units = options.units ?? largest(pool);
      return { name: pool, units, unitsPerNode: units % unitsPerNode === 0 ? unitsPerNode : units };
    }),
    gangs: gangs.map(([gang]) => gang),
    submitMs: Float64Array.from(gangs, ([, [{ submitS }]]) => Math.round(1000 * submitS)),
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
