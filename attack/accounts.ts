/**
 * Local accounts for a run, made by useradd and removed by userdel. Their names carry the pid of the run, so that two runs do not meet and
 * what a killed run has left is recognised by the next one.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { allPids, signal } from "../src/host/processes.ts";

export interface Account {
  readonly user: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

const NAME = /^tt([0-9]+)(ann|bob|eve|svc)$/;
/** Two programs that change /etc/passwd at a time: the second is refused. */
const TRIES = 50;

/** Ann owns what is to be kept, Bob is another victim, Eve attacks. */
export interface Accounts {
  readonly ann: Account;
  readonly bob: Account;
  readonly eve: Account;
}

/** Root, and the programs are there. */
export function canMakeAccounts(): boolean {
  return process.getuid?.() === 0 && ["useradd", "userdel"].every((name) => existsSync(`/usr/sbin/${name}`));
}

export async function makeAccounts(homes: string): Promise<Accounts> {
  for (const account of accounts()) {
    const [, pid] = NAME.exec(account.user) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) await removeAccount(account);
  }
  const make = (name: string) => makeAccount(`tt${process.pid}${name}`, homes);
  return { ann: await make("ann"), bob: await make("bob"), eve: await make("eve") };
}

/** Ends all that runs as the accounts of this process, and removes them. */
export async function removeAccounts(): Promise<void> {
  for (const account of accounts()) {
    if (NAME.exec(account.user)?.[1] === String(process.pid)) await removeAccount(account);
  }
}

/** An account of a service: a number behind those of people, as Debian gives them, and no shell. Gives its name. */
export async function makeServiceAccount(): Promise<string> {
  const user = `tt${process.pid}svc`;
  const numbers = ["--system", "--key", "SYS_UID_MIN=60500", "--key", "SYS_UID_MAX=64900"];
  await administer("useradd", ...numbers, "--no-create-home", "--shell", "/usr/sbin/nologin", user);
  return user;
}

async function makeAccount(user: string, homes: string): Promise<Account> {
  const home = join(homes, user);
  mkdirSync(home, { mode: 0o711 });
  await administer("useradd", "--no-create-home", "--home-dir", home, "--shell", "/bin/sh", user);
  const account = accounts().find((one) => one.user === user);
  if (account === undefined) throw new Error(`Cannot find the account "${user}" that useradd has made`);
  spawnSync("chown", [`${account.uid}:${account.gid}`, home]);
  return account;
}

async function removeAccount({ user, uid }: Account): Promise<void> {
  for (let round = 0; round < 100; round++) {
    const pids = allPids().filter((pid) => uidOf(pid) === uid);
    if (pids.length === 0) break;
    for (const pid of pids) signal(pid, "SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await administer("userdel", "--force", user);
}

async function administer(program: "useradd" | "userdel", ...parameters: string[]): Promise<void> {
  let said = "";
  for (let tries = 0; tries < TRIES; tries++) {
    const { status, stderr } = spawnSync(`/usr/sbin/${program}`, parameters, { encoding: "utf8" });
    if (status === 0) return;
    said = stderr.trim();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Cannot run ${program} ${parameters.join(" ")}: ${said}`);
}

function accounts(): Account[] {
  return readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([user = ""]) => NAME.test(user))
    .map(([user = "", , uid, gid, , home = ""]) => ({ user, uid: Number(uid), gid: Number(gid), home }));
}

function uidOf(pid: number): number | undefined {
  try {
    return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]);
  } catch {
    return undefined;
  }
}
