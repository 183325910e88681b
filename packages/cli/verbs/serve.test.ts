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
