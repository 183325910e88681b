/** Tests how much of the scheduler one user may take, so that others find room. */

import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { describe, expect, test, vi } from "vitest";
import type { Caller } from "../contract/service.ts";
import { ANNA, answerOf, BEN, type Bench, makeBench, ROOT, request } from "./front-end-for-tests.ts";

/** Held, so that it does not start. */
function submit({ clock, frontEnd }: Bench, caller: Caller, batch: readonly SubmitJob[]) {
  return answerOf(clock, frontEnd.submit(caller, batch));
}

const LARGE = request({ held: true, command: ["true", ...Array(9).fill("x".repeat(100_000))] });

describe("one user's share", () => {
  test("is a quarter of all jobs, in any batches; other users and administrators find room", async () => {
    const bench = makeBench();
    const batch = Array.from({ length: 10_000 }, () => request({ held: true }));
    for (let i = 0; i < 5; i++)
      expect(await submit(bench, ANNA, batch)).toHaveProperty("jobs.length", 10_000);
    expect(await submit(bench, ANNA, [request()])).toMatchObject({
      refused: "full",
      message: expect.stringContaining("50000 of your jobs have not ended"),
    });
    expect(await submit(bench, BEN, [request()])).toHaveProperty("jobs.length", 1);
    expect(await submit(bench, ROOT, batch)).toHaveProperty("jobs.length", 10_000);
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1));
    expect(await submit(bench, ANNA, [request()])).toHaveProperty("jobs.length", 1);
  });

  test("is 128 MiB of commands, also after a restart; ended jobs make room", async () => {
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

  test("a batch that is too large for any answer is refused as a whole", async () => {
    const bench = makeBench();
    const batch = [{ ...LARGE, array: "0-9999" }];
    expect(await submit(bench, ROOT, batch)).toMatchObject({
      refused: "too-large",
      message: expect.stringContaining("bytes together"),
    });
    expect(bench.frontEnd.jobs(ROOT, {})).toEqual([]);
  });

  /** A different environment and a different script of a megabyte each. */
  const heavy = (i: number) => {
    const fill = (letter: string) => letter.repeat(100_000);
    const env = Object.fromEntries(Array.from({ length: 9 }, (_, j) => [`V${j}`, `${i} ${fill("e")}`]));
    const script = { base64: Buffer.from(`${i} ${fill("s").repeat(10)}`).toString("base64"), word: 0 };
    return request({ held: true, env, script });
  };

  test("is 128 MiB with environments and scripts, equal ones once per user, also after a restart", async () => {
    const first = makeBench();
    const jobs = Array.from({ length: 100 }, (_, i) => heavy(i));
    expect(await submit(first, ANNA, jobs.slice(0, 60))).toHaveProperty("jobs.length", 60);
    expect(await submit(first, ANNA, jobs)).toMatchObject({
      refused: "full",
      message: expect.stringContaining("environments and scripts"),
    });
    // Contents that she has already cost nothing more, and refused contents do not stay in the store.
    expect(await submit(first, ANNA, jobs.slice(0, 60))).toHaveProperty("jobs.length", 60);
    expect(first.store.contents.find(first.store.contents.ofEnvironment(jobs[99].env))).toBeUndefined();
    expect(await submit(first, BEN, [...jobs.slice(0, 60), ...jobs])).toMatchObject({ refused: "full" });
    first.frontEnd.stop();
    const second = makeBench({ store: first.store, clock: first.clock });
    expect(await submit(second, ANNA, jobs)).toMatchObject({ refused: "full" });
    expect(await submit(second, BEN, jobs.slice(0, 60))).toHaveProperty("jobs.length", 60);
  });

  test.each([
    ["many short words", Array(90_000).fill("ab")],
    ["letters that take two bytes", Array(9).fill(`λ${"x".repeat(100_000)}`)],
  ])("counts %s by their size in memory, not as typed", async (_, words) => {
    const bench = makeBench();
    const batch = Array.from({ length: 25 }, () => request({ held: true, command: ["true", ...words] }));
    for (let i = 0; i < 2; i++) expect(await submit(bench, ANNA, batch)).toHaveProperty("jobs.length", 25);
    expect(await submit(bench, ANNA, batch)).toMatchObject({ refused: "full" });
  });

  test("environment and script are dropped with the last job that runs or can run again with them", async () => {
    const bench = makeBench();
    const { clock, frontEnd, store } = bench;
    const { contents } = store;
    const job = heavy(1);
    await submit(bench, ANNA, [job, job]);
    await submit(bench, BEN, [job]);
    const isThere = () => [
      contents.find(contents.ofEnvironment(job.env)) !== undefined,
      contents.find(contents.ofScript(job.script!.base64)) !== undefined,
    ];
    for (const [caller, number] of [
      [ANNA, 1],
      [BEN, 3],
    ] as const) {
      await answerOf(clock, frontEnd.cancel(caller, number));
      expect(isThere()).toEqual([true, true]);
    }
    const { environment, script } = store.job(2)!;
    expect([contents.environment(environment), contents.script(script!)?.length]).toEqual([
      job.env,
      expect.any(Number),
    ]);
    // A cycle that cannot be written removes nothing.
    vi.spyOn(store, "commit").mockImplementationOnce(() => {
      throw new Error("database or disk is full");
    });
    expect(await answerOf(clock, frontEnd.cancel(ANNA, 2))).toMatchObject({ refused: "unavailable" });
    expect(isThere()).toEqual([true, true]);
    await answerOf(clock, frontEnd.cancel(ANNA, 2));
    // All three have ended and can run again, until others that ended later take their room.
    expect(isThere()).toEqual([true, true]);
    let number = 3;
    for (const caller of [ANNA, BEN]) {
      expect(isThere()).toEqual([true, true]);
      await submit(bench, caller, [10, 11, 12, 13, 14].map(heavy));
      for (let i = 0; i < 5; i++) await answerOf(clock, frontEnd.cancel(caller, ++number));
    }
    expect(isThere()).toEqual([false, false]);
    await submit(bench, ANNA, [job]);
    await answerOf(clock, frontEnd.release(ANNA, number + 1));
    expect(bench.machine.sent).toContainEqual(
      expect.objectContaining({ type: "launch", spec: expect.objectContaining({ job: number + 1 }) }),
    );
  });
});

