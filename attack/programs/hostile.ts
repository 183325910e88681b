/**
 * Runs as the attacker: sends all kinds of requests that one user can send, all at once, until it is killed.
 *
 *   hostile.ts SOCKET TOKEN-FILE PORT [KIND,KIND…]
 *
 * It requests lists, exports and forecasts, and aborts half of them; sends requests and does not read the
 * answers; follows events; submits large arrays and cancels them.
 */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";

const [, , socketPath = "", tokenFile = "", port = "0", kinds] = process.argv;
const token = readFileSync(tokenFile, "utf8").trim();
const wheres = [{ socketPath }, ...(port === "0" ? [] : [{ host: "127.0.0.1", port: Number(port) }])];
const counts: Record<string, number> = {};
let turn = 0;

/** @param patienceMs gives up after this time */
function ask(method: string, path: string, body?: unknown, patienceMs = 5000): Promise<void> {
  const where = wheres[turn++ % wheres.length];
  const text = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const host = "port" in where ? `127.0.0.1:${where.port}` : "localhost";
  const headers = {
    host,
    authorization: `Bearer ${token}`,
    ...(text !== undefined && { "content-type": "application/json", "content-length": text.length }),
  };
  return new Promise((resolve) => {
    const outgoing = request({ ...where, agent: false, method, path, headers }, (answer) => {
      counts[String(answer.statusCode)] = (counts[String(answer.statusCode)] ?? 0) + 1;
      answer.resume();
    });
    const timer = setTimeout(() => outgoing.destroy(), patienceMs);
    outgoing.on("error", () => {});
    outgoing.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
    outgoing.end(text);
  });
}

/** Keeps a number of them going at a time, forever. */
function flood(atOnce: number, one: () => Promise<void>): void {
  const worker = async () => {
    for (;;) {
      await one();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  for (let i = 0; i < atOnce; i++) void worker();
}

function askedOnly(path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`);
    setTimeout(() => socket.destroy(), 10_000);
  });
}

const word = "x".repeat(100_000);
const env = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`V${i}`, word]));
const held = { command: ["true", word.slice(0, 1000)], cwd: "/", env: {}, held: true };
const oftenLeft = () => (Math.random() < 0.5 ? 50 : 5000);
/** For each kind, how many run at a time, and what each of them repeats. */
const FLOODS: Readonly<Record<string, readonly [number, () => Promise<void>]>> = {
  lists: [40, () => ask("GET", "/v1/jobs", undefined, oftenLeft())],
  history: [20, () => ask("GET", "/v1/jobs?last=999999999999999", undefined, oftenLeft())],
  exports: [20, () => ask("GET", "/v1/export.swf", undefined, 100)],
  forecasts: [8, () => ask("POST", "/v1/whatif", { policies: ["easy", "fcfs", "gang"] })],
  arrays: [4, () => ask("POST", "/v1/jobs", { jobs: [{ ...held, array: "0-9999" }] }, 20_000)],
  large: [4, () => ask("POST", "/v1/jobs", { jobs: Array.from({ length: 3 }, () => ({ ...held, env })) })],
  events: [20, () => ask("GET", "/v1/events?since=0", undefined, 3000)],
  followers: [100, () => ask("GET", "/v1/events", undefined, 30_000)],
  unread: [400, () => askedOnly(turn % 2 === 0 ? "/v1/jobs/1" : "/v1/jobs?last=1000")],
  cancels: [2, () => ask("POST", "/v1/batch", { action: "cancel", selectors: ["all"] }, 20_000)],
};
for (const [name, [atOnce, one]] of Object.entries(FLOODS)) {
  if (kinds === undefined || kinds.split(",").includes(name)) flood(atOnce, one);
}
console.log("ready");
setInterval(() => console.log(JSON.stringify(counts)), 5000);
