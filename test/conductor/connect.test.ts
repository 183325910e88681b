/** Tests the program that joins its standard streams to a conductor's socket, with a real conductor. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { allPids, signal } from "@tutti/host/processes.ts";
import { isAtGate, startShim } from "@tutti/live/conductor/attempts/shim.ts";
import { startConductor } from "@tutti/live/conductor/client.ts";
import { NO_NODE_VARIABLES, OWN_FOLDER } from "@tutti/live/daemon/executor/cluster/keeper-parts.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { LineReader } from "@tutti/protocol/wire.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Stage, until } from "./stage.ts";

const PROGRAM = fileURLToPath(new URL("../../packages/live/conductor/connect.ts", import.meta.url));

let stage: Stage;
beforeEach(() => {
  stage = new Stage("signals");
});
afterEach(async () => expect(await stage.clear()).toEqual([]));

function connector(
  home: string,
  ...more: readonly string[]
): { readonly child: ChildProcess; readonly messages: FromConductor[] } {
  const child = spawn(process.execPath, [PROGRAM, home, ...more], { stdio: ["pipe", "pipe", "pipe"] });
  const lines = new LineReader();
  const messages: FromConductor[] = [];
  child.stdout?.on("data", (chunk: Buffer) => {
    for (const line of lines.push(chunk) ?? []) messages.push(JSON.parse(line));
  });
  return { child, messages };
}

function hello(child: ChildProcess): void {
  child.stdin?.write(`${JSON.stringify({ type: "hello", protocol: 3, frontEnd: "test" })}\n`);
}

/** Where the process works; undefined: it has ended, or we may not see it. */
function folderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

async function ended(child: ChildProcess): Promise<number | null> {
  await until("it has ended", () => child.exitCode !== null || child.signalCode !== null);
  return child.exitCode;
}

test("carries lines of a megabyte both ways, and ends with its input; the conductor does not", async () => {
  await stage.ready();
  stage.client.close();
  const { child, messages } = connector(stage.home);
  hello(child);
  await until("the conductor answers", () => messages.length > 0);
  expect(messages[0]).toMatchObject({ type: "state", protocol: 3 });
  const text = "x".repeat(2 ** 20);
  const spec = stage.spec(1, ["true"], { cwd: "/no/such/folder", env: { TEXT: text } });
  child.stdin?.write(`${JSON.stringify({ type: "launch", spec: { ...spec, folder: `/no/${text}` } })}\n`);
  await until("it is lost", () => messages.some(({ type }) => type === "ended"));
  const end = messages.find((message) => message.type === "ended")?.end;
  expect(end?.lost?.length).toBeGreaterThan(2 ** 20);
  child.stdin?.end();
  expect(await ended(child)).toBe(0);
  expect(stage.processes()).toEqual([]);
  const again = connector(stage.home);
  hello(again.child);
  await until("the same conductor answers", () => again.messages.length > 0);
  expect(again.messages[0]).toMatchObject({ pid: stage.conductorPid() });
  // Where a cluster takes a node away, the conductor still has to say how its attempts end.
  again.child.kill("SIGTERM");
  again.child.stdin?.end();
  expect(await ended(again.child)).toBe(0);
});

test("if no conductor listens, it kills what is left of the cluster's gangs, and says that the node is vacant", async () => {
  stage.client.close();
  const home = join(stage.folder, "never");
  const env = (cluster: string) => ({ ...process.env, TUTTI_GANG: `tutti-${cluster}/7.1` });
  const left = spawn("sleep", ["1000"], { env: env("c-1"), stdio: "ignore" });
  const foreign = spawn("sleep", ["1000"], { env: env("c-12"), stdio: "ignore" });
  try {
    const { child, messages } = connector(home, "c-1", "300");
    expect(await ended(child)).toBe(1);
    expect(messages).toEqual([{ type: "vacant" }]);
    expect([left.signalCode, foreign.exitCode, foreign.signalCode]).toEqual(["SIGKILL", null, null]);
  } finally {
    left.kill("SIGKILL");
    foreign.kill("SIGKILL");
  }
  // Without the name of a cluster, nothing is killed and nothing is said.
  const { child, messages } = connector(home, "", "300");
  expect(await ended(child)).toBe(1);
  expect(messages).toEqual([]);
});

