/** Prepares each SQL statement once, and turns errors into messages for people. */
import type { DatabaseSync, StatementSync } from "@tutti/host/ports/sqlite.ts";
import type { Row, Value } from "./rows.ts";
import { withStoreErrors } from "./store-error.ts";

type Insert = `INSERT${string}` | `REPLACE${string}`;
/** A statement that cannot make a table longer. */
type Other<Sql extends string> = Sql extends Insert ? never : Sql;

/** Pays for one row. Only the ledger makes charges (ledger.ts). */
export abstract class Charge {
  protected readonly isCharge = true;
  /** Called when the row is in the store. */
  abstract enter(): void;
}

export class Statements {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /** @param path of the database, for messages */
  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
  }

  /** Runs a statement that inserts nothing. */
  run<Sql extends string>(sql: Other<Sql>, ...values: Value[]): void {
    if (/^\s*(?:INSERT|REPLACE)/i.test(sql)) throw new Error(`Broken invariant: nobody pays for ${sql}`);
    this.#change(sql, values);
  }

  /** Inserts one row, unless a conflict says otherwise, and charges it to its owner. */
  insert(charge: Charge, sql: Insert, values: readonly Value[]): void {
    if (this.#change(sql, values) > 0) charge.enter();
  }

  /**
   * Inserts or replaces the row of a key: a name, a user, or the hash of a content, for which all who have it
   * pay elsewhere.
   */
  set(sql: Insert, ...values: Value[]): void {
    this.#change(sql, values);
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return withStoreErrors(this.#path, () => this.#statement(sql).get(...values)) as Row | undefined;
  }

  /** The first column of the first row as a number; 0 if there is no row. */
  number(sql: string, ...values: Value[]): number {
    return Number(Object.values(this.get(sql, ...values) ?? {})[0] ?? 0);
  }

  /** @typeParam Found row type: the selected columns by name */
  all<Found = Row>(sql: string, ...values: Value[]): Found[] {
    return withStoreErrors(this.#path, () => this.#statement(sql).all(...values)) as Found[];
  }

  /** Yields row by row, so that not all rows are in memory. */
  *each(sql: string, ...values: Value[]): Generator<Row> {
    for (const row of this.#statement(sql).iterate(...values)) yield row as Row;
  }

  meta(name: string): string | undefined {
    const row = this.get("SELECT value FROM meta WHERE name = ?", name);
    return row === undefined ? undefined : String(row.value);
  }

  setMeta(name: MetaName, value: string): void {
    this.set(
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      name,
      value,
    );
  }

  #change(sql: string, values: readonly Value[]): number {
    return Number(withStoreErrors(this.#path, () => this.#statement(sql).run(...values)).changes);
  }

  #statement(sql: string): StatementSync {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

/** All names in the table `meta`, which therefore cannot grow. */
export type MetaName =
  | "behind"
  | "boot"
  | "clocks"
  | "drain"
  | "forgotten job"
  | "forgotten until"
  | "has numbers"
  | "lost jobs"
  | "matrix"
  | "numbers passed over"
  | "place"
  | "policy"
  | "windows";
