/**
 * Kills, cuts and crashes front end, conductors, nodes and Slurm itself while 100 jobs are submitted and
 * run. The two clusters run side by side, because both mostly wait. `npm run soak` has more blows.
 */
import { expect, test } from "vitest";
import { BLOWS, type Blow, runWithFaults } from "./fault-run.ts";
import { describeWithSlurm } from "./with-slurm.ts";

/** All but the second kind of crash. */
const WITH_LINUXPROC = BLOWS.filter((blow) => blow !== "crash");
const WITH_CGROUP: readonly Blow[] = [
  "front end",
  "conductor",
  "keeper",
  "slurmstepd",
  "slurmd",
  "crash",
  "cut for 2 s",
  "scancel of the pilot",
];

describeWithSlurm("faults", () => {
  test.concurrent.each([
    ["linuxproc", WITH_LINUXPROC, 12, []],
    // Conductors pass on what is for others, as in a pilot of many nodes.
    ["cgroup", WITH_CGROUP, 8, ["--direct", "1"]],
  ] as const)(
    "processes tracked by %s: no job is lost, none runs twice, nothing is left stopped or running",
    { timeout: 600_000 },
    async (proctrack, blows, count, words) => {
      expect(blows).toHaveLength(count);
      const { problems, reasons, ...counts } = await runWithFaults({
        seed: 5,
        jobs: 100,
        blows,
        proctrack,
        words,
        log: (line) => console.log(`${proctrack}: ${line}`),
      });
      console.log(proctrack, JSON.stringify({ ...counts, reasons: [...reasons], problems }));
      expect(problems).toEqual([]);
      expect(counts).toMatchObject({
        submitted: 100,
        acknowledged: 100,
        lost: 0,
        ranTwice: 0,
        aliveTwice: 0,
      });
      expect(counts.finished + counts.failed).toBe(100);
    },
  );
});
