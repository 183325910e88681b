/** Simulated lives of the scheduler: nothing goes wrong in them, and a seed always gives the same life. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { repeating, sumsOf, tortureText } from "@tutti/cli/text/torture-text.ts";
import { programsOf } from "@tutti/torture/node/programs.ts";
import type { Verdict } from "@tutti/torture/run/course.ts";
import { loadParts, settler } from "@tutti/torture/run/host.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import { torture } from "@tutti/torture/run/torture.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildWorldPrograms } from "../scripts/torture-bundle.ts";
import { makeFolder, removeFolder, tutti } from "./command.ts";

/** Together about 30 hours: of several policies, kinds of control groups and lengths of slots. */
const SEEDS = [3, 5, 8, 9, 10, 11];

const { settle, close } = settler();
let run: (seed: number, more?: Partial<Parameters<typeof torture>[0]>) => Promise<Verdict>;
/** What Vitest would take for a failure of its own. */
const others = process.listeners("unhandledRejection");
let life: Life | undefined;
const onRejection = (reason: unknown) => life?.rejected(reason);

beforeAll(async () => {
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", onRejection);
  const wasm = fileURLToPath(import.meta.resolve("@sqlite.org/sqlite-wasm/sqlite3.wasm"));
  const parts = await loadParts(programsOf(await buildWorldPrograms()), readFileSync(wasm), Buffer);
  const onBegin = (begun: Life) => {
    life = begun;
  };
  run = async (seed, more) => {
    const [verdict] = await torture({ seed, hours: 0, parts, settle, onBegin, ...more });
    return verdict;
  };
});
afterAll(() => {
  close();
  process.off("unhandledRejection", onRejection);
  for (const listener of others) process.on("unhandledRejection", listener);
});

const verdicts = new Map<number, Verdict>();
const wholeLife = async () => verdicts.get(5) ?? (await run(5));

test.each(SEEDS)("nothing goes wrong in the life of seed %i", async (seed) => {
  const verdict = await run(seed);
  verdicts.set(seed, verdict);
  expect(verdict.problems).toEqual([]);
  expect(Object.keys(verdict.faults)).not.toEqual([]);
  expect(verdict.starts).toBeGreaterThan(0);
});

test("the same seed gives the same life, to the last event", async () => {
  expect(await run(5)).toEqual(await wholeLife());
});

test("a life that is stopped ends at once", async () => {
  let lines = 0;
  const log = () => {
    if (++lines === 5) life!.isStopped = true;
  };
  const { hours, problems } = await run(5, { log });
  expect(problems).toEqual([]);
  expect(hours).toBeLessThan((await wholeLife()).hours);
  expect(lines).toBeLessThan(10);
});

test("a promise that a program leaves rejected is a problem", async () => {
  let isTold = false;
  const log = () => {
    if (isTold) return;
    isTold = true;
    life!.rejected(new TypeError("a test's"));
    life!.isStopped = true;
  };
  expect((await run(5, { log })).problems).toEqual([expect.stringMatching(/failed: TypeError: a test's$/)]);
});

test("tutti torture prints what was simulated", () => {
  const folder = makeFolder();
  try {
    const { status, stdout, stderr } = tutti(folder, ["torture", "--seed", "5"]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^simulated\nhours +6\.1\nlives +1\njobs +\d+\nstarts of jobs +\d+\n/);
    expect(stdout).toMatch(
      /\nfaults +3\n( {2}.+ 1\n){3}\n6\.1 simulated hours, seed 5, [\d,]+ times real time: no problems\n$/,
    );
    expect(tutti(folder, ["torture", "--hours", "-1"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("Expected a number of hours, 0 or more."),
    });
  } finally {
    removeFolder(folder);
  }
});

test("a life with problems is printed with them and with the command that repeats it", () => {
  const life = (seed: number, problems: readonly string[]): Verdict => ({
    ...{ seed, problems, hours: 1.5, events: 9, jobs: 4, starts: 5, hash: "" },
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
