/**
 * What real jobs used, as users see it: one that computes on one of its two CPUs, and one with a memory
 * limit. Figures come from control groups, so they are checked where the scheduler has some.
 */

import { isEnded } from "@tutti/protocol/states.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kindsHere } from "./conductor/stage.ts";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const MIB = 2 ** 20;
const s = new LiveScheduler();
const tutti = (...words: string[]) => startTutti(s.socket, words).result;
const hasGroups = kindsHere().some((kind) => kind !== "signals");

async function ended(job: number) {
  await expect.poll(async () => isEnded((await s.job(job)).state)).toBe(true);
  return s.job(job);
}

beforeAll(() => s.start());
afterAll(() => s.clear());

test.skipIf(!hasGroups)("CPU time and peak memory are counted, and said by every verb", async () => {
  // A second of CPU time.
  const burn = await s.submit("while :; do :; done & sleep 1; kill $!", { name: "burn", tasks: 2 });
  const { usage, ranMs, ...job } = await ended(burn);
  expect(job.state).toBe("done");
  expect(usage?.cpuMs).toBeGreaterThan(0);
  // Clock ticks of 10 ms are counted on each CPU.
  expect(usage?.cpuMs).toBeLessThanOrEqual(2 * ranMs + 40);
  const hungry = await s.submit("head -c 20M /dev/zero | tail >/dev/null", { memoryBytes: 256 * MIB });
  const peak = (await ended(hungry)).usage?.peakMemoryBytes;
  // Where the scheduler may not limit memory, nothing counts it.
  if (peak !== undefined) {
    expect(peak).toBeGreaterThan(20 * MIB);
    expect(peak).toBeLessThanOrEqual(256 * MIB);
  }

  const sentence = new RegExp(`^job ${burn} \\(burn\\) used \\d\\.\\d of its 2 CPUs \\(\\d+ %\\).* in `);
  expect(await tutti("usage", String(burn))).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(sentence),
  });
  expect((await tutti("show", String(burn))).stdout).toMatch(
    /^ {2}used +.* of CPU time \(\d+ % of its CPUs\)/m,
  );
  expect((await tutti("usage", "--by", "user,queue", "--since", "1h")).stdout).toMatch(
    /^ *user +queue +jobs +done +failed +cancelled +CPU time held +used +mean wait$/m,
  );
  const { rows } = JSON.parse((await tutti("usage", "--json")).stdout);
  expect(rows).toMatchObject([{ done: 2, failed: 0, cancelled: 0, started: 2 }]);
  expect(rows[0].cpuMs).toBeGreaterThanOrEqual(usage!.cpuMs!);
  const [heading, line] = (await tutti("export", "--format", "csv")).stdout.split("\n");
  const column = heading!.split(",").indexOf("cpu_s");
  expect(line!.split(",")[column]).toBe(String(usage!.cpuMs! / 1000));
});

test("a wrong name or time has a message; where no job ended, it says so", async () => {
  expect(await tutti("usage", "--by", "colour")).toMatchObject({ status: 2 });
  expect((await tutti("usage", "--since", "tomorrow")).stderr).toContain("expected a time in the past");
  expect(await tutti("usage", "--until", "2000-01-01")).toMatchObject({
    status: 0,
    stdout: "No jobs ended in that time.\n",
  });
  expect(await tutti("usage", "4711")).toMatchObject({ status: 5 });
});
