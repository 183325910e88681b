/** Tests what a front end does if Slurm does not say, or refuses, how wide a pilot can be. */

import { InputError } from "@tutti/kernel/core/errors.ts";
import { expect, test } from "vitest";
import { SlurmError } from "./commands.ts";
import { learnSizes, newContent } from "./pilot-file.ts";

const away = new SlurmError("Unable to contact slurm controller", true);
const tooSmall = new InputError("Cannot ask for 4 nodes: the default partition has 2");
const pilot = { mark: "tutti:0123456789abcdef:1", jobId: "1" };

const sizeOf = (mostProcessors: number) => ({ cpus: { min: 2, max: 2 }, mostProcessors });

test.each([
  ["away", away, undefined, [], away],
  ["away", away, 8, [], 8],
  ["a partition that is too small", tooSmall, undefined, [], tooSmall],
  ["a partition that is too small", tooSmall, 8, [], tooSmall],
  ["a partition that is too small, while a pilot runs", tooSmall, 8, [pilot], 8],
] as const)("%s: %s, with the earlier answer %s", async (_, error, before, pilots, expected) => {
  const content = {
    ...newContent(),
    pilots: [...pilots],
    ...(before !== undefined && { sizes: { small: sizeOf(before) } }),
  };
  const learned = learnSizes(content, [{ name: "small" }], () => Promise.reject(error)).then(
    ({ small }) => small.mostProcessors,
  );
  if (expected instanceof Error) await expect(learned).rejects.toBe(expected);
  else expect(await learned).toBe(expected);
});
