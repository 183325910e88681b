/** Tests that a cancel which was accepted holds, whatever happens to the attempt. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttemptEnd } from "@tutti/protocol/attempts.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, expect, test } from "vitest";
import { Store } from "../store/store.ts";
import { ANNA, answerOf, type Bench, makeBench, request } from "./front-end-for-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-cancel-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fcfs = { config: { policy: "fcfs" } };

async function submit({ clock, frontEnd }: Bench, fields: Partial<SubmitJob>): Promise<number> {
  const answer = await answerOf(clock, frontEnd.submit(ANNA, [request(fields)]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0].job;
}

const ENDS: readonly (readonly [
  AttemptEnd["reason"],
  Pick<AttemptEnd, "code" | "signal" | "lost">,
  string,
])[] = [
  ["none", { code: 0 }, "cancelled"],
  ["none", { code: 3 }, "cancelled"],
  ["none", { signal: "SIGTERM" }, "cancelled"],
  ["none", { lost: "its shim was killed" }, "cancelled"],
  ["requeued", { signal: "SIGTERM" }, "cancelled"],
  ["shutdown", { signal: "SIGKILL" }, "cancelled"],
  // It was ended by its limit before; no retry follows.
  ["time-limit", { signal: "SIGTERM" }, "time limit"],
  ["memory-limit", { signal: "SIGKILL" }, "memory limit"],
];

test.each(ENDS)(
  "a cancelled job does not start again, and ended with %s %j",
  async (reason, end, expected) => {
    const bench = makeBench(fcfs);
    const job = await submit(bench, { retries: 2, retryOn: ["fail"] });
    const [next, other] = [
      await submit(bench, { after: [{ job, ok: true }] }),
      await submit(bench, { after: [{ job, ok: false }] }),
    ];
    bench.machine.isDeaf = true;
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, job));
    bench.machine.end({ job, attempt: 1 }, reason, end);
    bench.clock.settle();
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({
      state: expected === "cancelled" ? "cancelled" : "failed",
      reason: expected,
      attempt: 1,
    });
    expect(bench.frontEnd.job(ANNA, next)).toMatchObject({ state: "cancelled" });
    expect(bench.machine.launched).toEqual([`${job}/1`, `${other}/1`]);
  },
);

test("also if the attempt is lost, and a later one has left its folder", async () => {
  const jobsFolder = join(folder, "jobs");
  const bench = makeBench({ ...fcfs, jobsFolder });
  const job = await submit(bench, { cwd: "/tmp" });
  const later = join(jobsFolder, String(job), "2");
  mkdirSync(later);
  symlinkSync("nobody", join(later, "claim"));
  bench.machine.isDeaf = true;
  await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, job));
  bench.machine.end({ job, attempt: 1 }, "none", { lost: "its shim was killed" });
  bench.clock.settle();
  expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "cancelled" });
});

test("also if the front end is killed before the conductor heard of it, and the job ends meanwhile", async () => {
  const path = join(folder, "tutti.db");
  const first = makeBench({ ...fcfs, path });
  const { clock, machine } = first;
  const job = await submit(first, {});
  machine.disconnect();
  await answerOf(clock, first.frontEnd.cancel(ANNA, job));
  first.kill();
  machine.end({ job, attempt: 1 }, "none", { code: 0 });
  const second = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
  expect(second.frontEnd.job(ANNA, job)).toMatchObject({ state: "cancelled", code: 0 });
  second.kill();
});
