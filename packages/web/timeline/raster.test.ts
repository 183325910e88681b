import { expect, test } from "vitest";
import { gangColour, gangRgb } from "../page/gang-colours.ts";
import type { TimelineData, TimelineJob } from "./data.ts";
import { drawBars } from "./raster.ts";
import { arrange } from "./rows.ts";
import { timeScale } from "./scale.ts";

const many = [1, 2, 3] as const;

/** Draws 10 ms a pixel, 100 pixels wide, rows of 5 pixels. */
function drawn(jobs: readonly TimelineJob[], nowMs?: number, marked?: number) {
  const data: TimelineData = { jobs, cpus: 4, clock: "elapsed", ...(nowMs !== undefined && { nowMs }) };
  const { bars, rows } = arrange(data, "jobs");
  const raster = { width: 100, height: 5 * rows, bytes: new Uint8ClampedArray(100 * 5 * rows * 4) };
  const scene = { data, bars, scale: timeScale(0, 1000, 100), rowPx: 5, scrolledPx: 0, many };
  drawBars(raster, { ...scene, ...(marked !== undefined && { marked }) }, rows);
  return (x: number, y: number) => [...raster.bytes.subarray((y * 100 + x) * 4, (y * 100 + x) * 4 + 4)];
}

const hue = (job: number) => [...gangRgb(gangColour(job))];
const base = { name: "", tasks: 1, cpus: [] };
const exact = (ms: number) => ({ p10Ms: ms, p50Ms: ms, p90Ms: ms });

test("an ended job is solid from its start to its end, with a gap below its row", () => {
  const at = drawn([{ ...base, job: 3, startMs: 200, endMs: 500 }]);
  expect(at(19, 2)).toEqual([0, 0, 0, 0]);
  expect(at(20, 2)[3]).toBe(255);
  for (const x of [21, 35, 49]) expect(at(x, 2)).toEqual([...hue(3), 255]);
  expect(at(50, 2)).toEqual([0, 0, 0, 0]);
  expect(at(35, 4)).toEqual([0, 0, 0, 0]);
});

test("a running job is paler until now, then striped and fading with the chance that it still runs", () => {
  const job = { ...base, job: 3, startMs: 200, expectedEnd: { p10Ms: 600, p50Ms: 700, p90Ms: 900 } };
  const at = drawn([job], 500);
  // 0.7 × 255.
  expect(at(30, 2)).toEqual([...hue(3), 179]);
  const strongest = (x: number) => Math.max(...[0, 1, 2, 3].map((y) => at(x, y)[3]));
  // At 555 ms it runs for sure; at 655 ms, 0.1 + 0.4 × 0.55 have ended; at 805 ms, 0.5 + 0.4 × 105 / 200.
  expect(strongest(55)).toBe(255);
  expect(strongest(65)).toBe(Math.round(255 * (1 - 0.32)));
  expect(strongest(80)).toBe(Math.round(255 * (1 - 0.71)));
  expect(strongest(90)).toBe(0);
  // Stripes: some pixels of a column are paler.
  expect(Math.min(...[0, 1, 2, 3].map((y) => at(55, y)[3]))).toBe(Math.round(255 * 0.35));
});

test("a waiting job is drawn only where it is expected", () => {
  const at = drawn([{ ...base, job: 4, expectedStart: exact(300), expectedEnd: exact(600) }], 100);
  expect(at(29, 2)[3]).toBe(0);
  expect(at(31, 0)[3]).toBeGreaterThan(0);
  expect(at(60, 2)[3]).toBe(0);
});

test("jobs narrower than a pixel are never lost: one keeps its colour, several are drawn as many", () => {
  const jobs = [1, 2, 3].map((job) => ({
    ...base,
    job,
    queue: "q",
    startMs: 100 * job,
    endMs: 100 * job + 1,
  }));
  const at = drawn(jobs);
  expect(at(10, 0)).toEqual([...hue(1), 255]);
  expect(at(20, 5)).toEqual([...hue(2), 255]);
  const data: TimelineData = {
    jobs: [...jobs, { ...base, job: 9, queue: "q", startMs: 102, endMs: 103 }],
    cpus: 1,
    clock: "elapsed",
  };
  const { bars, rows } = arrange(data, "queues");
  const raster = { width: 100, height: 5, bytes: new Uint8ClampedArray(2000) };
  drawBars(raster, { data, bars, scale: timeScale(0, 1000, 100), rowPx: 5, scrolledPx: 0, many }, rows);
  // Two jobs of 1 ms in a pixel of 10 ms: 0.4 + 0.6 × 0.2.
  expect([...raster.bytes.subarray(40, 44)]).toEqual([...many, Math.round(255 * 0.52)]);
  // Colours that say something, such as how long jobs waited, are those of all jobs.
  const coloured = { ...data, colour: () => [7, 8, 9] as const };
  drawBars(
    raster,
    { data: coloured, bars, scale: timeScale(0, 1000, 100), rowPx: 5, scrolledPx: 0, many },
    rows,
  );
  expect([...raster.bytes.subarray(40, 44)]).toEqual([7, 8, 9, Math.round(255 * 0.52)]);
  expect([...raster.bytes.subarray(80, 84)]).toEqual([7, 8, 9, 255]);
});

test("a marked job keeps its colour, and the others turn pale", () => {
  const jobs = [3, 4].map((job) => ({ ...base, job, startMs: 200, endMs: 500 }));
  const at = drawn(jobs, undefined, 4);
  expect(at(35, 2)).toEqual([...hue(3), Math.round(255 * 0.3)]);
  expect(at(35, 7)).toEqual([...hue(4), 255]);
});
