/** DatabaseSync and StatementSync of node:sqlite: what Tutti uses of them, with their results and errors. */

import type { Stepper } from "../steps.ts";
import { DONE, OK, OPEN_CREATE, OPEN_READONLY, OPEN_READWRITE, OPEN_URI, ROW } from "./codes.ts";
import { invalidState, invalidType, invalidValue, sqliteError, tooLarge } from "./errors.ts";
import { type Heap, type Pointer, TRANSIENT } from "./heap.ts";
import type { SqliteProcess } from "./vfs.ts";

type Value = null | number | bigint | string | Uint8Array;
type Row = Record<string, Value>;
type Call = (...values: Value[]) => unknown;

export interface DatabaseOptions {
  readonly open?: boolean;
  readonly readOnly?: boolean;
  /**
   * Has no effect: nothing else can run during a call, so waiting for a lock would be in vain. A lock that
   * another process has is an error at once.
   */
  readonly timeout?: number;
}

/** What the databases of a process share. */
export interface Host {
  readonly heap: Heap;
  readonly process: SqliteProcess;
  /** Name of the process's file system layer. */
  readonly vfsName: Pointer;
  readonly functions: Functions;
  /** Databases that are open. */
  readonly open: Set<Database>;
  readonly step?: Stepper | undefined;
}

const INTEGER = 1;
const FLOAT = 2;
const TEXT = 3;
const BLOB = 4;
const ENABLE_FOREIGN_KEYS = 1002;
const DEFENSIVE = 1010;
const UTF8 = 1;
const DETERMINISTIC = 0x800;
const DIRECT_ONLY = 0x80000;
const COUNTER_REPREPARE = 5;
/** Negative: in KiB. */
const MODULE_CACHE_SIZE = -16_384;
const NODE_CACHE_SIZE = -2000;
/** Where in SQLite's structs the size is: sqlite3.aDb[0].pSchema->cache_size. A test reads it by PRAGMA. */
const AT_DATABASES = 16;
const AT_SCHEMA = 12;
const AT_CACHE_SIZE = 80;
const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

export class Database {
  readonly #host: Host;
  readonly #path: string;
  readonly #isReadOnly: boolean;
  readonly #statements = new Set<Statement>();
  #pointer: Pointer = 0;
  /** Where SQLite keeps the size of its cache; 0: it has Node's. */
  #cacheSizeAt: Pointer = 0;
  /** What a function in SQL has thrown: it replaces SQLite's error. */
  #thrown: { readonly error: unknown } | undefined;

  constructor(host: Host, place: unknown, options: DatabaseOptions = {}) {
    this.#host = host;
    this.#path = pathOf(place);
    this.#isReadOnly = options.readOnly ?? false;
    if (options.open ?? true) this.open();
  }

  get isOpen(): boolean {
    return this.#pointer !== 0;
  }

  get isTransaction(): boolean {
    return this.#host.heap.c.sqlite3_get_autocommit(this.pointer) === 0;
  }

