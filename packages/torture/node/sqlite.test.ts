import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as real from "node:sqlite";
import sqlite3InitModule from "@sqlite.org/sqlite-wasm";
import { afterAll, describe, expect, test } from "vitest";
import type { Caller } from "../world/contract.ts";
import { createFiles, type SimulatedFiles } from "../world/files/files.ts";
import { Draws } from "../world/random.ts";
import { type NodeSqlite, Sqlite } from "./sqlite.ts";

const sqlite = new Sqlite(await sqlite3InitModule());
const folder = mkdtempSync(join(tmpdir(), "tutti-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Machine {
  readonly files: SimulatedFiles;
  start(): NodeSqlite & { readonly who: Caller };
}

/** A machine with an empty disk. */
function machine(seed = 1): Machine {
  const random = new Draws(seed);
  sqlite.begin(random.fork("sqlite"));
  const files = createFiles({ random, unixMs: () => 1e12, capacityBytes: 2 ** 30 });
  files.makeFolder(files.asRoot(), "/data");
  const start = () => {
    const who = files.asRoot();
    const soon = (call: () => void) => queueMicrotask(call);
    return { ...sqlite.forProcess({ files, who, unixMs: () => 1e12, soon }), who };
  };
  return { files, start };
}

/** Helpers of iterators, which the types of Node do not know yet. */
interface Rows {
  map(call: (row: Record<string, unknown>) => unknown): { toArray(): unknown[] };
}
type Databases = Pick<typeof real, "DatabaseSync">;
/** A thing that both do with an open database; the result, or the error, must be the same. */
type Act = (database: real.DatabaseSync, path: string, node: Databases) => unknown;

function outcome(act: () => unknown): unknown {
  try {
    return { result: act() };
  } catch (error) {
    const { name, message } = error as Error;
    return { ...(error as Error), name, message };
  }
}

/** Does all on one database of each kind. */
function same(acts: Readonly<Record<string, Act>>): void {
  const simulated = machine().start() as unknown as Databases;
  const places = [
    { node: real, path: join(folder, `${Math.random()}.db`) },
    { node: simulated, path: "/data/same.db" },
  ];
  const [expected, actual] = places.map(({ node, path }) => {
    const database = new node.DatabaseSync(path);
    const results = Object.entries(acts).map(([name, act]) => [
      name,
      outcome(() => act(database, path, node)),
    ]);
    if (database.isOpen) database.close();
    return results;
  });
  expect(actual).toStrictEqual(expected);
}

const TABLES = `
  CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT UNIQUE, n INT NOT NULL CHECK (n < 100)) STRICT;
  CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id))`;

const get =
  (sql: string, ...values: unknown[]): Act =>
  (database) =>
    database.prepare(sql).get(...(values as never[]));

describe("like node:sqlite", () => {
  test("values in and out", () => {
    same({
      integers: get("SELECT 1 AS a, -1 AS b, 9007199254740991 AS c, -9007199254740991 AS d"),
      "too large": get("SELECT 9007199254740992"),
      lowest: get("SELECT -9223372036854775808"),
      bound: get("SELECT ? a, typeof(?1) b, ? c, typeof(?2) d, ? e, typeof(?3) f", 1, 1.5, 2 ** 60),
      bigint: get("SELECT ? a, typeof(?1) b", 5n),
      "large bigint": get("SELECT ?", 2n ** 64n),
      booleans: get("SELECT ? a, ? b, typeof(?) c, ? d", true, false, true, undefined),
      text: get("SELECT ? a, length(?1) b", "äöü € 😀"),
      "lone surrogate": get("SELECT ? a, hex(?1) b", "\ud800"),
      zero: get("SELECT ? a, length(?1) b", "a\0b"),
      "long text": get("SELECT ? a", "xé".repeat(100_000)),
      "empty text": get("SELECT ? a, typeof(?1) b", ""),
      blob: get("SELECT ? a, typeof(?1) b", new Uint8Array([0, 1, 255])),
      "empty blob": get("SELECT ? a, typeof(?1) b", new Uint8Array()),
      "large blob": get("SELECT ? a", new Uint8Array(200_000).fill(7)),
      view: get("SELECT hex(?) a", new Uint16Array([1, 2])),
      names: get("SELECT 1 AS x, 2 AS x, 3 AS 'a b'"),
      fewer: get("SELECT ? a, ? b", 1),
      more: get("SELECT ? a", 1, 2),
      numbered: get("SELECT ?2 a, ?1 b", 7, 8),
      named: get("SELECT :a a, $b b, @c c", { a: 1, $b: 2, "@c": 3 }),
      mixed: get("SELECT :a a, ? b", { a: 1 }, 5),
      unknown: get("SELECT :a", { b: 1 }),
      ambiguous: get("SELECT :a, $a", { a: 1 }),
      array: get("SELECT ?", [1]),
      symbol: get("SELECT ?, ?", 1, Symbol.iterator),
      prototypes: (database) => {
        const rows = [
          database.prepare("SELECT 1 AS a").get(),
          database.prepare("SELECT 1 AS a").all()[0],
          [...database.prepare("SELECT 1 AS a").iterate()][0],
        ];
        return rows.map((row) => Object.getPrototypeOf(row));
      },
    });
  });

  test("errors", () => {
    same({
      tables: (database) => database.exec(TABLES),
      first: (database) => database.prepare("INSERT INTO parents (name, n) VALUES (?, ?)").run("a", 1),
      unique: (database) => database.prepare("INSERT INTO parents (name, n) VALUES (?, ?)").run("a", 1),
      "unique, get": get("INSERT INTO parents (name, n) VALUES (?, ?) RETURNING id", "a", 1),
      "unique, all": (database) =>
        database.prepare("INSERT INTO parents (name, n) VALUES (?, ?) RETURNING id").all("a", 1),
      check: get("INSERT INTO parents (name, n) VALUES (?, ?)", "b", 100),
      "not null": get("INSERT INTO parents (name, n) VALUES (?, ?)", "b", null),
      type: get("INSERT INTO parents (name, n) VALUES (?, ?)", "b", "c"),
      foreign: get("INSERT INTO children (parent) VALUES (12)"),
      "no table": get("SELECT * FROM missing"),
      "no function": get("SELECT missing(1)"),
      syntax: get("SELEC"),
      "exec syntax": (database) => database.exec("SELEC"),
      "exec half": (database) => database.exec("INSERT INTO parents VALUES (5, 'e', 5); SELEC"),
      quotes: get('SELECT "x"'),
      empty: (database) => database.prepare(" -- nothing"),
      "not a string": (database) => database.prepare(5 as never),
      "exec number": (database) => database.exec(5 as never),
      commit: (database) => database.exec("COMMIT"),
      defensive: get("PRAGMA journal_mode = OFF"),
      rows: (database) => database.prepare("SELECT * FROM parents").all(),
      large: (database) =>
        database.prepare("INSERT INTO parents (id, name, n) VALUES (?, ?, 2)").run(2n ** 60n, "z"),
      missing: (_, path, node) => new node.DatabaseSync(`${path}/x/y`),
      "missing, read only": (_, path, node) => new node.DatabaseSync(`${path}x`, { readOnly: true }),
      folder: (_, path, node) => new node.DatabaseSync(path.slice(0, path.lastIndexOf("/"))),
      number: (_, _path, node) => new node.DatabaseSync(5 as never),
      "zero in name": (_, _path, node) => new node.DatabaseSync("a\0b"),
      scheme: (_, _path, node) => new node.DatabaseSync(new URL("http://x/y")),
      "read only": (_, path, node) =>
        new node.DatabaseSync(path, { readOnly: true }).exec("DELETE FROM children"),
      twice: (database) => database.open(),
      closed: (database) => {
        const statement = database.prepare("SELECT 1");
        database.close();
        const after = [
          () => statement.get(),
          () => database.exec("SELECT 1"),
          () => database.prepare("SELECT 1"),
          () => database.isTransaction,
          () => database.close(),
          () => database[Symbol.dispose](),
          () => database.isOpen,
        ];
        return after.map(outcome);
      },
    });
  });

  test("statements, transactions and iterators", () => {
    same({
      tables: (database) => database.exec(TABLES),
      run: (database) => {
        const insert = database.prepare("INSERT INTO parents (name, n) VALUES (?, ?)");
        return ["a", "b", "c"].map((name, index) => insert.run(name, index));
      },
      "changes of a query": (database) => database.prepare("SELECT 1").run(),
      update: (database) => database.prepare("UPDATE parents SET n = n + 1 WHERE n > ?").run(0),
      transaction: (database) => {
        const states = [database.isTransaction];
        database.exec("BEGIN");
        states.push(database.isTransaction);
        database.exec("ROLLBACK");
        return [...states, database.isTransaction];
      },
      iterate: (database) => {
        const iterator = database.prepare("SELECT name FROM parents").iterate();
        return [iterator.next(), ...iterator, iterator.next()].map((row) => ({ ...row }));
      },
      helpers: (database) =>
        (database.prepare("SELECT id FROM parents ORDER BY id").iterate() as unknown as Rows)
          .map(({ id }) => id)
          .toArray(),
      invalid: (database) => {
        const statement = database.prepare("SELECT name FROM parents");
        const iterator = statement.iterate();
        iterator.next();
        statement.get();
        return iterator.next();
      },
      "column added": (database) => {
        const statement = database.prepare("SELECT * FROM children");
        database.exec("INSERT INTO children VALUES (1, NULL)");
        const before = statement.all();
        database.exec("ALTER TABLE children ADD COLUMN more DEFAULT 5");
        return [before, statement.all(), statement.get()];
      },
      settings: (database) =>
        ["foreign_keys", "page_size", "journal_mode", "synchronous", "busy_timeout"].map((name) =>
          database.prepare(`PRAGMA ${name}`).get(),
        ),
      function: (database) => {
        database.function("add", { deterministic: true }, (a, b) => (a as number) + (b as number));
        database.function("kind", (a) => typeof a);
        database.function("nothing", () => undefined as never);
        database.function("fails", () => {
          throw new RangeError("too bad");
        });
        database.function("object", () => ({}) as never);
        const sql = [
          "SELECT add(1, 2) a, add('a', 'b') b, typeof(add(1, 1)) c",
          "SELECT kind(1) a, kind('a') b, kind(NULL) c, kind(x'00') d, kind(1.5) e, nothing() f",
          "SELECT fails()",
          "SELECT object()",
          "SELECT add(1)",
          "SELECT kind(9007199254740993)",
        ];
        return sql.map((text) => outcome(() => database.prepare(text).get()));
      },
    });
  });
});
