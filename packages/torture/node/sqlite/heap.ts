/** The memory of the wasm module of SQLite, and the functions that it exports. */
import type { Sqlite3Static } from "@sqlite.org/sqlite-wasm";

/** An address in the module's memory; 0: none. */
export type Pointer = number;

/** Functions of SQLite in C. Their names are those of its documentation. */
interface Exports {
  malloc(bytes: number): Pointer;
  free(pointer: Pointer): void;
  sqlite3_vfs_register(vfs: Pointer, isDefault: number): number;
  sqlite3_vfs_unregister(vfs: Pointer): number;
  sqlite3_randomness(count: number, into: Pointer): void;
  sqlite3_open_v2(path: Pointer, database: Pointer, flags: number, vfs: Pointer): number;
  sqlite3_close_v2(database: Pointer): number;
  sqlite3_exec(database: Pointer, sql: Pointer, call: Pointer, argument: Pointer, error: Pointer): number;
  sqlite3_prepare_v2(database: Pointer, sql: Pointer, bytes: number, into: Pointer, tail: Pointer): number;
  sqlite3_step(statement: Pointer): number;
  sqlite3_reset(statement: Pointer): number;
  sqlite3_finalize(statement: Pointer): number;
  sqlite3_clear_bindings(statement: Pointer): number;
  sqlite3_stmt_status(statement: Pointer, counter: number, resets: number): number;
  sqlite3_bind_parameter_count(statement: Pointer): number;
  sqlite3_bind_parameter_name(statement: Pointer, index: number): Pointer;
  sqlite3_bind_null(statement: Pointer, index: number): number;
  sqlite3_bind_int(statement: Pointer, index: number, value: number): number;
  sqlite3_bind_int64(statement: Pointer, index: number, value: bigint): number;
  sqlite3_bind_double(statement: Pointer, index: number, value: number): number;
  sqlite3_bind_text(statement: Pointer, index: number, text: Pointer, bytes: number, free: number): number;
  sqlite3_bind_blob(statement: Pointer, index: number, blob: Pointer, bytes: number, free: number): number;
  sqlite3_column_count(statement: Pointer): number;
  sqlite3_column_name(statement: Pointer, column: number): Pointer;
  sqlite3_column_type(statement: Pointer, column: number): number;
  sqlite3_column_int64(statement: Pointer, column: number): bigint;
  sqlite3_column_double(statement: Pointer, column: number): number;
  sqlite3_column_text(statement: Pointer, column: number): Pointer;
  sqlite3_column_blob(statement: Pointer, column: number): Pointer;
  sqlite3_column_bytes(statement: Pointer, column: number): number;
  sqlite3_changes64(database: Pointer): bigint;
  sqlite3_last_insert_rowid(database: Pointer): bigint;
  sqlite3_get_autocommit(database: Pointer): number;
  sqlite3_db_filename(database: Pointer, name: Pointer): Pointer;
  sqlite3_extended_errcode(database: Pointer): number;
  sqlite3_errmsg(database: Pointer): Pointer;
  sqlite3_errstr(code: number): Pointer;
  sqlite3_create_function_v2(
    database: Pointer,
    name: Pointer,
    count: number,
    flags: number,
    data: number,
    call: Pointer,
    step: Pointer,
    final: Pointer,
    destroy: Pointer,
  ): number;
  sqlite3_user_data(context: Pointer): number;
  sqlite3_value_type(value: Pointer): number;
  sqlite3_value_int64(value: Pointer): bigint;
  sqlite3_value_double(value: Pointer): number;
  sqlite3_value_text(value: Pointer): Pointer;
  sqlite3_value_blob(value: Pointer): Pointer;
  sqlite3_value_bytes(value: Pointer): number;
  sqlite3_result_null(context: Pointer): void;
  sqlite3_result_int64(context: Pointer, value: bigint): void;
  sqlite3_result_double(context: Pointer, value: number): void;
  sqlite3_result_text(context: Pointer, text: Pointer, bytes: number, free: number): void;
  sqlite3_result_blob(context: Pointer, blob: Pointer, bytes: number, free: number): void;
  sqlite3_result_error(context: Pointer, text: Pointer, bytes: number): void;
  sqlite3_backup_init(to: Pointer, toName: Pointer, from: Pointer, fromName: Pointer): Pointer;
  sqlite3_backup_step(backup: Pointer, pages: number): number;
  sqlite3_backup_finish(backup: Pointer): number;
  sqlite3_backup_remaining(backup: Pointer): number;
  sqlite3_backup_pagecount(backup: Pointer): number;
  sqlite3__wasm_db_config_ip(database: Pointer, option: number, value: number, into: Pointer): number;
}

