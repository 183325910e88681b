/**
 * Tests the API against hostile clients: they leave, do not read, pipeline, flood the listeners or send
 * nonsense. Checks counts and order, not times.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { WebLinkAnswer } from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Client } from "../client/client.ts";
import { runtimeDirOf } from "../runtime-dir.ts";
import { startTestApi } from "./api-for-tests.ts";
import { makeTestApp, someJob, ADA as USER } from "./app-for-tests.ts";
import { Connections } from "./connections/connections.ts";
import { makeHttpReader } from "./connections/http.ts";
import { listenForClients, makeListener } from "./connections/listening.ts";
import { FakeService } from "./fake-service-for-tests.ts";
import type { Api, ApiOptions } from "./server.ts";

const me = userInfo();
const isRoot = me.uid === 0;
const ADA = { uid: 20_001, user: "ada", isAdministrator: false };
const BOB = { uid: 20_002, user: "bob", isAdministrator: false };
const OWNER = { uid: me.uid, user: me.username, isAdministrator: true };

let folder: string;
let service: FakeService;
let api: Api;
let open: Socket[] = [];
let bugs: unknown[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-hostile-"));
  chmodSync(folder, 0o755);
  service = new FakeService(join(folder, "jobs"));
  bugs = [];
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  open = [];
  await api.close();
  rmSync(folder, { recursive: true, force: true });
  expect(bugs).toEqual([]);
});

/** A scheduler for several users. Makes their tokens, so that the test needs no other accounts. */
async function start(more: Partial<ApiOptions> = {}): Promise<void> {
  const onBug = (error: unknown) => bugs.push(error);
  api = await startTestApi(folder, { service, ports: [0], onBug, ...more });
}

async function connected(): Promise<Socket> {
  const socket = connect(Number(new URL(api.http!).port), "127.0.0.1");
  open.push(socket);
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

const host = () => new URL(api.http!).host;
const head = (path: string, token = api.token, more = "") =>
  `GET ${path} HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;

/** All data until the connection is closed or `enough` returns true. */
function received(socket: Socket, enough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket
      .on("close", () => resolve(text))
      .on("data", (piece) => {
        text += piece;
        if (enough(text)) resolve(text);
      });
  });
}

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 120_000, interval: 10 });

/** Records the calls of a method of the service. */
function countCalls(name: "job" | "list" | "status"): () => number {
  let calls = 0;
  const original = service[name].bind(service) as (...given: unknown[]) => unknown;
  Object.defineProperty(service, name, {
    value: (...given: unknown[]) => {
      calls++;
      return original(...given);
    },
  });
  return () => calls;
}

describe("pipelining", () => {
  test("of requests sent at once, the first is answered, and the connection closed", async () => {
    await start();
    const calls = countCalls("job");
    for (let i = 0; i < 3; i++) await service.submit(OWNER, [someJob()]);
    const socket = await connected();
    socket.write([1, 2, 3].map((job) => head(`/v1/jobs/${job}`)).join(""));
    const text = await received(socket);
    expect([...text.matchAll(/"job":\{"job":(\d+),/g)].map(([, job]) => Number(job))).toEqual([1]);
    expect(calls()).toBe(1);
  });

  test("a connection that sends too many requests is closed; others go on", async () => {
    await start();
    const calls = countCalls("status");
    const socket = await connected();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.resume();
    // The first request is not answered, so all others wait.
    await service.submit(OWNER, [someJob()]);
    socket.write(head("/v1/jobs/1?wait=60") + `GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(1200));
    await closed;
    expect(calls()).toBe(0);
    expect((await new Client({ TUTTI_SOCKET: api.socket }).jobs()).jobs).toHaveLength(1);
  });
});

