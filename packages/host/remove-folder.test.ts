/** Tests that job folders are removed, in whatever state users leave them. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeFolder } from "./remove-folder.ts";

const isRoot = process.getuid?.() === 0;
let root: string;
let precious: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "tutti-remove-"));
  precious = join(root, "precious");
  mkdirSync(join(precious, "folder"), { recursive: true });
  writeFileSync(join(precious, "file"), "kept");
});
afterAll(() => {
  spawnSync("chmod", ["-R", "u+rwx", root]);
  rmSync(root, { recursive: true, force: true });
});

function jobFolder(name: string): string {
  const path = join(root, name);
  mkdirSync(join(path, "1"), { recursive: true });
  return path;
}

function expectPrecious(): void {
  expect(readFileSync(join(precious, "file"), "utf8")).toBe("kept");
  expect(existsSync(join(precious, "folder"))).toBe(true);
}

test("links are removed, what they lead to is not", async () => {
  const path = jobFolder("links");
  symlinkSync(precious, join(path, "2"));
  symlinkSync(precious, join(path, "1", "link"));
  symlinkSync(join(precious, "file"), join(path, "stdout"));
  mkdirSync(join(path, "1", "deep"));
  symlinkSync("../../../precious", join(path, "1", "deep", "relative"));
  expect(await removeFolder(path)).toBe(true);
  expect(existsSync(path)).toBe(false);
  expectPrecious();
});

test("if the folder itself is a link, only the link is removed; a missing folder counts as removed", async () => {
  const path = join(root, "replaced");
  symlinkSync(precious, path);
  expect(await removeFolder(path)).toBe(true);
  expect(existsSync(path)).toBe(false);
  expect(await removeFolder(path)).toBe(true);
  expectPrecious();
});

test("folders deeper than any path, names that are not text, and folders without rights", async () => {
  const path = jobFolder("odd");
  const script = `import os
os.chdir(os.fsencode(${JSON.stringify(join(path, "1"))}))
open(b"\\xff\\xfe name", "w").close()
os.mkdir(b"dir \\xff")
open(b"dir \\xff/\\n", "w").close()
os.mkdir("shut"); open("shut/file", "w").close(); os.mkdir("shut/inner", 0o000); os.chmod("shut", 0o500)
for i in range(3000):
    os.mkdir("d" * 50); os.chdir("d" * 50)
open("bottom", "w").close()`;
  expect(spawnSync("python3", ["-c", script]).status).toBe(0);
  expect(await removeFolder(path)).toBe(true);
  expect(existsSync(path)).toBe(false);
});

test("a file where a folder is expected is removed", async () => {
  const path = join(root, "file");
  writeFileSync(path, "");
  expect(await removeFolder(path)).toBe(true);
  expect(existsSync(path)).toBe(false);
});

test.skipIf(!isRoot)(
  "a user who keeps replacing folders by links cannot make root remove anything else",
  async () => {
    const uid = 12_345;
    for (let i = 0; i < 20; i++) {
      const path = jobFolder(`race-${i}`);
      const attempt = join(path, "1");
      for (let j = 0; j < 50; j++) mkdirSync(join(attempt, `swap${j}`));
      spawnSync("chown", ["-R", String(uid), attempt]);
      chownSync(attempt, uid, uid);
      chmodSync(root, 0o755);
      const { spawn } = await import("node:child_process");
      const swapper = spawn(
        "sh",
        [
          "-c",
          `cd ${attempt}; while :; do for j in 1 2 3 4 5 6 7 8 9; do mv swap$j held$j; ln -s ${precious} swap$j; rm -f swap$j; mv held$j swap$j; done; done`,
        ],
        { uid, gid: uid, stdio: "ignore", detached: true },
      );
      await new Promise((resolve) => setTimeout(resolve, 30));
      await removeFolder(path);
      process.kill(-swapper.pid!, "SIGKILL");
      await new Promise((resolve) => swapper.once("exit", resolve));
      expectPrecious();
      // The disturbing shell has ended, and its last command perhaps a moment later; after that, nothing is
      // left.
      let isGone = false;
      for (let tries = 0; !isGone && tries < 200; tries++) isGone = await removeFolder(path);
      expect(isGone).toBe(true);
    }
  },
);