  /** The connection. @throws Error if it is closed */
  get pointer(): Pointer {
    if (this.#pointer === 0) throw invalidState("database is not open");
    return this.#pointer;
  }

  open(): void {
    if (this.#pointer !== 0) throw invalidState("database is already open");
    const { heap, vfsName, open } = this.#host;
    const { c, result } = heap;
    const flags = OPEN_URI | (this.#isReadOnly ? OPEN_READONLY : OPEN_READWRITE | OPEN_CREATE);
    const path = heap.newText(this.#path);
    const code = c.sqlite3_open_v2(path, result, flags, vfsName);
    c.free(path);
    this.#pointer = heap.word(result);
    if (code !== OK) {
      const error = this.#error();
      this.#close();
      throw error;
    }
    c.sqlite3__wasm_db_config_ip(this.#pointer, ENABLE_FOREIGN_KEYS, 1, 0);
    c.sqlite3__wasm_db_config_ip(this.#pointer, DEFENSIVE, 1, 0);
    open.add(this);
    // The module is built with larger pages than Node's SQLite.
    this.exec("PRAGMA page_size = 4096");
    this.#cacheSizeAt = heap.word(heap.word(this.#pointer + AT_DATABASES) + AT_SCHEMA) + AT_CACHE_SIZE;
  }

  close(): void {
    if (this.#pointer === 0) throw invalidState("database is not open");
    this.#close();
  }

  [Symbol.dispose](): void {
    if (this.#pointer !== 0) this.#close();
  }

  #close(): void {
    for (const statement of this.#statements) statement.finalize();
    this.#statements.clear();
    this.#host.heap.c.sqlite3_close_v2(this.#pointer);
    this.#pointer = 0;
    this.#cacheSizeAt = 0;
    this.#host.open.delete(this);
  }

  exec(sql: string): void {
    const { step } = this.#host;
    if (sql !== "COMMIT" || step === undefined) this.#exec(sql);
    else step("commit", () => this.#exec(sql));
  }

  #exec(sql: string): void {
    const { pointer } = this;
    if (typeof sql !== "string") throw invalidType('The "sql" argument must be a string.');
    const { heap } = this.#host;
    // A copy of its own, since functions in SQL may use the place of short texts.
    const text = heap.newText(sql);
    const code = heap.c.sqlite3_exec(pointer, text, 0, 0, 0);
    heap.c.free(text);
    if (code !== OK) throw this.error();
    if (this.#cacheSizeAt !== 0) this.#setCacheSize();
  }

  prepare(sql: string): Statement {
    const { pointer } = this;
    if (typeof sql !== "string") throw invalidType('The "sql" argument must be a string.');
    const { heap } = this.#host;
    const bytes = heap.text(sql);
    const code = heap.c.sqlite3_prepare_v2(pointer, heap.at, bytes + 1, heap.result, 0);
    if (code !== OK) throw this.error();
    const found = heap.word(heap.result);
    if (found === 0) throw invalidValue("The SQL query contains no statements.");
    const statement = new Statement(heap, this, found);
    this.#statements.add(statement);
    if (this.#cacheSizeAt !== 0) this.#setCacheSize();
    return statement;
  }

  /**
   * The module is built with a larger cache than Node's SQLite, so large transactions would reach the disk
   * later. SQLite sets the size when it first reads the file, and must not do that earlier than in Node.
   */
  #setCacheSize(): void {
    const size = this.#host.heap.word(this.#cacheSizeAt);
    if (size === 0) return;
    this.#cacheSizeAt = 0;
    if (size === MODULE_CACHE_SIZE) this.exec(`PRAGMA cache_size = ${NODE_CACHE_SIZE}`);
  }

  function(name: string, call: Call): void;
  function(name: string, options: FunctionOptions, call: Call): void;
  function(name: string, options: FunctionOptions | Call, call?: Call): void {
    const { heap, functions } = this.#host;
    const run = (call ?? options) as Call;
    const { deterministic, directOnly, varargs, useBigIntArguments } =
      call === undefined ? ({} as FunctionOptions) : (options as FunctionOptions);
    const number = functions.add({
      call: run,
      isBig: useBigIntArguments === true,
      throws: (error) => {
        this.#thrown ??= { error };
      },
    });
    const flags =
      UTF8 | (deterministic === true ? DETERMINISTIC : 0) | (directOnly === true ? DIRECT_ONLY : 0);
    heap.text(name);
    const count = varargs === true ? -1 : run.length;
    const { xCall, xDestroy } = functions;
    const { c, at } = heap;
    const code = c.sqlite3_create_function_v2(this.pointer, at, count, flags, number, xCall, 0, 0, xDestroy);
    if (code !== OK) throw this.error();
  }

  location(): string | null {
    const { heap } = this.#host;
    const name = heap.c.sqlite3_db_filename(this.pointer, 0);
    return (name === 0 ? "" : heap.textAt(name)) || null;
  }

  /** The error of the last call. */
  error(): unknown {
    const { process } = this.#host;
    const { mistake } = process;
    if (mistake !== undefined) {
      process.mistake = undefined;
      return mistake;
    }
    const thrown = this.#thrown;
    this.#thrown = undefined;
    return thrown === undefined ? this.#error() : thrown.error;
  }

  #error(): Error {
    return sqliteError(this.#host.heap, this.#pointer);
  }
}

interface FunctionOptions {
  readonly deterministic?: boolean;
  readonly directOnly?: boolean;
  readonly varargs?: boolean;
  readonly useBigIntArguments?: boolean;
}

export class Statement {
  readonly #heap: Heap;
  readonly #database: Database;
  #pointer: Pointer;
  /** Names of its columns; made again when SQLite has compiled it again because tables changed. */
  #names: readonly string[] = [];
  #compiled = -1;
  /** Names of parameters by index, with their first sign; null: it has no name. */
  #parameters: readonly (string | null)[] | undefined;
  /** Counts uses. An iterator is valid during one. */
  #use = 0;

  constructor(heap: Heap, database: Database, pointer: Pointer) {
    this.#heap = heap;
    this.#database = database;
    this.#pointer = pointer;
  }

  finalize(): void {
    this.#heap.c.sqlite3_finalize(this.#pointer);
    this.#pointer = 0;
  }

  run(...values: unknown[]): { changes: number; lastInsertRowid: number } {
    this.#begin(values);
    const { c } = this.#heap;
    c.sqlite3_step(this.#pointer);
    if (c.sqlite3_reset(this.#pointer) !== OK) throw this.#database.error();
    const { pointer } = this.#database;
    const changes = numberOf(c.sqlite3_changes64(pointer));
    return { changes, lastInsertRowid: numberOf(c.sqlite3_last_insert_rowid(pointer)) };
  }

  get(...values: unknown[]): Row | undefined {
    this.#begin(values);
    const { c } = this.#heap;
    try {
      const code = c.sqlite3_step(this.#pointer);
      if (code === DONE) return undefined;
      if (code !== ROW) throw this.#database.error();
      const row = this.#row();
      return this.#names.length === 0 ? undefined : row;
    } finally {
      c.sqlite3_reset(this.#pointer);
    }
  }

  all(...values: unknown[]): Row[] {
    this.#begin(values);
    const { c } = this.#heap;
    const rows: Row[] = [];
    try {
      let code = c.sqlite3_step(this.#pointer);
      while (code === ROW) {
        rows.push(this.#row());
        code = c.sqlite3_step(this.#pointer);
      }
      if (code !== DONE) throw this.#database.error();
      return rows;
    } finally {
      c.sqlite3_reset(this.#pointer);
    }
  }

  iterate(...values: unknown[]): IterableIterator<Row> {
    this.#begin(values);
    const use = this.#use;
    let isDone = false;
    const end = (): IteratorResult<Row> => {
      isDone = true;
      return { done: true, value: null };
    };
    const next = (): IteratorResult<Row> => {
      if (this.#pointer === 0) throw invalidState("statement has been finalized");
      if (isDone) return end();
      if (use !== this.#use) throw invalidState("iterator was invalidated");
      const { c } = this.#heap;
      const code = c.sqlite3_step(this.#pointer);
      if (code === ROW) return { done: false, value: this.#row() };
      if (code !== DONE) throw this.#database.error();
      c.sqlite3_reset(this.#pointer);
      return end();
    };
    const iterator: IterableIterator<Row> = Object.create(ITERATOR);
    return Object.assign(iterator, {
      next,
      return: () => {
        if (this.#pointer === 0) throw invalidState("statement has been finalized");
        this.#heap.c.sqlite3_reset(this.#pointer);
        return end();
      },
    });
  }

  /** Resets and binds. */
  #begin(values: readonly unknown[]): void {
    const pointer = this.#pointer;
    if (pointer === 0) throw invalidState("statement has been finalized");
    this.#use++;
    const { c } = this.#heap;
    if (c.sqlite3_reset(pointer) !== OK) throw this.#database.error();
    c.sqlite3_clear_bindings(pointer);
    const [first] = values;
    let from = 0;
    if ((typeof first === "object" && first !== null && !isBytes(first)) || typeof first === "function") {
      this.#bindNamed(first);
      from = 1;
    }
    let index = 1;
    const { length } = values;
    if (from === length) return;
    const names = this.#parameterNames();
    for (; from < length; from++) {
      while (isNamed(names[index])) index++;
      this.#bind(index++, values[from]);
    }
  }

  #parameterNames(): readonly (string | null)[] {
    if (this.#parameters !== undefined) return this.#parameters;
    const { c } = this.#heap;
    const names: (string | null)[] = [null];
    const count = c.sqlite3_bind_parameter_count(this.#pointer);
    for (let index = 1; index <= count; index++) {
      const name = c.sqlite3_bind_parameter_name(this.#pointer, index);
      names.push(name === 0 ? null : this.#heap.textAt(name));
    }
    this.#parameters = names;
    return names;
  }

  #bindNamed(values: object): void {
    const names = this.#parameterNames();
    const full = new Map<string, string>();
    for (const name of names) {
      if (name === null) continue;
      const bare = name.slice(1);
      const other = full.get(bare);
      if (other !== undefined && other !== name) {
        throw invalidState(
          `Cannot create bare named parameter '${bare}' because of conflicting names '${other}' and '${name}'.`,
        );
      }
      full.set(bare, name);
    }
    for (const key of Object.keys(values)) {
      let index = names.indexOf(key);
      if (index < 0) index = names.indexOf(full.get(key) ?? "");
      if (index < 0) throw invalidState(`Unknown named parameter '${key}'`);
      this.#bind(index, (values as Record<string, unknown>)[key]);
    }
  }

  #bind(index: number, value: unknown): void {
    if (this.#tryBind(index, value) !== OK) throw this.#database.error();
  }

  #tryBind(index: number, value: unknown): number {
    const heap = this.#heap;
    const { c } = heap;
    const pointer = this.#pointer;
    if (typeof value === "number") return c.sqlite3_bind_double(pointer, index, value);
    if (typeof value === "string") {
      const bytes = heap.text(value);
      return c.sqlite3_bind_text(pointer, index, heap.at, bytes, TRANSIENT);
    }
    if (value === null || value === undefined) return c.sqlite3_bind_null(pointer, index);
    if (typeof value === "boolean") return c.sqlite3_bind_int(pointer, index, value ? 1 : 0);
    if (typeof value === "bigint") {
      if (value < LOWEST || value > HIGHEST) throw invalidValue("BigInt value is too large to bind.");
      return c.sqlite3_bind_int64(pointer, index, value);
    }
    if (!isBytes(value)) throw invalidType(`Provided value cannot be bound to SQLite parameter ${index}.`);
    const bytes = heap.blob(value);
    return c.sqlite3_bind_blob(pointer, index, heap.at, bytes, TRANSIENT);
  }

  /** The row at which the statement stands. */
  #row(): Row {
    const { c } = this.#heap;
    const pointer = this.#pointer;
    const compiled = c.sqlite3_stmt_status(pointer, COUNTER_REPREPARE, 0);
    if (compiled !== this.#compiled) {
      this.#compiled = compiled;
      this.#names = this.#columns();
    }
    const names = this.#names;
    const row: Row = Object.create(null);
    for (let column = 0; column < names.length; column++) row[names[column]] = this.#value(column);
    return row;
  }

  #columns(): string[] {
    const heap = this.#heap;
    const count = heap.c.sqlite3_column_count(this.#pointer);
    return Array.from({ length: count }, (_, column) =>
      heap.textAt(heap.c.sqlite3_column_name(this.#pointer, column)),
    );
  }

  #value(column: number): Value {
    const heap = this.#heap;
    const { c } = heap;
    const pointer = this.#pointer;
    switch (c.sqlite3_column_type(pointer, column)) {
      case INTEGER: {
        // As a double, which is faster; a value that a double cannot hold is as large as one.
        const value = c.sqlite3_column_double(pointer, column);
        if (Number.isSafeInteger(value)) return value;
        throw tooLarge(c.sqlite3_column_int64(pointer, column));
      }
      case FLOAT:
        return c.sqlite3_column_double(pointer, column);
      case TEXT: {
        const text = c.sqlite3_column_text(pointer, column);
        return heap.textOf(text, c.sqlite3_column_bytes(pointer, column));
      }
      case BLOB: {
        const blob = c.sqlite3_column_blob(pointer, column);
        return heap.bytes.slice(blob, blob + c.sqlite3_column_bytes(pointer, column));
      }
      default:
        return null;
    }
  }
}

interface InSql {
  readonly call: Call;
  readonly isBig: boolean;
  readonly throws: (error: unknown) => void;
}

/** JavaScript functions that SQL can call. C knows them by number. */
export class Functions {
  readonly xCall: Pointer;
  readonly xDestroy: Pointer;
  readonly #heap: Heap;
  readonly #functions = new Map<number, InSql>();
  #last = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.xCall = heap.install("vpip", (context: Pointer, count: number, values: Pointer) =>
      this.#call(context, count, values),
    );
    this.xDestroy = heap.install("vp", (number: number) => this.#functions.delete(number));
  }

  add(call: InSql): number {
    this.#functions.set(++this.#last, call);
    return this.#last;
  }

  #call(context: Pointer, count: number, values: Pointer): void {
    const heap = this.#heap;
    const { c } = heap;
    const { call, isBig, throws } = this.#functions.get(c.sqlite3_user_data(context)) as InSql;
    try {
      const given: Value[] = [];
      for (let index = 0; index < count; index++)
        given.push(this.#value(heap.word(values + index * 4), isBig));
      this.#answer(context, call(...given));
    } catch (error) {
      throws(error);
      c.sqlite3_result_error(context, heap.at, 0);
    }
  }

  #value(value: Pointer, isBig: boolean): Value {
    const heap = this.#heap;
    const { c } = heap;
    switch (c.sqlite3_value_type(value)) {
      case INTEGER: {
        const integer = c.sqlite3_value_int64(value);
        return isBig ? integer : numberOf(integer);
      }
      case FLOAT:
        return c.sqlite3_value_double(value);
      case TEXT: {
        const text = c.sqlite3_value_text(value);
        return heap.textOf(text, c.sqlite3_value_bytes(value));
      }
      case BLOB: {
        const blob = c.sqlite3_value_blob(value);
        return heap.bytes.slice(blob, blob + c.sqlite3_value_bytes(value));
      }
      default:
        return null;
    }
  }

  #answer(context: Pointer, value: unknown): void {
    const heap = this.#heap;
    const { c } = heap;
    if (value === null || value === undefined) c.sqlite3_result_null(context);
    else if (typeof value === "number") c.sqlite3_result_double(context, value);
    else if (typeof value === "string") {
      const bytes = heap.text(value);
      c.sqlite3_result_text(context, heap.at, bytes, TRANSIENT);
    } else if (ArrayBuffer.isView(value)) {
      const bytes = heap.blob(value);
      c.sqlite3_result_blob(context, heap.at, bytes, TRANSIENT);
    } else if (typeof value === "bigint" && value >= LOWEST && value <= HIGHEST) {
      c.sqlite3_result_int64(context, value);
    } else {
      const bytes = heap.text(
        typeof value === "bigint"
          ? "BigInt value is too large for SQLite"
          : value instanceof Promise
            ? "Asynchronous user-defined functions are not supported"
            : "Returned JavaScript value cannot be converted to a SQLite value",
      );
      c.sqlite3_result_error(context, heap.at, bytes);
    }
  }
}

/** What iterators inherit: `map`, `toArray`, … */
const ITERATOR = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));

function isBytes(value: unknown): value is ArrayBufferView | ArrayBuffer {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** Parameters such as "?" and "?2" take values by position. */
function isNamed(name: string | null | undefined): boolean {
  return typeof name === "string" && !name.startsWith("?");
}

function numberOf(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw tooLarge(value);
  return number;
}

function pathOf(place: unknown): string {
  let path: unknown = place;
  if (place instanceof Uint8Array) path = new TextDecoder().decode(place);
  else if (typeof place === "object" && place !== null) path = (place as { readonly href?: unknown }).href;
  if (typeof path !== "string" || path.includes("\0")) {
    throw invalidType('The "path" argument must be a string, Uint8Array, or URL without null bytes.');
  }
  if (typeof place !== "string" && !(place instanceof Uint8Array) && !path.startsWith("file:")) {
    throw Object.assign(new TypeError("The URL must be of scheme file:"), { code: "ERR_INVALID_URL_SCHEME" });
  }
  return path;
}