test("a user who fills the store is refused first; others find room, and root always does", async () => {
  const bench = makeBench({ maxStoreBytes: 4_000_000 });
  const { clock, frontEnd, store } = bench;
  const large = request({ held: true, command: ["true", "x".repeat(50_000)] });
  const fill = async (caller: Caller) => {
    let accepted = 0;
    for (;;) {
      const answer = await submit(bench, caller, [large]);
      if ("refused" in answer) return { accepted, answer };
      accepted++;
    }
  };
  // A quarter of the store: 1,000,000 bytes, in jobs of 50,000 and some.
  const { accepted, answer } = await fill(BEN);
  expect(accepted).toBe(19);
  expect(answer).toMatchObject({
    refused: "full",
    message: expect.stringMatching(/your jobs .* have 9\d{5} bytes .* expected at most 1000000 of each user/),
  });
  // Each of the others may have what is left free, and leaves something.
  const others = Array.from({ length: 8 }, (_, i) => ({ ...BEN, uid: 2000 + i, user: `user${i}` }));
  const counts: number[] = [];
  for (const other of others) counts.push((await fill(other)).accepted);
  expect(counts.slice(0, 4).every((count) => count > 0)).toBe(true);
  expect(counts).toEqual([...counts].sort((one, other) => other - one));
  expect(store.usedBytes()).toBeLessThan(0.875 * 4_000_000);
  expect((await fill(BEN)).accepted).toBe(0);
  // Users cannot take the last eighth, which is 500,000 bytes.
  for (let i = 0; i < 8; i++) expect(await submit(bench, ROOT, [large])).toHaveProperty("jobs.length", 1);
  // What is forgotten makes room, in the file, too.
  for (const { job } of frontEnd.jobs(ROOT, {})) await answerOf(clock, frontEnd.cancel(ROOT, job));
  clock.advanceTo(40 * 86_400_000);
  while (frontEnd.retention.step());
  expect(store.usedBytes()).toBeLessThan(500_000);
  expect((await fill(BEN)).accepted).toBe(19);
});

test("root is refused when the store is as large as it may be", async () => {
  const bench = makeBench({ maxStoreBytes: 2_000_000 });
  const large = request({ held: true, command: ["true", "x".repeat(100_000)] });
  let answer = await submit(bench, ROOT, [large]);
  while (!("refused" in answer)) answer = await submit(bench, ROOT, [large]);
  expect(answer).toMatchObject({
    refused: "full",
    message: expect.stringContaining("on disk, expected at most 2000000"),
  });
});
