/**
 * Reads the real traces for tests; no other file of this room reads files. The traces are in the folder
 * TUTTI_TRACES, or else next to the repository. Tests that need a missing trace are skipped visibly:
 *
 *   test.skipIf(traceFile("KTH-SP2") === undefined)("…", () => { const workload = readTrace("KTH-SP2"); … });
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { tracesFolder } from "@tutti/host/traces-folder.ts";
import type { Workload } from "../core/jobs.ts";
import { SwfReader } from "./traces/swf.ts";

/** The eight real logs; `lublin_256` is in the same folder, but a model made it. */
export const REAL_TRACES = [
  "CTC-SP2",
  "HPC2N",
  "KTH-SP2",
  "LANL-CM5",
  "LLNL-Atlas",
  "NASA-iPSC",
  "SDSC-Par",
  "SDSC-SP2",
] as const;

/** Path of the trace whose file name begins with this, or undefined if there is none. */
export function traceFile(name: string): string | undefined {
  const folder = tracesFolder();
  if (folder === undefined || !existsSync(folder)) return undefined;
  const file = readdirSync(folder).find((entry) => entry.startsWith(name) && /\.swf(\.gz)?$/.test(entry));
  return file === undefined ? undefined : join(folder, file);
}

/** The uncompressed bytes of a trace. */
export function traceBytes(name: string): Uint8Array {
  const file = traceFile(name);
  if (file === undefined)
    throw new Error(`Cannot find trace "${name}": set TUTTI_TRACES to the folder of the traces`);
  const bytes = readFileSync(file);
  return file.endsWith(".gz") ? gunzipSync(bytes) : bytes;
}

/** Reads a whole trace that is in memory. */
export function readSwf(source: string | Uint8Array, name: string): Workload {
  const reader = new SwfReader(name);
  reader.push(typeof source === "string" ? new TextEncoder().encode(source) : source);
  return reader.end();
}

/** The workload of a trace. */
export function readTrace(name: string): Workload {
  return readSwf(traceBytes(name), basename(traceFile(name) ?? name));
}
