import { parseJobName } from "@tutti/cli/live/slurm-numbers.ts";
import { slurmWords } from "@tutti/cli/options/job-script.ts";
import { expandHostlist } from "@tutti/slurm/formats/hostlist.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseWords } from "./command.ts";
import { srun } from "./commands/srun.ts";
import { foldHosts } from "./text/hostlist.ts";
import { limitMs, longDuration, parseTime, shortDuration } from "./text/times.ts";

describe("parseWords()", () => {
  const spec = {
    options: "ntasks,n= label,l nice? partition,p= parsable",
    usage: "",
    run: () => Promise.resolve(),
  };
  const given = (...words: string[]) =>
    parseWords("sbatch", spec, words).given.map(({ name, value }) => [name, value]);

  test("reads options in every form of getopt_long", () => {
    expect(
      given("-n4", "-n", "5", "-ln6", "--ntasks=7", "--ntasks", "8", "--nt=9", "--nice", "--nice=3"),
    ).toEqual([
      ["ntasks", "4"],
      ["ntasks", "5"],
      ["label", undefined],
      ["ntasks", "6"],
      ["ntasks", "7"],
      ["ntasks", "8"],
      ["ntasks", "9"],
      ["nice", undefined],
      ["nice", "3"],
    ]);
  });

  test("options may follow other words, unless a program's words do", () => {
    expect(parseWords("sbatch", spec, ["a", "-n", "1", "--", "-l"])).toMatchObject({ words: ["a", "-l"] });
    expect(parseWords("sbatch", { ...spec, stopsAtWord: true }, ["-n1", "a", "-n", "2"])).toMatchObject({
      words: ["a", "-n", "2"],
      given: [{ name: "ntasks" }],
    });
  });

  test.each([
    [["--bogus"], "sbatch: unrecognized option '--bogus'"],
    [["-z"], "sbatch: invalid option -- 'z'"],
    [["-n"], "sbatch: option requires an argument -- 'n'"],
    [["--ntasks"], "sbatch: option '--ntasks' requires an argument"],
    [["--label=1"], "sbatch: option '--label' doesn't allow an argument"],
    [["--par"], "sbatch: option '--par' is ambiguous"],
  ])("%j is refused", (words, message) => {
    expect(() => parseWords("sbatch", spec, words)).toThrow(message);
  });
});

test("options of a script end at its first command", () => {
  const script =
    '#!/bin/bash\n#SBATCH -J "a b" -n 2 # two\n# text\n\n##SBATCH -c 3\n#SBATCH --mem=1G\necho\n#SBATCH -p x\n';
  expect(slurmWords(script)).toEqual(["-J", "a b", "-n", "2", "--mem=1G"]);
});

describe("parseJobName()", () => {
  test.each([
    ["12", { number: 12 }],
    ["12_3", { number: 12, indices: [[3, 3]] }],
    [
      "12_[1-4,7%2]",
      {
        number: 12,
        indices: [
          [1, 4],
          [7, 7],
        ],
      },
    ],
    ["12.batch", { number: 12, step: "batch" }],
  ])("%s", (text, name) => {
    expect(parseJobName(text)).toEqual({ ...name, text });
  });

  test.each(["", "x", "-1", "12_", "12_[", "12_[]", "12_[1-]", "12;13", "12 13", "1e3", "12_x"])(
    "%j is none",
    (text) => {
      expect(parseJobName(text)).toBeUndefined();
    },
  );
});

describe("lists of nodes", () => {
  // From a real Slurm: scontrol show hostnames, scontrol show hostlist.
  test("are expanded and folded as by scontrol", () => {
    expect(expandHostlist("n[1-3,7],m")).toEqual(["n1", "n2", "n3", "n7", "m"]);
    expect(foldHosts(["a1", "a2", "b"])).toBe("a[1-2],b");
    expect(expandHostlist("n[08-10]")).toEqual(["n08", "n09", "n10"]);
    expect(expandHostlist("r[1-2]n[1-2]")).toEqual(["r1n1", "r1n2", "r2n1", "r2n2"]);
  });

  test("that are no lists, or name too many, are refused", () => {
    for (const text of ["", "n[1", "n]", "n[a-b]", "n[1-999999999]", "n[0-9999]x[0-9999]"])
      expect(expandHostlist(text)).toBeUndefined();
  });

  test("folding loses nothing", () => {
    const name = fc.stringMatching(/^[a-z]{1,3}\d{0,3}$/);
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 20 }), (names) => {
        expect(expandHostlist(foldHosts(names))).toEqual(names);
      }),
    );
  });
});

describe("times", () => {
  test("durations are those of squeue and sacct", () => {
    expect([3, 60, 3723, 93_784].map((s) => shortDuration(s * 1000))).toEqual([
      "0:03",
      "1:00",
      "1:02:03",
      "1-02:03:04",
    ]);
    expect([3, 93_784].map((s) => longDuration(s * 1000))).toEqual(["00:00:03", "1-02:03:04"]);
    expect(limitMs(1000)).toBe(60_000);
  });

  test("times that -S and -E name", () => {
    const now = new Date(2026, 10, 23, 12, 0, 0).getTime();
    const day = new Date(2026, 10, 23).getTime();
    expect(parseTime("now-1hour", now)).toBe(now - 3_600_000);
    expect(parseTime("now+2days", now)).toBe(now + 2 * 86_400_000);
    expect(parseTime("today", now)).toBe(day);
    expect(parseTime("1970-01-01", now)).toBe(new Date(1970, 0, 1).getTime());
    expect(parseTime("2026-11-23T08:30", now)).toBe(day + 8.5 * 3_600_000);
    expect(parseTime("08:30", now)).toBe(day + 8.5 * 3_600_000);
    expect(parseTime("11/22/26", now)).toBe(new Date(2026, 10, 22).getTime());
    for (const text of ["11/22/26-08:30:15", "11.22.26-8:30:15", "112226-08:30:15", "2026-11-22T08:30:15"])
      expect(parseTime(text, now), text).toBe(new Date(2026, 10, 22, 8, 30, 15).getTime());
    for (const text of ["11/22", "11.22", "1122"])
      expect(parseTime(text, now), text).toBe(new Date(2026, 10, 22).getTime());
    for (const text of ["teatime", "16:00", "4:00PM", "04:00 pm"])
      expect(parseTime(text, now), text).toBe(day + 16 * 3_600_000);
    expect(parseTime("12:30am", now)).toBe(day + 1_800_000);
    const none = ["", "x", "nowx", "now-", "2026", "-1", "25:00", "16:99", "0:00pm", "13:00pm"];
    const noDays = ["2026-13-45", "2026-11-31", "2026-02-30T99:99", "13/45", "99/99", "11/22.26", "1131"];
    for (const text of [...none, ...noDays]) expect(parseTime(text, now), text).toBeUndefined();
  });
});

test("srun starts one program: those behind a colon are not its arguments", async () => {
  await expect(srun.run(parseWords("srun", srun, ["-n", "1", "./a", ":", "-n", "2", "./b"]))).rejects.toThrow(
    "separated by :",
  );
});
