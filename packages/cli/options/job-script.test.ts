import { describe, expect, test } from "vitest";
import { interpreterOf, readJobScript, splitWords } from "./job-script.ts";

describe("readJobScript()", () => {
  test("reads #TUTTI lines before the first command, in order", () => {
    const { words, slurm } = readJobScript(`#!/bin/bash
# a remark
#TUTTI -n 4 --time 10m
#TUTTI --name "two words"   # and a remark

#TUTTI --hold
./a.out
#TUTTI -n 99
`);
    expect(words).toEqual(["-n", "4", "--time", "10m", "--name", "two words", "--hold"]);
    expect(slurm).toBeUndefined();
  });

  test("#TUTTI and #SBATCH lines are read separately, and similar comments are ignored", () => {
    expect(readJobScript("#SBATCH -n 2\n#TUTTI -n 3\n")).toMatchObject({
      words: ["-n", "3"],
      slurm: { given: [{ name: "ntasks", value: "2", text: "#SBATCH -n 2" }] },
    });
    expect(readJobScript("#SBATCHX -n 2\n##TUTTI -n 3\n #TUTTI -n 4\n").words).toEqual([]);
    expect(readJobScript("#TUTTI -n 2\r\n#TUTTI --hold\r\n").words).toEqual(["-n", "2", "--hold"]);
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
  test("is the program in the first line with one argument, as in the kernel", () => {
    expect(interpreterOf("#!/bin/bash\nx")).toEqual(["/bin/bash"]);
    expect(interpreterOf("#! /usr/bin/env  python3 -u \n")).toEqual(["/usr/bin/env", "python3 -u"]);
    expect(interpreterOf("#!/bin/sh -e\r\n")).toEqual(["/bin/sh", "-e"]);
    expect(interpreterOf("echo")).toBeUndefined();
    expect(interpreterOf(" #!/bin/sh")).toBeUndefined();
  });
});
