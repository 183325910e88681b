import { describe, expect, test } from "vitest";
import { UsageError } from "../errors.ts";
import { readJobScript } from "./job-script.ts";
import { slurmSeconds } from "./slurm-options.ts";

const wordsOf = (...lines: string[]) =>
  readJobScript(lines.map((line) => `#SBATCH ${line}\n`).join("")).words;

describe("#SBATCH lines", () => {
  test("short and long, with and without a blank, are understood", () => {
    const { words, warnings, isForSlurm } = readJobScript(`#!/bin/sh
#SBATCH -n4
#SBATCH -c 2
#SBATCH -N 1
#SBATCH --time=1-02:03:04
#SBATCH -p short,long
#SBATCH -J "my job"
#SBATCH --output=out-%j.txt -e err-%4A_%a.txt
#SBATCH --array=1-10%2
#SBATCH -d afterok:12:13,afterany:14
#SBATCH --mem=2G
#SBATCH -D /tmp -H
srun ./a.out
#SBATCH -n 64
`);
    expect(words).toEqual([
      ...["--time", "93784s"],
      ...["--queue", "short"],
      ...["--name", "my job"],
      ...["--output", "out-%j.txt", "--error", "err-%4A_%a.txt"],
      ...["--array", "1-10%2"],
      ...["--after", "12,13,any:14"],
      ...["--cwd", "/tmp", "--hold"],
      ...["--tasks", "8"],
      ...["--mem", "2048M"],
      ...["--env", "all,OMP_NUM_THREADS=2,SLURM_CPUS_PER_TASK=2"],
    ]);
    expect([warnings, isForSlurm]).toEqual([[], true]);
    expect(readJobScript("#TUTTI -n 2\n").isForSlurm).toBe(false);
  });

  test("tasks per node and memory per CPU are multiplied", () => {
    expect(wordsOf("--nodes=2 --ntasks-per-node=4", "--mem-per-cpu=500M", "-c 2")).toEqual([
      ...["--tasks", "16"],
      ...["--mem", "8000M"],
      ...["--env", "all,OMP_NUM_THREADS=2,SLURM_CPUS_PER_TASK=2"],
    ]);
    // If the number of tasks is given, the number per node is only a maximum.
    expect(wordsOf("-n 3 --ntasks-per-node=8")).toEqual(["--tasks", "3"]);
    expect(wordsOf("--mem-per-cpu=1G")).toEqual(["--mem", "1024M"]);
    expect(wordsOf("--mem=100 --mem-per-cpu=1G")).toEqual(["--mem", "100M"]);
    expect(wordsOf("--mem=0", "-t 0", "-t UNLIMITED")).toEqual([]);
  });

  test("the environment is chosen once, with all additions", () => {
    expect(wordsOf("--export=NONE", "-c 2")).toEqual([
      ...["--tasks", "2"],
      ...["--env", "none,OMP_NUM_THREADS=2,SLURM_CPUS_PER_TASK=2"],
    ]);
    expect(wordsOf("--export=ALL,OMP_NUM_THREADS=7", "-c 2")).toEqual([
      ...["--tasks", "2"],
      ...["--env", "all,OMP_NUM_THREADS=7,SLURM_CPUS_PER_TASK=2"],
    ]);
    expect(wordsOf("--export=ALLOWED,B=1")).toEqual(["--env", "ALLOWED,B=1"]);
  });

  test("unsupported options are named in one line, and the others still work", () => {
    const { words, warnings } = readJobScript(`#SBATCH --gres=gpu:1
#SBATCH --exclusive
#SBATCH -N 2
#SBATCH -o %A_%t.out
#SBATCH --mail-user ada@example.org
#SBATCH --begin=16:00 --requeue
#SBATCH -t 5
`);
    expect(words).toEqual(["--time", "300s", "--tasks", "2"]);
    expect(warnings).toEqual([
      "#SBATCH --exclusive: ignored; a job always has its CPUs to itself while its row runs",
      "#SBATCH -N 2: this scheduler runs on one machine, which provides all CPUs",
      "#SBATCH -o %A_%t.out: ignored; %t is not supported here, only %j, %A, %a, %x, %u and %N",
      "#SBATCH --begin=16:00: ignored; the job starts as soon as there is room; to start it later, use --hold now and tutti release later",
      "#SBATCH --gres=gpu:1, --mail-user ada@example.org, --requeue: ignored, not supported here",
    ]);
  });

  test.each([
    ["-n many", "a whole number of at least 1"],
    ["-n=2", "a whole number of at least 1"],
    ["--cpus-per-task=0", "a whole number of at least 1"],
    ["--time", "minutes"],
    ["-t abc", "minutes"],
    ["--mem=lots", "a size"],
    ["-d singleton", "afterok or afterany"],
    ["--dependency=afterok:1?afterany:2", "afterok or afterany"],
    ["--dependency=afternotok:1", "afterok or afterany"],
    ["-J", "a value"],
  ])("%s is refused, since without it the job would be a different one", (line, expected) => {
    expect(() => wordsOf(line)).toThrow(UsageError);
    expect(() => wordsOf(line)).toThrow(`Cannot use the line "#SBATCH ${line}": expected ${expected}`);
  });
});

describe("slurmSeconds()", () => {
  // The formats in the manual of sbatch.
  test.each([
    ["5", 300],
    ["5:30", 330],
    ["1:00:00", 3600],
    ["2-3", 183_600],
    ["2-3:04", 183_840],
    ["2-3:04:05", 183_845],
    ["0", 0],
    ["", undefined],
    ["-1", undefined],
    ["1:2:3:4", undefined],
    ["UNLIMITED", undefined],
  ])("%s", (text, seconds) => {
    expect(slurmSeconds(text)).toBe(seconds);
  });
});
