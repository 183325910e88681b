/** Kills, cuts, fills and crashes hosts that ssh reaches while jobs are submitted and run. */
import { SIZES, SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { expect, test } from "vitest";
import { blowsOf, runWithBlows } from "./blow-run.ts";
import { describeWithHosts } from "./hosts.ts";

const seed = Number(SOAK ? (process.env.TUTTI_SEED ?? 5) : 5);

describeWithHosts("blows", () => {
  test(`seed ${seed}: no job is lost, none runs twice, no output is lost, nothing is left`, async () => {
    const blows = blowsOf(SIZES.hostBlows);
    const { problems, reasons, ...counts } = await runWithBlows({ seed, blows, log: console.log });
    console.log(JSON.stringify({ ...counts, reasons: [...reasons], problems }));
    expect(problems).toEqual([]);
    expect(counts).toMatchObject({ lost: 0, ranTwice: 0, aliveTwice: 0 });
    expect(counts.acknowledged).toBe(counts.submitted);
    expect(counts.finished + counts.failed).toBe(counts.submitted);
    expect(counts.finished).toBeGreaterThan(0);
  });
});
