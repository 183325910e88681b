/**
 * Makes local accounts for a run (useradd), and removes them afterwards (userdel). Their names contain the
 * pid of the run. So two runs do not collide, and the next run recognises accounts that a killed run left
 * behind.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { allPids, signal } from "@tutti/host/processes.ts";

export interface Account {
  readonly user: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

const NAME = /^tt([0-9]+)(ann|bob|eve|svc)$/;
/** Retries, because of two programs that change /etc/passwd at the same time one fails. */
const TRIES = 50;

/** Ann owns what must be protected, Bob is another victim, Eve attacks. */
export interface Accounts {
  readonly ann: Account;
  readonly bob: Account;
  readonly eve: Account;
}

/** Whether this process is root and the programs are installed. */
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

/** Kills all processes of the accounts of this run, and removes the accounts. */
export async function removeAccounts(): Promise<void> {
  for (const account of accounts()) {
    if (NAME.exec(account.user)?.[1] === String(process.pid)) await removeAccount(account);
  }
}

/**
 * Makes an account of a service, with a user id above those of people, as in Debian, and no shell. Returns
 * its name.
 */
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
  const account = accounts().find((entry) => entry.user === user);
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
  let errors = "";
  for (let tries = 0; tries < TRIES; tries++) {
    const { status, stderr } = spawnSync(`/usr/sbin/${program}`, parameters, { encoding: "utf8" });
    if (status === 0) return;
    errors = stderr.trim();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Cannot run ${program} ${parameters.join(" ")}: ${errors}`);
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
