/**
 * Measures how fast the page draws the matrix in Debian's Chromium with software rendering, while the rows
 * turn and the gangs change.
 *
 *   npm run bench:web               1,024 × 32 and 8,192 × 32, ten seconds each, three times
 *   npm run bench:web -- --quick    a second each, once, as a check
 *
 * A frame's milliseconds are those of the clock, from the frame's callback until the page's thread is free
 * again: script, style, layout, paint, and drawing on canvases, which happens in this thread if there is no
 * GPU. They contain waits for a processor, so they mean something only on a machine without load. The
 * threads that scale and compose the picture are not in them; frames/s says whether they keep up. The next
 * matrix is made between frames, as a scheduler would send it.
 *
 * Goals for 1,024 × 32: 60 frames per second, and 95 of 100 frames take at most 4 ms of the page's thread. A
 * slot lasts a frame (16 ms). Ten times a second a gang leaves, another one comes, and gangs of two rows are
 * exchanged, so every frame also draws a movement. Not a goal: a small bundle (scripts/build-web.ts).
 */
import { loadavg } from "node:os";
import { launchChromium, serveFiles } from "../scripts/chromium.ts";
import { printTable } from "./measure.ts";
import { buildBenchPage } from "./pages/build.ts";
import type { BenchPage } from "./pages/matrix-messages.ts";

const SIZES = [
  { rows: 32, processors: 1024 },
  { rows: 32, processors: 8192 },
] as const;
const SLOT_MS = 16;
const CHANGE_MS = 100;
const HEIGHT_PX = 640;

interface InPage {
  readonly tuttiMatrix: BenchPage;
}

export async function measureMatrix(seconds: number, runs: number): Promise<string[][]> {
  const browser = await launchChromium(["--disable-gpu"]);
  try {
    const lines: string[][] = [];
    for (let run = 1; run <= runs; run++)
      for (const { rows, processors } of SIZES) {
        const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
        await serveFiles(page, await buildBenchPage("matrix"));
        const { framesPerS, p50Ms, p95Ms, maxMs } = await page.evaluate(
          async ({ rows, processors, slotMs, heightPx, changeMs, forMs }) => {
            const { tuttiMatrix } = globalThis as unknown as InPage;
            tuttiMatrix.show(rows, processors, slotMs, heightPx);
            await tuttiMatrix.measure(1000, changeMs);
            return tuttiMatrix.measure(forMs, changeMs);
          },
          {
            rows,
            processors,
            slotMs: SLOT_MS,
            heightPx: HEIGHT_PX,
            changeMs: CHANGE_MS,
            forMs: 1000 * seconds,
          },
        );
        await page.close();
        const ms = [p50Ms, p95Ms, maxMs].map((value) => value.toFixed(1));
        lines.push([
          `${processors} × ${rows}`,
          String(run),
          framesPerS.toFixed(1),
          ...ms,
          loadavg()[0].toFixed(1),
        ]);
      }
    return lines;
  } finally {
    await browser.close();
  }
}

if (import.meta.main) {
  const quick = process.argv.includes("--quick");
  const lines = await measureMatrix(quick ? 1 : 10, quick ? 1 : 3);
  printTable(["matrix", "run", "frames/s", "median ms", "p95 ms", "max ms", "load"], lines);
}
