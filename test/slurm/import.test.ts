/**
 * Imports the history of a real Slurm. The oracle is a plain reading of what sacct prints, in another
 * format of time than the one that the import asks for.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFolder, removeFolder } from "../command.ts";
import { TestCluster } from "./cluster.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const cluster = new TestCluster({ nodes: 4, cpus: 4, accounting: true });
const folder = makeFolder();
const program = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
const JOBS = 40;
const FIELDS = ["JobID", "Submit", "Eligible", "Start", "End", "Elapsed", "Timelimit", "AllocCPUS", "State"];

function tutti(...words: readonly string[]) {
  return cluster.exec("env", "NO_COLOR=1", process.execPath, program, ...words);
}

async function sbatch(...words: readonly (string | number)[]): Promise<string> {
  return cluster.slurm("sbatch", "--parsable", "--chdir=/tmp", "--output=/dev/null", ...words);
}

/** Rows of sacct by field, with a row for each run of a job; steps are left out. */
async function accounted(): Promise<Record<string, string>[]> {
  const text = await cluster.slurm("sacct", "-a", "-D", "-X", "-P", "-S", "now-1hour", `-o${FIELDS.join()}`);
  const [names, ...rows] = text.split("\n").map((line) => line.split("|"));
  return rows.map((row) => Object.fromEntries(row.map((value, i) => [names[i], value])));
}