/** SQLite copies a text or a blob before the call returns. */
export const TRANSIENT = -1;
const SCRATCH_BYTES = 65_536;
/** Up to this length, a loop is faster than the encoder. */
const SHORT = 32;

export class Heap {
  readonly c: Exports;
  /** A signature such as "ipj": the result, then the arguments. */
  readonly install: (signature: string, call: (...values: never[]) => unknown) => Pointer;
  /** Where `text` and `blob` have put their bytes. */
  at: Pointer = 0;
  readonly #memory: { readonly buffer: ArrayBuffer };
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** For values on their way into SQLite, which copies them. */
  readonly #scratch: Pointer;
  /** For results that functions return through pointers. */
  readonly result: Pointer;
  #large: Pointer = 0;
  #bytes: Uint8Array;
  #words: Int32Array;
  #view: DataView;

  constructor({ wasm }: Sqlite3Static) {
    this.c = wasm.exports as unknown as Exports;
    this.#memory = (wasm as unknown as { readonly memory: { readonly buffer: ArrayBuffer } }).memory;
    this.install = (signature, call) => wasm.installFunction(signature, call as never) as Pointer;
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#words = new Int32Array(this.#memory.buffer);
    this.#view = new DataView(this.#memory.buffer);
    this.#scratch = this.c.malloc(SCRATCH_BYTES);
    this.result = this.c.malloc(16);
  }

  /** All bytes. Growing the memory makes a new buffer, and leaves the old one empty. */
  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#renew();
    return this.#bytes;
  }

  get words(): Int32Array {
    if (this.#words.length === 0) this.#renew();
    return this.#words;
  }

  get view(): DataView {
    if (this.#bytes.length === 0) this.#renew();
    return this.#view;
  }

  #renew(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#words = new Int32Array(this.#memory.buffer);
    this.#view = new DataView(this.#memory.buffer);
  }

  word(at: Pointer): number {
    return this.words[at >> 2];
  }

  setWord(at: Pointer, value: number): void {
    this.words[at >> 2] = value;
  }

  /** Puts a text at `at`, with a zero after it, until the next call. @returns its bytes without the zero */
  text(text: string): number {
    const { length } = text;
    this.#room(length * 3 + 1);
    const { at, bytes } = this;
    if (length <= SHORT) {
      let index = 0;
      for (; index < length; index++) {
        const unit = text.charCodeAt(index);
        if (unit > 127) break;
        bytes[at + index] = unit;
      }
      if (index === length) {
        bytes[at + length] = 0;
        return length;
      }
    }
    const { written } = this.#encoder.encodeInto(text, bytes.subarray(at, at + length * 3));
    bytes[at + written] = 0;
    return written;
  }

  /** Puts bytes at `at` until the next call. @returns how many */
  blob(blob: ArrayBufferView | ArrayBuffer): number {
    const bytes =
      blob instanceof ArrayBuffer
        ? new Uint8Array(blob)
        : new Uint8Array(blob.buffer, blob.byteOffset, blob.byteLength);
    this.#room(bytes.length + 1);
    this.bytes.set(bytes, this.at);
    return bytes.length;
  }

  /** A copy of a text, with a zero after it, that must be freed. */
  newText(text: string): Pointer {
    const bytes = this.text(text) + 1;
    const pointer = this.c.malloc(bytes);
    this.bytes.copyWithin(pointer, this.at, this.at + bytes);
    return pointer;
  }

  /** The text at a pointer, up to a zero. */
  textAt(pointer: Pointer): string {
    return this.textOf(pointer, this.bytes.indexOf(0, pointer) - pointer);
  }

  textOf(pointer: Pointer, count: number): string {
    const { bytes } = this;
    const end = pointer + count;
    if (count <= SHORT) {
      let text = "";
      let at = pointer;
      for (; at < end; at++) {
        const unit = bytes[at];
        if (unit > 127) break;
        text += String.fromCharCode(unit);
      }
      if (at === end) return text;
    }
    return this.#decoder.decode(bytes.subarray(pointer, end));
  }

  #room(bytes: number): void {
    if (this.#large !== 0) {
      this.c.free(this.#large);
      this.#large = 0;
    }
    this.at = bytes <= SCRATCH_BYTES ? this.#scratch : this.#largeRoom(bytes);
  }

  #largeRoom(bytes: number): Pointer {
    this.#large = this.c.malloc(bytes);
    return this.#large;
  }
}
