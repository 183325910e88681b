import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@tutti/live/api/client/client.ts";
import { lockStateFolder, makeStateFolder } from "@tutti/live/daemon/state/state-folder.ts";
import { holderOfState } from "@tutti/live/daemon/state/state-place.ts";
import { expect, test } from "vitest";

test("who has a state folder is named by number, to who starts another and to who finds no socket", async () => {
  const parent = mkdtempSync(join(tmpdir(), "tutti-holder-"));
  const path = join(parent, "state");
  const folder = makeStateFolder(path, false);
  const env = { TUTTI_STATE: path, TUTTI_SOCKET: join(parent, "none", "tutti.sock") };
  expect(holderOfState(path)).toBeUndefined();
  expect(() => new Client(env)).toThrow(/there is no socket .*; start it with tutti serve/);
  const file = fileURLToPath(new URL("../packages/live/daemon/state/state-folder.ts", import.meta.url));
  const code = `const s = await import(${JSON.stringify(file)}); const folder = s.makeStateFolder(${JSON.stringify(path)}, false); const unlock = s.lockStateFolder(folder); console.log("locked"); process.stdin.once("data", () => { s.endStart(folder); console.log("started"); }); setInterval(() => unlock.name, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    const said = () => new Promise((resolve) => child.stdout.once("data", resolve));
    await said();
    expect(holderOfState(path)).toBe(child.pid);
    expect(() => new Client(env)).toThrow(
      new RegExp(`process ${child.pid} is a scheduler that is still starting; try again`),
    );
    const started = said();
    child.stdin.write("go\n");
    await started;
    expect(readFileSync(folder.holder, "utf8")).toBe(`${hostname()} ${child.pid}\n`);
    expect(() => lockStateFolder(folder)).toThrow(
      new RegExp(`another one uses it, process ${child.pid} .*kill ${child.pid} \\(its jobs continue\\)`),
    );
    expect(() => new Client(env)).toThrow(
      new RegExp(`there is no socket .*; process ${child.pid} is a scheduler .*; .*kill ${child.pid}`),
    );
  } finally {
    child.kill();
    await ended;
  }
  expect(holderOfState(path)).toBeUndefined();
  lockStateFolder(folder)();
  rmSync(parent, { recursive: true });
});

test("a scheduler on another host is named by its host, and a lock that cannot be had says what to do", () => {
  const parent = mkdtempSync(join(tmpdir(), "tutti-holder-"));
  const folder = makeStateFolder(join(parent, "state"), false);
  const login2 = { host: "login2", network: "NFS" };
  const unlock = lockStateFolder(folder, { host: "login1", network: "NFS" });
  // The kernel of this host lists our lock; that of another host does not.
  const elsewhere = { ...folder, path: join(parent, "elsewhere") };
  expect(() => lockStateFolder(elsewhere, login2)).toThrow(
    new RegExp(
      `another one uses it, process ${process.pid} on login1 .*log in to login1: there, .*kill ${process.pid} there`,
    ),
  );
  expect(() => lockStateFolder(elsewhere, login2)).toThrow(
    /If none runs anywhere, NFS has no locks here: .*-o flock/,
  );
  unlock();
  expect(existsSync(folder.holder)).toBe(false);
  // What a scheduler that was killed has left does not hinder the next one.
  writeFileSync(folder.holder, "login1 12\n");
  lockStateFolder(folder, login2)();
  writeFileSync(folder.lock, "x".repeat(200));
  expect(() => lockStateFolder(folder, { host: "login2", network: "Lustre" })).toThrow(
    /Cannot lock ".*lock": .* on Lustre, expected a file system with locks .*-o flock/,
  );
  rmSync(parent, { recursive: true });
});
