/** Tests the options of `tutti serve`; starts no scheduler. */
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
