import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gangVariables, stepCommand, TASK_PROLOG } from "./step.ts";

const PLACE = {
  jobId: "12",
  srun: "/opt/slurm/bin/srun",
  environment: { PATH: "/bin", SLURM_CONF: "/etc/s" },
  bindsTasks: true,
  prolog: "/state/slurm/task-prolog",
};
const NODES = [
  { node: "n3", cpus: [0, 1, 2] },
  { node: "n1", cpus: [4] },
  { node: "n2", cpus: [0, 1, 2] },
];

test("a step names a node once for each of its tasks, and starts a shim per rank", () => {
  const words = stepCommand(PLACE, { folder: "/state/jobs/7/1", nodes: NODES, tasks: 7 });
  expect(words).toContain("--nodelist=n3,n3,n3,n1,n2,n2,n2");
  expect(words).toContain("--ntasks=7");
  expect(words).toContain("--nodes=3");
  expect(words).toContain("--distribution=arbitrary");
  expect(words.slice(0, 5)).toEqual(["/usr/bin/env", "-i", "PATH=/bin", "SLURM_CONF=/etc/s", "/bin/sh"]);
  expect(words.slice(-2)).toEqual(["tutti-task", "/state/jobs/7/1"]);
  expect(words).toContain("--mpi=none");
});

test("tasks of srun in a job have its GPUs, if it may have any, unless the job has a prolog of its own", () => {
  const prologOf = (env: Record<string, string>) =>
    gangVariables(PLACE, { nodes: NODES, tasks: 1, env }).SLURM_TASK_PROLOG;
  expect(prologOf({})).toBeUndefined();
  expect(prologOf({ TUTTI_GPUS: "" })).toBe(PLACE.prolog);
  expect(prologOf({ TUTTI_GPUS: "0,1", SLURM_TASK_PROLOG: "/mine" })).toBe("/mine");
  const printed = spawnSync("/bin/sh", ["-c", TASK_PROLOG], { env: { TUTTI_GPUS: "0,2" }, encoding: "utf8" });
  expect(printed.stdout).toBe("export CUDA_VISIBLE_DEVICES=0,2\nexport ROCR_VISIBLE_DEVICES=0,2\n");
});

test("a node without tasks, of a gang that was rounded up, is not in the step", () => {
  const words = stepCommand(PLACE, { folder: "/f", nodes: NODES, tasks: 4, mpi: "pmix" });
  expect(words).toContain("--nodelist=n3,n3,n3,n1");
  expect(words).toContain("--mpi=pmix");
  expect(words).not.toContain("--mpi=none");
});

test("variables are those of a job on the gang's nodes", () => {
  expect(gangVariables(PLACE, { nodes: NODES, tasks: 7, env: {} })).toEqual({
    SLURM_JOB_ID: "12",
    SLURM_JOBID: "12",
    SLURM_JOB_NODELIST: "n3,n1,n2",
    SLURM_NODELIST: "n3,n1,n2",
    SLURM_NNODES: "3",
    SLURM_JOB_NUM_NODES: "3",
    SLURM_TASKS_PER_NODE: "3,1,3",
    SLURM_JOB_CPUS_PER_NODE: "3,1,3",
    SLURM_NTASKS: "7",
    SLURM_NPROCS: "7",
    SLURM_CPUS_ON_NODE: "3",
    SLURM_OVERLAP: "1",
    SLURM_NO_KILL: "set",
    SLURM_CPU_BIND: "none",
    SLURM_CONF: "/etc/s",
    OMPI_MCA_ess_base_forward_signals: "none",
  });
  const even = NODES.slice(0, 1).concat([{ node: "n4", cpus: [0, 1, 2] }]);
  expect(gangVariables(PLACE, { nodes: even, tasks: 6, env: {} }).SLURM_TASKS_PER_NODE).toBe("3(x2)");
});

test("with threads, tasks are where all their CPUs are, and Slurm's variables tell both numbers", () => {
  // n1 has a single CPU, so no task of two threads is there, and the third CPU of the others is spare.
  const gang = { nodes: NODES, tasks: 2, threads: 2 };
  const words = stepCommand(PLACE, { folder: "/f", ...gang });
  expect(words).toContain("--nodelist=n3,n2");
  expect(gangVariables(PLACE, { ...gang, env: {} })).toMatchObject({
    SLURM_JOB_NODELIST: "n3,n2",
    SLURM_NTASKS: "2",
    SLURM_CPUS_PER_TASK: "2",
    SLURM_TASKS_PER_NODE: "1(x2)",
    SLURM_JOB_CPUS_PER_NODE: "3(x2)",
    SLURM_CPUS_ON_NODE: "3",
  });
});

test("which signals mpirun forwards is the job's own choice, if it makes one", () => {
  const env = { OMPI_MCA_ess_base_forward_signals: "SIGUSR1" };
  expect(gangVariables(PLACE, { nodes: NODES, tasks: 7, env })).toMatchObject(env);
});

describe("a step that Slurm does not create", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tutti-step-"));
    mkdirSync(join(folder, "tasks", "0"), { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a step whose srun is a script that notes each of its runs. */
  async function runStep(script: string): Promise<number> {
    const srun = join(folder, "srun");
    writeFileSync(srun, `#!/bin/sh\necho run >> ${folder}/runs\n${script}\n`, { mode: 0o700 });
    const place = { ...PLACE, srun, environment: { PATH: process.env.PATH ?? "" } };
    const [program, ...words] = stepCommand(place, { folder, nodes: NODES, tasks: 1 });
    const child = spawn(program, words, { stdio: "ignore" });
    if (script.includes("TERM")) {
      await expect.poll(() => existsSync(join(folder, "trapped"))).toBe(true);
      child.kill("SIGTERM");
    }
    await once(child, "exit");
    return readFileSync(join(folder, "runs"), "utf8").split("\n").length - 1;
  }

  test("is tried again", async () => {
    expect(
      await runStep(`[ $(wc -l < ${folder}/runs) -lt 2 ] && exit 1; ln -s x ${folder}/tasks/0/claim`),
    ).toBe(2);
  });

  test("is not tried again once a task has claimed its folder", async () => {
    expect(await runStep(`ln -s x ${folder}/tasks/0/claim; exit 1`)).toBe(1);
  });

  test("is not tried again after TERM, which it gets", async () => {
    expect(await runStep(`trap 'exit 1' TERM; touch ${folder}/trapped; while :; do sleep 0.1; done`)).toBe(1);
  });
});
