/** Tests steps with MPI and with a terminal, by Slurm's names and with a real scheduler. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installTestTools } from "../scripts/install-test-tools.ts";
import { until } from "./live-command.ts";
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
srun sh -c 'trap "echo got; exit 6" USR1; echo up; while sleep 0.1; do :; done' > up 2> err &
until [ "$(grep -c up up)" = 2 ]; do sleep 0.1; done
kill -USR1 $!; wait $!; code=$?
printf '== signal\\ncode %s\\n' $code; cat up; grep ^srun: err
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
      signal: ["code 6", "got", "got", ended("tasks 0-1", "Exited with exit code 6"), "up", "up"],
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

describe("a terminal", () => {
  /** Types lines into a command that runs in a terminal, each when the one before has shown its text. */
  async function inTerminal(line: string, typed: readonly (readonly [keys: string, shows: string])[]) {
    const child = spawn("script", ["-qefc", line, "/dev/null"], {
      cwd: site.folder,
      env: { ...site.env, SHELL: "/bin/sh", TERM: "xterm" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let shown = "";
    child.stdout.on("data", (piece) => {
      shown += piece;
    });
    const code = new Promise((resolve) => child.on("close", resolve));
    for (const [keys, shows] of typed) {
      child.stdin.write(keys);
      await until(() => shown.includes(shows) || child.exitCode !== null);
    }
    return { code: await code, shown };
  }

  test("salloc without a command opens the user's shell, in which srun works", async () => {
    const { code, shown } = await inTerminal("salloc -n 2", [
      ["", "# "],
      ["echo $SLURM_NTASKS-$((41 + 1)); test -t 0 && squeue -h -o %j\n", "interactive"],
      ["srun -l sh -c 'echo rank-$((SLURM_PROCID + 5))'\n", "rank-6"],
      ["srun --pty sh -c 'test -t 0 && echo second-$((3 + 4))'\n", "second-7"],
      ["exit 3\n", "Relinquishing"],
    ]);
    expect(shown).toMatch(
      /salloc: Granted job allocation (\d+)\r\n[\s\S]*salloc: Relinquishing job allocation \1\r\n$/,
    );
    expect(shown).toContain("2-42\r\n");
    expect(shown).toContain("0: rank-5\r\n");
    expect(code).toBe(3);
  });

  test("outside a job, srun and salloc pass their standard input on, as in Slurm", async () => {
    const count = (command: string) => `printf 'a\\nb\\n' | ${command}; echo code $?`;
    const lines = [
      count("srun -n 2 -l wc -l"),
      count("salloc wc -l 2> said"),
      count("srun --input=none wc -l"),
      "srun cat < /dev/null; echo code $?",
    ];
    const [both, one, none, empty] = await Promise.all(lines.map((line) => site.shell(line)));
    expect([both.stderr, sortedLines(both.stdout)]).toEqual(["", ["0: 2", "1: 2", "code 0"]]);
    expect([one, none, empty].map(({ stdout }) => stdout)).toEqual([
      "2\ncode 0\n",
      "0\ncode 0\n",
      "code 0\n",
    ]);
  });

  test("srun --pty gives a job a terminal; without one, both refuse, and a step goes on", async () => {
    const [{ code, shown }, shell, program, step] = await Promise.all([
      inTerminal("srun --pty sh", [
        ["", "# "],
        ["echo $((5 * 5))-$SLURM_PROCID\n", "25-0"],
        ["exit 4\n", "task 0"],
      ]),
      site.shell("salloc"),
      site.shell("srun --pty sh"),
      site.shell("salloc srun --pty echo seen"),
    ]);
    expect(code).toBe(4);
    expect(shown).toContain(`srun: error: ${node}: task 0: Exited with exit code 4\r\n`);
    expect([shell.status, program.status]).toEqual([1, 1]);
    expect(shell.stderr).toMatch(
      /^salloc: error: Cannot open a shell: standard input is not a terminal, .*COMMAND\n$/,
    );
    expect(program.stderr).toMatch(
      /^srun: error: Cannot give the job a terminal: standard input is not .*--pty\n$/,
    );
    expect(step).toMatchObject({ status: 0, stdout: "seen\n" });
    expect(step.stderr).toContain("srun: error: Not using a pseudo-terminal, disregarding --pty option\n");
  });
});

test("srun --multi-prog and -W do what Slurm 22.05.8 did with the same files", async () => {
  const files: Readonly<Record<string, string>> = {
    "all.conf": "# comment\n0 echo zero %t %o\n1-2 echo rest %t '%o  x'\n* echo star %t %o\n",
    "list.conf": "0-1,3 echo x%t=%o \\\n  more\n2 /bin/false\n",
    "gap.conf": "0 echo a\n2 echo b\n",
    "twice.conf": "0 echo a\n0-1 echo b\n",
    "high.conf": "0,5 echo x\n",
    "missing-program.conf": "0 nosuch\n1 echo b\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(site.folder, name), text);
  const lines = `#SBATCH -n 2 -O -o multi.out
step() { echo "== $1"; shift; "$@" 2>&1 | sort; echo "code \${PIPESTATUS[0]}"; }
step all srun -O -n 4 -l --multi-prog all.conf more
step list srun -O -n 4 -l --multi-prog list.conf
step gap srun -O -n 3 --multi-prog gap.conf
step twice srun --multi-prog twice.conf
step high srun --multi-prog high.conf
step missing srun --multi-prog missing.conf
step program srun -l --multi-prog missing-program.conf
step wait srun -W 1 sh -c '[ $SLURM_PROCID = 0 ] || exec sleep 600'
step relative srun -r 1 true`;
  await site.batch(lines);
  const steps = site
    .read("multi.out")
    .split(/^== /m)
    .slice(1)
    .map((text) => text.trimEnd().split("\n"))
    .map(([name, ...rest]) => [name, rest] as const);
  expect(Object.fromEntries(steps)).toEqual({
    all: ["0: zero 0 0 more", "1: rest 1 %o  x more", "2: rest 2 %o  x more", "3: star 3 3 more", "code 0"],
    list: [
      "0: x0=0 more",
      "1: x1=1 more",
      "3: x3=2 more",
      `srun: error: ${node}: task 2: Exited with exit code 1`,
      "code 1",
    ],
    gap: ["srun: error: Configuration file gap.conf invalid, no record for task id 1", "code 1"],
    twice: [
      "srun: error: Duplicate record for task 0",
      "srun: error: Line 2 of configuration file twice.conf invalid",
      "code 1",
    ],
    high: [
      "srun: error: Invalid task id, 5 >= ntasks",
      "srun: error: Line 1 of configuration file high.conf invalid",
      "code 1",
    ],
    missing: ["srun: error: Could not open multi_prog config file missing.conf", "code 1"],
    program: [
      "1: b",
      "slurmstepd: error: execve(): nosuch: No such file or directory",
      `srun: error: ${node}: task 0: Exited with exit code 2`,
      "code 2",
    ],
    wait: [`srun: First task exited 1s ago`, `srun: error: ${node}: task 1: Killed`, "code 137"],
    relative: [
      "srun: error: --relative and --nodes option incompatible with count of allocated nodes (1+1>1)",
      "code 1",
    ],
  });
  expect(await site.shell("srun -n 2 -l --multi-prog missing-program.conf | sort")).toMatchObject({
    stdout: "1: b\n",
    stderr: expect.stringContaining("task 0: Exited with exit code 2"),
  });
});
