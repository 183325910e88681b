import { describe, expect, test } from "vitest";
import { slurmSeconds } from "./slurm-time.ts";

describe("slurmSeconds()", () => {
  // The formats in the manual of sbatch.
  test.each([
    ["5", 300],
    ["5:30", 330],
    ["1:00:00", 3600],
    ["2-3", 183_600],
    ["2-3:04", 183_840],
    ["2-3:04:05", 183_845],
    ["0", 0],
    ["", undefined],
    ["-1", undefined],
    ["1:2:3:4", undefined],
    ["UNLIMITED", undefined],
  ])("%s", (text, seconds) => {
    expect(slurmSeconds(text)).toBe(seconds);
  });
});
