/** What a store holds, and whether that is sound: for `tutti check`, and for every backup before it is called one. */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { InputError } from "../../core/errors.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import { latestAccountedFor } from "./lost-jobs.ts";
import { MIGRATIONS } from "./migrations.ts";
import { storeError } from "./store-error.ts";

export interface StoreFindings {
  /** Of the database's file and its log. */
  readonly bytes: number;
  /** Number of the last migration. */
  readonly version: number;
  readonly jobs: number;
  readonly live: number;
  /** The highest number that the store can tell something of. */
  readonly lastJob: JobNumber;
  readonly lastEvent: number;
}

export interface StoreReport {
  /** Undefined when so much is damaged that nothing can be counted. */
  readonly findings: StoreFindings | undefined;
  /** What is wrong, for people; none: it is sound. */
  readonly problems: readonly string[];
}

const MAX_PROBLEMS = 20;

/** @throws InputError when it is no store of ours, or of a later version */
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
  if (orphans > 0) problems.push(`damaged: ${orphans} rows name others that are not there`);
  return { findings, problems };
}

function findingsOf(path: string, database: DatabaseSync): StoreFindings {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = new Set(tables.map(({ name }) => String(name)));
  if (!["migrations", "meta", "jobs", "events"].every((name) => names.has(name))) {
    throw new InputError(`Cannot check "${path}": it is a database, but none that Tutti has written`);
  }
  const numberOf = (sql: string): number => Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0);
  const version = numberOf("SELECT max(number) FROM migrations");
  if (version > MIGRATIONS.length) {
    throw new InputError(
      `Cannot check "${path}": it is of version ${version}, expected ${MIGRATIONS.length} or earlier; a later Tutti has written it`,
    );
  }
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
