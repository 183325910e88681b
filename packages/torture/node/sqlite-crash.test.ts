/** Databases whose process is killed, or whose machine loses power, at any call that they make. */
import sqlite3InitModule from "@sqlite.org/sqlite-wasm";
import { describe, expect, test } from "vitest";
import type { Caller, FileData, Files } from "../world/contract.ts";
import { sysError } from "../world/errors.ts";
import { createFiles, type SimulatedFiles } from "../world/files/files.ts";
import { Draws } from "../world/random.ts";
import { type NodeSqlite, Sqlite } from "./sqlite.ts";

const sqlite = new Sqlite(await sqlite3InitModule());
const PATH = "/data/store.db";
const TRANSACTIONS = 4;
const ROWS = 3;
const SEEDS = process.env.TUTTI_SOAK === undefined ? [0, 1] : Array.from({ length: 50 }, (_, seed) => seed);

/** Calls that change something. */
const CHANGING = ["open", "unlink", "sync", "fchmod", "fchown"] as const;

/** Files that can end at any call that changes them: from then on, each call fails. */
class Ending {
  calls = 0;
  readonly #files: SimulatedFiles;
  readonly #endsAt: number;
  readonly #end: () => void;

  constructor(files: SimulatedFiles, endsAt: number, end: () => void) {
    this.#files = files;
    this.#endsAt = endsAt;
    this.#end = end;
  }

  /** Ends before the call of that number. */
  step(): void {
    if (this.calls === this.#endsAt) this.#end();
    if (this.calls++ >= this.#endsAt) throw sysError("EIO", "write");
  }

  data(data: FileData): FileData {
    return {
      get size() {
        return data.size;
      },
      readAt: (into, position) => data.readAt(into, position),
      writeAt: (bytes, position) => {
        this.step();
        data.writeAt(bytes, position);
      },
      truncate: (size) => {
        this.step();
        data.truncate(size);
      },
      sync: () => {
        this.step();
        data.sync();
      },
    };
  }

  get view(): Files {
    const changing: ReadonlySet<unknown> = new Set(CHANGING);
    return new Proxy(this.#files, {
      get: (files, name) => {
        if (name === "data") return (inode: never) => this.data(files.data(inode));
        const method = files[name as keyof Files] as (...values: unknown[]) => unknown;
        return (...values: unknown[]) => {
          if (changing.has(name)) this.step();
          return method.apply(files, values);
        };
      },
    });
  }
}

function start(files: Files, who: Caller): NodeSqlite {
  const soon = (call: () => void) => queueMicrotask(call);
  return sqlite.forProcess({ files, who, unixMs: () => 1e12, soon });
}

interface Progress {
  /** Transactions whose COMMIT has returned. */
  committed: number;
  begun: number;
}

/** Writes until something fails, or all is over: SQLite ignores some errors. */
function write({ DatabaseSync }: NodeSqlite, mode: string, progress: Progress, isOver: () => boolean): void {
  const database = new DatabaseSync(PATH);
  database.exec(`PRAGMA journal_mode = ${mode}`);
  // Without EXTRA, SQLite does not wait until the disk has forgotten a deleted journal.
  database.exec(`PRAGMA synchronous = ${mode === "DELETE" ? "EXTRA" : "FULL"}`);
  database.exec("CREATE TABLE IF NOT EXISTS rows (number INTEGER, text TEXT)");
  const insert = database.prepare("INSERT INTO rows VALUES (?, ?)");
  for (let number = 1; number <= TRANSACTIONS; number++) {
    progress.begun = number;
    database.exec("BEGIN IMMEDIATE");
    for (let row = 0; row < ROWS; row++) insert.run(number, "text ".repeat(row * 500));
    database.exec("COMMIT");
    if (isOver()) return;
    progress.committed = number;
    if (number === TRANSACTIONS / 2) database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }
  database.close();
}

/** What the next process finds must be whole transactions: all that were committed, at most all begun. */
function check(files: Files, who: Caller, { committed, begun }: Progress): void {
  const { DatabaseSync } = start(files, who);
  const database = new DatabaseSync(PATH);
  expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  const tables = database.prepare("SELECT name FROM sqlite_schema").all().length;
  if (tables === 0) expect(committed).toBe(0);
  else {
    const sql = "SELECT number, count(*) AS count FROM rows GROUP BY number ORDER BY number";
    const found = database.prepare(sql).all();
    expect(found.length).toBeGreaterThanOrEqual(committed);
    expect(found.length).toBeLessThanOrEqual(begun);
    expect(found.every(({ number, count }, index) => number === index + 1 && count === ROWS)).toBe(true);
  }
  database.exec("CREATE TABLE IF NOT EXISTS more (a); INSERT INTO more VALUES (1)");
  database.close();
}

/** @returns the calls that were made */
function endAt(call: number, mode: string, kind: "kill" | "power", seed: number): number {
  const random = new Draws(seed);
  sqlite.begin(random.fork("sqlite"));
  const isLax = seed % 2 === 0;
  const files = createFiles({ random, unixMs: () => 1e12, capacityBytes: 2 ** 30, isLax });
  const root = files.asRoot();
  files.makeFolder(root, "/data");
  files.sync(root, files.open(root, "/", 0));
  const ending = new Ending(files, call, () => {
    if (kind === "power") files.cutPower();
  });
  const who = files.asRoot();
  const progress: Progress = { committed: 0, begun: 0 };
  try {
    write(start(ending.view, who), mode, progress, () => ending.calls > call);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_SQLITE_ERROR") throw error;
  }
  sqlite.processEnded(who);
  if (ending.calls <= call && kind === "power") files.cutPower();
  check(files, files.asRoot(), progress);
  return ending.calls;
}

describe.each(["WAL", "TRUNCATE", "DELETE"])("%s", (mode) => {
  test.each(["kill", "power"] as const)("after %s, all that was committed is there", (kind) => {
    const calls = endAt(Number.POSITIVE_INFINITY, mode, kind, 1);
    expect(calls).toBeGreaterThan(TRANSACTIONS * 2);
    for (let call = 0; call <= calls; call++) {
      for (const seed of SEEDS) {
        try {
          endAt(call, mode, kind, seed + call);
        } catch (error) {
          throw new Error(`call ${call} of ${calls}, seed ${seed + call}`, { cause: error });
        }
      }
    }
  });
});
