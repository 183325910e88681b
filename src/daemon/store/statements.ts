/** Statements of a database, each prepared once. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Row, Value } from "./rows.ts";
import { inWords } from "./store-error.ts";

export class Statements {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  /** @param path of the database, for people */
  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
  }

  run(sql: string, ...values: Value[]): void {
    inWords(this.#path, () => this.#statement(sql).run(...values));
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return inWords(this.#path, () => this.#statement(sql).get(...values)) as Row | undefined;
  }

  all(sql: string, ...values: Value[]): Row[] {
    return inWords(this.#path, () => this.#statement(sql).all(...values)) as Row[];
  }

  /** Row by row: of many, not all are in memory at once. */
  *each(sql: string, ...values: Value[]): Generator<Row> {
    for (const row of this.#statement(sql).iterate(...values)) yield row as Row;
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
