/**
 * Times the benchmarks: warm-up, several runs, median and spread, and a hash of the result next to the time.
 */

export interface Timing {
  readonly medianMs: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * Runs `body` once unmeasured, then `runs` times. To compare variants, the caller should measure them in
 * turn.
 */
export function time(runs: number, body: () => void): Timing {
  body();
  const ms: number[] = [];
  for (let i = 0; i < runs; i++) {
    const from = performance.now();
    body();
    ms.push(performance.now() - from);
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
