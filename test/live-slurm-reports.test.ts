/**
 * Tests the commands of Slurm's that say what jobs use and when they start, and what `scontrol update`
 * changes, with a real scheduler. The messages are those of Slurm 22.05.8.
 */
import { existsSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTutti, until } from "./live-command.ts";
import { SlurmNames, script } from "./slurm-names.ts";

let site: SlurmNames;
const shell = (line: string, input = "") => site.shell(line, input);
const node = hostname().split(".")[0];
const submit = async (lines: string, options = "") =>
  (await shell(`sbatch --parsable ${options}`, script(lines))).stdout.trim();

beforeAll(async () => {
  site = await SlurmNames.start();
});
afterAll(() => site.clear());

test("seff says what a job had and used, with the exit code, and that it still waits", async () => {
  const done = await submit("#SBATCH -n 2 --mem=100M --wait -o seff.out\nexit 3");
  const waiting = await submit("#SBATCH -H -o seff.out\ntrue");
  const { stdout, status } = await shell(`seff ${done}`);
  expect(status).toBe(0);
  expect(stdout).toMatch(
    new RegExp(`^Job ID: ${done}
Cluster: tutti
User/Group: ${userInfo().username}/\\w+
State: FAILED \\(exit code 3\\)
Nodes: 1
Cores per node: 2
CPU Utilized: 00:00:0\\d
CPU Efficiency: \\d+\\.\\d\\d% of 00:00:\\d\\d core-walltime
Job Wall-clock time: 00:00:\\d\\d
Memory Utilized: \\d+\\.\\d\\d [KM]B
Memory Efficiency: \\d+\\.\\d\\d% of 100\\.00 MB \\(100\\.00 MB/node\\)
$`),
  );
  expect((await shell(`seff ${waiting}`)).stdout).toMatch(
    /State: PENDING\nCores: 1\nEfficiency not available for jobs in the PENDING state\.\n$/,
  );
  expect(await shell("seff 99999")).toEqual({ status: 2, stdout: "", stderr: "Job not found.\n" });
  await shell(`scancel ${waiting}`);
});

test("sstat and scontrol listpids see the steps of a running job, its ranks and its script", async () => {
  const job = await submit(`#SBATCH -n 2 -o sstat.out
srun -n 2 sh -c 'x=$(head -c 30000000 /dev/zero | tr "\\0" a); : > sstat.$SLURM_PROCID; while sleep 0.1; do :; done' &
wait`);
  await until(() => [0, 1].every((rank) => existsSync(join(site.folder, `sstat.${rank}`))));
  const step = await shell(`sstat -n -P --format=JobID,NTasks,MaxRSSNode,MaxRSS,MinCPUTask -j ${job}`);
  const [id, ranks, where, most, least] = step.stdout.trim().split("|");
  expect([id, ranks, where]).toEqual([`${job}.0`, "2", node]);
  expect(["0", "1"]).toContain(least);
  expect(most).toMatch(/^\d+K$/);
  expect(Number.parseInt(most, 10)).toBeGreaterThan(30_000_000 / 1024);
  expect((await shell(`sstat -a -n -P -o JobID,NTasks -j ${job}`)).stdout).toBe(
    `${job}.batch|1\n${job}.0|2\n`,
  );
  const pids = (await shell(`sstat -i -n -P -j ${job}.batch`)).stdout.trim().split("|")[2].split(",");
  expect(pids.length).toBeGreaterThanOrEqual(2);
  const listed = (await shell(`scontrol listpids ${job}.0`)).stdout.trim().split("\n");
  expect(listed[0]).toBe("PID      JOBID    STEPID   LOCALID GLOBALID");
  expect(listed.slice(1).every((line) => new RegExp(`^\\d+ +${job} +0 +[01] +[01]$`).test(line))).toBe(true);
  await shell(`scancel ${job}`);
  expect(await shell("sstat -n -o JobID -j 99999")).toEqual({
    status: 0,
    stdout: "",
    stderr: "sstat: error: couldn't get steps for job 99999\n",
  });
  expect(await shell("sstat -j x")).toMatchObject({
    status: 1,
    stderr: "sstat: fatal: Bad job/step specified: x\n",
  });
});

