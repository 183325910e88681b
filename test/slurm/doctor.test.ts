/**
 * Compares what `tutti doctor --on slurm` says with what scontrol and srun answer, and with the true
 * clocks.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { NOBODY } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const cluster = new TestCluster({ nodes: 2, cpus: 4 });
const program = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));

function doctor(...words: readonly string[]) {
  const options = ["doctor", "--on", "slurm", ...words];
  return cluster.exec("env", "NO_COLOR=1", process.execPath, program, ...options);
}

describeWithSlurm("tutti doctor --on slurm", () => {
  beforeAll(() => cluster.start());
  afterAll(() => cluster.stop());

  test("says what scontrol says, and measures a step", async () => {
    const { status, stdout, stderr } = await doctor("--json");
    expect(status, stderr).toBe(0);
    const site = JSON.parse(stdout);
    const config = await cluster.slurm("scontrol", "show", "config");
    const setting = (name: string) => new RegExp(`^${name} += (.*)$`, "m").exec(config)?.[1].trim();
    expect(site).toMatchObject({
      version: setting("SLURM_VERSION"),
      cluster: setting("ClusterName"),
      nodes: 2,
      processors: 8,
      otherVersions: [],
      mpiDefault: setting("MpiDefault"),
      taskPlugin: setting("TaskPlugin"),
      proctrack: setting("ProctrackType"),
      slurmdTimeout: setting("SlurmdTimeout"),
      killWait: setting("KillWait"),
      minJobAge: setting("MinJobAge"),
      accounting: false,
    });
    const { stdout: listed, stderr: alsoListed } = await cluster.exec("srun", "--mpi=list");
    for (const type of site.mpiTypes) expect(listed + alsoListed).toContain(type);
    expect(site.mpiTypes).toEqual(expect.arrayContaining(["none", "pmi2"]));

    const { step } = site;
    expect(cluster.nodes).toContain(step.node);
    const allowed = await cluster.slurm(
      "srun",
      "-w",
      step.node,
      "grep",
      "Cpus_allowed_list",
      "/proc/self/status",
    );
    expect(allowed.split(/\s+/)[1]).toBe(step.allowedCpus);
    expect([step.stepsAtOnce, step.stepsAsked]).toEqual([16, 16]);
    expect(step.roundTripMs).toBeGreaterThan(0);
    expect(step.medianRoundTripMs).toBeGreaterThanOrEqual(step.roundTripMs);
    // The node's clock is ahead by a known time.
    const aheadMs = cluster.clockAheadMs(step.node);
    expect(Math.abs(step.clockOffsetMs - aheadMs)).toBeLessThan(step.roundTripMs / 2 + 0.01);
    expect(await cluster.slurm("squeue", "-h", "-t", "running,pending")).toBe("");
  });

  test("limits of processes are those of the user, here and on a node", async () => {
    const as = (...words: readonly string[]) => {
      const user = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
      return cluster.exec(...user, "prlimit", "--nproc=5000:5000", ...words);
    };
    const answer = await as(process.execPath, program, "doctor", "--on", "slurm", "--json");
    expect(answer.status, answer.stderr).toBe(0);
    const { processes, step } = JSON.parse(answer.stdout);
    const limits = [await as("bash", "-c", "ulimit -u"), await as("srun", "bash", "-c", "ulimit -u")];
    expect(limits.map(({ stdout }) => stdout.trim())).toEqual([
      String(processes.most),
      String(step.processes.most),
    ]);
    // The doctor itself, and its probe.
    expect(processes.used).toBeGreaterThan(1);
    expect(step.processes.used).toBeGreaterThan(1);
    const root = JSON.parse((await doctor("--json")).stdout);
    expect([root.processes.most, root.step.processes.most]).toEqual([null, null]);
  });

  test("options of sbatch reach the short job; without a step, the rest is said", async () => {
    const { status, stdout, stderr } = await doctor("--", "--partition=nowhere");
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^Slurm +\d+\.\d+\.\d+, cluster tutti, 2 nodes with 8 processors$/m);
    expect(stdout).toMatch(/^steps +not examined: .*partition/m);
    const refused = await doctor("--", "--array=1-3");
    expect([refused.status, refused.stderr]).toEqual([
      66,
      expect.stringContaining('Cannot pass "--array=1-3"'),
    ]);
    const wrong = await cluster.exec(process.execPath, program, "doctor", "--", "--partition=main");
    expect(wrong.status).toBe(2);
  });

  test("without a controller there is one error", async () => {
    await cluster.controller("kill");
    const { status, stderr } = await doctor();
    expect([status, stderr]).toEqual([
      66,
      expect.stringMatching(/^tutti: Cannot use scontrol: .*controller/),
    ]);
    await cluster.controller("start");
    await cluster.allUp();
  });
});
