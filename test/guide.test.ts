/** Runs every command of the laboratory's guide as a reader would. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { filesIn, makeFolder, removeFolder, shell } from "./command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const guide = readFileSync(join(root, "docs/guide-laboratory.md"), "utf8");
const commands = Array.from(guide.matchAll(/```sh\n([\s\S]*?)```/g), ([, block = ""]) =>
  block.trimEnd().split("\n"),
).flat();
let folder = "";

beforeAll(() => {
  folder = makeFolder();
  const trace = "downey:jobs=5000:load=0.7:estimateFactor=5";
  expect(shell(folder, `tutti workload generate ${trace} | gzip > trace.swf.gz`).status).toBe(0);
  copyFileSync(join(root, "examples/my-policy.ts"), join(folder, "mine.ts"));
});
afterAll(() => removeFolder(folder));

describe("docs/guide-laboratory.md", () => {
  test("has commands for every verb", () => {
    for (const verb of ["simulate", "compare", "reproduce", "policies", "models", "workload"])
      expect(
        commands.some((command) => command.includes(`tutti ${verb}`)),
        verb,
      ).toBe(true);
  });

  test.each(commands)("%s", (command) => {
    const { status, stderr } = shell(folder, command);
    expect(stderr).not.toMatch(/^tutti: /m);
    expect(status).toBe(0);
  });

  test("the files that it mentions exist afterwards", () => {
    for (const name of ["report.html", "gangs.html", "result.csv", "schedule.swf", "kawanami2008.html"])
      expect(filesIn(folder)).toContain(name);
  });
});
