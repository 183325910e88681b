/** Tests the options of `tutti serve`; starts no scheduler. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { configure } from "./serve.ts";

/** The options of a command line, without starting anything. */
function optionsOf(...words: string[]): object {
  const command = new Command("serve");
  configure(command);
  command.parseOptions(words);
  return command.opts();
}

test("an option that is not given has no value, so that it cannot override the configuration file", () => {
  expect(optionsOf()).toEqual({});
  expect(optionsOf("--mode", "concurrent")).toEqual({ mode: "concurrent" });
});

test("times of pilots are written as limits of jobs are, and numbers of nodes also as Slurm writes them", () => {
  const hour = { min: 3600, max: 3600 };
  expect(optionsOf("--time", "1:00:00")).toEqual({ time: hour });
  expect(optionsOf("--time", "60m..1-00:00:00")).toEqual({ time: { min: 3600, max: 86_400 } });
  expect(optionsOf("--drain", "5:00", "--idle", "1:30")).toEqual({ drain: 300, idle: 90 });
  for (const four of ["1..4", "1-4"])
    expect(optionsOf("--nodes", four)).toEqual({ nodes: { min: 1, max: 4 } });
  expect(optionsOf("--pilot", "all: --nodes 1-4 --time=1:00:00")).toMatchObject({
    pilot: [{ nodes: { min: 1, max: 4 }, timeMs: { min: 3_600_000, max: 3_600_000 } }],
  });
});

test("without a pilot, a policy that is refused is named before options that are refused", async () => {
  const state = join(tmpdir(), `tutti-serve-${process.pid}`);
  const serve = (...words: string[]) => {
    const command = new Command("serve");
    configure(command);
    return command.parseAsync(["--on", "slurm", "--native", "--state", state, ...words], { from: "user" });
  };
  const pilots = ["--time", "8h", "--drain", "5m"];
  await expect(serve(...pilots, "--policy", "br")).rejects.toThrow('Cannot use policy "br" here');
  await expect(serve(...pilots, "--policy", "easy")).rejects.toThrow(
    "Cannot use --time, --drain with --native: there is no pilot",
  );
  expect(existsSync(state)).toBe(false);
});
