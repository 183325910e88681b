/**
 * Tests the hint that appears if a time limit has no unit, because Slurm would read it as minutes, and the
 * advice for words that are no script.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import type { SubmitJob } from "../../protocol/schema.ts";
import { addSubmitOptions, type SubmitOptions, submitJob } from "./submit-options.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-options-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

/** The job of a command line, and the text on standard error. */
async function submitted(...argv: string[]): Promise<{ readonly job: SubmitJob; readonly said: string }> {
  let said = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += text;
    return true;
  });
  let job: SubmitJob | undefined;
  const command = addSubmitOptions(new Command("submit"), []);
  command.action(async (words: readonly string[], options: SubmitOptions) => {
    job = await submitJob("submit", words, options, argv);
  });
  await command.parseAsync(argv, { from: "user" });
  return { job: job!, said };
}

function script(...lines: string[]): string {
  const path = join(folder, "job.sh");
  writeFileSync(path, ["#!/bin/sh", ...lines, "true", ""].join("\n"));
  return path;
}

describe("a limit", () => {
  test("without a unit is in seconds, and one hint says so", async () => {
    const told = "tutti: the time limit is 90 s; for minutes, write 90m\n";
    const command = await submitted("-t", "90", "--", "true");
    expect(command).toMatchObject({ job: { limitMs: 90_000 }, said: told });
    const inScript = await submitted(script("#TUTTI -t 90"));
    expect(inScript).toMatchObject({ job: { limitMs: 90_000 }, said: told });
  });

  test.each([
    ["90s", 90_000],
    ["90m", 5_400_000],
    ["1:30", 90_000],
    ["1-12", 129_600_000],
  ])("%s needs no hint", async (text, limitMs) => {
    expect(await submitted("-t", text, "--", "true")).toMatchObject({ job: { limitMs }, said: "" });
  });

  test("in #SBATCH lines is in minutes; the limit on the command line wins over that of the script", async () => {
    const path = script("#SBATCH -t 90");
    expect(await submitted(path)).toMatchObject({ job: { limitMs: 5_400_000 }, said: "" });
    const bare = script("#TUTTI -t 90");
    expect(await submitted("-t", "2h", bare)).toMatchObject({ job: { limitMs: 7_200_000 }, said: "" });
  });
});

describe.each(["submit", "run"] as const)("tutti %s names itself in its advice", (verb) => {
  const refused = (...words: string[]) => submitJob(verb, words, {}, ["tutti", verb, ...words]);

  test("without a command", () =>
    expect(refused()).rejects.toThrow(
      `Cannot ${verb} a job without a command: expected a command after --, or a script; see tutti ${verb} --help`,
    ));

  test("for a script that is too large", () => {
    const path = join(folder, "large.sh");
    writeFileSync(path, Buffer.alloc(2 ** 20 + 1, "x"));
    return expect(refused(path)).rejects.toThrow(
      `Cannot ${verb} "${path}": it has 1048577 bytes, expected a script of at most 1048576 bytes; move its data to another file, or write tutti ${verb} -- ${path}, which copies nothing`,
    );
  });
});
