/**
 * Times the benchmarks: warm-up, several runs, median and spread, and a hash of the result next to the time.
 */
import { appendFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";

export interface Timing {
  readonly medianMs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * CPU time of `body`, all threads of the process together: on a busy machine, it says more than wall time.
 * Runs it once unmeasured, then `runs` times. To compare variants, the caller should measure them in turn.
 */
export async function time(runs: number, body: () => unknown): Promise<Timing> {
  await body();
  const ms: number[] = [];
  for (let i = 0; i < runs; i++) {
    // An interrupt can be noticed only here.
    await setImmediate();
    const from = process.cpuUsage();
    await body();
    const { user, system } = process.cpuUsage(from);
    ms.push((user + system) / 1000);
  }
  return summarise(ms);
}

export function summarise(ms: number[]): Timing {
  const sorted = ms.toSorted((a, b) => a - b);
  return { medianMs: sorted[sorted.length >> 1], minMs: sorted[0], maxMs: sorted[sorted.length - 1] };
}

export function show(timing: Timing): string {
  return `${timing.medianMs.toFixed(1)} ms (${timing.minMs.toFixed(1)} … ${timing.maxMs.toFixed(1)})`;
}

/** Prints rows in aligned columns. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i].length)));
  for (const row of [header, ...rows])
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join("  ")
        .trimEnd(),
    );
}

/** A number that `npm run bench` compares with an earlier record. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  /** With the unit "/s", more is better; otherwise, less. */
  readonly unit: "ms" | "/s" | "%" | "MB" | "times";
  /** What is wanted on a quiet machine of today. */
  readonly goal?: number;
}

/** Hands a figure to `npm run bench`. A bench that is run alone only prints its tables. */
export function figure(name: string, value: number, unit: Figure["unit"], goal?: number): void {
  const file = process.env.TUTTI_BENCH_FIGURES;
  const one: Figure = { name, value, unit, ...(goal !== undefined && { goal }) };
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(one)}\n`);
}

/** Calls this before an interrupt, a closed terminal or a closed pipe ends the process. */
export function whenInterrupted(cleanUp: () => void): void {
  let isEnding = false;
  const end = () => {
    if (isEnding) return;
    isEnding = true;
    cleanUp();
    process.exit(130);
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, end);
  process.stdout.once("error", end);
}
