import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeDeadHomes, removeIfDead } from "./dead-homes.ts";

const OWNER = "0123456789abcdef";
const STRANGER = "fedcba9876543210";

let base: string;
const pids: number[] = [];

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "tutti-homes-"));
});
afterEach(() => {
  for (const pid of pids.splice(0)) process.kill(pid, "SIGKILL");
  rmSync(base, { recursive: true });
});

function makeHome(name: string): string {
  const home = join(base, name);
  mkdirSync(home);
  writeFileSync(join(home, "state.json"), "{}");
  return home;
}

/** A process with these arguments; its first one stands for a script. */
async function startProcess(title: string | undefined, ...words: string[]): Promise<void> {
  const script = title === undefined ? "" : `process.title = ${JSON.stringify(title)};`;
  const child = spawn(process.execPath, [
    "-e",
    `${script} console.log("up"); setInterval(() => {}, 1000)`,
    ...words,
  ]);
  pids.push(child.pid!);
  await new Promise((resolve) => child.stdout.once("data", resolve));
}

test("a conductor removes folders of the same owner and node without a living conductor, and no others", async () => {
  const home = makeHome(`${OWNER}-4-n1`);
  const kept = [
    `${OWNER}-2-n2`,
    `${OWNER}-2-n1-x`,
    `${STRANGER}-2-n1`,
    "something-n1",
    makeHome(`${OWNER}-3-n1`).slice(base.length + 1),
    makeHome(`${OWNER}-5-n1`).slice(base.length + 1),
  ];
  for (const name of kept) if (!existsSync(join(base, name))) makeHome(name);
  for (const name of [`${OWNER}-1-n1`, `${OWNER}-2-n1`]) makeHome(name);
  const elsewhere = mkdtempSync(join(tmpdir(), "tutti-elsewhere-"));
  symlinkSync(elsewhere, join(base, `${OWNER}-6-n1`));
  // A keeper of the third pilot, and a conductor of the fifth.
  await startProcess(undefined, "tutti-keeper", "node", "conductor", `${OWNER}-3`);
  await startProcess(`tutti-conductor ${join(base, `${OWNER}-5-n1`)}`);
  removeDeadHomes(home, `${OWNER}-4`);
  expect(readdirSync(base).sort()).toEqual([`${OWNER}-4-n1`, `${OWNER}-6-n1`, ...kept].sort());
  rmSync(elsewhere, { recursive: true });
});

test("one folder is removed only if it has the name of its cluster and its keeper is dead", async () => {
  const home = makeHome(`${OWNER}-1-n1`);
  removeIfDead(home, `${OWNER}-2`);
  removeIfDead(home, "");
  expect(readFileSync(join(home, "state.json"), "utf8")).toBe("{}");
  await startProcess(undefined, "connect.js", home, `${OWNER}-1`);
  removeIfDead(home, `${OWNER}-1`);
  expect(existsSync(home)).toBe(false);
  removeIfDead(home, `${OWNER}-1`);
});
