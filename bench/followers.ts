/**
 * Measures what the followers of events cost the front end: the pages of many people, one stream each. Short
 * jobs come at a steady rate meanwhile. The front end is measured without followers and with them, in turn.
 *
 *   npm run bench:followers              200 followers, 3 jobs/s, three rounds of 20 s each
 *   npm run bench:followers -- --quick   small, as a check
 *
 * Goal: 200 followers take less than 5 % of one CPU. How soon an event arrives is printed, too.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { Agent, type ClientRequest, get } from "node:http";
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Client } from "@tutti/live/api/client/client.ts";
import { readToken, runtimeDirOf } from "@tutti/live/api/runtime-dir.ts";
import type { Event, StatusAnswer } from "@tutti/protocol/schema.ts";
import { printTable } from "./measure.ts";
import { ownPlace, reached } from "./own-scheduler.ts";

export interface FollowerSizes {
  readonly followers: number;
  readonly jobsPerS: number;
  readonly windowS: number;
  readonly rounds: number;
}

export interface FollowerRound {
  /** CPU time of the front end per second, in % of one CPU. */
  readonly alonePercent: number;
  readonly followedPercent: number;
  /** Events that a follower received, at least and at most. */
  readonly leastEvents: number;
  readonly mostEvents: number;
  readonly medianDelayMs: number;
  readonly p99DelayMs: number;
  /** Load average of the machine, over a minute. */
  readonly load: number;
}

const TICKS_PER_S = 100;
/** A stream begins with the next event. */
const FROM_NOW = 999_999_999_999_999;
const SETTLE_MS = 2000;
const bin = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));

export async function measureFollowers(sizes: FollowerSizes): Promise<readonly FollowerRound[]> {
  const { folder, env } = ownPlace();
  let frontEnd: ChildProcess | undefined;
  try {
    frontEnd = spawn(process.execPath, [bin, "serve", "--private", "--port", "0"], { env, stdio: "ignore" });
    const client = await reached(env);
    const { http = "" } = await client.ask<StatusAnswer>("/v1/status");
    const token = readToken(runtimeDirOf(env.TUTTI_SOCKET)) ?? "";
    const pid = frontEnd.pid ?? 0;
    const rounds: FollowerRound[] = [];
    for (let i = 0; i < sizes.rounds; i++) rounds.push(await round(client, pid, http, token, sizes));
    return rounds;
  } finally {
    const down = spawn(process.execPath, [bin, "down", "--kill"], { env, stdio: "ignore" });
    await new Promise((resolve) => down.once("exit", resolve));
    frontEnd?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

async function round(
  client: Client,
  pid: number,
  http: string,
  token: string,
  { followers, jobsPerS, windowS }: FollowerSizes,
): Promise<FollowerRound> {
  const stop = new AbortController();
  const jobs = submitAll(client, jobsPerS, stop.signal);
  const percentOf = async () => {
    await sleep(SETTLE_MS);
    const [cpuMs, fromMs] = [cpuTimeMs(pid), performance.now()];
    await sleep(windowS * 1000);
    return (100 * (cpuTimeMs(pid) - cpuMs)) / (performance.now() - fromMs);
  };
  const alonePercent = await percentOf();
  const all = Array.from({ length: followers }, () => new Follower(http, token));
  const followedPercent = await percentOf();
  for (const follower of all) follower.leave();
  stop.abort();
  await jobs;
  const events = all.map((follower) => follower.events);
  const delays = all.flatMap((follower) => follower.delaysMs).sort((a, b) => a - b);
  return {
    alonePercent,
    followedPercent,
    leastEvents: Math.min(...events),
    mostEvents: Math.max(...events),
    medianDelayMs: delays[delays.length >> 1] ?? Number.NaN,
    p99DelayMs: delays[Math.floor(delays.length * 0.99)] ?? Number.NaN,
    load: loadavg()[0],
  };
}

/** Submits jobs at a steady rate until it is stopped. */
async function submitAll(client: Client, perS: number, stop: AbortSignal): Promise<void> {
  const jobs = [{ command: ["true"], cwd: "/", env: { PATH: "/usr/bin:/bin" } }];
  for (let next = performance.now(); !stop.aborted; next += 1000 / perS) {
    await sleep(Math.max(0, next - performance.now()));
    await client.ask("/v1/jobs", { method: "POST", body: { jobs } });
  }
}

/** A stream of events on a connection of its own, as a page has it. */
class Follower {
  events = 0;
  /** From the moment that an event names until it is here. */
  readonly delaysMs: number[] = [];
  readonly #agent = new Agent({ keepAlive: false });
  readonly #request: ClientRequest;

  constructor(http: string, token: string) {
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
    this.#request = get(`${http}v1/events?since=${FROM_NOW}`, { headers, agent: this.#agent }, (answer) => {
      let rest = "";
      answer.setEncoding("utf8").on("data", (piece: string) => {
        const lines = (rest + piece).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line.startsWith("data: ")) this.#take(JSON.parse(line.slice(6)));
      });
      answer.on("error", () => {});
    });
    this.#request.on("error", () => {});
  }

  leave(): void {
    this.#request.destroy();
    this.#agent.destroy();
  }

  #take({ atMs }: Event): void {
    this.events++;
    this.delaysMs.push(Date.now() - atMs);
  }
}

/** CPU time of all threads of a process so far. */
function cpuTimeMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /, "")
    .split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_S;
}

if (import.meta.main) {
  const sizes = process.argv.includes("--quick")
    ? { followers: 10, jobsPerS: 3, windowS: 1, rounds: 1 }
    : { followers: 200, jobsPerS: 3, windowS: 20, rounds: 3 };
  const rounds = await measureFollowers(sizes);
  printTable(
    ["CPU % alone", `with ${sizes.followers}`, "difference", "events each", "median ms late", "p99", "load"],
    rounds.map(
      ({ alonePercent, followedPercent, leastEvents, mostEvents, medianDelayMs, p99DelayMs, load }) => [
        alonePercent.toFixed(1),
        followedPercent.toFixed(1),
        (followedPercent - alonePercent).toFixed(1),
        `${leastEvents}–${mostEvents}`,
        medianDelayMs.toFixed(0),
        p99DelayMs.toFixed(0),
        load.toFixed(1),
      ],
    ),
  );
}
