/**
 * Findings S14 and S15 (docs/security.md): whether one user can fill the store with news of hooks, so that
 * root is refused or a restart takes long, and the scheduler's log by leaving.
 */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { open, type Where } from "../http.ts";
import { type Scheduler, sleep, until } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const SHORT_MS = 5_000;
/** A quarter of the store. */
const SHARE_BYTES = 2 ** 31;
/** More than the start without a store takes. */
const RESTART_MS = 3_000;
const HOOK_LENGTH = 4_000;

async function newsFilled(stage: Stage): Promise<Outcome> {
  const { ann, eve } = stage.users;
  const tally = new Tally();
  const servedMs = performance.now();
  const scheduler = await stage.serve();
  const emptyMs = performance.now() - servedMs;
  const failing = await scheduler.submit(eve, "false");
  await scheduler.ended(failing);
  const lastMs = Date.now() + (stage.isShort ? SHORT_MS : stage.minutes * 60_000);
  const made = { jobs: 0, refused: 0 };
  const job = {
    cwd: folderOfLength(stage.makeFolder("long", 0o755, eve), 3_800),
    array: "0-2499",
    name: "n".repeat(250),
    after: [{ job: failing, ok: true }],
    onEnd: `sleep 29 #${"x".repeat(HOOK_LENGTH)}`,
    webhook: `http://127.0.0.1:9/${"x".repeat(1_900)}`,
  };
  const fill = async () => {
    while (Date.now() < lastMs) {
      const { status } = await scheduler.post(eve, [job]);
      if (status === 201) made.jobs += 2500;
      else made.refused++;
    }
  };
  const submits = { ann: 0, root: 0 };
  const submit = async () => {
    while (Date.now() < lastMs) {
      for (const [name, user] of [
        ["ann", ann],
        ["root", undefined],
      ] as const) {
        const { status, text } = await scheduler.post(user, [{}]);
        submits[name]++;
        tally.attempt(status !== 201 && `${name} was refused after ${made.jobs} jobs of Eve's: ${text}`);
      }
      await sleep(100);
    }
  };
  await Promise.all([fill(), submit()]);
  const store = join(scheduler.state, "tutti.db");
  const { size } = statSync(store);
  tally.attempt(size > SHARE_BYTES && `the store has ${size} bytes, more than Eve's share`);
  await scheduler.stop("SIGKILL");
  const fromMs = performance.now();
  await scheduler.start();
  const tookMs = performance.now() - fromMs;
  // Only the long form has enough news for a restart to take long.
  if (!stage.isShort)
    tally.attempt(tookMs > emptyMs + RESTART_MS && `the restart took ${Math.round(tookMs)} ms`);
  return tally.outcome(
    `${made.jobs} jobs of Eve's, ${made.refused} requests refused; store ${Math.round(size / 2 ** 20)} MiB; ${submits.root} submits of root, ${submits.ann} of Ann, none refused; restart ${(tookMs / 1000).toFixed(1)} s, first start ${(emptyMs / 1000).toFixed(1)} s`,
  );
}

/** A folder whose path has about that many bytes. */
function folderOfLength(folder: string, length: number): string {
  let path = folder;
  while (path.length < length - 200) path = join(path, "d".repeat(199));
  mkdirSync(path, { recursive: true });
  return path;
}

async function logFilled(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  await scheduler.post(eve, [{ array: "0-4999", held: true }]);
  const before = scheduler.output;
  for (const path of [
    "/v1/export.jsonl",
    "/v1/export.swf",
    "/v1/jobs",
    "/v1/events?since=0",
    "/v1/timeline",
  ]) {
    for (const waitMs of [0, 50, 150]) await leave(scheduler, eve, path, waitMs);
  }
  await scheduler.status();
  tally.attempt(scheduler.output !== before && `the log has ${scheduler.output.slice(before.length)}`);
  return tally.outcome("900 clients that left wrote nothing into the log");
}

/** Sends 60 requests at once, and closes their connections after a time. */
async function leave(scheduler: Scheduler, user: Stage["users"]["eve"], path: string, waitMs: number) {
  const where: Where = { socketPath: scheduler.socketOf(user) };
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${scheduler.token(user)}\r\n\r\n`;
  const sockets = Array.from({ length: 60 }, () => open(where));
  for (const socket of sockets) socket.resume().write(head);
  await sleep(waitMs);
  for (const socket of sockets) socket.destroy();
  await until(() => sockets.every(({ closed }) => closed));
}

export const NEWS: readonly Attack[] = [
  {
    name: "news-filled",
    finding: "S14",
    about: "arrays with long hooks that are cancelled during the submit, at full speed",
    needs: "users",
    run: newsFilled,
  },
  {
    name: "log-filled",
    finding: "S15",
    about: "lists, exports and streams whose clients leave",
    needs: "users",
    run: logFilled,
  },
];