test("if no conductor listens, it also ends what waits at a gate of the cluster's gangs", async () => {
  stage.client.close();
  const [own, foreign] = ["c-1", "c-12"].map((cluster, i) => {
    const spec = stage.spec(i + 1, ["sleep", "1000"]);
    startShim(spec, `tutti-${cluster}/${i + 1}.1`, undefined, "node");
    return spec.folder;
  });
  const processesIn = (folder: string) => allPids().filter((pid) => folderOf(pid) === folder);
  try {
    // A shim and a job each.
    for (const folder of [own, foreign])
      await until("it waits at its gate", () => processesIn(folder).some(isAtGate));
    const { child, messages } = connector(join(stage.folder, "never"), "c-1", "300");
    expect(await ended(child)).toBe(1);
    expect(messages).toEqual([{ type: "vacant" }]);
    // The shim writes how its job has ended.
    await until("its shim has ended, too", () => processesIn(own).length === 0);
    expect(processesIn(foreign).some(isAtGate)).toBe(true);
  } finally {
    for (const pid of [own, foreign].flatMap(processesIn)) signal(pid, "SIGKILL");
  }
});

test.each(["another user's", "a file"])("asks nobody in %s folder, and says whose it is", async (kind) => {
  stage.client.close();
  const base = join(stage.folder, "base");
  const isFile = kind === "a file";
  if (isFile) writeFileSync(base, "");
  else mkdirSync(base);
  // Only root can make another user's folder.
  const isOurs = !isFile && process.getuid!() !== 0;
  if (!isFile && !isOurs) chownSync(base, 65_534, 65_534);
  const { child, messages } = connector(join(base, "c-1-n1"), "c-1", "300");
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString("utf8");
  });
  expect(await ended(child)).toBe(1);
  if (isOurs) return;
  expect(messages).toEqual([]);
  const found = isFile ? "it is not a folder" : "it belongs to user 65534";
  expect(said).toBe(
    `Cannot use ${base}: ${found}, expected a folder of user ${process.getuid!()}; its owner or an administrator must remove it\n`,
  );
});

test("if another user has taken the place of the folder, the conductor and its connector use another one", async () => {
  stage.client.close();
  const base = join(stage.folder, "base");
  mkdirSync(base);
  // Only root can make another user's folder; without rights, a file is as much in the way.
  if (process.getuid!() === 0) chownSync(base, 65_534, 65_534);
  else {
    rmdirSync(base);
    writeFileSync(base, "");
  }
  // Nor does it use another one's folder or link of such a name.
  symlinkSync(stage.folder, `${base}.0`);
  const { child, messages } = connector(join(base, "c-1-n1"));
  const keeper = () =>
    spawnSync("/bin/sh", ["-c", `${OWN_FOLDER}\nown_folder "$1"; echo "$base"`, "sh", base], {
      encoding: "utf8",
    }).stdout.trim();
  const own = keeper();
  expect(own).toMatch(/\/base\.\w{8}$/);
  expect(keeper()).toBe(own);
  const conductor = startConductor(join(own, "c-1-n1"), "signals");
  hello(child);
  await until("the conductor answers", () => messages.length > 0);
  expect(messages[0]).toMatchObject({ type: "state" });
  conductor.kill("SIGKILL");
  expect(await ended(child)).toBe(0);
});

test("a folder that another keeper of the same user makes at the same moment is used by both", () => {
  const base = join(stage.folder, "at-once");
  // The other one is faster by a moment: when mkdir is called, the folder is there.
  const faster = 'mkdir() { command mkdir "$@"; command mkdir "$@"; }';
  const { stdout } = spawnSync(
    "/bin/sh",
    ["-c", `${faster}\n${OWN_FOLDER}\nown_folder "$1"; echo "$base"`, "sh", base],
    { encoding: "utf8" },
  );
  expect(stdout).toBe(`${base}\n`);
  expect(readdirSync(stage.folder).filter((name) => name.startsWith("at-once"))).toEqual(["at-once"]);
});

test("a keeper removes the variables of Node, and no others, from the environment of the conductor", () => {
  const env = {
    NODE_OPTIONS: "--x\nNODE_MORE=1",
    NODE_EXTRA_CA_CERTS: "/y",
    NODELIST: "n1",
    PATH: "/usr/bin:/bin",
  };
  const { stdout } = spawnSync("/bin/sh", ["-c", `${NO_NODE_VARIABLES}\nenv`], { encoding: "utf8", env });
  const names = stdout.split("\n").flatMap((line) => line.split("=").slice(0, -1));
  expect(names.filter((name) => name.startsWith("NODE"))).toEqual(["NODELIST"]);
  expect(names).toContain("PATH");
});

test("waits for a conductor that is only starting, and ends when it ends", async () => {
  stage.client.close();
  const home = join(stage.folder, "later");
  const { child, messages } = connector(home);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(child.exitCode).toBeNull();
  const conductor = startConductor(home, "signals");
  hello(child);
  await until("the conductor answers", () => messages.length > 0);
  conductor.kill("SIGKILL");
  expect(await ended(child)).toBe(0);
});
