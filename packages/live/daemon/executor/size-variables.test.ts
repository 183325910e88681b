import { describe, expect, test } from "vitest";
import { hostsOf, sizeVariables, slurmSize } from "./size-variables.ts";

const HERE = [{ node: "localhost", cpus: [0, 1, 2, 3] }];
const CLUSTER = [
  { node: "n1", cpus: [0, 1, 2] },
  { node: "n2", cpus: [4] },
];
const job = (tasks: number, threads?: number, nodes = HERE) => ({ tasks, threads, nodes });

describe("sizeVariables()", () => {
  // What a program gets: the number of OpenMP threads, and whether Open MPI's ranks get one.
  test.each([
    ["-n 1", job(1), {}, "1", false],
    ["-n 4: one program or four ranks", job(4), {}, undefined, true],
    ["-n 4 -c 1: four ranks", job(4, 1), {}, "1", false],
    ["-c 4", job(1, 4), {}, "4", false],
    ["-n 2 -c 2: hybrid", job(2, 2), {}, "2", false],
    ["-n 4 on a cluster: ranks, as in Slurm", job(4, undefined, CLUSTER), {}, "1", false],
    ["-n 4, with a number of the user's", job(4), { OMP_NUM_THREADS: "3" }, "3", false],
    ["-c 4, with a number of the user's", job(1, 4), { OMP_NUM_THREADS: "3" }, "3", false],
  ] as const)("%s", (_, size, environment, threads, isForRanks) => {
    const variables = sizeVariables(size, environment);
    expect(variables.OMP_NUM_THREADS).toBe(threads);
    expect(variables.OMPI_MCA_orte_fork_agent !== undefined).toBe(isForRanks);
    expect(variables).toMatchObject({
      TUTTI_NTASKS: String(size.tasks),
      TUTTI_THREADS: String(size.threads ?? 1),
      OMPI_MCA_hwloc_base_binding_policy: "none",
    });
  });

  test("a job that submits another one does not pass on what Tutti has set for it", () => {
    const outer = { ...sizeVariables(job(1, 4), { PATH: "/bin" }), TUTTI_JOB_ID: "1" };
    expect(sizeVariables(job(4), outer)).toMatchObject({
      PATH: "/bin",
      TUTTI_NTASKS: "4",
      TUTTI_THREADS: "1",
    });
    expect(sizeVariables(job(4), outer).OMP_NUM_THREADS).toBeUndefined();
    expect(sizeVariables(job(1, 2), outer).OMP_NUM_THREADS).toBe("2");
    const wide = { ...sizeVariables(job(4), {}), TUTTI_JOB_ID: "1" };
    expect(sizeVariables(job(1, 2), wide)).not.toHaveProperty("OMPI_MCA_orte_fork_agent");
    // What the outer job's script has chosen stays.
    expect(sizeVariables(job(1, 2), { ...outer, OMP_NUM_THREADS: "3" }).OMP_NUM_THREADS).toBe("3");
  });

  test("a plain mpirun starts a rank for each task, not for each CPU", () => {
    const slots = (value: string) => ({
      OMPI_MCA_orte_set_default_slots: value,
      PRTE_MCA_prte_set_default_slots: value,
    });
    expect(sizeVariables(job(2, 4), {})).toMatchObject(slots("2"));
    expect(sizeVariables(job(4), {})).toMatchObject(slots("4"));
    const outer = { ...sizeVariables(job(1, 4), {}), TUTTI_JOB_ID: "1" };
    expect(sizeVariables(job(2, 2), outer)).toMatchObject(slots("2"));
    // On a cluster, Slurm's variables say how many ranks each node has.
    expect(sizeVariables(job(1, 3, CLUSTER), outer)).not.toHaveProperty("OMPI_MCA_orte_set_default_slots");
  });

  test("ranks of Open MPI 5 get one thread by a variable of PRRTE", () => {
    const { OMPI_MCA_orte_fork_agent, PRTE_MCA_odls_base_exec_agent } = sizeVariables(job(4), {});
    expect(PRTE_MCA_odls_base_exec_agent).toBe(OMPI_MCA_orte_fork_agent);
  });

  test("what the user sets for Open MPI stays", () => {
    const environment = { OMPI_MCA_hwloc_base_binding_policy: "core", OMPI_MCA_orte_set_default_slots: "3" };
    expect(sizeVariables(job(2, 2), environment)).toMatchObject(environment);
  });
});

test("a host file has a slot for each task, where all of its CPUs are", () => {
  expect(hostsOf(job(4))).toBe("localhost slots=4\n");
  expect(hostsOf(job(2, 2))).toBe("localhost slots=2\n");
  expect(hostsOf(job(1, 4))).toBe("localhost slots=1\n");
  expect(hostsOf(job(1, 3, CLUSTER))).toBe("n1 slots=1\n");
  expect(hostsOf(job(2, 2, [...CLUSTER, { node: "n3", cpus: [0, 1] }]))).toBe("n1 slots=1\nn3 slots=1\n");
});

test("Slurm's variables tell tasks, threads and CPUs apart", () => {
  expect(slurmSize(job(2, 2))).toEqual({
    SLURM_NTASKS: "2",
    SLURM_NPROCS: "2",
    SLURM_CPUS_PER_TASK: "2",
    SLURM_CPUS_ON_NODE: "4",
    SLURM_JOB_CPUS_PER_NODE: "4",
    SLURM_NNODES: "1",
    SLURM_JOB_NUM_NODES: "1",
  });
  // As Slurm, which sets the number of a task's CPUs only for jobs that ask for it.
  expect(slurmSize(job(4))).not.toHaveProperty("SLURM_CPUS_PER_TASK");
  // An older client has multiplied both.
  expect(slurmSize(job(4), 2).SLURM_NTASKS).toBe("2");
});
