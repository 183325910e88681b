/**
 * Measures durable submits per second over the Unix socket, with 1, 16 and 64 clients that each keep a
 * connection, and with 64 clients that open a new connection for every submit, as `tutti submit` does. Also
 * measures how long `tutti jobs` takes with 10,000 queued jobs, the memory of front end and conductor, and
 * the largest arrays that one request may have. The jobs are held, so no scheduling is measured.
 *
 *   npm run bench:submit              1,000 submits a round, 12,000 queued in the end
 *   npm run bench:submit -- --quick   small, as a check
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { fileURLToPath } from "node:url";
import type { Client } from "@tutti/live/api/client/client.ts";
import { readToken, runtimeDirOf } from "@tutti/live/api/runtime-dir.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import { figure, printTable, show, summarise, whenInterrupted } from "./measure.ts";
import { ownPlace, reached } from "./own-scheduler.ts";

const quick = process.argv.includes("--quick");
/** Twelve rounds leave at least 10,000 jobs in the queue. */
const perRound = quick ? 64 : 1000;
/** The most that one request may have; elements of an array. */
const PER_ARRAY = quick ? 100 : MAX_JOBS_PER_BATCH;
const GOAL_PER_S = 10_000;
const GOAL_OF_ARRAY_MS = 250;
const ROUNDS = 3;
const { folder, env } = ownPlace();
const bin = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const tutti = (...words: string[]) => spawnSync(process.execPath, [bin, ...words], { env, encoding: "utf8" });

const request = { tasks: 1, command: ["true"], cwd: "/", env: {}, held: true };

type Submit = () => Promise<unknown>;

/** A client that keeps its connection. */
function keptConnection(): { submit: Submit; end: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = Buffer.from(JSON.stringify({ jobs: [request] }));
  const headers = {
    host: "localhost",
    authorization: `Bearer ${readToken(runtimeDirOf(env.TUTTI_SOCKET))}`,
    "content-type": "application/json",
    "content-length": body.length,
  };
  const options = { socketPath: env.TUTTI_SOCKET, agent, path: "/v1/jobs", method: "POST", headers };
  const submit = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = httpRequest(options, (answer) => {
        answer.on("error", reject).on("end", () => {
          if (answer.statusCode === 201) resolve();
          else reject(new Error(`a submit was answered with status ${answer.statusCode}`));
        });
        answer.resume();
      });
      outgoing.on("error", reject).end(body);
    });
  return { submit, end: () => agent.destroy() };
}

/** Submits per second. */
async function rateOf(clients: readonly Submit[], count: number): Promise<number> {
  let left = count;
  const from = performance.now();
  await Promise.all(
    clients.map(async (submit) => {
      while (left-- > 0) await submit();
    }),
  );
  return (count / (performance.now() - from)) * 1000;
}

function residentMB(pid: number): string {
  const kB = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return `${(Number(kB) / 1000).toFixed(0)} MB`;
}

async function started(): Promise<{ daemon: ChildProcess; client: Client }> {
  const daemon = spawn(process.execPath, [bin, "serve", "--private", "--no-http"], {
    env,
    stdio: "ignore",
    // An interrupt must reach only this process, which then ends the scheduler with all that it has started.
    detached: true,
  });
  return { daemon, client: await reached(env) };
}

whenInterrupted(cleanUp);
try {
  const { daemon, client } = await started();
  let jobs = 0;
  const rows: string[][] = [];
  const measure = async (name: string, clients: readonly Submit[]) => {
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rates.push(await rateOf(clients, perRound));
      jobs += perRound;
    }
    const { medianMs, minMs, maxMs } = summarise(rates);
    figure(`durable submits, ${name}`, medianMs, "/s", clients.length === 64 ? GOAL_PER_S : undefined);
    rows.push([name, `${medianMs.toFixed(0)}/s`, `${minMs.toFixed(0)} … ${maxMs.toFixed(0)}/s`]);
  };
  for (const count of [1, 16, 64]) {
    const clients = Array.from({ length: count }, keptConnection);
    await measure(
      `${count} clients`,
      clients.map(({ submit }) => submit),
    );
    for (const { end } of clients) end();
  }
  const reconnect = () => client.ask("/v1/jobs", { method: "POST", body: { jobs: [request] } });
  await measure("64 clients, each reconnecting", Array(64).fill(reconnect));
  printTable(["durable submits", "median", "range"], rows);
  const took: number[] = [];
  for (let round = 0; round < 5; round++) {
    const from = performance.now();
    const { status } = tutti("jobs");
    if (status !== 0) throw new Error(`tutti jobs ended with ${status}`);
    took.push(performance.now() - from);
  }
  const { medianMs, maxMs } = summarise(took);
  figure("tutti jobs with 12,000 queued: wall", medianMs, "ms");
  const { conductor } = await client.ask<{ conductor: { pid?: number } }>("/v1/status");
  console.log(
    `tutti jobs with ${jobs} queued: ${medianMs.toFixed(0)} ms, at most ${maxMs.toFixed(0)} ms, Node's start included`,
  );
  console.log(
    `memory: front end ${residentMB(daemon.pid ?? 0)}, conductor ${conductor.pid === undefined ? "not there" : residentMB(conductor.pid)}`,
  );
  const arraysMs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = performance.now();
    const body = { jobs: [{ ...request, array: `1-${PER_ARRAY}` }] };
    await client.ask("/v1/jobs", { method: "POST", body });
    arraysMs.push(performance.now() - from);
  }
  const arrays = summarise(arraysMs);
  figure("durable submit of an array", arrays.medianMs, "ms", GOAL_OF_ARRAY_MS);
  console.log(`an array of ${PER_ARRAY} jobs in one request: ${show(arrays)}`);
} finally {
  cleanUp();
}

function cleanUp(): void {
  tutti("down", "--kill");
  rmSync(folder, { recursive: true, force: true });
}
