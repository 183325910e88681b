/**
 * Measures how fast the page draws a timeline in Debian's Chromium with software rendering, while it moves
 * with every frame.
 *
 *   npm run bench:web-timeline              100,000 jobs on 1,024 CPUs, 120 frames for each part, three times
 *   npm run bench:web-timeline -- --quick   once, 20 frames, as a check
 *
 * A frame's milliseconds are those of the clock, from the change until a pixel of the picture can be read:
 * script, style, layout and drawing on the canvas, and waits for a processor. Composing is not in them.
 *
 * Goal: 95 of 100 frames take at most 50 ms of the page's thread with everything in sight, and 16 ms with a
 * hundredth of it.
 */
import { loadavg } from "node:os";
import { launchChromium, serveFiles } from "../scripts/chromium.ts";
import { printTable } from "./measure.ts";
import { buildBenchPage } from "./pages/build.ts";
import type { TimelineBench } from "./pages/timeline-messages.ts";

const JOBS = 100_000;
const CPUS = 1024;
const SHARES = [1, 0.1, 0.01, 0.001] as const;

interface InPage {
  readonly tuttiTimeline: TimelineBench;
}

export async function measureTimeline(frames: number, runs: number): Promise<string[][]> {
  const browser = await launchChromium(["--disable-gpu"]);
  try {
    const lines: string[][] = [];
    for (let run = 1; run <= runs; run++) {
      const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
      await serveFiles(page, await buildBenchPage("timeline"));
      const firstMs = await page.evaluate(
        ([jobs, cpus]) => (globalThis as unknown as InPage).tuttiTimeline.show(jobs!, cpus!),
        [JOBS, CPUS],
      );
      for (const share of SHARES) {
        const times = await page.evaluate(
          ([part, count]) => (globalThis as unknown as InPage).tuttiTimeline.measure(part!, count!),
          [share, frames],
        );
        times.sort((a, b) => a - b);
        const at = (q: number) => times[Math.min(times.length - 1, Math.floor(q * times.length))].toFixed(1);
        lines.push([
          ...[String(share), String(run), at(0.5), at(0.95), at(1)],
          ...[firstMs.toFixed(0), loadavg()[0].toFixed(1)],
        ]);
      }
      await page.close();
    }
    return lines;
  } finally {
    await browser.close();
  }
}

if (import.meta.main) {
  const quick = process.argv.includes("--quick");
  const lines = await measureTimeline(quick ? 20 : 120, quick ? 1 : 3);
  printTable(["share shown", "run", "median ms", "p95 ms", "max ms", "first ms", "load"], lines);
}
