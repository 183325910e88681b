/** Simulated lives of the scheduler: nothing goes wrong in them, and a seed always gives the same life. */
import { repeating, shrunkText, sumsOf, tortureText } from "@tutti/cli/text/torture-text.ts";
import type { Verdict } from "@tutti/torture/run/course.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import { torture } from "@tutti/torture/run/torture.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { makeFolder, removeFolder, tutti } from "./command.ts";
import { inNode } from "./torture/in-node.ts";

/** Lives from this seed on, until they have lasted for 30 hours. */
const FIRST_SEED = 7;
const HOURS = 30;
/** A short life. */
const SHORT = 2;

const here = inNode();
type Options = Parameters<typeof torture>[0];

function run(options: Pick<Options, "seed"> & Partial<Options>): Promise<readonly Verdict[]> {
  const { parts, settle } = here;
  const onBegin = (life: Life) => {
    here.life = life;
  };
  return torture({ hours: 0, parts, settle, onBegin, ...options });
}

test(`nothing goes wrong in ${HOURS} hours of lives with faults`, async () => {
  const lives = await run({ seed: FIRST_SEED, hours: HOURS });
  const problems = lives.flatMap(({ seed, problems }) =>
    problems.map((problem) => `${repeating(seed)}: ${problem}`),
  );
  expect(problems).toEqual([]);
  const { hours, starts, faults } = sumsOf(lives, 1);
  expect(hours).toBeGreaterThanOrEqual(HOURS);
  expect(starts).toBeGreaterThan(10);
  expect(Object.keys(faults).length).toBeGreaterThan(3);
});

describe("a short life", () => {
  let whole: Verdict;
  beforeAll(async () => {
    [whole] = await run({ seed: SHORT });
  });

  test("is the same with the same seed, to the last event", async () => {
    expect(await run({ seed: SHORT })).toEqual([whole]);
  });

  test("has only the jobs and faults that are asked for, which are as in the whole", async () => {
    const log: string[] = [];
    const only = { jobs: [{ first: 2, last: 2 }], faults: [] };
    const [{ jobs, faults, problems }] = await run({ seed: SHORT, only, log: (line) => log.push(line) });
    expect([jobs, faults, problems]).toEqual([1, {}, []]);
    expect(log.filter((line) => line.includes("begins")).length).toBeGreaterThan(0);
  });

  test("ends at once if it is stopped", async () => {
    let lines = 0;
    const log = () => {
      if (++lines === 5) here.life!.isStopped = true;
    };
    const [{ hours, problems }] = await run({ seed: SHORT, log });
    expect(problems).toEqual([]);
    expect(hours).toBeLessThan(whole.hours);
    expect(lines).toBeLessThan(10);
  });

  test("has a problem if a program leaves a promise rejected", async () => {
    let isTold = false;
    const log = () => {
      if (isTold) return;
      isTold = true;
      here.life!.rejected(new TypeError("a test's"));
      here.life!.isStopped = true;
    };
    const [{ problems }] = await run({ seed: SHORT, log });
    expect(problems).toEqual([expect.stringMatching(/failed: TypeError: a test's$/)]);
  });

  test("survives a program whose listener to exceptions throws one, which ends the program", async () => {
    let code: number | undefined;
    const log = (line: string) => {
      if (here.life!.isStopped || !line.endsWith("the front end serves")) return;
      here.life!.isStopped = true;
      const program = here.life!.site.world.running!;
      program.view.on("uncaughtException", () => {
        throw new Error("of the listener");
      });
      program.failed(new Error("the first"), "uncaughtException");
      code = program.process.end?.code;
    };
    const [{ problems }] = await run({ seed: SHORT, log });
    expect(problems.map((problem) => problem.split("failed: ")[1])).toEqual([
      "Error: the first",
      "Error: of the listener",
    ]);
    expect(code).toBe(7);
  });

  test("is what tutti lab torture prints", () => {
    const folder = makeFolder();
    try {
      const { status, stdout, stderr } = tutti(folder, ["lab", "torture", "--seed", String(SHORT)]);
      expect([status, stderr]).toEqual([0, ""]);
      // Only the speed depends on the machine.
      const speedLess = (text: string) =>
        text.replace(/ +/g, " ").replace(/(by CPU time |\d, )[\d,]+(\n| times)/g, "$1N$2");
      expect(speedLess(stdout)).toBe(speedLess(tortureText([whole], sumsOf([whole], 1))));
    } finally {
      removeFolder(folder);
    }
  });
});

test.each([
  [["--hours", "-1"], "expected a number of hours, 0 or more"],
  [["--only-jobs", "0-3"], "expected numbers from 1, such as 3,7-9, or none"],
  [["--only-faults", "", "--only-jobs", "1"], "expected numbers from 1, such as 3,7-9, or none"],
  [["--only-faults", "none", "--hours", "3"], "Cannot use --only-faults with --hours"],
])("%j is refused", (words, reason) => {
  const folder = makeFolder();
  try {
    expect(tutti(folder, ["lab", "torture", ...words])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(reason),
    });
  } finally {
    removeFolder(folder);
  }
});

test("the smallest life is printed with the command that repeats it", () => {
  const only = {
    jobs: [
      { first: 3, last: 3 },
      { first: 7, last: 9 },
    ],
    faults: [],
  };
  const verdict: Verdict = {
    ...{ seed: 8, problems: ["job 3 ran twice"], hours: 0.5, events: 9, jobs: 4, starts: 5, hash: "" },
    ...{ drawn: { jobs: 9, faults: 0 }, faults: {} },
  };
  expect(shrunkText({ verdict, only, jobs: 4, faults: 0, tries: 1234 })).toBe(`\
4 jobs and 0 faults are enough for that (1,234 lives tried):
  ${repeating(8)} --only-jobs 3,7-9 --only-faults none
  - job 3 ran twice
`);
});

test("a life with problems is printed with them and with the command that repeats it", () => {
  const life = (seed: number, problems: readonly string[]): Verdict => ({
    ...{ seed, problems, hours: 1.5, events: 9, jobs: 4, starts: 5, hash: "", drawn: { jobs: 4, faults: 3 } },
    faults: { "disk full": 2, "machine suspended": seed },
  });
  const many = Array.from({ length: 12 }, (_, i) => `job ${i + 1} is lost`);
  const lives = [life(7, []), life(8, ["job 1 ran twice"]), life(9, many)];
  expect(tortureText(lives, sumsOf(lives, 5.4))).toBe(`\
simulated
hours                           4.5
lives                             3
jobs                             12
starts of jobs                   15
times real time, by CPU time  3,000
faults                           30
  machine suspended              24
  disk full                       6

${repeating(8)} has 1 problem:
  - job 1 ran twice

${repeating(9)} has 12 problems:
${many
  .slice(0, 10)
  .map((problem) => `  - ${problem}\n`)
  .join("")}  - and 2 more; --json prints all

4.5 simulated hours, seeds 7 to 9, 3,000 times real time: problems in 2 of 3 lives
`);
});
