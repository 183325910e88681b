/** Tests what a dry run says, for a reader who knows neither the scheduler nor its state. */

import type { DryRunAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { expect, test } from "vitest";
import { dryRunText } from "./submitted-text.ts";

const START_MS = Date.now() + 60_000;
const forecast = {
  queue: "default",
  estimateMs: 3_600_000,
  ...{ p10Ms: START_MS, p50Ms: START_MS, p90Ms: START_MS },
  ...{ endP10Ms: START_MS, endP50Ms: START_MS, endP90Ms: START_MS },
};

function textOf(asked: Partial<SubmitJob>, answer: Partial<DryRunAnswer> = { forecast }): string {
  const job = { command: ["x"], cwd: "/", env: {}, ...asked };
  const common = { schema: "tutti.dry-run/1" as const, jobs: 1, queue: "default", estimateMs: 3_600_000 };
  return dryRunText({ ...common, ...answer }, job).replace(/\d\d:\d\d:\d\d/g, "TIME");
}

test("names what the job would hold, and says that it has no limit if none was asked for", () => {
  expect(textOf({})).toBe(
    "would submit 1 job with 1 CPU to queue default, no time limit (planned with 1 h); expected to start at TIME",
  );
  const large = { tasks: 2, threads: 4, memoryBytes: 2 ** 30, use: { gpu: 1 }, limitMs: 60_000 };
  expect(textOf(large)).toBe(
    "would submit 1 job with 8 CPUs (2 tasks of 4 threads), 1 GiB of memory and gpu:1 to queue default, limit 1 min; expected to start at TIME",
  );
  expect(textOf({}, { jobs: 10, forecast })).toMatch(/; the first is expected to start at TIME$/);
});

test("names the window that the job would wait for", () => {
  const window = { name: "disk", fromMs: START_MS, untilMs: START_MS + 1000, reason: "new disk" };
  expect(textOf({}, { window, forecast })).toMatch(
    /; it waits for the end of window "disk" \(TIME to TIME\): new disk; expected to start at TIME$/,
  );
});

test("says what the job waits for instead of a forecast", () => {
  const waits = (asked: Partial<SubmitJob>, answer: Partial<DryRunAnswer> = {}) =>
    textOf(asked, answer).replace(/^.*; /, "");
  expect(waits({ held: true })).toBe("it waits: held until tutti release");
  expect(waits({ singleton: true }, { waitsFor: [7] })).toBe("it waits: after job 7");
  expect(waits({ held: true, beginAtMs: START_MS }, { waitsFor: [7, 8] })).toBe(
    "it waits: held until tutti release, after jobs 7, 8, not before TIME",
  );
  expect(waits({}, { never: "job 7 did not succeed" })).toBe("cancelled at once: job 7 did not succeed");
  const drained = { queue: "default", estimateMs: 1, noForecast: "drained" as const };
  expect(waits({}, { forecast: drained })).toBe(
    "no forecast, because nothing starts until an administrator undrains the scheduler",
  );
});
