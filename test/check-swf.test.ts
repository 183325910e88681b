/**
 * Tests python/check_swf.py, which shares no code with Tutti: it accepts the schedules of all policies, with
 * the exact starts of those that it knows, and rejects changes after which no processor is used twice.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tuttiHere } from "./command-here.ts";

const program = fileURLToPath(new URL("../python/check_swf.py", import.meta.url));
const isNewEnough = "import sys; sys.exit(sys.version_info < (3, 9))";
const hasPython = spawnSync("python3", ["-c", isNewEnough]).status === 0;
const MODEL = "lublin:jobs=1500:processors=64:estimates=tsafrir";
/** Fields of a line of SWF, from 0. */
const [JOB, SUBMIT, WAIT, RUN, ALLOCATED, REQUESTED, ESTIMATE] = [0, 1, 2, 3, 4, 7, 8] as const;

type Line = number[];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-check-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function check(file: string, ...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync("python3", [program, file, ...words], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, words: stdout + stderr };
}

/** The schedule of a policy, as Tutti writes it. */
async function schedule(policy: string): Promise<string> {
  const file = `${policy}.swf`;
  if (existsSync(join(folder, file))) return file;
  const words = ["simulate", MODEL, "--policy", policy, "--swf", file];
  expect(await tuttiHere(folder, words)).toMatchObject({ status: 0 });
  return file;
}

/** The schedule after a change of its lines, under another name. */
function changed(file: string, change: (lines: Line[]) => Line[]): string {
  const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n");
  const isNote = (line: string) => line.startsWith(";");
  const jobs = lines.filter((line) => !isNote(line)).map((line) => line.split(" ").map(Number));
  const texts = change(jobs).map((job) => job.join(" "));
  writeFileSync(join(folder, "changed.swf"), [...lines.filter(isNote), ...texts, ""].join("\n"));
  return "changed.swf";
}

const startOf = (job: Line) => job[SUBMIT] + job[WAIT];
const endOf = (job: Line) => startOf(job) + job[RUN];

/** Changes the job that ends last: after it, nothing runs that it could disturb. */
function changeLast(change: (job: Line) => void): (lines: Line[]) => Line[] {
  return (lines) => {
    change(lines.reduce((last, job) => (endOf(job) > endOf(last) ? job : last)));
    return lines;
  };
}

/** Two jobs that wait and are alike in size and run time take each other's start. */
function swapStarts(lines: Line[]): Line[] {
  for (const first of lines)
    for (const second of lines) {
      const [firstS, secondS] = [startOf(first), startOf(second)];
      const isAlike = [ALLOCATED, RUN].every((field) => first[field] === second[field]);
      if (!isAlike || firstS === secondS || second[SUBMIT] > firstS || first[SUBMIT] > secondS) continue;
      first[WAIT] = secondS - first[SUBMIT];
      second[WAIT] = firstS - second[SUBMIT];
      return lines;
    }
  throw new Error("no two jobs are alike");
}

describe.skipIf(!hasPython)("python/check_swf.py (skipped without python3 of version 3.9 or newer)", () => {
  test.each(["fcfs", "first-fit", "easy"])("%s: every start is the expected one", async (policy) => {
    const file = await schedule(policy);
    expect(check(file, "--policy", policy, "--workload", await schedule("conservative"))).toEqual({
      status: 0,
      words: `accepted: 1500 jobs on 64 processors: arrivals, capacity, jobs of the workload, starts of ${policy}\n`,
    });
  });

  const others = POLICIES.filter(({ sharing }) => sharing === "space").map(({ name }) => name);

  test.each(others)("%s: arrivals and capacity are right", async (policy) => {
    expect(check(await schedule(policy))).toMatchObject({ status: 0 });
  });

  test.each<[string, (lines: Line[]) => Line[], RegExp]>([
    ["a job starts a second late", changeLast((job) => job[WAIT]++), /starts at .*, expected .* under easy/],
    [
      "all jobs start a day late",
      (lines) => lines.map((job) => job.with(WAIT, job[WAIT] + 86_400)),
      /starts at .*, expected/,
    ],
    ["a job is missing", (lines) => lines.toSpliced(700, 1), /job 701 of the workload .* is missing/],
    [
      "a job is there twice",
      (lines) => [...lines, lines[0].with(WAIT, 1e9)],
      /job 1 is not in the workload, or twice/,
    ],
    ["a job runs a second less", changeLast((job) => job[RUN]--), /arrives, runs, needs and expects/],
    ["two jobs take each other's start", swapStarts, /starts at .*, expected/],
    [
      "a job needs a processor less",
      (lines) => {
        const wide = lines.find((job) => job[ALLOCATED] > 1)!;
        wide[ALLOCATED]--;
        wide[REQUESTED]--;
        return lines;
      },
      /arrives, runs, needs and expects/,
    ],
    [
      "a job arrives a second earlier",
      changeLast((job) => {
        job[SUBMIT]--;
        job[WAIT]++;
      }),
      /arrives, runs, needs and expects/,
    ],
    ["a job expects more", changeLast((job) => job[ESTIMATE]++), /arrives, runs, needs and expects/],
    ["a job has another number", changeLast((job) => job.splice(JOB, 1, 9999)), /job 9999 is not in the/],
  ])("easy: rejected if %s", async (_, change, words) => {
    const file = changed(await schedule("easy"), change);
    const { status, words: said } = check(file, "--policy", "easy", "--workload", await schedule("fcfs"));
    expect(status).toBe(1);
    expect(said).toMatch(words);
    expect(said).not.toContain("processors are used");
  });

  test.each([
    ["fcfs", "easy"],
    ["first-fit", "easy"],
    ["easy", "fcfs"],
    ["conservative", "easy"],
  ])("rejected: a schedule of %s as one of %s", async (policy, as) => {
    expect(check(await schedule(policy), "--policy", as)).toMatchObject({ status: 1 });
  });

  test("rejected: a job without a start, and processors that are used twice", async () => {
    const file = await schedule("fcfs");
    const never = changed(file, (lines) => lines.with(9, lines[9].with(WAIT, -1)));
    expect(check(never).words).toMatch(/^line \d+: job 10 has no start\n$/);
    const atOnce = changed(file, (lines) => lines.map((job) => job.with(WAIT, 0)));
    expect(check(atOnce).words).toMatch(/of 64 processors are used when job \d+ starts/);
  });

  test("reads gzip, and says what it cannot read", async () => {
    const file = await schedule("easy");
    writeFileSync(join(folder, "packed"), gzipSync(readFileSync(join(folder, file))));
    expect(check("packed", "--policy", "easy")).toMatchObject({ status: 0 });
    writeFileSync(join(folder, "cut"), gzipSync(readFileSync(join(folder, file))).subarray(0, 1000));
    expect(check("cut")).toMatchObject({ status: 66, words: expect.stringMatching(/^Cannot read cut: /) });
    expect(check("missing")).toMatchObject({ status: 66 });
    writeFileSync(join(folder, "words"), "; MaxProcs: 4\n1 2 three\n");
    expect(check("words")).toEqual({
      status: 66,
      words: "Cannot use words, line 2: expected 18 numbers\n",
    });
  });
});
