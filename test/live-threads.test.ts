/**
 * Runs programs that ask how many CPUs they have: nproc, make, OpenMP, Open MPI, and both together. Each is
 * the real program, and each says itself what it got.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allowedCpus } from "@tutti/host/machine.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Leftovers } from "./leftovers.ts";
import { type Started, startTutti, until } from "./live-command.ts";

const CPUS = allowedCpus().slice(0, 2);
const isInPath = (program: string) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
const HAS_TWO = CPUS.length === 2;
const MPIRUN = "mpirun --allow-run-as-root";

const OPENMP = `
#include <omp.h>
#include <stdio.h>
int main(void) {
#pragma omp parallel
#pragma omp single
  printf("%d threads\\n", omp_get_num_threads());
  return 0;
}
`;
/** A rank and its threads, and whether the rank may run on all CPUs of the job. */
const HYBRID = `
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
int main(int count, char **words) {
  int rank, ranks, threads = 0;
  cpu_set_t cpus;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sched_getaffinity(0, sizeof cpus, &cpus);
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  printf("rank %d of %d: %d threads, %d CPUs\\n", rank, ranks, threads, CPU_COUNT(&cpus));
  MPI_Finalize();
  return 0;
}
`;
/** Each of two targets ends only if the other one runs at the same time. */
const MAKEFILE = `all: a b
a:
\ttouch a; i=0; until [ -e b ] || [ $$i -ge 300 ]; do sleep 0.1; i=$$((i+1)); done; [ -e b ]
b:
\ttouch b; i=0; until [ -e a ] || [ $$i -ge 300 ]; do sleep 0.1; i=$$((i+1)); done; [ -e a ]
.PHONY: all
`;

let folder: string;
let socket: string;
let leftovers: Leftovers;
let server: Started;

function compiled(compiler: string, name: string, source: string): boolean {
  if (!isInPath(compiler)) return false;
  writeFileSync(join(folder, `${name}.c`), source);
  const words = ["-fopenmp", "-o", join(folder, name), join(folder, `${name}.c`)];
  return spawnSync(compiler, words, { stdio: "ignore" }).status === 0;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-threads-"));
  socket = join(folder, "run", "tutti.sock");
  const state = join(folder, "state");
  leftovers = new Leftovers(folder, state);
  const options = ["--private", "--no-http", "--slot", "50ms", "--cpus", CPUS.join(), "--state", state];
  server = startTutti(socket, ["serve", ...options], { cwd: folder });
  await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
});
afterAll(async () => {
  await startTutti(socket, ["down", "--kill"]).result;
  server.child.kill("SIGKILL");
  await leftovers.clear();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

/** Sorted lines of a job's output; `-` stands for an unset variable. */
async function ran(options: string, script: string): Promise<string[]> {
  const words = ["run", ...options.split(" "), "--env", "PATH,HOME", "--", "sh", "-c", script];
  const { stdout, stderr, status } = await startTutti(socket, words, { cwd: folder }).result;
  expect({ status, stderr: status === 0 ? "" : stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.trim().split("\n").sort();
}

describe.skipIf(!HAS_TWO)("a job of two CPUs", () => {
  test.each([
    ["-n 2", "2 - 2 1 localhost slots=2"],
    ["-c 2", "2 2 1 2 localhost slots=1"],
    ["-n 2 -c 1", "1 1 2 1 localhost slots=2"],
    ["-n 1", "1 1 1 1 localhost slots=1"],
  ])("%s: nproc, OMP_NUM_THREADS, tasks, threads and host file agree", async (options, line) => {
    const script =
      'echo $(nproc) $(printenv OMP_NUM_THREADS || echo -) $TUTTI_NTASKS $TUTTI_THREADS $(cat "$TUTTI_HOSTFILE")';
    expect(await ran(options, script)).toEqual([line]);
  });

  test("a script for Slurm reads the same numbers", async () => {
    const path = join(folder, "job.sh");
    writeFileSync(
      path,
      '#!/bin/sh\n#SBATCH -n 1 -c 2\necho $SLURM_NTASKS $SLURM_CPUS_PER_TASK $SLURM_CPUS_ON_NODE $(nproc) $(cat "$TUTTI_HOSTFILE")\n',
    );
    const { stdout } = await startTutti(socket, ["run", path], { cwd: folder }).result;
    expect(stdout).toBe("1 2 2 2 localhost slots=1\n");
  });

  test.skipIf(!isInPath("make"))("make -j$(nproc) runs two targets at a time", async () => {
    for (const options of ["-n 2", "-c 2"]) {
      const build = mkdtempSync(join(folder, "build-"));
      writeFileSync(join(build, "Makefile"), MAKEFILE);
      await ran(options, `make -C ${build} -j$(nproc)`);
    }
  });

  test.skipIf(!isInPath("gcc"))("an OpenMP program has two threads", async ({ skip }) => {
    if (!compiled("gcc", "openmp", OPENMP)) skip("gcc cannot compile OpenMP here");
    expect(await ran("-c 2", "./openmp")).toEqual(["2 threads"]);
    expect(await ran("-n 2", "./openmp")).toEqual(["2 threads"]);
    expect(await ran("-n 2 -c 1", "./openmp")).toEqual(["1 threads"]);
    expect(await ran("-c 2", "OMP_NUM_THREADS=1 ./openmp")).toEqual(["1 threads"]);
  });

  test.skipIf(!isInPath("mpicc") || !isInPath("mpirun"))(
    "ranks of Open MPI have one thread, and hybrid ranks theirs",
    async ({ skip }) => {
      if (!compiled("mpicc", "hybrid", HYBRID)) skip("mpicc cannot compile MPI with OpenMP here");
      const hosts = `${MPIRUN} --hostfile $TUTTI_HOSTFILE ./hybrid`;
      const ranks = ["rank 0 of 2: 1 threads, 2 CPUs", "rank 1 of 2: 1 threads, 2 CPUs"];
      expect(await ran("-n 2", hosts)).toEqual(ranks);
      expect(await ran("-n 2 -c 1", hosts)).toEqual(ranks);
      // One rank with both CPUs: Open MPI alone would bind it to one of them.
      expect(await ran("-c 2", hosts)).toEqual(["rank 0 of 1: 2 threads, 2 CPUs"]);
      // A plain mpirun starts a rank for each task; Open MPI alone would start one for each CPU.
      expect(await ran("-n 2", `${MPIRUN} ./hybrid`)).toEqual(ranks);
      expect(await ran("-c 2", `${MPIRUN} ./hybrid`)).toEqual(["rank 0 of 1: 2 threads, 2 CPUs"]);
      expect(await ran("-c 2", `${MPIRUN} -n 1 ./hybrid`)).toEqual(["rank 0 of 1: 2 threads, 2 CPUs"]);
      // What a script chooses itself stays, also for mpirun.
      const own = `export OMP_NUM_THREADS=2; X=1 ${MPIRUN} -x X -n 1 ./hybrid`;
      expect(await ran("-n 2", own)).toEqual(["rank 0 of 1: 2 threads, 2 CPUs"]);
      expect(await ran("-n 2", `${MPIRUN} --bind-to core ./hybrid`)).toEqual([
        "rank 0 of 2: 1 threads, 1 CPUs",
        "rank 1 of 2: 1 threads, 1 CPUs",
      ]);
    },
  );
});
