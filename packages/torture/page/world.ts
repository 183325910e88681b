/** What a simulated world needs in a browser: the programs of the scheduler, SQLite, and a Buffer. */
import sqlite from "@sqlite.org/sqlite-wasm/sqlite3.wasm";
import { Buffer } from "buffer/";
import type { Programs } from "../node/programs.ts";
import { loadParts, settler } from "../run/host.ts";
import type { Life } from "../run/life.ts";
import type { WorldParts } from "../run/site.ts";

/** As far as this uses what workers and pages have. */
declare function addEventListener(
  type: "unhandledrejection",
  listener: (event: { readonly reason: unknown; preventDefault(): void }) => void,
): void;

/** Set by scripts/build-web.ts in the bundle. */
declare const TUTTI_PROGRAMS: Programs;

export function loadWorld(): Promise<WorldParts> {
  return loadParts(TUTTI_PROGRAMS, sqlite, Buffer);
}

/**
 * @param life of which a promise may have been rejected
 * @returns returns when no promise has anything left to do
 */
export function browserSettler(life: () => Life | undefined): () => Promise<void> {
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    life()?.rejected(event.reason);
  });
  return settler().settle;
}
