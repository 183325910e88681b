/**
 * Runs hooks: `node runner.js HOME`, started by the front end, which sends tasks and gets results. It belongs
 * to the scheduler's user, and may be root; hooks of jobs run as the jobs' users.
 *
 * When the front end is gone, the runner ends with its last hook, and leaves their results in HOME/results
 * for the next runner, which waits until then. So there are never two that start hooks.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { readText } from "@tutti/host/files.ts";
import { takeLock, type Unlock } from "@tutti/host/lock.ts";
import { makeFolder } from "@tutti/host/make-folders.ts";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { allPids, signal } from "@tutti/host/processes.ts";
import { sleep } from "@tutti/host/sleep.ts";
import { closeInherited } from "@tutti/host/surroundings.ts";
import type { FromRunner, HookResult, HookTask } from "@tutti/protocol/news/runner.ts";
import { type Containment, openContainment } from "../freezers/open-containment.ts";
import { MARK_VARIABLE } from "../freezers/signals.ts";
import { Hook } from "./hook.ts";

const LOOK_AGAIN_MS = 20;
/** Processes that the kernel keeps longer than this are left to it. */
const PATIENCE_MS = 5000;

/** Ends what hooks of a killed runner have left, before others begin. */
async function clearLeftovers({ groups, freezer, marks }: Containment): Promise<void> {
  const untilMs = monotonicMs() + PATIENCE_MS;
  const mark = `\0${MARK_VARIABLE}=${marks}`;
  for (;;) {
    const left = groups.gangs().filter((gang) => !freezer.kill(gang) || !groups.remove(gang));
    const marked = allPids().filter((pid) => {
      if (pid === process.pid) return false;
      return `\0${readText(`/proc/${pid}/environ`, "latin1") ?? ""}`.includes(mark);
    });
    for (const pid of marked) signal(pid, "SIGKILL");
    if ((left.length === 0 && marked.length === 0) || monotonicMs() > untilMs) return;
    await sleep(LOOK_AGAIN_MS);
  }
}

const LOCK_RETRY_MS = 50;
const RESULT = /^[0-9a-f-]{1,64}$/;

closeInherited();
// Hooks have the umask of a login without group: their files belong to their user alone.
process.umask(0o077);
process.chdir("/");
const [home] = process.argv.slice(2);
if (home === undefined || process.send === undefined) {
  console.error("Usage: started by tutti serve with the folder of the runner");
  process.exit(2);
}
const results = join(home, "results");
const running = new Set<Hook>();
const early: HookTask[] = [];
let isReady = false;
let isAlone = false;
process.on("SIGHUP", () => {});
process.on("disconnect", () => {
  isAlone = true;
  endIfIdle();
});
process.on("message", (task) => {
  if (isReady) run(task as HookTask);
  else early.push(task as HookTask);
});

// Keep the reference: it holds the lock.
let unlock: Unlock;
let containment: Containment;
try {
  unlock = await lock();
  // In a folder of the conductor's kind: groups are named after it.
  containment = openContainment(home)!;
  await clearLeftovers(containment);
  // All hooks together weigh as much as one process; all jobs together, as one on every CPU.
  containment.groups.write("cpu", ".", "cpu.weight", "100");
  containment.groups.write("cpu", ".", "cpu.shares", "1024");
  makeFolder(results, 0o700);
  for (const name of readdirSync(results)) {
    const path = join(results, name);
    const result = RESULT.test(name) ? resultIn(readFileSync(path, "utf8")) : undefined;
    if (result !== undefined) send({ type: "result", result });
    rmSync(path, { force: true });
  }
} catch {
  // The disk may be full. The front end starts another runner in a second.
  process.exit(1);
}
isReady = true;
send({ type: "ready" });
for (const task of early) run(task);
endIfIdle();

async function lock() {
  for (;;) {
    const held = takeLock(join(home!, "lock"));
    if (held !== undefined) return held;
    await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
    if (isAlone) process.exit(0);
  }
}

function run(task: HookTask): void {
  const hook = new Hook(containment, task, (result) => {
    running.delete(hook);
    if (isAlone) keep(result);
    else send({ type: "result", result });
    endIfIdle();
  });
  running.add(hook);
  void hook.start();
}

function send(message: FromRunner): void {
  process.send?.(message, (error: Error | null) => {
    if (error !== null && message.type === "result") keep(message.result);
  });
}

/** Undefined: a power cut has left only a part of it, and the hook runs again. */
function resultIn(text: string): HookResult | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** For the next runner. If it is lost, the hook runs again. */
function keep(result: HookResult): void {
  const path = join(results, result.id);
  try {
    writeFileSync(`${path}.new`, JSON.stringify(result), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {}
}

function endIfIdle(): void {
  if (!isAlone || !isReady || running.size > 0) return;
  containment.groups.close();
  unlock();
  process.exit(0);
}