test("squeue --start lists waiting jobs by their expected start", async () => {
  // No turns: the second job waits for the CPUs of the first.
  expect(await startTutti(site.socket, ["policy", "fcfs"]).result).toMatchObject({ status: 0 });
  const first = await submit("#SBATCH -n 2 -t 10 -o none\nsleep 600");
  const second = await submit("#SBATCH -n 2 -t 10 -J second -o none\ntrue");
  const later = await submit("#SBATCH -t 10 -J later --begin=2036-01-02T03:04:05 -o none\ntrue");
  const held = await submit("#SBATCH -H -J held -o none\ntrue");
  const lines = (await shell("squeue --start")).stdout.split("\n");
  expect(lines[0]).toBe(
    "             JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES           NODELIST(REASON)",
  );
  const rows = lines.slice(1, -1).map((line) => line.trim().split(/\s+/));
  expect(rows.map(([id, , name, , state]) => [id, name, state])).toEqual([
    [second, "second", "PD"],
    [later, "later", "PD"],
    [held, "held", "PD"],
  ]);
  expect(rows[0][5]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  expect(rows[1].slice(5)).toEqual(["2036-01-02T03:04:05", "1", "(null)", "(BeginTime)"]);
  expect(rows[2].slice(5)).toEqual(["N/A", "1", "(null)", "(JobHeldUser)"]);
  await shell(`scancel ${first} ${second} ${later} ${held}`);
});

describe("scontrol update", () => {
  const changed = async (job: string, words: string, shows: string) => {
    expect(await shell(`scontrol update JobId=${job} ${words}`), words).toEqual({
      status: 0,
      stdout: "",
      stderr: "",
    });
    expect((await shell(`scontrol -o show job ${job}`)).stdout, words).toContain(shows);
  };

  test("changes what jobs ask for", async () => {
    const job = await submit("#SBATCH -H -n 1 -t 30 -o none\ntrue");
    await changed(job, "TimeLimit=+10", "TimeLimit=00:40:00");
    await changed(job, "TimeLimit=-0-00:30:00", "TimeLimit=00:10:00");
    await changed(job, "TimeLimit=1-00:00:00 JobName=other", "TimeLimit=1-00:00:00");
    await changed(job, "NumCPUs=2", "NumTasks=2");
    await changed(job, "NumTasks=1 NumCPUsPerTask=2", "NumTasks=1 CPUs/Task=2");
    await changed(job, "MinMemoryNode=50", "MinMemoryNode=50M");
    await changed(job, "MinMemoryCPU=30M", "MinMemoryNode=60M");
    await changed(job, "Nice=5", "Priority=-5");
    await changed(job, "Priority=0", "JobState=PENDING");
    await changed(job, "Requeue=0", "Requeue=0");
    await changed(job, "Partition=long StartTime=now+1hour", "Reason=JobHeldUser");
    expect((await shell(`scontrol -o show job ${job}`)).stdout).toContain("JobName=other");
    expect(await shell(`scontrol update JobId=${job} Comment=x`)).toEqual({
      status: 0,
      stdout: "",
      stderr: "scontrol: ignored, no effect here: Comment\n",
    });
    await shell(`scancel ${job}`);
  });

  test("refuses the rest in Slurm's words, with a reason", async () => {
    const job = await submit("#SBATCH -H -t 9 -o none\ntrue");
    for (const [words, message] of [
      [`JobId=${job} Foo=1`, "Update of this parameter is not supported: Foo=1\nRequest aborted"],
      [`JobId=${job} Dependency=afterok:1`, "set when it is submitted\nRequest aborted"],
      [`JobId=${job} NumCPUs=abc`, "scontrol: error: Invalid NumCPUs value: abc"],
      [`JobId=${job} StartTime=bogus`, "Invalid time specification (pos=0): bogus"],
      [`JobId=${job} TimeLimit=-20`, "TimeLimit decrement larger than current time limit (20 > 9)"],
      [`JobId=${job}`, "No changes specified"],
      ["JobId=99999 Name=x", "Invalid job id specified for job 99999"],
      ["PartitionName=short State=DOWN", "Request aborted"],
      [`NodeName=${node} State=DOWN Reason=x`, "Tutti knows DRAIN and RESUME\nRequest aborted"],
      [
        `NodeName=${node} State=DRAIN`,
        "You must specify a reason when DOWNING or DRAINING a node. Request denied",
      ],
      ["NodeName=zz State=RESUME", "slurm_update error: Invalid node name specified"],
    ]) {
      const { status, stderr } = await shell(`scontrol update ${words}`);
      expect(stderr).toMatch(message.includes("\n") ? /Request aborted\n$/ : /./);
      expect([words, status, stderr.includes(message)]).toEqual([words, 1, true]);
    }
    expect(await shell("scontrol top 1")).toMatchObject({
      status: 1,
      stderr: "scontrol: error: top is not supported by Tutti; use tutti update --priority N JOB\n",
    });
    await shell(`scancel ${job}`);
  });

  test("drains and resumes this machine as a node", async () => {
    const state = async () => (await shell("sinfo -h -N -o %T")).stdout.trim().split("\n")[0];
    expect(await shell(`scontrol update NodeName=${node} State=DRAIN Reason=disk`)).toMatchObject({
      status: 0,
    });
    expect(await state()).toMatch(/^drain/);
    expect(await shell("scontrol update nodename=ALL state=resume")).toMatchObject({ status: 0 });
    expect(await state()).not.toMatch(/^drain/);
  });
});

test("sreport, sshare and sprio name what answers here, whatever their options", async () => {
  for (const [line, instead] of [
    ["sreport cluster utilization --tres=all", "tutti usage"],
    ["sshare -lU", "tutti usage --shares"],
    ["sprio -j 12", "tutti why JOB"],
  ]) {
    const { status, stdout, stderr } = await shell(line);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr.trimEnd().split("\n")).toEqual([expect.stringContaining(`; use ${instead}`)]);
  }
  for (const name of ["seff", "sstat", "sprio"]) {
    expect((await shell(`${name} --help`)).stdout).toMatch(/^Usage: /);
    expect((await shell(`${name} --version`)).stdout).toBe("slurm-wlm 22.05.8\n");
  }
});
