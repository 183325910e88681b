/**
 * Measures how smoothly the list of 50,000 jobs scrolls in Debian's Chromium with software rendering.
 *
 *   npm run bench:web-jobs
 *
 * Goal: 60 frames per second, which is 16.7 ms between two frames. On a busy machine, the processor time that
 * the page's thread needs for a frame says more (CPU ms): script, style, layout, paint and everything else of
 * the thread, but not the threads that draw and compose. The list moves by 20 rows with every frame, from
 * its beginning on, while ten jobs a second change.
 */
import { loadavg } from "node:os";
import { launchChromium } from "../scripts/chromium.ts";
import { isLive } from "../scripts/live-page.ts";
import { FakeScheduler } from "../test/fake-scheduler.ts";
import { printTable } from "./measure.ts";

const JOBS = 50_000;
const RUNS = 3;
const FRAMES = 300;
const ROWS_PER_FRAME = 20;

/** Gaps between the frames, in ms. */
const SCROLL = `new Promise((resolve) => {
  const grid = document.querySelector(".jobs-grid");
  grid.scrollTop = 0;
  const times = [];
  const step = (nowMs) => {
    times.push(nowMs);
    grid.scrollTop += ${30 * ROWS_PER_FRAME};
    if (times.length <= ${FRAMES}) requestAnimationFrame(step);
    else resolve(times.slice(1).map((ms, i) => ms - times[i]));
  };
  requestAnimationFrame(step);
})`;

const fake = await FakeScheduler.start();
for (let job = 1; job <= JOBS; job++)
  fake.put({ job, name: `sim-${job % 97}`, tasks: 1 + (job % 64), user: job % 3 === 0 ? "eva" : "ada" });
const browser = await launchChromium(["--disable-gpu"]);
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
await context.addInitScript(fake.sessionScript);
const page = await context.newPage();
const openedAtMs = performance.now();
await page.goto(`${fake.address}#/jobs`);
await page.locator('.jobs-grid [role="row"]').nth(1).waitFor();
const firstRowS = (performance.now() - openedAtMs) / 1000;
await isLive(page);
const loadedS = (performance.now() - openedAtMs) / 1000;
const tools = await context.newCDPSession(page);
// In this time domain, the metrics are times of the processor, which others cannot lengthen.
await tools.send("Performance.enable", { timeDomain: "threadTicks" });
const cpuMs = async (): Promise<number> => {
  const { metrics } = await tools.send("Performance.getMetrics");
  return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
};
let changed = 0;
const timer = setInterval(() => {
  changed = (changed % JOBS) + 1;
  fake.put({ job: changed, priority: -1 });
  fake.emit("priority", changed);
}, 100);
const lines: string[][] = [];
for (let run = 1; run <= RUNS; run++) {
  const before = await cpuMs();
  const gaps = await page.evaluate<number[]>(SCROLL);
  const workMs = ((await cpuMs()) - before) / FRAMES;
  const sorted = gaps.toSorted((a, b) => a - b);
  const total = gaps.reduce((sum, ms) => sum + ms, 0);
  lines.push([
    String(run),
    ((1000 * gaps.length) / total).toFixed(1),
    ...[0.5, 0.95, 1].map((share) => sorted[Math.ceil(share * sorted.length) - 1].toFixed(1)),
    workMs.toFixed(1),
    loadavg()[0].toFixed(1),
  ]);
}
clearInterval(timer);
await browser.close();
fake.close();
console.log(
  `${JOBS} jobs: first row after ${firstRowS.toFixed(1)} s, all loaded after ${loadedS.toFixed(1)} s`,
);
printTable(["run", "frames/s", "p50 ms", "p95 ms", "max ms", "CPU ms", "load"], lines);
