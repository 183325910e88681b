/** Loads what worlds share, and lets promises finish between two events; in Node and in a browser. */
import sqlite3InitModule, { type Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import type { Programs } from "../node/programs.ts";
import { Sqlite } from "../node/sqlite.ts";
import type { Bytes } from "../node/world.ts";
import type { WorldParts } from "./site.ts";

/** @param wasmBinary the content of sqlite3.wasm */
export async function loadParts(
  programs: Programs,
  wasmBinary: ArrayBuffer | Uint8Array,
  Buffer: Bytes,
): Promise<WorldParts> {
  const load = sqlite3InitModule as unknown as (options: object) => Promise<Sqlite3Static>;
  // Errors come as exceptions. A name in place of an address: a script in a page of one file has none.
  const module = await load({ wasmBinary, locateFile: (name: string) => name, print() {}, printErr() {} });
  return { programs, sqlite: new Sqlite(module), Buffer };
}

/** A function that returns when no promise has anything left to do, and one that ends it. */
export function settler(): { readonly settle: () => Promise<void>; readonly close: () => void } {
  const { port1, port2 } = new MessageChannel();
  let next: (() => void) | undefined;
  port1.onmessage = () => next?.();
  return {
    settle: () =>
      new Promise((resolve) => {
        next = resolve;
        port2.postMessage(0);
      }),
    close: () => port1.close(),
  };
}
