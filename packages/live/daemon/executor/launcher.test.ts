import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { infoOf, type JobRecord } from "../contract/record.ts";
import { Launcher } from "./launcher.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-launcher-"));
afterAll(() => rmSync(folder, { recursive: true }));
const isRoot = process.getuid?.() === 0;

function recordIn(jobsFolder: string, fields: Partial<JobRecord> = {}): JobRecord {
  return {
    job: 7,
    name: "solve",
    uid: 12_345,
    user: "anna",
    queue: "default",
    state: "starting",
    tasks: 3,
    priority: 0,
    command: ["solve"],
    cwd: "/",
    limitMs: 5000,
    estimateMs: 5000,
    memoryBytes: undefined,
    stdout: join(jobsFolder, "7", "stdout"),
    stderr: join(jobsFolder, "7", "stderr"),
    after: [],
    retries: 0,
    environment: 1,
    submittedAtMs: 0,
    queueRank: 1,
    attempt: 1,
    nodes: [{ node: "localhost", cpus: [4, 5, 6] }],
    ranMs: 0,
    ...fields,
  };
}

function launcherIn(jobsFolder: string, isShared: boolean, choosesNodes = false): Launcher {
  mkdirSync(jobsFolder);
  return new Launcher({
    jobsFolder,
    choosesNodes,
    graceMs: 100,
    accounts: () =>
      isShared ? { uid: 12_345, gid: 54_321 } : { uid: process.getuid!(), gid: process.getgid!() },
  });
}

