/**
 * Findings S6 and S9 (docs/security.md): how much of the scheduler's memory and disk one user's requests and
 * jobs can use.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { open, type Where } from "../http.ts";
import { type Scheduler, sleep } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const MAX_RSS_BYTES = 400e6;
/** Maximum that one user may leave in root's database; the scheduler's own limit is lower. */
const MAX_STORE_BYTES = 400e6;
const COMMAND_BYTES = 960_000;

export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}

/** Maximum memory of a process while something runs. */
async function mostResident(pid: number, during: Promise<unknown>): Promise<number> {
  let most = 0;
  let isOver = false;
  void during.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    most = Math.max(most, residentBytes(pid));
    await sleep(50);
  }
  return most;
}

/** Requests on many connections, whose answers are never read. */
async function askedOnly(where: Where, token: string, path: string, connections: number, forMs: number) {
  const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`;
  const sockets = Array.from({ length: connections }, () => {
    const socket = open(where);
    socket.pause();
    socket.write(request);
    return socket;
  });
  await sleep(forMs);
  for (const socket of sockets) socket.destroy();
}

async function unread(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const [connections, forMs] = stage.isShort ? [60, 2000] : [560, 40_000];
  const scheduler = await stage.serve({ http: !stage.isShort });
  const words = Array.from({ length: COMMAND_BYTES / 96_000 }, () => "x".repeat(96_000));
  const jobs = await scheduler.post(eve, [{ command: ["true", ...words], held: true }]);
  const large = (jobs.json as { jobs?: { job: number }[] } | undefined)?.jobs?.[0]?.job ?? 1;
  if (jobs.status !== 201)
    await scheduler.post(eve, [{ command: ["true", ...words.slice(0, 1)], held: true }]);
  const seen: string[] = [];
  for (const path of [`/v1/jobs/${large}`, "/v1/jobs", "/v1/events", `/v1/jobs/${large}/why`]) {
    const flood = askedOnly(scheduler.where, scheduler.token(eve), path, connections, forMs);
    const most = await mostResident(scheduler.frontEndPid, flood);
    seen.push(`${Math.round(most / 1e6)} MB`);
    tally.attempt(most > MAX_RSS_BYTES && `${connections} unread ${path}: ${Math.round(most / 1e6)} MB`);
  }
  const { status } = await scheduler.ask(eve, "/v1/status");
  tally.attempt(status !== 200 && `afterwards, status is answered with ${status}`);
  return tally.outcome(`at most ${seen.join(", ")}`);
}

/**
 * Held jobs with the largest environments and scripts that are accepted, until one is refused; then such jobs
 * that are cancelled at once.
 */
async function stored(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  const submit = (round: number) => {
    const value = (job: number) => `${round}.${job}`.padEnd(100_000, "y");
    const script = { base64: Buffer.alloc(700_000, `${round}`).toString("base64"), word: 0 };
    const jobs = Array.from({ length: 5 }, (_, job) => {
      const env = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`V${i}`, value(job)]));
      return { command: ["s"], held: true, env, script };
    });
    return scheduler.post(eve, jobs);
  };
  const rounds = stage.isShort ? 40 : 100;
  let taken = 0;
  while (taken < rounds && (await submit(taken)).status === 201) taken++;
  tally.attempt(taken === rounds && `all ${rounds * 5} waiting jobs of 1.5 MB were accepted`);
  for (let round = 0; round < (stage.isShort ? 12 : rounds); round++) {
    if (round % 4 === 0) await scheduler.tutti(eve, "cancel", "all");
    await submit(rounds + round);
  }
  const bytes = storeBytes(scheduler);
  tally.attempt(bytes > MAX_STORE_BYTES && `the store has ${Math.round(bytes / 1e6)} MB`);
  return tally.outcome(
    `refused after ${taken * 5} jobs; with cancelled ones the store has ${Math.round(bytes / 1e6)} MB`,
  );
}

function storeBytes({ state }: Scheduler): number {
  return readdirSync(state)
    .filter((name) => name.startsWith("tutti.db"))
    .reduce((sum, name) => sum + statSync(join(state, name)).size, 0);
}

export const MEMORY: readonly Attack[] = [
  {
    name: "answers-unread",
    finding: "S6",
    about: "requests for a large job, lists and events, whose answers are never read",
    needs: "users",
    run: unread,
  },
  {
    name: "store-filled",
    finding: "S9",
    about: "jobs with large environments and scripts, waiting and cancelled",
    needs: "users",
    run: stored,
  },
];
