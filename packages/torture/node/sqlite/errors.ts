/** Errors as node:sqlite throws them. */
import type { Heap, Pointer } from "./heap.ts";

/** An error of the last call on a connection. */
export function sqliteError(heap: Heap, database: Pointer): Error {
  const code = heap.c.sqlite3_extended_errcode(database);
  return withCode(heap, heap.textAt(heap.c.sqlite3_errmsg(database)), code);
}

export function errorOfCode(heap: Heap, code: number): Error {
  return withCode(heap, heap.textAt(heap.c.sqlite3_errstr(code)), code);
}

function withCode(heap: Heap, message: string, errcode: number): Error {
  const errstr = heap.textAt(heap.c.sqlite3_errstr(errcode));
  return Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode, errstr });
}

export function invalidState(message: string): Error {
  return Object.assign(new Error(message), { code: "ERR_INVALID_STATE" });
}

export function invalidType(message: string): Error {
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_TYPE" });
}

export function invalidValue(message: string): Error {
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_VALUE" });
}

export function tooLarge(value: bigint): Error {
  const message = `Value is too large to be represented as a JavaScript number: ${value}`;
  return Object.assign(new RangeError(message), { code: "ERR_OUT_OF_RANGE" });
}
