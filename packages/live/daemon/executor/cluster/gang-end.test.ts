/** Ends of gangs, by hand, as srun has them: the highest exit code, or else a signal. */

import type { AttemptEnd } from "@tutti/protocol/attempts.ts";
import { expect, test } from "vitest";
import { compositeEnd } from "./gang-end.ts";

const key = { job: 1, attempt: 1 };
const end = (fields: Partial<AttemptEnd>): AttemptEnd => ({
  ...key,
  reason: "none",
  endedAtMs: 100,
  ranMs: 10,
  ...fields,
});
const none = { lost: undefined, neverBegan: false, startedAtMs: undefined };
const facts = { key, reason: "none", ...none, ranMs: 5, unixMs: 200 } as const;

test("the highest exit code counts, then a signal, then 0", () => {
  const of = (...ends: AttemptEnd[]) => compositeEnd({ ...facts, ends, lead: ends[0] });
  expect(of(end({ code: 0 }), end({ code: 3 }), end({ code: 1 }))).toMatchObject({ code: 3 });
  expect(of(end({ signal: "SIGSEGV" }), end({ code: 2 }))).toMatchObject({ code: 2 });
  expect(of(end({ code: 0 }), end({ signal: "SIGSEGV" }))).toMatchObject({ signal: "SIGSEGV" });
  expect(of(end({ code: 0 }), end({ code: 0 }))).toMatchObject({ code: 0, ranMs: 10, endedAtMs: 100 });
});

test("the last node's end is the gang's; CPU times add up if all nodes have measured them", () => {
  const ends = [end({ code: 0, cpuMs: 7 }), end({ code: 0, cpuMs: 5, endedAtMs: 150 })];
  expect(compositeEnd({ ...facts, ends, lead: ends[0] })).toMatchObject({ endedAtMs: 150, cpuMs: 12 });
  const unmeasured = [ends[0], end({ code: 0 })];
  expect(compositeEnd({ ...facts, ends: unmeasured, lead: ends[0] })).not.toHaveProperty("cpuMs");
});

test("a reason of any node is the gang's", () => {
  const ends = [end({ signal: "SIGTERM" }), end({ signal: "SIGKILL", reason: "time-limit" })];
  expect(compositeEnd({ ...facts, ends, lead: ends[0] })).toMatchObject({
    reason: "time-limit",
    signal: "SIGTERM",
  });
});

test("it began as was reported, or when its first task began; never if it never began", () => {
  const ends = [end({ code: 0, startedAtMs: 40 }), end({ code: 0, startedAtMs: 30 })];
  const of = { ...facts, ends, lead: ends[0] };
  expect(compositeEnd(of)).toMatchObject({ startedAtMs: 30 });
  expect(compositeEnd({ ...of, startedAtMs: 35 })).toMatchObject({ startedAtMs: 35 });
  expect(compositeEnd({ ...of, lost: "n2 is lost" })).toMatchObject({ startedAtMs: 30 });
  const failed = end({ lost: "it did not begin", neverBegan: true });
  expect(compositeEnd({ ...facts, ends: [failed], lead: failed })).not.toHaveProperty("startedAtMs");
});

test("an end that is not known is lost, with the front end's reason, and says whether it never began", () => {
  const lost = compositeEnd({ ...facts, ends: undefined, lead: undefined, lost: "n2 is lost" });
  expect(lost).toEqual({ ...key, reason: "none", lost: "n2 is lost", endedAtMs: 200, ranMs: 5 });
  expect(
    compositeEnd({ ...facts, ends: undefined, lead: undefined, reason: "cancelled", neverBegan: true }),
  ).toMatchObject({ reason: "cancelled", lost: "its end is unknown", neverBegan: true });
  const failed = end({ lost: "it did not begin", neverBegan: true });
  expect(compositeEnd({ ...facts, ends: [failed], lead: failed })).toMatchObject({
    lost: "it did not begin",
    neverBegan: true,
  });
});

test("what was stopped with its pilot on all nodes before it began never began", () => {
  const stopped = end({ signal: "SIGKILL", reason: "requeued", neverBegan: true });
  const of = (...ends: AttemptEnd[]) => compositeEnd({ ...facts, ends, lead: ends[0] }).neverBegan;
  expect(of(stopped, stopped)).toBe(true);
  expect(of(stopped, end({ signal: "SIGKILL", reason: "requeued" }))).toBeUndefined();
});

test("GPUs of all nodes count, also of those on which the command has not run: (30 % + 2 · 60 %) / 3 = 50 %", () => {
  const lead = end({ code: 0, gpus: 1, gpuShare: 0.3, peakGpuMemoryBytes: 5 });
  const other = end({ gpus: 2, gpuShare: 0.6, peakGpuMemoryBytes: 7 });
  const use = { gpus: 3, gpuShare: 0.5, peakGpuMemoryBytes: 12 };
  expect(compositeEnd({ ...facts, ends: [lead], parts: [lead, other, end({})], lead })).toMatchObject(use);
});
