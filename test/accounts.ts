/** Makes accounts on this machine for a test, and runs processes under them. Needs root. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readPasswd } from "@tutti/host/passwd.ts";
import type { CommandResult } from "./command.ts";

export interface TestAccount {
  readonly user: string;
  readonly uid: number;
  readonly gid: number;
}

const made: string[] = [];

export const canMakeAccounts =
  process.getuid!() === 0 && spawnSync("useradd", ["--help"], { stdio: "ignore" }).status === 0;

/** Makes an account without a home folder. @param more parameters of useradd */
export function makeAccount(name: string, ...more: readonly string[]): TestAccount {
  const user = `tt${name}${process.pid}`;
  const { status, stderr } = spawnSync("useradd", ["-M", "-s", "/bin/sh", ...more, user], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`useradd: ${stderr}`);
  made.push(user);
  const entry = readPasswd().find((one) => one.user === user);
  if (entry === undefined) throw new Error(`There is no account "${user}" though it was made`);
  return { user, uid: entry.uid, gid: entry.gid };
}

export function removeAccount(user: string): void {
  spawnSync("userdel", ["-f", user], { stdio: "ignore" });
}

/** Removes all these accounts. */
export function removeAccounts(): void {
  for (const user of made.splice(0)) removeAccount(user);
}

/** Starts a process of a user, with that user's groups and an environment as after a login. */
export function spawnAs(
  { uid, gid }: TestAccount,
  [program, ...parameters]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  return spawn(
    "setpriv",
    [`--reuid=${uid}`, `--regid=${gid}`, "--init-groups", "--", program, ...parameters],
    { cwd: "/", env: { PATH: "/usr/bin:/bin", NO_COLOR: "1", ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
}

export function resultOf(child: ChildProcess): Promise<CommandResult> {
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    child.stdout?.on("data", (piece) => {
      stdout += piece;
    });
    child.stderr?.on("data", (piece) => {
      stderr += piece;
    });
    child.on("close", (status) => resolve({ status, stdout, stderr }));
  });
}
