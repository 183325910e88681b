import { userInfo } from "node:os";
import { describe, expect, test } from "vitest";
import { UsageError } from "../errors.ts";
import { readJobScript } from "./job-script.ts";
import { merged } from "./slurm-given.ts";
import { dependencyWords, ownWords, SCRIPT_VOICE } from "./slurm-job.ts";

/** The words of `tutti submit` for a script, with what is said about its lines. */
function readScript(text: string) {
  const { words, slurm } = readJobScript(text);
  const warnings: string[] = [];
  const given = merged(slurm?.given ?? []);
  const voice = { ...SCRIPT_VOICE, remark: (remark: string) => warnings.push(remark) };
  const ofSlurm = slurm === undefined ? [] : ownWords(given, voice, slurm.words);
  const after = dependencyWords(given.get("dependency"), voice);
  return { words: [...ofSlurm, ...after, ...words], warnings, given, isForSlurm: slurm !== undefined };
}

const wordsOf = (...lines: string[]) => readScript(lines.map((line) => `#SBATCH ${line}\n`).join("")).words;

describe("#SBATCH lines", () => {
  test("short and long, with and without a blank, are understood", () => {
    const { words, warnings, isForSlurm, given } = readScript(`#!/bin/sh
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
      ...["--time", "1564m"],
      ...["--name", "my job"],
      ...["--output", "out-%j.txt", "--error", "err-%4A_%a.txt"],
      ...["--array", "1-10%2"],
      ...["--cwd", "/tmp", "--hold"],
      ...["--tasks", "4", "--threads", "2"],
      ...["--mem", "2048M"],
      ...["--after", "12,13,any:14"],
    ]);
    expect([warnings, isForSlurm]).toEqual([[], true]);
    expect(given.get("partition")).toMatchObject({ value: "short,long", text: "#SBATCH -p short,long" });
    expect(readScript("#TUTTI -n 2\n").isForSlurm).toBe(false);
  });

  test("tasks per node and memory per CPU are multiplied", () => {
    expect(wordsOf("--nodes=2 --ntasks-per-node=4", "--mem-per-cpu=500M", "-c 2")).toEqual([
      ...["--tasks", "8", "--threads", "2"],
      ...["--mem", "8000M"],
    ]);
    expect(wordsOf("-c 4")).toEqual(["--threads", "4"]);
    expect(wordsOf("-n 2 -c 1")).toEqual(["--tasks", "2", "--threads", "1"]);
    // If the number of tasks is given, the number per node is only a maximum.
    expect(wordsOf("-n 3 --ntasks-per-node=8")).toEqual(["--tasks", "3"]);
    expect(wordsOf("--mem-per-cpu=1G")).toEqual(["--mem", "1024M"]);
    expect(wordsOf("--mem=100 --mem-per-cpu=1G")).toEqual(["--mem", "100M"]);
    expect(wordsOf("--mem=0", "-t 0", "-t UNLIMITED")).toEqual([]);
  });

  test("the environment is as chosen", () => {
    expect(wordsOf("--export=NONE")).toEqual(["--env", "none"]);
    expect(wordsOf("--export=ALL,OMP_NUM_THREADS=7", "-c 2")).toEqual([
      ...["--threads", "2"],
      ...["--env", "all,OMP_NUM_THREADS=7"],
    ]);
    expect(wordsOf("--export=ALLOWED,B=1")).toEqual(["--env", "ALLOWED,B=1"]);
  });

  test("dependencies of all kinds, per task and on the name", () => {
    expect(wordsOf("-d afternotok:3,aftercorr:7")).toEqual(["--after", "notok:3,each:7"]);
    expect(wordsOf("--dependency=singleton")).toEqual(["--singleton"]);
    expect(wordsOf("--dependency=singleton,afterok:1:2")).toEqual(["--after", "1,2", "--singleton"]);
  });

  test("unsupported options are named in one line, and the others still work", () => {
    const { words, warnings } = readScript(`#SBATCH --gres-flags=none
#SBATCH --exclusive
#SBATCH -N 2
#SBATCH -o %A_%t.out
#SBATCH -e %i.err
#SBATCH --nodelist n1
#SBATCH --begin=16:00 --requeue
#SBATCH -t 5
`);
    expect(words).toEqual(["--output", "%A_0.out", "--begin", "16:00", "--time", "5m", "--tasks", "2"]);
    expect(warnings).toEqual([
      "#SBATCH --exclusive: ignored; a job always has its CPUs to itself while its row runs",
      "#SBATCH -e %i.err: ignored; %i is not supported here, only %j, %A, %a, %x, %u and %N",
      "#SBATCH --gres-flags=none: ignored, not supported here",
    ]);
  });

  test("mail goes to --mail-user or to the user, at the events that exist here", () => {
    expect(wordsOf("--mail-type=BEGIN,end --mail-user=ada@example.org")).toEqual(
      "--mail ada@example.org --notify start,end".split(" "),
    );
    expect(wordsOf("--mail-type=FAIL")).toEqual(["--mail", userInfo().username, "--notify", "fail"]);
    expect(wordsOf("--mail-type=ALL", "--mail-user=a@b")).toEqual([
      "--mail",
      "a@b",
      "--notify",
      "start,end,fail",
    ]);
    expect(wordsOf("--mail-type=NONE --mail-user=a@b")).toEqual([]);
    const { words, warnings } = readScript("#SBATCH --mail-type=END,TIME_LIMIT_80 --mail-user=a@b\n");
    expect(words).toEqual(["--mail", "a@b", "--notify", "end"]);
    expect(warnings).toEqual([
      "#SBATCH --mail-type=END,TIME_LIMIT_80: TIME_LIMIT_80 is ignored; expected NONE, or BEGIN, END, FAIL and ALL, separated by commas",
    ]);
  });

  test.each([
    ["--mail-user=a@b", "--mail-user=a@b: no mail without --mail-type, as in Slurm"],
    [
      "--mail-type=END --mail-user=$USER@b",
      '--mail-user=$USER@b: no mail to "$USER@b", expected mail addresses such as ada@example.org or ada, separated by commas',
    ],
  ])("%s asks for no mail, and the job runs", (line, remark) => {
    expect(readScript(`#SBATCH ${line}\n`)).toMatchObject({ words: [], warnings: [`#SBATCH ${remark}`] });
  });

  test("limits are whole minutes, rounded up as sbatch does", () => {
    expect(wordsOf("--time=00:01")).toEqual(["--time", "1m"]);
    expect(wordsOf("-t 1:00")).toEqual(["--time", "1m"]);
    expect(wordsOf("-t 0:02:01")).toEqual(["--time", "3m"]);
    expect(wordsOf("-t 0")).toEqual([]);
  });

  test("what Tutti always does is no reason for a remark, and what is done otherwise is said", () => {
    const warningsOf = (line: string) => readScript(`#SBATCH ${line}\n`).warnings;
    expect(warningsOf("--open-mode=append")).toEqual([]);
    expect(warningsOf("--no-requeue")).toEqual([]);
    expect(wordsOf("--open-mode=append", "--open-mode=T")).toEqual(["--open-mode", "truncate"]);
    expect(warningsOf("--nice=5")).toEqual(["#SBATCH --nice=5: ignored; use --priority"]);
  });

  test.each([
    ["-n many", "a whole number of at least 1"],
    ["-n=2", "a whole number of at least 1"],
    ["--cpus-per-task=0", "a whole number of at least 1"],
    ["--time", "minutes"],
    ["-t abc", "minutes"],
    ["--mem=lots", "a size"],
    ["-d after:5+10", "afterok, afterany"],
    ["--dependency=afterok:1?afterany:2", "afterok, afterany"],
    ["--dependency=expand:1", "afterok, afterany"],
    ["--open-mode=over", "append or truncate"],
    ["--mail-type=SOMETIMES", "NONE, or BEGIN"],
    ["--begin=later", "a time such as 23:00"],
  ])("%s is refused, since without it the job would be a different one", (line, expected) => {
    expect(() => wordsOf(line)).toThrow(UsageError);
    expect(() => wordsOf(line)).toThrow(`Cannot use the line "#SBATCH ${line}": expected ${expected}`);
  });
});

describe("GPUs and licences in #SBATCH lines", () => {
  test.each([
    ["--gres=gpu:1", "gpu:1"],
    ["--gres gpu", "gpu:1"],
    ["--gres=gpu:a100:2", "gpu:2"],
    ["--gres=gpu:2,disk:1", "gpu:2,disk:1"],
    ["--gpus=3", "gpu:3"],
    ["-G 2", "gpu:2"],
    ["--gpus=a100:2", "gpu:2"],
    ["--gpus-per-node=2", "gpu:2"],
    ["-n 3 --gpus-per-task=1", "gpu:3"],
    ["--licenses=matlab:2", "matlab:2"],
    ["-L matlab@server:2,ansys", "matlab:2,ansys:1"],
    ["--gres=gpu:2 --gpus=2", "gpu:2"],
  ])("%s becomes --use %s", (line, use) => {
    const words = wordsOf(line);
    expect(words.slice(words.indexOf("--use"))).toEqual(["--use", use]);
  });

  test.each(["--gres=gpu:0", "--gpus=many", "--gpus=a100", "--licenses=matlab:0", "--gres="])(
    "%s is refused: without the units it would be a different job",
    (line) => {
      expect(() => wordsOf(line)).toThrow(UsageError);
    },
  );

  test("a type is ignored, and said so", () => {
    expect(readScript("#SBATCH --gres=gpu:a100:2\n").warnings).toEqual([
      "#SBATCH --gres=gpu:a100:2: a100 is ignored; any gpu will do",
    ]);
  });
});
