/**
 * Tests that the conductor is a separate program: its folders, copied to an empty one, run gangs for any
 * client of its protocol. So it can be shipped to a node alone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { allowedCpus } from "@tutti/host/machine.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "./live-command.ts";

const FOLDERS = ["host", "protocol", "kernel/structures", "live/conductor"];
const folder = mkdtempSync(join(tmpdir(), "tutti-alone-"));
const home = join(folder, "home");
let conductor: ChildProcess;
let socket: Socket;
const messages: { readonly type: string; readonly [field: string]: unknown }[] = [];

beforeAll(async () => {
  const packages = resolve(import.meta.dirname, "../packages");
  mkdirSync(join(folder, "node_modules/@tutti"), { recursive: true });
  for (const path of FOLDERS) {
    const [name] = path.split("/");
    cpSync(join(packages, path), join(folder, "packages", path), { recursive: true });
    cpSync(join(packages, name, "package.json"), join(folder, "packages", name, "package.json"));
    symlinkSync(`../../packages/${name}`, join(folder, "node_modules/@tutti", name));
  }
  // It tells its version to those who say hello.
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "version": "0.0.0" }');
  mkdirSync(home, { mode: 0o700 });
  conductor = spawn(process.execPath, [join(folder, "packages/live/conductor/main.ts"), home], {
    stdio: "inherit",
  });
  await until(() => existsSync(join(home, "socket")) || conductor.exitCode !== null);
  socket = createConnection(join(home, "socket"));
  createInterface(socket).on("line", (line) => messages.push(JSON.parse(line)));
});

afterAll(async () => {
  const ended = once(conductor, "exit");
  say({ type: "shutdown", killJobs: true });
  await ended;
  rmSync(folder, { recursive: true });
});

function say(message: object): void {
  socket.write(`${JSON.stringify(message)}\n`);
}

test("gangs of two rows take turns and end with their status", async () => {
  say({ type: "hello", protocol: 3, frontEnd: "test" });
  await until(() => messages.some(({ type }) => type === "state"));
  expect(messages[0]).toMatchObject({ type: "state", protocol: 3, attempts: [] });
  const cpus = allowedCpus().slice(0, 2);
  const gangs = [1, 2].map((job) => ({ job, attempt: 1, cpus }));
  const rows = gangs.map((gang) => [gang]);
  say({ type: "matrix", matrix: { sequence: 1, slotMs: 50, mode: "gang", fromSlot: 0, rows } });
  for (const { job } of gangs) {
    const own = join(folder, String(job));
    mkdirSync(own);
    const script = `i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; echo ran; exit ${40 + job}`;
    const spec = {
      ...{ job, attempt: 1, identity: String(job).repeat(32), folder: own, cwd: own, graceMs: 300 },
      ...{ uid: process.getuid!(), gid: process.getgid!(), env: { PATH: process.env.PATH } },
      ...{ command: ["sh", "-c", script], stdout: join(own, "out"), stderr: join(own, "err") },
    };
    say({ type: "launch", spec });
  }
  const ends = () => messages.filter(({ type }) => type === "ended").map(({ end }) => end);
  await until(() => ends().length === 2);
  expect(ends()).toEqual(
    expect.arrayContaining(
      gangs.map(({ job }) => expect.objectContaining({ job, code: 40 + job, reason: "none" })),
    ),
  );
  expect(gangs.map(({ job }) => readFileSync(join(folder, String(job), "out"), "utf8"))).toEqual([
    "ran\n",
    "ran\n",
  ]);
  expect(messages.filter(({ type }) => type === "refused")).toEqual([]);
});
