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
  for (const [index, result] of actual.entries()) expect(result).toStrictEqual(expected[index]);
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
        ["foreign_keys", "page_size", "cache_size", "journal_mode", "synchronous", "busy_timeout"].map(
          (name) => database.prepare(`PRAGMA ${name}`).get(),
        ),
      "a full cache is written before the end": (database, path, node) => {
        database.exec("BEGIN; CREATE TABLE large (a)");
        const insert = database.prepare("INSERT INTO large VALUES (zeroblob(4000))");
        for (let row = 0; row < 1000; row++) insert.run();
        const other = new node.DatabaseSync(path, { readOnly: true });
        const seen = outcome(() => other.prepare("SELECT * FROM parents").all());
        other.close();
        database.exec("COMMIT");
        return seen;
      },
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

/** Random statements on one table with an index, in a fixed order for a seed. */
function* statements(
  seed: number,
): Generator<[sql: string, values: (number | string | null | Uint8Array)[]]> {
  const random = new Draws(seed);
  const value = () =>
    random.pick([
      () => random.between(-5, 5),
      () => random.unit() * 100,
      () => (random.unit() - 0.5) * 2 ** 53,
      () => "text ".repeat(random.below(400)),
      () => `é${random.below(20)}`,
      () => null,
      () => new Uint8Array(random.below(3000)).fill(random.below(256)),
    ])();
  const key = () => random.between(1, 40);
  for (let step = 0; step < 200; step++) {
    yield random.pick<() => [string, ReturnType<typeof value>[]]>([
      () => ["INSERT INTO t (a, b) VALUES (?, ?)", [value(), value()]],
      () => ["INSERT OR REPLACE INTO t VALUES (?, ?, ?)", [key(), value(), value()]],
      () => ["INSERT INTO t VALUES (?, ?, ?) RETURNING *", [key(), value(), value()]],
      () => ["UPDATE t SET a = ?, b = b || ? WHERE id % 5 = ?", [value(), value(), random.below(5)]],
      () => ["UPDATE t SET id = id + ? WHERE id = ?", [random.below(4), key()]],
      () => ["DELETE FROM t WHERE id BETWEEN ? AND ?", [key(), key()]],
      () => ["SELECT * FROM t WHERE a > ? ORDER BY a, id", [value()]],
      () => ["SELECT typeof(a) AS kind, count(*), sum(a), max(b) FROM t GROUP BY kind ORDER BY 1", []],
      () => ["SELECT id, row_number() OVER (ORDER BY b, id) FROM t", []],
      () => ["SELECT json_group_array(hex(b)) FROM t WHERE id < ?", [key()]],
      () => [random.pick(["BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s"]), []],
      () => ["ROLLBACK TO s", []],
      () => [`CREATE TABLE more${random.below(3)} AS SELECT * FROM t`, []],
      () => [`DROP TABLE more${random.below(3)}`, []],
      () => ["PRAGMA wal_checkpoint", []],
      () => ["PRAGMA incremental_vacuum", []],
      () => ["VACUUM", []],
      () => [`PRAGMA cache_size = ${random.between(1, 50)}`, []],
      () => ["PRAGMA integrity_check", []],
    ])();
  }
}

