/** Tests steps with MPI and with a terminal, by Slurm's names and with a real scheduler. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installTestTools } from "../scripts/install-test-tools.ts";
import { SlurmNames } from "./slurm-names.ts";

/** Adds 1, 2, … over all ranks. `abort` and `leave`: rank 1 ends, and rank 0 would wait. */
const PROGRAM = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
  int rank, ranks, sum;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int own = rank + 1;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d/%s of %d/%s: %d\\n", rank, getenv("SLURM_PROCID"), ranks, getenv("SLURM_NTASKS"), sum);
  fflush(stdout);
  if (!strcmp(words[1], "abort") && rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  if (!strcmp(words[1], "leave") && rank == 1) _exit(4);
  if (strcmp(words[1], "end")) pause();
  MPI_Finalize();
  return 0;
}
`;

const canCompile = () => spawnSync("mpicc", ["--version"]).status === 0;
const node = hostname().split(".")[0];
let site: SlurmNames;
const sortedLines = (text: string) => text.trim().split("\n").sort();

beforeAll(async () => {
  installTestTools();
  site = await SlurmNames.start();
  mkdirSync(join(site.folder, "empty"));
  if (!canCompile()) return;
  writeFileSync(join(site.folder, "sum.c"), PROGRAM);
  const { status, stderr } = spawnSync("mpicc", ["-o", "sum", "sum.c"], { cwd: site.folder });
  expect([status, String(stderr)]).toEqual([0, ""]);
});
afterAll(() => site.clear());

describe("srun --mpi", () => {
  test.skipIf(!canCompile())("starts the ranks of Open MPI as a step of Slurm's", async () => {
    const lines = `#SBATCH -n 2 -o mpi-steps.out
step() { echo "== $1"; shift; "$@" 2> err; echo "code $?"; grep ^srun: err; }
step labels srun -l --mpi=pmix ./sum end
step files srun --mpi=openmpi -o rank-%t.out ./sum end
cat rank-0.out rank-1.out
printf 'a\\nb\\n' | step input srun -l --mpi=pmix wc -l
export SLURM_MPI_TYPE=pmix
step codes srun sh -c 'exit $SLURM_LOCALID'
step abort srun -o none ./sum abort
step leave srun -o none -K ./sum leave
step missing srun ./missing
step crowded srun -n 3 -O -o none ./sum end
true`;
    expect((await site.batch(lines)).status).toBe(0);
    const steps = site
      .read("mpi-steps.out")
      .split(/^== /m)
      .slice(1)
      .map((text) => [text.split("\n")[0], sortedLines(text.slice(text.indexOf("\n")))] as const);
    const ended = (task: string, how: string) => `srun: error: ${node}: ${task}: ${how}`;
    expect(Object.fromEntries(steps)).toEqual({
      labels: ["0: 0/0 of 2/2: 3", "1: 1/1 of 2/2: 3", "code 0"],
      files: ["0/0 of 2/2: 3", "1/1 of 2/2: 3", "code 0"],
      input: ["0: 2", "1: 2", "code 0"],
      codes: ["code 1", ended("task 1", "Exited with exit code 1")],
      abort: ["code 3", ended("task 0", "Terminated"), ended("task 1", "Exited with exit code 3")],
      leave: ["code 4", ended("task 0", "Terminated"), ended("task 1", "Exited with exit code 4")],
      missing: ["code 2", ended("tasks 0-1", "Exited with exit code 2")],
      crowded: ["code 0"],
    });
  });

  test("outside of a job, it lists the types that are there, and refuses others in Slurm's words", async () => {
    const without = "env PATH=$PWD/names:$PWD/empty";
    const [list, refused, outside] = await Promise.all([
      site.shell(`${without} srun --mpi=list`),
      site.shell(`SLURM_MPI_TYPE=pmix ${without} srun true`),
      canCompile() ? site.shell("srun -n 2 -l --mpi=pmix ./sum end") : undefined,
    ]);
    expect(list).toMatchObject({ status: 0, stdout: "MPI plugin types are...\n\tnone\n" });
    expect(refused).toMatchObject({
      status: 1,
      stderr: `srun: error: Couldn't find the specified plugin name for mpi/pmix looking at all files
srun: error: cannot find mpi plugin for mpi/pmix
srun: error: Invalid MPI type 'pmix', --mpi=list for acceptable types
srun: error: the launcher of Open MPI is not on the PATH; install it (Debian: openmpi-bin) or load its module
`,
    });
    if (outside === undefined) return;
    expect(outside.status).toBe(0);
    expect(sortedLines(outside.stdout)).toEqual(["0: 0/0 of 2/2: 3", "1: 1/1 of 2/2: 3"]);
  });
});
