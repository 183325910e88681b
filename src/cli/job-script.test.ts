import { describe, expect, test } from "vitest";
import { interpreterOf, readJobScript, slurmSeconds, splitWords } from "./job-script.ts";

describe("readJobScript()", () => {
  test("takes #TUTTI lines before the first command, in order", () => {
    const { words, warnings } = readJobScript(`#!/bin/bash
# a remark
#TUTTI -n 4 --time 10m
#TUTTI --name "two words"   # and a remark

#TUTTI --hold
./a.out
#TUTTI -n 99
`);
    expect(words).toEqual(["-n", "4", "--time", "10m", "--name", "two words", "--hold"]);
    expect(warnings).toEqual([]);
  });

  test("understands the common lines of Slurm, short and long, with and without a blank", () => {
    const { words, warnings } = readJobScript(`#!/bin/sh
#SBATCH -n4
#SBATCH -c 2
#SBATCH -N 1
#SBATCH --time=1-02:03:04
#SBATCH -p short,long
#SBATCH -J my-job
#SBATCH --output=out-%j.txt -e err-%a.txt
#SBATCH --array=1-10%2
#SBATCH -d afterok:12:13,afterany:14
#SBATCH --mem=2G
srun ./a.out
`);
    expect(words).toEqual([
      ...["--time", "93784s"],
      ...["--queue", "short"],
      ...["--name", "my-job"],
      ...["--output", "out-%j.txt", "--error", "err-%a.txt"],
      ...["--array", "1-10%2"],
      ...["--after", "12,13,any:14"],
      ...["--mem", "2G"],
      ...["--tasks", "8"],
      ...["--env", "all,OMP_NUM_THREADS=2"],
    ]);
    expect(warnings).toEqual([]);
  });

  test("names what it does not understand, and goes on", () => {
    const { words, warnings } = readJobScript(`#SBATCH --gres=gpu:1
#SBATCH --exclusive
#SBATCH -N 2
#SBATCH -o %A_%a.out
#SBATCH -d singleton
#SBATCH --mail-user ada@example.org
#SBATCH -n many
#SBATCH -t 5
`);
    expect(words).toEqual(["--time", "300s"]);
    expect(warnings).toEqual([
      "#SBATCH --gres=gpu:1: not understood, left out",
      "#SBATCH --exclusive: not understood, left out",
      "#SBATCH -N 2: this scheduler has one machine, all CPUs come from it",
      "#SBATCH -o %A_%a.out: there is no %A here, only %j, %a and %x; left out",
      '#SBATCH -d singleton: only afterok and afterany are understood, not "singleton"; left out',
      "#SBATCH --mail-user ada@example.org: not understood, left out",
      "#SBATCH -n many: not understood, left out",
    ]);
  });

  test("lines of our own win over Slurm's, and what only looks like a line is none", () => {
    expect(readJobScript("#SBATCH -n 2\n#TUTTI -n 3\n").words).toEqual(["--tasks", "2", "-n", "3"]);
    expect(readJobScript("#SBATCHX -n 2\n##TUTTI -n 3\n #TUTTI -n 4\n").words).toEqual([]);
    expect(readJobScript("#TUTTI -n 2\r\n#TUTTI --hold\r\n").words).toEqual(["-n", "2", "--hold"]);
  });
});

describe("slurmSeconds()", () => {
  // The forms of sbatch's manual.
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

describe("splitWords()", () => {
  test.each([
    ["a  b\tc", ["a", "b", "c"]],
    ["a 'b c' \"d e\"", ["a", "b c", "d e"]],
    ["--name='x y'z", ["--name=x yz"]],
    ["a\\ b ''", ["a b", ""]],
    ["a#b # c", ["a#b"]],
    ["'open", ["open"]],
    ["", []],
  ])("%s", (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });
});

describe("interpreterOf()", () => {
  test("is the program of the first line with one argument, as the kernel has it", () => {
    expect(interpreterOf("#!/bin/bash\nx")).toEqual(["/bin/bash"]);
    expect(interpreterOf("#! /usr/bin/env  python3 -u \n")).toEqual(["/usr/bin/env", "python3 -u"]);
    expect(interpreterOf("#!/bin/sh -e\r\n")).toEqual(["/bin/sh", "-e"]);
    expect(interpreterOf("echo")).toBeUndefined();
    expect(interpreterOf(" #!/bin/sh")).toBeUndefined();
  });
});