async function until(what: string, holds: () => Promise<boolean>, maxMs = 150_000): Promise<void> {
  const endMs = performance.now() + maxMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${maxMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const secondsAt = (text: string) => new Date(text).getTime() / 1000;

function secondsOf(duration: string): number {
  const [clock, days = "0"] = duration.split("-").reverse();
  return clock.split(":").reduce((sum, part) => 60 * sum + Number(part), 0) + 86_400 * Number(days);
}

/** Arrival, wait, run time, processors, limit (−1: none) and SWF status of each run that sacct lists. */
async function expected(): Promise<number[][]> {
  const rows = (await accounted()).filter(({ Start, State, Elapsed }) => {
    const isDone = !/^(PENDING|RUNNING|SUSPENDED)/.test(State) && !/^(Unknown|None)$/.test(Start);
    return isDone && !(State.startsWith("CANCELLED") && Elapsed === "00:00:00");
  });
  return rows.map((row) => {
    const arrival = Math.max(secondsAt(row.Submit), secondsAt(row.Eligible));
    const limit = row.Timelimit === "UNLIMITED" ? -1 : secondsOf(row.Timelimit);
    const status = row.State === "COMPLETED" ? 1 : row.State.startsWith("CANCELLED") ? 5 : 0;
    const wait = secondsAt(row.Start) - arrival;
    return [arrival, wait, secondsOf(row.Elapsed), Number(row.AllocCPUS), limit, status];
  });
}

const inOrder = (a: readonly number[], b: readonly number[]) => {
  const i = a.findIndex((value, at) => value !== b[at]);
  return i < 0 ? 0 : a[i] - b[i];
};

describeWithSlurm("tutti lab import", () => {
  beforeAll(() => cluster.start());
  afterAll(async () => {
    await cluster.stop();
    removeFolder(folder);
  });

  test("makes a trace whose jobs equal the lines of sacct, and compare ends with a verdict", async () => {
    const overLimit = await sbatch("-n1", "-t1", "--wrap", "sleep 1000");
    const unlimited = await sbatch("-n2", "--wrap", "srun -n2 sleep 1");
    const requeued = await sbatch("-n1", "-t5", "--requeue", "--wrap", "sleep 1000");
    const cancelled = await sbatch("-n3", "-t5", "--wrap", "sleep 1000");
    const held = await sbatch("-n1", "-t5", "-H", "--wrap", "true");
    const chained = await sbatch("-n1", "-t5", `--dependency=afterany:${unlimited}`, "--wrap", "exit 7");
    for (let i = 6; i < JOBS; i++)
      await sbatch(`-n${1 + (i % 4)}`, `-t${1 + (i % 3)}`, "--wrap", `srun true; sleep ${i % 3}`);
    const isIn = (state: string, job: string) => async () =>
      (await cluster.slurm("squeue", "-h", "-t", "all", "-j", job, "-o", "%T")) === state;
    await until("the job over its limit runs", isIn("RUNNING", overLimit));
    // Now it is over its limit, which cannot be shorter than a minute. Slurm looks every half minute.
    await cluster.slurm("scontrol", "update", `jobid=${overLimit}`, "EndTime=now");
    await until("the job to requeue runs", isIn("RUNNING", requeued));
    await until("the job to cancel runs", isIn("RUNNING", cancelled));
    await cluster.slurm("scontrol", "requeue", requeued);
    await cluster.slurm("scancel", cancelled, held);
    await until("it is pending again", isIn("PENDING", requeued));
    await cluster.slurm("scancel", requeued);
    await until("the job over its limit has ended", isIn("TIMEOUT", overLimit));
    await until("the others have ended", isIn("FAILED", chained));
    const runs = JOBS - 1;
    await until("sacct knows it", async () => (await expected()).length === runs);

    const file = join(folder, "site.swf");
    const made = await tutti("lab", "import", file, "--since", "now-1hour");
    expect(made.status, made.stderr).toBe(0);
    const text = readFileSync(file, "utf8");
    const rows = await expected();
    const firstS = Math.min(...rows.map(([arrival]) => arrival));
    const jobs = text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith(";"))
      .map((line) => line.split(" ").map(Number))
      .map(([, submit, wait, run, size, , , , limit, , status]) => [
        ...[submit + firstS, wait, run, size, limit, status],
      ]);
    expect(jobs.sort(inOrder)).toEqual(rows.sort(inOrder));
    expect(jobs).toHaveLength(runs);
    expect(rows.filter(([, , , , limit]) => limit === -1)).toHaveLength(1);
    expect(text).toContain(`; UnixStartTime: ${firstS}\n`);
    expect(text).toContain("; MaxProcs: 16\n");
    // A job has a batch step, and those that ran srun another one.
    const said = made.stderr.replace(/\n {2}/g, " ");
    expect(said).toMatch(/dropped \d\d: A step of a job/);
    expect(said).toMatch(/kept 1: The time limit is UNLIMITED/);
    expect(said).toMatch(/kept 1: Slurm queued the job again/);
    // Slurm may or may not have reported the jobs that never ran to its accounting.
    const neverRan = (await accounted()).length - rows.length;
    const told = /dropped (\d): The job was cancelled before it started/.exec(said);
    expect(Number(told?.[1] ?? 0)).toBe(neverRan);

    const compared = await tutti("compare", file, "--policy", "fcfs,easy,gang:rows=4");
    expect(compared.status, compared.stderr).toBe(0);
    const verdict = compared.stdout.slice(compared.stdout.indexOf("\nVerdict\n")).replace(/\n {4}/g, " ");
    const sentences = verdict.split("\n  - ").slice(1);
    expect(sentences.map((sentence) => /^With (\S+), jobs would have ended /.exec(sentence)?.[1])).toEqual([
      "fcfs",
      "easy",
      "gang:rows=4",
      undefined,
    ]);
    const { stdout } = await tutti("compare", file, "--policy", "easy", "--json");
    const [{ verdict: judged }] = JSON.parse(stdout).policies;
    const responses = rows.map(([, wait, run]) => wait + run);
    const sum = responses.reduce((total, response) => total + response, 0);
    expect(judged.jobs).toBe(runs);
    expect(judged.loggedS).toBeCloseTo(sum / runs, 9);
  });

  test("what sacct refuses is an error without a file", async () => {
    const file = join(folder, "none.swf");
    const wrong = await tutti("lab", "import", file, "--since", "the-day-before");
    expect([wrong.status, wrong.stderr]).toEqual([66, expect.stringContaining("Invalid time specification")]);
    const empty = await tutti("lab", "import", file, "--since", "2020-01-01", "--until", "2020-01-02");
    expect([empty.status, empty.stderr]).toEqual([66, expect.stringContaining("shows no job")]);
    expect(() => readFileSync(file)).toThrow(/ENOENT/);
  });
});
