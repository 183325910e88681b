/** Runs every command of the laboratory's guide, and then of its reference, as a reader would. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesIn, makeFolder, removeFolder, shell } from "./command.ts";
import { blocksOf, dialogueOf } from "./guide-blocks.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** With what a command prints, where the guide shows it. */
const commands = ["docs/guide-laboratory.md", "docs/reference-laboratory.md"]
  .flatMap(blocksOf)
  .flatMap((block): { readonly command: string; readonly shown?: string }[] => {
    if (block.language === "console") return dialogueOf(block);
    const lines = block.language === "sh" ? block.text.trimEnd().split("\n") : [];
    return lines.map((command) => ({ command }));
  });
/** Two jobs that need all processors, in the columns of Batsim's table of jobs. */
const OF_ANOTHER_SIMULATOR = `job_id,submission_time,requested_number_of_resources,requested_time,starting_time,execution_time,finish_time,allocated_resources
1,0,128,10,0,10,10,0-127
2,5,128,20,10,20,30,0-127
`;
let folder = "";

beforeAll(() => {
  folder = makeFolder();
  const trace = "downey:jobs=5000:load=0.7:estimateFactor=5";
  expect(shell(folder, `tutti workload generate ${trace} | gzip > trace.swf.gz`).status).toBe(0);
  copyFileSync(join(root, "examples/my-policy.ts"), join(folder, "mine.ts"));
  mkdirSync(join(folder, "python"));
  copyFileSync(join(root, "python/check_swf.py"), join(folder, "python/check_swf.py"));
  writeFileSync(join(folder, "out_jobs.csv"), OF_ANOTHER_SIMULATOR);
});
afterAll(() => removeFolder(folder));

describe("the laboratory's documents", () => {
  test("has commands for every verb", () => {
    for (const verb of ["simulate", "compare", "lab reproduce", "list policies", "list models", "workload"])
      expect(
        commands.some(({ command }) => command.includes(`tutti ${verb}`)),
        verb,
      ).toBe(true);
  });

  test.each(commands)("$command", ({ command, shown }) => {
    const { status, stdout, stderr } = shell(folder, command);
    expect(stderr).not.toMatch(/^tutti: /m);
    if (shown !== undefined) expect(stdout).toBe(shown);
    expect(status).toBe(0);
  });

  test("the files that it mentions exist afterwards", () => {
    for (const name of [
      "report.html",
      "gangs.html",
      "lab.html",
      "result.csv",
      "schedule.swf",
      "kawanami2008.html",
    ])
      expect(filesIn(folder)).toContain(name);
  });
});
