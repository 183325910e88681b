/** Tests the sentences about windows, also with text of users that a terminal must not see. */
import { expect, test } from "vitest";
import { clockText } from "./times.ts";
import { windowObstacleText, windowText } from "./windows.ts";

const NOW_MS = Date.UTC(2026, 10, 23, 12);
const HOUR_MS = 3_600_000;
const fromMs = NOW_MS + 3 * HOUR_MS;
const untilMs = NOW_MS + 5 * HOUR_MS;
const at = (ms: number) => clockText(ms, NOW_MS);
const disk = { name: "disk", fromMs, untilMs, by: "root", atMs: NOW_MS };

test("who may start jobs, when, why, and what still runs", () => {
  expect(windowText(disk, NOW_MS)).toBe(
    `disk: nothing starts from ${at(fromMs)} until ${at(untilMs)}, by root`,
  );
  const course = { ...disk, users: ["anna", "ben\u001b[2J"], queues: ["night"], reason: "course" };
  expect(windowText({ ...course, running: 2, jobs: [4, 7] }, fromMs)).toBe(
    `disk: only jobs of users anna, ben\\x1b[2J and queue night start since ${clockText(fromMs, fromMs)} until ${clockText(untilMs, fromMs)}, by root: course; 2 jobs still run: 4, 7`,
  );
  expect(windowText({ ...disk, running: 7, jobs: [1, 2, 3, 4, 5, 6, 7] }, fromMs)).toContain(
    "; 7 jobs still run: 1, 2, 3, 4, 5 and others",
  );
  expect(windowText({ ...disk, running: 1, jobs: [1] }, fromMs)).toContain("; 1 job still runs: 1");
});

test.each([
  [3 * HOUR_MS, ": give it one with tutti update 12 --time 2h"],
  [2 * HOUR_MS, ": give it one with tutti update 12 --time 60m"],
  [200_000, ": give it one with tutti update 12 --time 1m"],
  [100_000, ""],
])("a job without a limit, %i ms before a window: what its user can do", (leftMs, advice) => {
  const obstacle = { kind: "window", name: "disk", fromMs, untilMs, leftMs } as const;
  expect(windowObstacleText(obstacle, 12)).toBe(
    `It has no limit, so it may still run when window "disk" begins at ${clockText(fromMs)}${advice}. Until ${clockText(untilMs)}, nothing starts.`,
  );
});

test("a job whose limit is too long, and a window that has begun", () => {
  const obstacle = { kind: "window", name: "disk", fromMs, untilMs, reason: "new disk" } as const;
  expect(windowObstacleText({ ...obstacle, limitMs: 2 * HOUR_MS, leftMs: HOUR_MS }, 12)).toBe(
    `Its limit is 2 h, so it may still run when window "disk" begins at ${clockText(fromMs)}. Until ${clockText(untilMs)}, nothing starts: new disk.`,
  );
  expect(windowObstacleText({ ...obstacle, users: ["ben"], limitMs: 1 }, 12)).toBe(
    `Window "disk" is open: only jobs of user ben start until ${clockText(untilMs)}: new disk.`,
  );
});