test("a connection without a request or with an unread answer is closed in time, one that waits for its answer is not", async () => {
  await start();
  const app = makeTestApp();
  const reader = makeHttpReader(
    (request, arrival) => {
      if (request.url.endsWith("/slow")) return new Promise(() => {});
      if (request.url.endsWith("/long")) return Promise.resolve(new Response("x".repeat(2e7)));
      return app.fetch(request, arrival.transport);
    },
    new Connections({ strangers: 9, ofUser: 9, ofUsers: 9 }),
  );
  const accepted: Socket[] = [];
  const listener = makeListener((socket) => {
    accepted.push(socket);
    reader.take(socket, { transport: "private-socket" });
  });
  await listenForClients(listener, join(folder, "own.sock"), { mode: 0o600 });
  for (const [i, path] of ["/openapi.json", "/slow", "/long"].entries()) {
    const socket = connect(join(folder, "own.sock"));
    open.push(socket);
    socket.on("error", () => {}).write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    if (i === 0) await received(socket, (text) => text.includes("}}"));
    else socket.pause();
    await until(() => accepted[i]?.bytesRead === `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.length);
    if (i === 2) await until(() => accepted[i].writableLength > 0);
    // Node emits this event when the time is over.
    accepted[i].emit("timeout");
  }
  expect(accepted.map(({ destroyed }) => destroyed)).toEqual([true, false, true]);
  reader.close();
  listener.close();
  app.remove();
});

test("a stranger who reads nothing is disconnected after 5 s, a user with a token is not", async () => {
  await start();
  const long = "x".repeat(2e7);
  const reader = makeHttpReader(
    async ({ url }, { identified }) => {
      if (url.endsWith("/with-token")) identified?.(ADA);
      return new Response(long);
    },
    new Connections({ strangers: 9, ofUser: 9, ofUsers: 9 }),
  );
  const accepted: Socket[] = [];
  const listener = makeListener((socket) => {
    accepted.push(socket);
    reader.take(socket, { transport: "shared-socket" });
  });
  const path = join(folder, "own.sock");
  await listenForClients(listener, path, { mode: 0o600 });
  for (const [i, target] of ["/with-token", "/"].entries()) {
    const socket = connect(path).pause();
    open.push(socket);
    socket.on("error", () => {}).write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await until(() => (accepted[i]?.writableLength ?? 0) > 0);
  }
  const fromMs = performance.now();
  await new Promise((resolve) => accepted[1].once("close", resolve));
  const ms = performance.now() - fromMs;
  expect(ms).toBeGreaterThan(4500);
  // The user's connection would be closed after 60 s.
  expect(ms).toBeLessThan(30_000);
  expect(accepted[0].destroyed).toBe(false);
  reader.close();
  listener.close();
});

describe("clients that leave", () => {
  test("their requests that have not begun are not carried out", async () => {
    await start();
    const app = makeTestApp();
    let calls = 0;
    const busy = app.service.status.bind(app.service);
    Object.assign(app.service, {
      status: () => {
        calls++;
        // The request scheduler has used up its time until the next poll, so new requests wait.
        const untilMs = performance.now() + 20;
        while (performance.now() < untilMs);
        return busy();
      },
    });
    const left = new AbortController();
    const ask = (signal?: AbortSignal) =>
      app.fetch(
        new Request("http://127.0.0.1:7448/v1/status", {
          headers: { host: "127.0.0.1:7448", authorization: `Bearer ${app.token(USER)}` },
          ...(signal === undefined ? {} : { signal }),
        }),
      );
    const first = ask();
    const abandoned = Array.from({ length: 100 }, () => ask(left.signal));
    const last = ask();
    left.abort();
    expect((await first).status).toBe(200);
    expect((await last).status).toBe(200);
    for (const response of await Promise.all(abandoned)) expect(response.status).toBe(499);
    expect(calls).toBe(2);
    app.remove();
  });

  test("requests that wait in a connection are dropped when it is closed", async () => {
    await start();
    await service.submit(OWNER, [someJob()]);
    const calls = countCalls("list");
    const socket = await connected();
    socket.write(head("/v1/jobs/1?wait=60") + head("/v1/jobs").repeat(5));
    await until(() => service.listenerCount === 1);
    socket.destroy();
    await until(() => service.listenerCount === 0);
    await new Client({ TUTTI_SOCKET: api.socket }).ask("/v1/status");
    expect(calls()).toBe(0);
  });
});

test("strangers whose bodies never arrive keep nobody from beginning a session of the page", async () => {
  await start();
  const path = "/v1/web/sessions";
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host()}\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n`;
  // More than the open requests that strangers may have, and than their connections.
  for (let i = 0; i < 1100; i++) (await connected()).write(`${head}{`);
  const { url } = await new Client({ TUTTI_SOCKET: api.socket }).ask<WebLinkAnswer>("/v1/web/links", {
    method: "POST",
  });
  const body = JSON.stringify({ code: url.split("#login=")[1] });
  const answer = await fetch(new URL(path, api.http), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(answer.status).toBe(201);
});

describe("nonsense", () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ["text that is not HTTP", "nonsense\r\n\r\n", 400],
    ["two lengths", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
    ["no host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["a head that is too large", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ["an expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n", 417],
  ];
  test.each(cases)("%s is refused with a JSON answer", async (_, text, status) => {
    await start();
    const socket = await connected();
    socket.write(text);
    const answer = await received(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const refusal = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
    expect(refusal).toMatchObject({ schema: "tutti.refusal/1", message: expect.stringMatching(/^Cannot /) });
    expect(answer).toContain(`content-length: ${Buffer.byteLength(JSON.stringify(refusal))}`);
  });
});

describe.skipIf(!isRoot)("users next to each other (as root)", () => {
  const token = (uid: number) => readFileSync(join(folder, "run", "tokens", String(uid)), "utf8").trim();
  const ask = (socket: Socket, path: string, uid: number) =>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token(uid)}\r\n\r\n`);
  /** Status of an answer on a new connection. */
  async function statusOf(path: string, uid: number): Promise<number> {
    const socket = await reached();
    ask(socket, path, uid);
    const text = await received(socket, (all) => all.includes("\r\n\r\n"));
    socket.destroy();
    return Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]);
  }
  const reached = async () => {
    const socket = connect(api.socket);
    open.push(socket);
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("connect", resolve));
    return socket;
  };

  beforeEach(() => start({ isShared: true, users: () => [ADA, BOB] }));

  test("a user with too many unread answers is refused before more work is done; others and root are not", async () => {
    await service.submit(ADA, [someJob({ command: ["x".repeat(960_000)], name: "x" })]);
    const calls = countCalls("job");
    const sockets = await Promise.all(Array.from({ length: 12 }, reached));
    for (const socket of sockets) ask(socket.pause(), "/v1/jobs/1", ADA.uid);
    while ((await statusOf("/v1/status", ADA.uid)) !== 503);
    // 8 MiB, and the answer that exceeds them.
    expect(calls()).toBe(9);
    expect(await statusOf("/v1/jobs/1", ADA.uid)).toBe(503);
    expect(await statusOf("/v1/status", BOB.uid)).toBe(200);
    expect(await statusOf("/v1/jobs/1", me.uid)).toBe(200);
    expect(calls()).toBe(10);
    // Answers that were read no longer count.
    for (const socket of sockets) socket.resume();
    while ((await statusOf("/v1/status", ADA.uid)) !== 200);
  });

  test("unread answers of a client that has left do not count", async () => {
    await service.submit(ADA, [someJob({ command: ["x".repeat(960_000)], name: "x" })]);
    const sockets = await Promise.all(Array.from({ length: 12 }, reached));
    for (const socket of sockets) ask(socket.pause(), "/v1/jobs/1", ADA.uid);
    while ((await statusOf("/v1/status", ADA.uid)) !== 503);
    for (const socket of sockets) socket.destroy();
    while ((await statusOf("/v1/status", ADA.uid)) !== 200);
  });

  test("strangers with many connections displace each other, not users, and root is admitted", async () => {
    const followers = await Promise.all(
      [ADA.uid, BOB.uid, me.uid].map(async (uid) => {
        const socket = await reached();
        ask(socket, "/v1/events", uid);
        await received(socket, (text) => text.includes("retry"));
        return socket;
      }),
    );
    let closed = 0;
    for (let i = 0; i < 1500; i++) {
      const socket = i % 2 === 0 ? await reached() : await connected();
      socket.on("close", () => closed++).resume();
      socket.write("GET /v1/status HTTP/1.1\r\nHost: local");
    }
    await until(() => closed >= 1500 - 1024);
    for (const uid of [ADA.uid, BOB.uid, me.uid]) expect(await statusOf("/v1/status", uid)).toBe(200);
    expect(followers.map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  });

  test("a user's connections are limited; one too many is refused and closed, other users are admitted", async () => {
    await api.close();
    // So few that all have asked before the first is closed for being idle, on a busy machine, too.
    const connections = { strangers: 20, ofUser: 60, ofUsers: 90 };
    await start({ isShared: true, users: () => [ADA, BOB], connections });
    const sockets: Socket[] = [];
    for (let i = 0; i < connections.ofUser; i++) {
      const socket = await reached();
      ask(socket, "/v1/status", ADA.uid);
      await received(socket, (text) => text.includes("tutti.status/1"));
      sockets.push(socket);
    }
    const last = await reached();
    ask(last, "/v1/status", ADA.uid);
    expect(await received(last)).toMatch(/^HTTP\/1.1 503 .*connection: close.*"refused":"full"/is);
    expect(await statusOf("/v1/status", BOB.uid)).toBe(200);
    expect(sockets.every(({ destroyed }) => !destroyed)).toBe(true);
    sockets.pop()!.destroy();
    while ((await statusOf("/v1/status", ADA.uid)) !== 200);
  });

  test("each user, also root, has a socket to which no other can connect and which proves who connects", async () => {
    const { folder: run } = runtimeDirOf(api.socket);
    const connectAs = (uid: number, of: number) =>
      spawnSync(
        process.execPath,
        [
          "-e",
          `require("net").connect(${JSON.stringify(join(run, `${of}.sock`))}).on("error", (e) => { console.log(e.code); process.exit(); }).on("connect", () => { console.log("in"); process.exit(); })`,
        ],
        { uid, gid: uid, cwd: "/", encoding: "utf8" },
      ).stdout.trim();
    expect([
      connectAs(ADA.uid, ADA.uid),
      connectAs(BOB.uid, ADA.uid),
      connectAs(65_534, 0),
      connectAs(0, 0),
    ]).toEqual(["in", "EACCES", "EACCES", "in"]);
    for (const { uid, user } of [ADA, BOB, OWNER]) {
      const socket = connect(join(run, `${uid}.sock`));
      open.push(socket);
      socket.write("GET /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      expect(await received(socket)).toContain(`"user":"${user}"`);
    }
  });
});
