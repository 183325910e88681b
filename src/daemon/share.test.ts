/** What one user may keep the scheduler busy with, so that the others find room. */
import { describe, expect, test } from "vitest";
import { ANNA, answerOf, BEN, type Bench, makeBench, ROOT, request } from "./front-end-for-tests.ts";
import type { Caller, SubmitRequest } from "./service.ts";

/** Held, so that none starts. */
function submit({ clock, frontEnd }: Bench, caller: Caller, batch: readonly SubmitRequest[]) {
  return answerOf(clock, frontEnd.submit(caller, batch));
}

const LARGE = request({ held: true, command: ["true", ...Array(9).fill("x".repeat(100_000))] });

describe("one user's share", () => {
  test("a quarter of all jobs, whatever the batches; others and administrators find room", async () => {
    const bench = makeBench();
    const batch = Array.from({ length: 10_000 }, () => request({ held: true }));
    for (let i = 0; i < 5; i++)
      expect(await submit(bench, ANNA, batch)).toHaveProperty("jobs.length", 10_000);
    expect(await submit(bench, ANNA, [request()])).toMatchObject({
      refused: "full",
      message: expect.stringContaining("50000 of yours have not ended"),
    });
    expect(await submit(bench, BEN, [request()])).toHaveProperty("jobs.length", 1);
    expect(await submit(bench, ROOT, batch)).toHaveProperty("jobs.length", 10_000);
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1));
    expect(await submit(bench, ANNA, [request()])).toHaveProperty("jobs.length", 1);
  });

  test("128 MiB of commands, as many after a restart; what has ended makes room", async () => {
    const first = makeBench();
    const batch = Array.from({ length: 60 }, () => LARGE);
    for (let i = 0; i < 2; i++) expect(await submit(first, ANNA, batch)).toHaveProperty("jobs.length", 60);
    expect(await submit(first, ANNA, batch)).toMatchObject({ refused: "full" });
    first.frontEnd.stop();
    const second = makeBench({ store: first.store, clock: first.clock });
    expect(await submit(second, ANNA, batch)).toMatchObject({ refused: "full" });
    expect(await submit(second, BEN, batch)).toHaveProperty("jobs.length", 60);
    for (let job = 1; job <= 60; job++) await answerOf(second.clock, second.frontEnd.cancel(ANNA, job));
    expect(await submit(second, ANNA, batch)).toHaveProperty("jobs.length", 60);
  });

  test("a batch that would be too much for any answer is refused as a whole", async () => {
    const bench = makeBench();
    const batch = Array.from({ length: 10_000 }, (_, arrayIndex) => ({ ...LARGE, arrayIndex }));
    expect(await submit(bench, ROOT, batch)).toMatchObject({
      refused: "too-large",
      message: expect.stringContaining("bytes together"),
    });
    expect(bench.frontEnd.jobs(ROOT, {})).toEqual([]);
  });
});
