/** Prepares each SQL statement once, and turns errors into messages for people. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Row, Value } from "./rows.ts";
import { withStoreErrors } from "./store-error.ts";

export class Statements {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /** @param path of the database, for messages */
  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
  }

  run(sql: string, ...values: Value[]): void {
    withStoreErrors(this.#path, () => this.#statement(sql).run(...values));
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

  setMeta(name: string, value: string): void {
    const sql =
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value";
    this.run(sql, name, value);
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
