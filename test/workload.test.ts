/**
 * Tests `tutti workload` as users see it: every subcommand, every format, and conversions from one format to
 * another.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolder, removeFolder, shell } from "./command.ts";
import { tuttiHere } from "./command-here.ts";

const SACCT = [
  "JobID|Submit|Start|Elapsed|State|AllocCPUS|Timelimit|User",
  "11|2024-03-01T08:00:00|2024-03-01T08:00:00|01:00:00|COMPLETED|4|02:00:00|ann",
  "11.batch|2024-03-01T08:00:00|2024-03-01T08:00:00|01:00:00|COMPLETED|4||",
  "12|2024-03-01T09:00:00|2024-03-01T09:30:00|00:30:00|TIMEOUT|8|00:30:00|bob",
  "13|2024-03-01T09:30:00|Unknown|00:00:00|CANCELLED by 7|8|UNLIMITED|bob",
  "",
].join("\n");
const BATSIM = JSON.stringify({
  nb_res: 8,
  jobs: [
    { id: 11, subtime: 0, res: 4, walltime: 7200, profile: "hour" },
    { id: 12, subtime: 3600, res: 8, walltime: 1800, profile: "half" },
  ],
  profiles: { hour: { type: "delay", delay: 3600 }, half: { type: "delay", delay: 1800 } },
});

let folder = "";
beforeAll(() => {
  folder = makeFolder();
  writeFileSync(join(folder, "jobs.txt"), SACCT);
  writeFileSync(join(folder, "jobs.gz"), gzipSync(SACCT));
  writeFileSync(join(folder, "jobs.json"), BATSIM);
});
afterAll(() => removeFolder(folder));

const run = async (...words: string[]) => {
  const result = await tuttiHere(folder, ["workload", ...words]);
  expect(result.stderr).not.toMatch(/^tutti:/);
  expect(result.status).toBe(0);
  return result;
};
const info = async (...words: string[]) => JSON.parse((await run("info", ...words, "--json")).stdout);

describe("tutti workload info", () => {
  test("tells formats by their content: the same two jobs from sacct, packed or not, and from Batsim", async () => {
    const sacct = await info("jobs.txt", "-p", "8");
    expect(sacct.jobs).toBe(2);
    expect(sacct.offeredLoad).toBe(1); // (4·3600 + 8·1800) / (8·3600)
    expect(sacct.diagnostics.map(({ code }: { code: string }) => code).sort()).toEqual([
      "not-started",
      "step",
    ]);
    expect((await info("jobs.gz")).hash).toBe(sacct.hash);
    expect((await info("jobs.json")).hash).toBe(sacct.hash);
    expect((await info("jobs.json")).processors).toBe(8);
    expect(shell(folder, "tutti workload info - --json < jobs.txt").stdout).toContain(sacct.hash);
  });

  test("a file that is not a trace is refused, with its first line", () => {
    const { status, stderr } = shell(folder, "echo hello | tutti workload info -");
    expect(stderr).toMatch(/^tutti: Cannot read "stdin" as a trace .*"hello"/);
    expect(status).toBe(66);
  });
});

describe("tutti workload convert", () => {
  test("keeps events in a workload file, and says so where they are left out", async () => {
    const lines = [
      '{"schema":"tutti.workload-file/1","processors":4}',
      '{"job":1,"submitS":0,"tasks":2,"runS":50,"limitS":60}',
      '{"event":"drain","atS":5}',
      '{"event":"undrain","atS":9}',
    ];
    writeFileSync(join(folder, "events.jsonl"), `${lines.join("\n")}\n`);
    expect((await run("convert", "events.jsonl", "-o", "events.swf")).stderr).toContain(
      "left out 2 events, such as pauses and drains: only --to jsonl keeps them",
    );
    const kept = await run("convert", "events.jsonl", "--to", "jsonl");
    expect(kept.stderr).not.toContain("left out");
    expect(kept.stdout.match(/"event":/g)).toHaveLength(2);
  });

  test("from any format to SWF and to Batsim and back, the jobs stay the same", async () => {
    const { hash } = await info("jobs.txt");
    expect((await run("convert", "jobs.txt", "-o", "a.swf")).stderr).toMatch(/dropped 1: A step of a job/);
    expect((await info("a.swf")).hash).toBe(hash);
    await run("convert", "a.swf", "--to", "batsim", "-o", "b.json");
    expect((await info("b.json")).hash).toBe(hash);
    expect((await run("convert", "b.json")).stdout).toMatch(
      /^; Version: 2\.2\n[\s\S]*\n12 3600 -1 1800 -1 -1 -1 8 1800 /,
    );
  });

  test("draws new estimates: none below its run time, the largest as requested", async () => {
    await run(
      "convert",
      "lublin:jobs=3000",
      "--estimates",
      "tsafrir=50h",
      "--seed",
      "4",
      "-o",
      "guessed.swf",
    );
    const guessed = await info("guessed.swf");
    expect(guessed).toMatchObject({ jobs: 3000, estimates: 3000, overruns: 0 });
    expect(guessed.header.join("\n")).toMatch(/estimates up to 180000 s by the Tsafrir model, seed 4/);
    await run("convert", "guessed.swf", "--estimates", "exact", "-o", "exact.swf");
    expect((await info("exact.swf")).hash).toBe((await info("lublin:jobs=3000", "--seed", "4")).hash);
    const again = await run("convert", "lublin:jobs=3000", "--estimates", "tsafrir=50h", "--seed", "4");
    expect(again.stdout).toBe(
      (await run("generate", "lublin:jobs=3000", "--estimates", "tsafrir=50h", "--seed", "4")).stdout,
    );
  });

  test.each([
    [["convert", "jobs.txt", "--to", "sacct"], 2, /--to "sacct": .*batsim, swf/],
    [["convert", "jobs.txt", "--estimates", "tsafri"], 2, /expected exact, factor=N/],
    [["convert", "jobs.txt", "--estimates", "factor=0"], 2, /expected exact, factor=N/],
    [
      ["convert", "downey:minRunS=7000:maxRunS=9000", "--estimates", "tsafrir=2h"],
      66,
      /expected a higher largest estimate/,
    ],
    [["convert", "jobs.txt", "--estimates", "tsafrir=1m"], 66, /expected whole seconds from 3600/],
    [["convert", "none.swf"], 66, /there is no such file/],
    [["scale", "jobs.txt"], 2, /expected either --factor or --load/],
    [["scale", "jobs.txt", "--factor", "2", "--load", "1"], 2, /Cannot use --load with --factor/],
    [["scale", "jobs.txt", "--factor", "-1"], 2, /expected a number above 0/],
    [["scale", "jobs.txt", "--load", "0.5"], 66, /size of the machine.*--processors/],
  ] as const)("%j is refused with exit code %d", async (words, status, message) => {
    const result = await tuttiHere(folder, ["workload", ...words]);
    expect(result.stderr.replace(/\s+/g, " ")).toMatch(message);
    expect(result.stdout).toBe("");
    expect(result.status).toBe(status);
  });
});

describe("tutti workload scale", () => {
  test("to an offered load, and by a factor, of traces and models", async () => {
    await run("scale", "jobs.txt", "--load", "0.5", "-p", "8", "-o", "half.swf");
    expect((await info("half.swf", "-p", "8")).offeredLoad).toBe(0.5);
    const { stdout } = await run("scale", "jobs.json", "--factor", "0.25");
    expect(stdout).toMatch(/\n12 900 -1 1800 /);
    await run("scale", "jann:jobs=500", "--load", "0.9", "--to", "batsim", "-o", "jann.json");
    expect((await info("jann.json")).offeredLoad).toBeCloseTo(0.9, 9);
  });
});

describe("tutti workload generate", () => {
  test.each(["downey", "lublin", "jann", "feitelson96", "hpc2500"])(
    "%s: what is written reads as what info says of the model",
    async (model) => {
      await run("generate", `${model}:jobs=300`, "--seed", "9", "-o", `${model}.swf`);
      expect((await info(`${model}.swf`)).hash).toBe((await info(`${model}:jobs=300`, "--seed", "9")).hash);
    },
  );

  test("generate --help names every model and where its parameters are listed", async () => {
    const { stdout } = await run("generate", "--help");
    for (const { name } of MODELS) expect(stdout).toMatch(new RegExp(`^Models: .*\\b${name}\\b`, "m"));
    expect(stdout).toContain("tutti list models NAME");
  });
});
