import { expect, test } from "vitest";
import { isMet } from "./slurm-job.ts";

test.each([
  ["a100", true],
  ["h100", false],
  ["a100&ssd", true],
  ["a100,h100", false],
  ["h100|a100", true],
  ["[h100|ssd]", true],
  ["a100*2&ssd*4", true],
  // From the left: (a100 or h100) and h100.
  ["a100|h100&h100", false],
])("nodes with a100 and ssd and the constraint %s: %s", (constraint, expected) => {
  expect(isMet(constraint, ["a100", "ssd"])).toBe(expected);
});
