import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Client } from "../src/api/client/client.ts";
import { lockStateFolder, makeStateFolder } from "../src/daemon/state/state-folder.ts";
import { holderOfState } from "../src/daemon/state/state-place.ts";

test("who has a state folder is named by number, to who starts another and to who finds no socket", async () => {
  const parent = mkdtempSync(join(tmpdir(), "tutti-holder-"));
  const path = join(parent, "state");
  const folder = makeStateFolder(path, false);
  const env = { TUTTI_STATE: path, TUTTI_SOCKET: join(parent, "none", "tutti.sock") };
  expect(holderOfState(path)).toBeUndefined();
  expect(() => new Client(env)).toThrow(/there is no socket .*\n {2}next: tutti serve/);
  const file = fileURLToPath(new URL("../src/daemon/state/state-folder.ts", import.meta.url));
  const code = `const s = await import(${JSON.stringify(file)}); const unlock = s.lockStateFolder(s.makeStateFolder(${JSON.stringify(path)}, false)); console.log("locked"); setInterval(() => unlock.name, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(holderOfState(path)).toBe(child.pid);
    expect(() => lockStateFolder(folder)).toThrow(
      new RegExp(`another one uses it, process ${child.pid} .*kill ${child.pid} \\(its jobs continue\\)`),
    );
    expect(() => new Client(env)).toThrow(
      new RegExp(
        `there is no socket .*; process ${child.pid} is a scheduler .*\\n {2}next: .*kill ${child.pid}`,
      ),
    );
  } finally {
    child.kill();
    await ended;
  }
  expect(holderOfState(path)).toBeUndefined();
  lockStateFolder(folder)();
  rmSync(parent, { recursive: true });
});
