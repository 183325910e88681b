/**
 * Does what the guides say, in their order, each with a scheduler and a folder of its own. A block with a
 * file name is that file. Other blocks `sh` are commands, blocks `python` are programs, and a block
 * `console` has what its commands print, too; numbers in it may differ. Other blocks are only read.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { VERBS } from "@tutti/cli/registry.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Block, blocksOf, dialogueOf, withoutNumbers } from "./guide-blocks.ts";
import { LiveScheduler } from "./live-scheduler.ts";
import { startShell } from "./live-shell.ts";

const GUIDES = ["docs/guide-user.md", "docs/guide-administrator.md", "docs/guide-slurm.md", "docs/python.md"];
const root = fileURLToPath(new URL("..", import.meta.url));
const hasPython =
  spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;

describe.each(GUIDES)("%s", (path) => {
  const scheduler = new LiveScheduler();
  const bin = join(scheduler.folder, "bin");
  const folder = join(scheduler.folder, "work");
  beforeAll(async () => {
    mkdirSync(folder);
    mkdirSync(bin);
    symlinkSync(join(root, "bin/tutti.js"), join(bin, "tutti"));
    await scheduler.start();
  });
  afterAll(() => scheduler.clear());

  async function run(block: string): Promise<string> {
    const before = [
      "set -e -o pipefail",
      "unset -f tutti",
      `export HOME=${folder} PATH=${bin}:${dirname(process.execPath)}:$PATH PYTHONPATH=${join(root, "python")}`,
    ].join("; ");
    const { exit, shown } = startShell(`${before}\n${block}`, { socket: scheduler.socket, cwd: folder });
    expect([await exit, shown()]).toEqual([0, expect.anything()]);
    return shown();
  }

  async function follow(block: Block): Promise<void> {
    if (block.file !== "") writeFileSync(join(folder, block.file), block.text);
    else if (block.language === "sh") await run(block.text);
    else if (block.language === "python") {
      writeFileSync(join(folder, "block.py"), block.text);
      await run("python3 block.py");
    } else if (block.language === "console")
      for (const { command, shown } of dialogueOf(block))
        expect(withoutNumbers(await run(command)), command).toBe(withoutNumbers(shown));
    else
      for (const [, verb] of block.text.matchAll(/^tutti ([a-z]+)/gm))
        expect(VERBS.map(({ name }) => name)).toContain(verb);
  }

  const blocks = blocksOf(path).map((block) => {
    const what = block.text.slice(0, block.text.indexOf("\n"));
    return [`line ${block.line}: ${block.file || what}`, block] as const;
  });
  test.skipIf(path === "docs/python.md" && !hasPython).each(blocks)("%s", (_, block) => follow(block));

  test("no job of the guide has failed", async () => {
    await run("tutti wait all || true");
    expect(await run("tutti jobs state:failed || true")).toContain("no job matches");
  });
});