describe.each(["WAL", "TRUNCATE", "DELETE", "WAL EXCLUSIVE"])("random statements, %s", (mode) => {
  test.each([1, 2])("seed %i", (seed) => {
    const acts: Record<string, Act> = {
      begin: (database) => {
        if (mode.includes("EXCLUSIVE")) database.exec("PRAGMA locking_mode = EXCLUSIVE");
        database.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = ${mode.split(" ")[0]}`);
        database.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); CREATE INDEX by_a ON t (a, b)");
      },
    };
    for (const [index, [sql, values]] of [...statements(seed)].entries()) {
      const how = (["all", "get", "run"] as const)[index % 3];
      acts[`${index} ${sql}`] = (database) => [database.prepare(sql)[how](...values), database.isTransaction];
    }
    acts.again = (database, path, node) => {
      if (database.isTransaction) database.exec("COMMIT");
      database.close();
      const again = new node.DatabaseSync(path);
      try {
        return [again.prepare("SELECT * FROM t").all(), again.prepare("PRAGMA integrity_check").get()];
      } finally {
        again.close();
      }
    };
    same(acts);
  });
});

describe("several processes", () => {
  const count = (database: { prepare(sql: string): { get(): unknown } }) =>
    database.prepare("SELECT count(*) AS count FROM t").get();

  test.each(["WAL", "TRUNCATE"])("exclude each other and see each other's commits, %s", (mode) => {
    const { start } = machine();
    const [one, other] = [start(), start()].map(({ DatabaseSync }) => new DatabaseSync("/data/t.db"));
    one.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE t (a)`);
    expect(count(other)).toEqual({ count: 0 });
    one.exec("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)");
    expect(outcome(() => other.exec("BEGIN IMMEDIATE"))).toMatchObject({ errcode: 5 });
    expect(count(other)).toEqual({ count: 0 });
    one.exec("COMMIT");
    expect(count(other)).toEqual({ count: 1 });
    other.exec("BEGIN; SELECT * FROM t");
    if (mode === "WAL") {
      one.exec("INSERT INTO t VALUES (2)");
      expect(count(other)).toEqual({ count: 1 });
      expect(outcome(() => other.exec("INSERT INTO t VALUES (3)"))).toMatchObject({ errcode: 517 });
    } else {
      expect(outcome(() => one.exec("INSERT INTO t VALUES (2)"))).toMatchObject({ errcode: 5 });
    }
    other.exec("COMMIT");
    other.exec("INSERT INTO t VALUES (4)");
    expect(count(one)).toEqual({ count: mode === "WAL" ? 3 : 2 });
  });

  test("a lock lasts until it is released or its process ends", () => {
    const { start } = machine();
    const take = ({ DatabaseSync }: NodeSqlite) => {
      const database = new DatabaseSync("/data/lock", { timeout: 0 });
      database.exec("BEGIN EXCLUSIVE");
      return database;
    };
    const [one, other] = [start(), start()];
    const held = take(one);
    expect(outcome(() => take(other))).toMatchObject({ errcode: 5 });
    held.close();
    take(other);
    expect(outcome(() => take(one))).toMatchObject({ errcode: 5 });
    sqlite.processEnded(other.who);
    take(one);
  });

  test("a killed process leaves its files as they are, and its commits to the next", () => {
    const { files, start } = machine();
    const killed = start();
    const database = new killed.DatabaseSync("/data/t.db");
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    database.exec("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)");
    database.prepare("SELECT * FROM t").iterate().next();
    const root = files.asRoot();
    const contents = () =>
      ["t.db", "t.db-wal"].map((name) => {
        const data = files.data(files.find(root, `/data/${name}`));
        const bytes = new Uint8Array(data.size);
        data.readAt(bytes, 0);
        return bytes;
      });
    const before = contents();
    sqlite.processEnded(killed.who);
    expect(contents()).toStrictEqual(before);
    expect(before[1].length).toBeGreaterThan(0);
    const next = new (start().DatabaseSync)("/data/t.db");
    expect(count(next)).toEqual({ count: 1 });
    next.close();
    expect(files.readFolder(root, "/data").map(({ name }) => name)).toEqual(["t.db"]);
  });

  test("a disk that fails", () => {
    const { files, start } = machine();
    const database = new (start().DatabaseSync)("/data/t.db");
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (a)");
    const insert = (bytes = 50_000) => database.exec(`INSERT INTO t VALUES (zeroblob(${bytes}))`);
    files.disk.failNext("write", 1);
    expect(outcome(insert)).toMatchObject({ errcode: 778, message: "disk I/O error" });
    files.disk.failNext("sync", 1);
    expect(outcome(insert)).toMatchObject({ errcode: 1034, message: "disk I/O error" });
    files.disk.setCapacity(0);
    // More than what the failed ones have taken.
    expect(outcome(() => insert(200_000))).toMatchObject({
      errcode: 13,
      message: "database or disk is full",
    });
    files.disk.setCapacity(2 ** 30);
    insert();
    expect(count(database)).toEqual({ count: 1 });
  });

  test("a read-only disk: a store without a log can be read if it is called immutable", () => {
    const { files, start } = machine();
    const { DatabaseSync } = start();
    const database = new DatabaseSync("/data/t.db");
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
    database.close();
    files.disk.setReadOnly(true);
    expect(outcome(() => count(new DatabaseSync("/data/t.db", { readOnly: true })))).toMatchObject({
      errcode: 14,
      message: "unable to open database file",
    });
    const place = new URL("file:///data/t.db?immutable=1");
    expect(count(new DatabaseSync(place, { readOnly: true }))).toEqual({ count: 1 });
  });

  test("a backup copies one state step by step", async () => {
    const { start } = machine();
    const { DatabaseSync, backup } = start();
    const database = new DatabaseSync("/data/t.db");
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(50000))");
    const left: number[] = [];
    const progress = ({ remainingPages }: { remainingPages: number }) => left.push(remainingPages);
    const pages = await backup(database, "/data/copy.db", { rate: 5, progress });
    expect(left).toEqual([pages - 5, pages - 10]);
    expect(count(new DatabaseSync("/data/copy.db"))).toEqual({ count: 1 });
    await expect(backup(database, "/missing/copy.db")).rejects.toMatchObject({ errcode: 14 });
  });

  test("time and chance come from the world", () => {
    const sql = "SELECT datetime('now') AS now, hex(randomblob(8)) AS random";
    const [one, again, other] = [1, 1, 2].map((seed) =>
      new (machine(seed).start().DatabaseSync)("/data/t.db").prepare(sql).get(),
    );
    expect(one?.now).toBe("2001-09-09 01:46:40");
    expect(again).toEqual(one);
    expect(other?.random).not.toBe(one?.random);
  });
});
