/** Checks a store and counts its contents: for `tutti store check`, and for every backup. */
import { statSync } from "@tutti/host/ports/fs.ts";
import type { DatabaseSync } from "@tutti/host/ports/sqlite.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { latestAccountedFor } from "./lost-jobs.ts";
import { refuseVersion } from "./migrations.ts";
import { storeError } from "./store-error.ts";

export interface StoreFindings {
  /** Size of the database's file and its log. */
  readonly bytes: number;
  /** Number of the last migration. */
  readonly version: number;
  readonly jobs: number;
  readonly live: number;
  /** The highest job number that the store accounts for. */
  readonly lastJob: JobNumber;
  readonly lastEvent: number;
}

export interface StoreReport {
  /** Undefined if the damage makes it impossible to count. */
  readonly findings: StoreFindings | undefined;
  /** Problems, as text for people; empty: the store is sound. */
  readonly problems: readonly string[];
}

const MAX_PROBLEMS = 20;

/** @throws InputError if it is not a store of Tutti, or of a later version */
export function checkStore(path: string, database: DatabaseSync): StoreReport {
  const problems: string[] = [];
  const attempt = <Result>(read: () => Result): Result | undefined => {
    try {
      return read();
    } catch (error) {
      if (error instanceof InputError) throw error;
      const { message } = storeError(path, error) as Error;
      if (!problems.includes(message)) problems.push(message);
      return undefined;
    }
  };
  const findings = attempt(() => findingsOf(path, database));
  for (const row of attempt(() => database.prepare(`PRAGMA integrity_check(${MAX_PROBLEMS})`).all()) ?? []) {
    const [text] = Object.values(row);
    if (text !== "ok") problems.push(`damaged: ${String(text).replaceAll("\n", " ")}`);
  }
  const orphans = attempt(() => database.prepare("PRAGMA foreign_key_check").all().length) ?? 0;
  if (orphans > 0) problems.push(`damaged: ${orphans} rows refer to missing rows`);
  return { findings, problems };
}

function findingsOf(path: string, database: DatabaseSync): StoreFindings {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = new Set(tables.map(({ name }) => String(name)));
  if (!["migrations", "meta", "jobs", "events"].every((name) => names.has(name))) {
    // SQLite takes an empty file for a database without tables.
    const what = statSync(path).size === 0 ? "it is empty" : "it is a database, but Tutti did not write it";
    throw new InputError(`Cannot check "${path}": ${what}, expected a store of Tutti`);
  }
  const numberOf = (sql: string): number => Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0);
  const version = numberOf("SELECT max(number) FROM migrations");
  refuseVersion("check", path, version);
  const meta = (name: string): string | undefined => {
    const row = database.prepare("SELECT value FROM meta WHERE name = ?").get(name);
    return row === undefined ? undefined : String(row.value);
  };
  const latestJob = (): JobNumber =>
    Math.max(numberOf("SELECT max(job) FROM jobs"), Number(meta("forgotten job") ?? 0));
  return {
    bytes: statSync(path).size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0),
    version,
    jobs: numberOf("SELECT count(*) FROM jobs"),
    live: numberOf("SELECT count(*) FROM jobs WHERE ended_ms IS NULL"),
    lastJob: latestAccountedFor({ meta, latestJob }),
    lastEvent: numberOf("SELECT max(sequence) FROM events"),
  };
}
