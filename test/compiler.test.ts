import { readFileSync } from "node:fs";
import { COMPILER_FLAG } from "@tutti/lab/experiments/compiler-flag.ts";
import { expect, test } from "vitest";
import { inProcess } from "./compiler/many.ts";

test("with Tutti's flag, every object keeps the number that was written to it", () => {
  for (let i = 0; i < 5; i++) expect(inProcess(COMPILER_FLAG)).toEqual({ loop: 0, recursion: 0 });
});

test("the program that people start sets the same flag", () => {
  const program = readFileSync(new URL("../bin/tutti.js", import.meta.url), "utf8");
  expect(program).toContain(`setFlagsFromString("${COMPILER_FLAG}")`);
});
