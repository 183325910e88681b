/**
 * Stores environments and scripts, which jobs need only to start. Each is stored once, even if many jobs
 * share it, and dropped when no job has it. Ended jobs keep theirs for a while, so that they can be run again
 * (book/kept-contents.ts).
 */
import { createHash } from "@tutti/host/ports/crypto.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Statements } from "./statements.ts";

type Environment = Readonly<Record<string, string>>;
type Table = "environments" | "scripts";

/** An environment or a script in the form in which it is stored. */
export interface Content {
  readonly table: Table;
  /** Made of table and hash, so equal contents have the same name. */
  readonly name: string;
  readonly hash: Buffer;
  readonly value: string | Buffer;
  readonly bytes: number;
}

/** A stored environment or script. */
export interface StoredContent {
  readonly table: Table;
  readonly id: number;
  /** Made of table and id. */
  readonly name: string;
  readonly bytes: number;
}

const VALUE: Readonly<Record<Table, string>> = { environments: "json", scripts: "content" };
/** Columns of `jobs`. */
const COLUMN: Readonly<Record<Table, string>> = { environments: "environment", scripts: "script" };
const KNOWN = 1000;
/** The environment of ended jobs that cannot be run again. */
const NOTHING: Environment = {};

export class Contents {
  readonly #sql: Statements;
  /** Ids of the contents used last, by name; most submits have the same environment as the one before. */
  readonly #ids = new Map<string, number>();
  readonly #stored: Readonly<Record<Table, Map<number, StoredContent>>> = {
    environments: new Map(),
    scripts: new Map(),
  };
  /** The jobs of an array share one object. */
  #environment: { readonly environment: Environment; readonly content: Content } | undefined;
  #script: { readonly base64: string; readonly content: Content } | undefined;
  #nothing: number | undefined;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Forgets cached ids, because contents written since the last commit are gone. */
  rollback(): void {
    this.#ids.clear();
    for (const known of Object.values(this.#stored)) known.clear();
    this.#nothing = undefined;
  }

  ofEnvironment(environment: Environment): Content {
    if (this.#environment?.environment === environment) return this.#environment.content;
    const json = JSON.stringify(environment);
    const before = this.#environment?.content;
    // Most submits have the same environment as the one before: its hash is known.
    const content = before?.value === json ? before : contentOf("environments", Buffer.from(json));
    this.#environment = { environment, content };
    return content;
  }

  ofScript(base64: string): Content {
    if (this.#script?.base64 === base64) return this.#script.content;
    const content = contentOf("scripts", Buffer.from(base64, "base64"));
    this.#script = { base64, content };
    return content;
  }

  /** Id of a content; undefined if it is not stored. */
  find({ table, name, hash }: Content): number | undefined {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const row = this.#sql.get(`SELECT id FROM ${table} WHERE hash = ?`, hash);
    if (row === undefined) return undefined;
    const id = Number(row.id);
    if (this.#ids.size >= KNOWN) this.#ids.clear();
    this.#ids.set(name, id);
    return id;
  }

  /** Id of a content, which is stored if it is new. */
  keep(content: Content): number {
    const known = this.find(content);
    if (known !== undefined) return known;
    const { table, hash, value, bytes } = content;
    this.#sql.set(`INSERT INTO ${table} (hash, ${VALUE[table]}) VALUES (?, ?)`, hash, value);
    const id = this.find(content)!;
    this.#stored[table].set(id, storedContent(table, id, bytes));
    return id;
  }

  /** The contents of a job. */
  of({ environment, script }: Pick<JobRecord, "environment" | "script">): StoredContent[] {
    const stored = [this.stored("environments", environment)];
    if (script !== undefined) stored.push(this.stored("scripts", script));
    return stored;
  }

  /** Removes a content, unless jobs have it. */
  drop({ table, id }: Omit<StoredContent, "name">): void {
    if (table === "environments" && id === this.nothing()) return;
    const users = `SELECT 1 FROM jobs WHERE ${COLUMN[table]} = ?1`;
    this.#sql.run(`DELETE FROM ${table} WHERE id = ?1 AND NOT EXISTS (${users})`, id);
    this.#ids.clear();
    this.#stored[table].delete(id);
  }

  environment(id: number): Record<string, string> {
    const row = this.#sql.get("SELECT json FROM environments WHERE id = ?", id);
    return row === undefined ? {} : JSON.parse(String(row.json));
  }

  script(id: number): Uint8Array | undefined {
    const row = this.#sql.get("SELECT content FROM scripts WHERE id = ?", id);
    return row?.content as Uint8Array | undefined;
  }

  /** Id of the empty environment, which ended jobs get that cannot be run again. */
  nothing(): number {
    this.#nothing ??= this.keep(this.ofEnvironment(NOTHING));
    return this.#nothing;
  }

  /** A content that is stored, by its id. */
  stored(table: Table, id: number): StoredContent {
    const known = this.#stored[table].get(id);
    if (known !== undefined) return known;
    const bytes = this.#sql.number(`SELECT octet_length(${VALUE[table]}) FROM ${table} WHERE id = ?`, id);
    const content = storedContent(table, id, bytes);
    this.#stored[table].set(id, content);
    return content;
  }
}

function storedContent(table: Table, id: number, bytes: number): StoredContent {
  return { table, id, name: `${table} ${id}`, bytes };
}

function contentOf(table: Table, bytes: Buffer): Content {
  const hash = createHash("sha256").update(bytes).digest();
  const name = `${table} ${hash.toString("base64")}`;
  return { table, name, hash, value: table === "scripts" ? bytes : bytes.toString(), bytes: bytes.length };
}