describe("Launcher", () => {
  test("a job that has removed all rights from its folders is still prepared again", () => {
    const jobs = join(folder, "rights");
    const launcher = launcherIn(jobs, false);
    launcher.prepare(recordIn(jobs));
    const next = join(jobs, "7", "2");
    mkdirSync(next);
    writeFileSync(join(next, "hosts"), "not ours", { mode: 0 });
    for (const path of [next, join(jobs, "7")]) chmodSync(path, 0);
    launcher.prepare(recordIn(jobs, { attempt: 2 }));
    for (const path of [join(jobs, "7"), next]) expect(lstatSync(path).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(next, "hosts"), "utf8")).toBe("localhost slots=3\n");
  });

  test("an output folder that cannot be made does not stop other jobs", () => {
    const jobs = join(folder, "proc");
    launcherIn(jobs, false).prepare(recordIn(jobs, { stdout: "/proc/tutti/folder/out" }));
    expect(lstatSync(join(jobs, "7", "1")).isDirectory()).toBe(true);
  });

  const SCRIPT = Buffer.from("#!/bin/sh\necho caf\xe9\n", "latin1");
  const scripted = { command: ["/bin/sh", "/home/anna/weather.sh", "-x"], script: 1, scriptWord: 1 };

  test.each(isRoot ? [false, true] : [false])(
    "a script is in a folder of its job, under its own name, private to its user; a new attempt gets a new copy (as root: %s)",
    (isShared) => {
      const jobs = join(folder, `scripts-${isShared}`);
      const launcher = launcherIn(jobs, isShared);
      const copy = join(jobs, "7", "script", "weather.sh");
      for (const attempt of [1, 2]) {
        const record = recordIn(jobs, { ...scripted, attempt });
        launcher.prepare(record, SCRIPT);
        expect(readFileSync(copy)).toEqual(SCRIPT);
        expect(lstatSync(copy).mode & 0o777).toBe(0o500);
        const { command, env } = launcher.spec(record, {});
        expect(command).toEqual(["/bin/sh", copy, "-x"]);
        expect(env.TUTTI_SCRIPT).toBe("/home/anna/weather.sh");
        // The first attempt changes its copy.
        chmodSync(copy, 0o700);
        writeFileSync(copy, "echo other");
      }
      expect(lstatSync(copy).uid).toBe(isShared ? 12_345 : process.getuid?.());
      expect(lstatSync(join(jobs, "7", "script")).uid).toBe(process.getuid?.());
    },
  );

  test("if the word is not a file name, the script gets another name", () => {
    const jobs = join(folder, "odd");
    const launcher = launcherIn(jobs, false);
    for (const word of ["/", "/home/..", ".", `/${"x".repeat(300)}`]) {
      const record = recordIn(jobs, { command: [word], script: 1, scriptWord: 0 });
      launcher.prepare(record, SCRIPT);
      expect(launcher.spec(record, {}).command).toEqual([join(jobs, "7", "script", "script")]);
    }
  });

  test("makes a private folder with the host file; repeating it is harmless", () => {
    const jobs = join(folder, "own");
    const launcher = launcherIn(jobs, false);
    const record = recordIn(jobs, { stdout: join(folder, "far", "away", "out") });
    launcher.prepare(record);
    launcher.prepare(record);
    expect(lstatSync(join(jobs, "7", "1")).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(jobs, "7", "1", "hosts"), "utf8")).toBe("localhost slots=3\n");
    // The job's user makes it, when the job begins.
    expect(existsSync(join(folder, "far"))).toBe(false);
  });

  test.skipIf(!isRoot)(
    "for other users: they own their attempt and their output, but not the folder around them",
    () => {
      const jobs = join(folder, "shared");
      const launcher = launcherIn(jobs, true);
      const record = recordIn(jobs, { stderr: join(folder, "not-made", "err") });
      launcher.prepare(record);
      launcher.prepare(record);
      expect(lstatSync(join(jobs, "7"))).toMatchObject({ uid: process.getuid?.() });
      for (const path of ["stdout", "1", "1/hosts"]) {
        expect(lstatSync(join(jobs, "7", path))).toMatchObject({ uid: 12_345, gid: 54_321 });
      }
      // Root makes no folders at paths that users choose.
      expect(lstatSync(join(folder, "not-made"), { throwIfNoEntry: false })).toBeUndefined();
      expect(launcher.spec(record, {})).toMatchObject({ uid: 12_345, gid: 54_321 });
    },
  );

  test.skipIf(!isRoot)(
    "an output that a killed front end made, and did not give away, becomes the user's",
    () => {
      const jobs = join(folder, "killed");
      const launcher = launcherIn(jobs, true);
      mkdirSync(join(jobs, "7"));
      writeFileSync(join(jobs, "7", "stdout"), "", { mode: 0o600 });
      launcher.prepare(recordIn(jobs));
      expect(lstatSync(join(jobs, "7", "stdout"))).toMatchObject({ uid: 12_345, gid: 54_321 });
    },
  );

  test.skipIf(!isRoot)("follows no link to where it would write as root", () => {
    const jobs = join(folder, "links");
    const launcher = launcherIn(jobs, true);
    mkdirSync(join(jobs, "7"));
    const target = join(folder, "etc");
    mkdirSync(target);
    symlinkSync(target, join(jobs, "7", "1"));
    expect(() => launcher.prepare(recordIn(jobs))).toThrow(/EEXIST/);
    expect(lstatSync(join(target, "hosts"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("spec() sets variables that describe the job, which override the user's environment", () => {
    const launcher = launcherIn(join(folder, "spec"), false);
    const record = recordIn(join(folder, "spec"), { array: 5, arrayIndex: 9 });
    const { env, ...rest } = launcher.spec(record, {
      PATH: "/bin",
      TUTTI_JOB_ID: "forged",
      OMP_NUM_THREADS: "2",
    });
    expect(env).toEqual({
      PATH: "/bin",
      OMP_NUM_THREADS: "2",
      OMPI_MCA_hwloc_base_binding_policy: "none",
      OMPI_MCA_orte_set_default_slots: "3",
      PRTE_MCA_hwloc_default_binding_policy: "none",
      PRTE_MCA_prte_set_default_slots: "3",
      TUTTI_JOB_ID: "7",
      TUTTI_JOB_NAME: "solve",
      TUTTI_ATTEMPT: "1",
      TUTTI_NTASKS: "3",
      TUTTI_THREADS: "1",
      TUTTI_CPUS: "4,5,6",
      TUTTI_NODELIST: "localhost",
      TUTTI_HOSTFILE: join(folder, "spec", "7", "1", "hosts"),
      TUTTI_ARRAY_JOB_ID: "5",
      TUTTI_ARRAY_INDEX: "9",
    });
    expect(rest).toMatchObject({ job: 7, attempt: 1, limitMs: 5000, graceMs: 100, cwd: "/" });
    expect(rest).toMatchObject({ uid: process.getuid!(), gid: process.getgid!() });
    expect(rest.memoryBytes).toBeUndefined();
  });

  test("spec() names CPUs and nodes of a gang on several nodes, and how its tasks run", () => {
    const launcher = launcherIn(join(folder, "several"), false);
    const nodes = [
      { node: "n2", cpus: [0, 3] },
      { node: "n1", cpus: [3] },
    ];
    const record = recordIn(join(folder, "several"), { nodes, tasksRun: "each", mpi: "pmix" });
    const { env, ...rest } = launcher.spec(record, {});
    expect(env).toMatchObject({ TUTTI_CPUS: "n2:0,3 n1:3", TUTTI_NODELIST: "n2,n1", TUTTI_NTASKS: "3" });
    expect(rest).toMatchObject({ nodes, tasks: 3, tasksRun: "each", mpi: "pmix" });
    launcher.prepare(record);
    expect(readFileSync(join(folder, "several", "7", "1", "hosts"), "utf8")).toBe("n2 slots=2\nn1 slots=1\n");
    const onOne = launcher.spec(recordIn(join(folder, "several"), { nodes: [nodes[0]] }), {});
    expect(onOne.env).toMatchObject({ TUTTI_CPUS: "0,3", TUTTI_NODELIST: "n2" });
    expect(onOne.mpi).toBeUndefined();
  });

  test("spec() sets Slurm's variables only for scripts that were written for Slurm", () => {
    const launcher = launcherIn(join(folder, "slurm"), false);
    const record = recordIn(join(folder, "slurm"), {
      array: 5,
      arrayIndex: 9,
      tasks: 6,
      command: ["/bin/sh", "/home/anna/job.sh"],
      script: 1,
      scriptWord: 1,
    });
    const slurm = { SLURM_SUBMIT_DIR: "/home/anna", SLURM_CPUS_PER_TASK: "2" };
    expect(launcher.spec(record, slurm).env).toMatchObject({
      ...slurm,
      SLURM_JOB_ID: "7",
      SLURM_JOB_NAME: "solve",
      SLURM_NTASKS: "3",
      SLURM_CPUS_ON_NODE: "3",
      SLURM_ARRAY_JOB_ID: "5",
      SLURM_ARRAY_TASK_ID: "9",
    });
    expect(launcher.spec(record, { SLURM_CPUS_PER_TASK: "2" }).env).not.toHaveProperty("SLURM_JOB_ID");
    expect(launcher.spec(record, slurm).env).not.toHaveProperty("SLURM_JOBID");
    // One of Slurm's names has submitted it, so there is an srun: it gets the rest, too.
    const byName = { ...slurm, TUTTI_SLURM_NAMES: "/opt/slurm", SLURM_NTASKS: "1" };
    const { env } = launcher.spec({ ...record, script: undefined, attempt: 3, tasks: 3, threads: 1 }, byName);
    expect(env).toMatchObject({
      SLURM_JOB_ID: "7",
      SLURM_JOBID: "7",
      SLURM_JOB_PARTITION: record.queue,
      SLURM_JOB_USER: record.user,
      SLURM_NTASKS: "3",
      SLURM_TASKS_PER_NODE: "3",
      SLURM_RESTART_COUNT: "2",
    });
    expect(env.SLURM_JOB_NODELIST).toBe(env.SLURMD_NODENAME);
    // A command submitted from inside a Slurm job keeps that job's variables.
    expect(
      launcher.spec({ ...record, script: undefined }, { ...slurm, SLURM_JOB_ID: "99" }).env,
    ).toMatchObject({ SLURM_JOB_ID: "99" });
  });

  test("outputPath() fills in patterns", () => {
    const launcher = launcherIn(join(folder, "paths"), false);
    const names = { job: 7, array: 5, arrayIndex: 3, name: "a/b", user: "anna", cwd: "/home/anna" };
    expect(launcher.outputPath("o-%j-%a-%x-100%%", "stdout", names)).toBe("/home/anna/o-7-3-a_b-100%");
    expect(launcher.outputPath("/tmp/%j", "stdout", names)).toBe("/tmp/7");
    expect(launcher.outputPath("%A_%a.%u", "stdout", names)).toBe("/home/anna/5_3.anna");
    expect(launcher.outputPath("%4j_%03a-%5z", "stdout", names)).toBe("/home/anna/0007_003-%5z");
    const { array: _, arrayIndex: __, ...alone } = names;
    expect(launcher.outputPath("%A_%a", "stdout", alone)).toBe("/home/anna/7_");
    expect(launcher.outputPath(undefined, "stdout", names)).toBe(join(folder, "paths", "7", "stdout"));
    expect(launcher.outputPath("/tmp/%N", "stdout", names)).toBe(`/tmp/${hostname()}`);
  });

  test("%N on a cluster is the first node of each attempt, and stays %N while there is none", () => {
    const jobs = join(folder, "cluster");
    const launcher = launcherIn(jobs, false, true);
    const waiting = recordIn(jobs, {
      nodes: [],
      stdout: launcher.outputPath(join(folder, "out-%N/%%N"), "stdout", recordIn(jobs)),
      stderr: launcher.outputPath("%N/%j.err", "stderr", recordIn(jobs)),
    });
    expect(infoOf(waiting)).toMatchObject({ stdout: join(folder, "out-%N/%N"), stderr: "/%N/7.err" });
    const started = { ...waiting, nodes: ["n3", "n1"].map((node) => ({ node, cpus: [0] })) };
    const outputs = { stdout: join(folder, "out-n3/%N"), stderr: "/n3/7.err" };
    expect(launcher.spec(started, {})).toMatchObject(outputs);
    expect(infoOf(started)).toMatchObject(outputs);
    expect(infoOf({ ...started, nodes: [{ node: "n2", cpus: [0] }] }).stderr).toBe("/n2/7.err");
  });
});
