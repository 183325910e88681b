/**
 * Tests the listeners: same answers over both transports, modes of all files, one daemon per socket, slow and
 * broken clients, several users.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { request as httpRequest } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { JobsAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Client, chooseSocket } from "../client/client.ts";
import { NoDaemonError, RefusedError } from "../client/errors.ts";
import { isTrustworthy, runtimeDirOf } from "../runtime-dir.ts";
import { startTestApi } from "./api-for-tests.ts";
import { someJob } from "./app-for-tests.ts";
import { FakeService } from "./fake-service-for-tests.ts";
import type { Api, ApiOptions } from "./server.ts";
import { makeToken, ownerOfToken } from "./tokens.ts";

const me = userInfo();
const isRoot = me.uid === 0;
const ADA = { uid: 20_001, user: "ada" };
const BOB = { uid: 20_002, user: "bob" };

let folder: string;
let service: FakeService;
let apis: Api[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-server-"));
  chmodSync(folder, 0o755);
  service = new FakeService(join(folder, "jobs"));
});
afterEach(async () => {
  await Promise.all(apis.map((api) => api.close()));
  apis = [];
  rmSync(folder, { recursive: true, force: true });
});

const socketIn = (name = "run") => join(folder, name, "tutti.sock");

async function start(more: Partial<ApiOptions> = {}): Promise<Api> {
  const api = await startTestApi(folder, { service, ports: [0], ...more });
  apis.push(api);
  return api;
}

const mode = (path: string) => (lstatSync(path).mode & 0o7777).toString(8);

describe("transports", () => {
  test("socket and loopback give the same answers", async () => {
    const api = await start();
    const client = new Client({ TUTTI_SOCKET: api.socket });
    const submitted = await client.ask<JobsAnswer>("/v1/jobs", {
      method: "POST",
      body: { jobs: [someJob()] },
    });
    expect(submitted.jobs).toHaveLength(1);
    service.start(1, "output");
    for (const path of [
      "/v1/jobs",
      "/v1/jobs/1",
      "/v1/jobs/1/logs/stdout",
      "/v1/queues",
      "/v1/policy",
      "/openapi.json",
      "/api",
    ]) {
      const answer = await fetch(`${api.http}${path.slice(1)}`, {
        headers: { authorization: `Bearer ${api.token}` },
      });
      expect(await answer.text(), path).toBe(await client.text(path));
    }
    const status = await client.ask<StatusAnswer>("/v1/status");
    expect(status.http).toBe(api.http);
  });

  test("loopback without the token is refused; the socket of one user needs no token", async () => {
    const api = await start();
    expect((await fetch(`${api.http}v1/jobs`)).status).toBe(401);
    rmSync(join(folder, "run", "tokens"), { recursive: true });
    expect((await new Client({ TUTTI_SOCKET: api.socket }).jobs()).jobs).toEqual([]);
  });

  test("it listens on the loopback address only", async () => {
    const api = await start();
    const port = Number(new URL(api.http!).port);
    const listening = readFileSync("/proc/net/tcp", "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter(
        ([, local, , state]) =>
          state === "0A" && local?.endsWith(`:${port.toString(16).toUpperCase().padStart(4, "0")}`),
      )
      .map(([, local]) => local?.split(":")[0]);
    expect(listening).toEqual(["0100007F"]);
  });

  test("client.ended() resolves when the job ends; refusals and a missing daemon are errors with messages", async () => {
    const api = await start();
    const client = new Client({ TUTTI_SOCKET: api.socket });
    await client.ask("/v1/jobs", { method: "POST", body: { jobs: [someJob()] } });
    service.start(1);
    const ended = client.ended(1);
    setTimeout(() => service.finish(1, 3), 50);
    expect(await ended).toMatchObject({ state: "failed", code: 3 });
    await expect(client.job(9)).rejects.toThrow(RefusedError);
    await api.close();
    await expect(client.jobs()).rejects.toThrow(/^Cannot reach the scheduler: .*; start it with tutti serve/);
    expect(() => new Client({ TUTTI_SOCKET: join(folder, "none.sock") })).toThrow(NoDaemonError);
  });
});

describe("modes", () => {
  test.each([
    ["private", false, [["600"], ["700"], ["600"], ["700"], ["400"]]],
    ["shared", true, [["666"], ["700", "755"], ["600"], ["700", "711"], ["400"]]],
  ] as const)(
    "%s: no mode is ever too wide, not even for an instant, under any umask",
    async (_, isShared, most) => {
      const { folder: run, socket, key, tokens } = runtimeDirOf(socketIn());
      const token = join(tokens, String(me.uid));
      const stop = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker(new URL("./poll-modes-for-tests.ts", import.meta.url), {
        workerData: { paths: [socket, run, key, tokens, token], stop },
      });
      await new Promise((resolve) => worker.once("message", resolve));
      const seen = new Promise<{ looks: number; modes: string[][] }>((resolve) =>
        worker.once("message", resolve),
      );
      for (const mask of [0o000, 0o022, 0o077]) {
        const before = process.umask(mask);
        try {
          const api = await start({ isShared, users: () => [], ports: [] });
          expect(process.umask()).toBe(mask);
          await api.close();
          rmSync(run, { recursive: true });
        } finally {
          process.umask(before);
        }
      }
      Atomics.store(stop, 0, 1);
      const { looks, modes } = await seen;
      await worker.terminate();
      expect(looks).toBeGreaterThan(10);
      for (const [i, found] of modes.entries()) {
        // 000 is a file or folder that has no mode yet; a narrower mode does no harm.
        for (const one of found) expect([...most[i], "0", "000"], `path ${i}`).toContain(one);
      }
      expect(modes[0].length + modes[1].length).toBeGreaterThan(0);
    },
  );

  test("at rest they are as documented", async () => {
    const api = await start();
    const { folder: run, key, tokens } = runtimeDirOf(api.socket);
    expect([run, api.socket, key, tokens, join(tokens, String(me.uid))].map(mode)).toEqual([
      "700",
      "600",
      "600",
      "700",
      "400",
    ]);
    expect(readdirSync(run).sort()).toEqual(["key", "tokens", "tutti.sock"]);
    await api.close();
    expect(readdirSync(run).sort()).toEqual(["key", "tokens"]);
  });

  test("a folder is refused if it is a link, or if others can write to it or to its parent", async () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    await expect(start({ places: runtimeDirOf(socketIn("link")) })).rejects.toThrow(/it is not a folder/);
    mkdirSync(join(folder, "wide"));
    chmodSync(join(folder, "wide"), 0o777);
    await expect(start({ places: runtimeDirOf(socketIn("wide")) })).rejects.toThrow(/others may write to it/);
    await expect(start({ places: runtimeDirOf(socketIn("wide/run")) })).rejects.toThrow(
      /other users may rename/,
    );
    chmodSync(join(folder, "wide"), 0o1777);
    await start({ places: runtimeDirOf(socketIn("wide/run")) });
    expect(isTrustworthy(join(folder, "link"))).toBe(false);
    expect(isTrustworthy(join(folder, "real"))).toBe(true);
  });
});

describe("one per socket", () => {
  test("a second one is refused and does no harm; the socket of a killed one is replaced", async () => {
    const api = await start();
    await expect(start()).rejects.toThrow(/a scheduler is running there already/);
    expect((await new Client({ TUTTI_SOCKET: api.socket }).jobs()).jobs).toEqual([]);
    await api.close();
    // The file that kill -9 leaves behind.
    const left = spawnSync(process.execPath, [
      "-e",
      `require("node:net").createServer().listen(${JSON.stringify(api.socket)}, () => process.kill(process.pid, "SIGKILL"))`,
    ]);
    expect(left.signal).toBe("SIGKILL");
    expect(lstatSync(api.socket).isSocket()).toBe(true);
    const next = await start();
    expect(next.token).toBe(api.token);
    expect((await new Client({ TUTTI_SOCKET: next.socket }).jobs()).jobs).toEqual([]);
  });

  test("close() does not remove a socket of another process", async () => {
    const api = await start();
    rmSync(api.socket);
    const other = createServer().listen(api.socket);
    await new Promise((resolve) => other.once("listening", resolve));
    await api.close();
    expect(lstatSync(api.socket).isSocket()).toBe(true);
    other.close();
  });

  test("if a port is taken, the next one of the list is used, or the start is refused", async () => {
    const first = await start();
    const port = Number(new URL(first.http!).port);
    const second = await start({ places: runtimeDirOf(socketIn("other")), ports: [port, 0] });
    expect(second.http).not.toBe(first.http);
    await expect(start({ places: runtimeDirOf(socketIn("third")), ports: [port] })).rejects.toThrow(
      /Cannot listen on port .*--port/,
    );
    // No listener is left that would keep the process alive.
    expect(existsSync(runtimeDirOf(socketIn("third")).socket)).toBe(false);
  });
});

describe("broken clients", () => {
  test("half requests, garbage and clients that leave do no harm", async () => {
    const api = await start();
    const texts = [
      "GET",
      "\0\0\0\0",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: evil .example\r\n\r\n",
      "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
      "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      "CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    for (const text of texts) {
      await new Promise<void>((resolve) => {
        const connection = connect(api.socket, () => {
          connection.write(text);
          setTimeout(() => connection.destroy(), 20);
        });
        connection.on("error", () => {}).on("close", () => resolve());
      });
    }
    expect(service.events).toEqual([]);
    expect((await new Client({ TUTTI_SOCKET: api.socket }).jobs()).jobs).toEqual([]);
  });

  test("a client that leaves in the middle of its body is not reported as a bug", async () => {
    const bugs: unknown[] = [];
    const api = await start({ onBug: (error) => bugs.push(error) });
    const head = "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    for (const text of [
      `${head}Content-Length: 100\r\n\r\n{`,
      `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"jo`,
    ]) {
      await new Promise<void>((resolve) => {
        const connection = connect(api.socket, () => connection.end(text));
        connection.on("error", () => {}).on("close", () => resolve());
        connection.resume();
      });
    }
    // All earlier requests were handled before this answer.
    expect((await new Client({ TUTTI_SOCKET: api.socket }).jobs()).jobs).toEqual([]);
    expect(bugs).toEqual([]);
  });

  test("100 MB in pieces without a length are refused and not kept in memory", async () => {
    const api = await start();
    const before = process.memoryUsage.rss();
    const status = await new Promise<number>((resolve, reject) => {
      const outgoing = httpRequest(
        {
          socketPath: api.socket,
          path: "/v1/jobs",
          method: "POST",
          headers: { host: "localhost", "content-type": "application/json" },
        },
        (answer) => {
          resolve(answer.statusCode ?? 0);
          answer.resume();
          outgoing.destroy();
        },
      );
      outgoing.on("error", reject);
      const piece = Buffer.alloc(1024 * 1024, "[");
      let sent = 0;
      const send = () => {
        while (sent++ < 100) if (!outgoing.write(piece)) return void outgoing.once("drain", send);
        outgoing.end();
      };
      send();
    });
    expect(status).toBe(413);
    expect(process.memoryUsage.rss() - before).toBeLessThan(80 * 1024 * 1024);
  });

  test("the file is closed when a follower leaves", async () => {
    const api = await start();
    const client = new Client({ TUTTI_SOCKET: api.socket });
    await client.ask("/v1/jobs", { method: "POST", body: { jobs: [someJob()] } });
    service.start(1, "text");
    const { stdout } = service.entries.get(1)!.info;
    const isOpen = () =>
      spawnSync("ls", ["-l", `/proc/${process.pid}/fd`], { encoding: "utf8" }).stdout.includes(stdout);
    const answer = await client.open("/v1/jobs/1/logs/stdout?follow=1");
    await new Promise((resolve) => answer.once("data", resolve));
    expect(isOpen()).toBe(true);
    answer.destroy();
    for (let i = 0; isOpen() && i < 100; i++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isOpen()).toBe(false);
  });
});

describe("tokens", () => {
  const key = Buffer.alloc(32, 1);

  test("a token belongs to its user, and only under its key", () => {
    expect(ownerOfToken(key, makeToken(key, 1000))).toBe(1000);
    expect(ownerOfToken(Buffer.alloc(32, 2), makeToken(key, 1000))).toBeUndefined();
    expect(makeToken(key, 1000)).toMatch(/^1000\.[\w-]{43}$/);
  });
});

describe.skipIf(!isRoot)("several users (as root)", () => {
  /** Output of a process of the user. Waits without blocking the service, which runs in this process. */
  function run(who: { readonly uid: number }, script: string): Promise<string> {
    const code = `const { Client } = await import(${JSON.stringify(clientFile)}); const c = new Client(); ${script}`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code], {
      uid: who.uid,
      gid: who.uid,
      cwd: "/",
      env: { TUTTI_SOCKET: socketIn() },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new Promise((resolve) => {
      let text = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (piece) => {
          text += piece;
        });
      }
      child.on("close", () => resolve(text));
    });
  }
  const clientFile = fileURLToPath(new URL("../client/client.ts", import.meta.url));
  const canReadSources = spawnSync("test", ["-r", clientFile], { uid: ADA.uid }).status === 0;

  test("each has a token that only that user can read, in a folder that only root can write", async () => {
    const api = await start({ isShared: true, users: () => [ADA, BOB], ports: [] });
    const { folder: run, tokens } = runtimeDirOf(api.socket);
    expect([run, tokens, api.socket].map(mode)).toEqual(["755", "711", "666"]);
    for (const { uid } of [ADA, BOB]) {
      const stats = lstatSync(join(tokens, String(uid)));
      expect([stats.uid, stats.mode & 0o777]).toEqual([uid, 0o400]);
    }
    const cat = (who: { uid: number }, of: { uid: number }) =>
      spawnSync("cat", [join(tokens, String(of.uid))], { uid: who.uid, gid: who.uid, encoding: "utf8" });
    expect(cat(ADA, ADA).stdout).toMatch(/^20001\.[\w-]{43}\n$/);
    expect(cat(ADA, BOB).status).not.toBe(0);
    expect(spawnSync("ls", [tokens], { uid: ADA.uid }).status).not.toBe(0);
    expect(spawnSync("cat", [join(run, "key")], { uid: ADA.uid }).status).not.toBe(0);
    expect(spawnSync("rm", ["-f", api.socket], { uid: ADA.uid }).status).not.toBe(0);
  });

  test.skipIf(!canReadSources)("their processes act as themselves and see their own jobs only", async () => {
    await start({ isShared: true, users: () => [ADA, BOB], ports: [] });
    const submit = `console.log((await c.ask("/v1/jobs", { method: "POST", body: { jobs: [{ command: ["true"], cwd: "/", env: {} }] } })).jobs[0].user);`;
    expect(await run(ADA, submit)).toBe("ada\n");
    expect(await run(BOB, `console.log((await c.jobs()).jobs.length);`)).toBe("0\n");
    expect(await run(BOB, `await c.job(1).catch((error) => console.log(error.refused));`)).toBe(
      "not-found\n",
    );
    expect(await run({ uid: 20_003 }, `await c.jobs().catch((error) => console.log(error.refused));`)).toBe(
      "no-token\n",
    );
  });

  test("a client does not talk to a socket in another user's folder", async () => {
    const run = join(folder, "run");
    mkdirSync(run, { mode: 0o755 });
    spawnSync("chown", [String(BOB.uid), run]);
    writeFileSync(join(run, "tutti.sock"), "");
    expect(isTrustworthy(run, ADA.uid)).toBe(false);
    expect(isTrustworthy(run, BOB.uid)).toBe(true);
    expect(() => new Client({ TUTTI_SOCKET: socketIn() })).toThrow(/Cannot trust the scheduler/);
    // Nor does it let that keep it from the next place.
    const own = join(folder, "own");
    mkdirSync(own, { mode: 0o755 });
    writeFileSync(join(own, "tutti.sock"), "");
    expect(chooseSocket([socketIn(), join(own, "tutti.sock")])).toBe(join(own, "tutti.sock"));
  });
});
