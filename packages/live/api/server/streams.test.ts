/** Tests streamed answers: events and logs. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import * as contract from "@tutti/protocol/schema.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { followPieces } from "./answers/logs.ts";
import { ADA, BOB, makeTestApp, OWNER, someJob, type TestApp } from "./app-for-tests.ts";

let app: TestApp;
beforeEach(() => {
  app = makeTestApp();
});
afterEach(() => {
  expect(app.bugs).toEqual([]);
  app.remove();
});

const submit = (body: object, as = OWNER) => app.ask("POST", "/v1/jobs", { body, as });

describe("events", () => {
  async function read(path: string, headers: Record<string, string>, count: number, meanwhile = () => {}) {
    const request = new Request(`http://127.0.0.1:7448${path}`, {
      headers: { host: "127.0.0.1:7448", authorization: `Bearer ${app.token(ADA)}`, ...headers },
    });
    const response = await app.fetch(request);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const reader = response.body!.getReader();
    meanwhile();
    let text = "";
    while ((text.match(/^data: /gm) ?? []).length < count) {
      text += new TextDecoder().decode((await reader.read()).value);
    }
    await reader.cancel();
    return [...text.matchAll(/^id: (\d+)\nevent: (\w+)\ndata: (.*)$/gm)].map(([, id, kind, data = ""]) => ({
      id: Number(id),
      kind,
      event: JSON.parse(data) as contract.Event,
    }));
  }

  test("come as they happen, after the last one seen, and only about the caller's jobs", async () => {
    await submit({ jobs: [someJob()] }, BOB);
    await submit({ jobs: [someJob()] }, ADA);
    const first = await read("/v1/events", {}, 2, () => app.service.start(2));
    expect(first.map(({ id, kind }) => [id, kind])).toEqual([
      [2, "submitted"],
      [3, "started"],
    ]);
    for (const { event } of first) expect(contract.event.parse(event)).toEqual(event);
    const later = await read("/v1/events?since=0", { "last-event-id": "2" }, 2, () => app.service.finish(2));
    expect(later.map(({ id }) => id)).toEqual([3, 4]);
    const { json } = await app.ask("GET", "/v1/events?since=2", {
      as: ADA,
      headers: { accept: "application/json" },
    });
    expect(contract.eventsAnswer.parse(json)).toEqual(json);
    expect(json.events.map(({ sequence }: contract.Event) => sequence)).toEqual([3, 4]);
  });

  test("a stream from now on names the last event, so that a client that is cut off misses none", async () => {
    await submit({ jobs: [someJob()] }, ADA);
    await submit({ jobs: [someJob()] }, BOB);
    const request = new Request("http://127.0.0.1:7448/v1/events?since=999999999999999", {
      headers: { host: "127.0.0.1:7448", authorization: `Bearer ${app.token(ADA)}` },
    });
    const reader = (await app.fetch(request)).body!.getReader();
    const text = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await text()).toBe(": tutti events\nretry: 1000\nid: 2\n\n");
    app.service.start(1);
    expect(await text()).toMatch(/^id: 3\nevent: started\n/);
    // More events at once than are collected for a client.
    for (let i = 0; i < 600; i++) await submit({ jobs: [someJob()] }, ADA);
    let received = "";
    while (!received.includes("id: 603\n")) received += await text();
    expect(received.match(/^id: /gm)).toHaveLength(600);
    await reader.cancel();
    expect(app.service.listenerCount).toBe(0);
  });

  test("a quiet stream has a comment every 15 s, so that a client notices when the scheduler is gone", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const request = new Request("http://127.0.0.1:7448/v1/events", {
        headers: { host: "127.0.0.1:7448", authorization: `Bearer ${app.token(ADA)}` },
      });
      const reader = (await app.fetch(request)).body!.getReader();
      await reader.read();
      const next = reader.read();
      await vi.advanceTimersByTimeAsync(14_999);
      let isHere = false;
      void next.then(() => {
        isHere = true;
      });
      await vi.advanceTimersByTimeAsync(0);
      expect(isHere).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(new TextDecoder().decode((await next).value)).toBe(": still here\n\n");
      await reader.cancel();
    } finally {
      vi.useRealTimers();
    }
  });

  test("a slow client is sent no more than it reads, and misses no event, old or new", async () => {
    await submit({ jobs: [someJob()] }, ADA);
    const { sequence, ...rest } = app.service.events[0];
    for (let i = 0; i < 25_000; i++) app.service.events.push({ sequence: sequence + 1 + i, ...rest });
    let sent = 0;
    const listen = app.service.listen.bind(app.service);
    app.service.listen = (caller, since, listener) =>
      listen(caller, since, (event) => {
        sent++;
        return listener(event);
      });
    const request = new Request("http://127.0.0.1:7448/v1/events", {
      headers: { host: "127.0.0.1:7448", authorization: `Bearer ${app.token(ADA)}` },
    });
    const reader = (await app.fetch(request)).body!.getReader();
    const seen: number[] = [];
    const read = async () => {
      const text = new TextDecoder().decode((await reader.read()).value);
      for (const [, id] of text.matchAll(/^id: (\d+)\nevent: /gm)) seen.push(Number(id));
    };
    await read();
    await read();
    expect(seen.length).toBeGreaterThan(0);
    expect(sent).toBeLessThanOrEqual(2 * seen.length);
    while (seen.length < 25_001) await read();
    // More than is kept for a client that has read all, then some.
    for (let i = 0; i < 600; i++) await submit({ jobs: [someJob()] }, ADA);
    const all = app.service.events.length;
    while (seen.length < all) await read();
    await submit({ jobs: [someJob()] }, ADA);
    await read();
    expect(seen).toEqual(app.service.events.map((event) => event.sequence));
    await reader.cancel();
  });
});

test("one answer has at most 10,000 events and says where to continue", async () => {
  await submit({ jobs: [someJob()] });
  const { sequence, ...rest } = app.service.events[0];
  for (let i = 1; i < 25_000; i++) app.service.events.push({ sequence: sequence + i, ...rest });
  const seen: number[] = [];
  const lengths: number[] = [];
  for (let next: number | undefined = 0; next !== undefined; ) {
    const { json } = await app.ask("GET", `/v1/events?since=${next}`, {
      headers: { accept: "application/json" },
    });
    const answer = contract.eventsAnswer.parse(json);
    lengths.push(answer.events.length);
    seen.push(...answer.events.map((event) => event.sequence));
    next = answer.next;
  }
  expect(lengths).toEqual([10_000, 10_000, 5000]);
  expect(seen).toEqual(app.service.events.map((event) => event.sequence));
});

describe("logs", () => {
  const logs = (path: string, headers: Record<string, string> = {}) =>
    app.ask("GET", `/v1/jobs/1/logs/${path}`, { headers });

  beforeEach(async () => {
    await submit({ jobs: [someJob()] });
  });

  test("return the output, in parts on request, and nothing before the start", async () => {
    expect(await logs("stdout")).toMatchObject({ status: 200, text: "" });
    app.service.start(1, "0123456789");
    expect((await logs("stdout")).text).toBe("0123456789");
    expect((await logs("stdout?offset=3&limit=4")).text).toBe("3456");
    expect((await logs("stdout?tail=3")).text).toBe("789");
    expect((await logs("stdout?offset=99")).text).toBe("");
    const part = await logs("stdout", { range: "bytes=2-5" });
    expect([part.status, part.text, part.headers.get("content-range")]).toEqual([
      206,
      "2345",
      "bytes 2-5/10",
    ]);
    expect((await logs("stdout", { range: "bytes=-2" })).text).toBe("89");
    expect((await logs("stdout", { range: "bytes=8-" })).text).toBe("89");
    for (const range of ["bytes=10-", "bytes=5-2", "lines=1-2", "bytes=-0", "bytes=a-b"]) {
      expect((await logs("stdout", { range })).status, range).toBe(416);
    }
  });

  test("follow until the job has ended", async () => {
    app.service.start(1, "one ");
    const following = logs("stdout?follow=1");
    await new Promise((resolve) => setTimeout(resolve, 150));
    writeFileSync(app.service.entries.get(1)!.info.stdout, "two", { flag: "a" });
    app.service.finish(1);
    expect((await following).text).toBe("one two");
  });

  test("markup in them is sent as a type that no browser runs", async () => {
    app.service.start(1, "<script>alert(1)</script>");
    const { headers, text } = await logs("stdout");
    expect(text).toBe("<script>alert(1)</script>");
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
  });

  test("no path leads out of the job's folder", async () => {
    app.service.start(1, "fine");
    writeFileSync(join(dirname(app.jobsFolder), "secret"), "secret");
    const tries = [
      "..%2f..%2fsecret",
      "%2e%2e/%2e%2e/secret",
      "..%252f..%252fsecret",
      "%00",
      "stdout%00",
      "/etc/passwd",
      "stdout/../../../secret",
      "....//secret",
      "%2fetc%2fpasswd",
      "stdin",
    ];
    for (const path of tries) {
      const { status, text } = await logs(path);
      expect([404, 400, 405], path).toContain(status);
      expect(text).not.toMatch(/^secret|root:/);
    }
  });

  test("a job cannot name another job's output as its own", async () => {
    app.service.start(1, "secret");
    const theirs = app.service.entries.get(1)!.info.stdout;
    await submit({ jobs: [someJob({ stdout: theirs })] }, ADA);
    app.service.finish(1);
    const { status, text } = await app.ask("GET", "/v1/jobs/2/logs/stdout", { as: ADA });
    expect(status).toBe(409);
    expect(text).not.toMatch(/^secret/);
    const follow = await app.ask("GET", "/v1/jobs/2/logs/stdout?follow=1", { as: ADA });
    expect(follow.status).toBe(409);
  });

  test("links in any part of the path, pipes, folders and hard links are not read", async () => {
    const { info } = app.service.entries.get(1)!;
    const secret = join(dirname(app.jobsFolder), "secret");
    writeFileSync(secret, "secret");
    app.service.start(1, "fine");
    app.service.finish(1);
    const folder = dirname(info.stdout);
    symlinkSync(secret, join(folder, "link"));
    symlinkSync(dirname(secret), join(folder, "up"));
    linkSync(secret, join(folder, "hard"));
    mkdirSync(join(folder, "sub"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const name of ["link", "up/secret", "hard", "sub", "pipe"]) {
      app.service.entries.get(1)!.info = { ...info, state: "done", attempt: 1, stdout: join(folder, name) };
      const { status, text } = await logs("stdout");
      expect([name, status]).toEqual([name, 404]);
      expect(text).not.toMatch(/^secret/);
    }
    for (const path of [
      secret,
      `${folder}/../../secret`,
      "/etc/passwd",
      `${folder}/./../1/stdout`,
      app.jobsFolder,
    ]) {
      app.service.entries.get(1)!.info = { ...info, state: "done", attempt: 1, stdout: path };
      const { status, text } = await logs("stdout");
      expect([path, status]).toEqual([path, 409]);
      expect(text).not.toMatch(/^secret|root:/);
    }
  });
});

describe("what nobody reads", () => {
  /** Open files of jobs in this process. */
  function openFiles(): string[] {
    return readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${fd}`);
        return path.startsWith(app.jobsFolder) ? [path] : [];
      } catch {
        // The folder's own.
        return [];
      }
    });
  }

  const get = (path: string, method = "GET") =>
    app.fetch(
      new Request(`http://127.0.0.1:7448${path}`, {
        method,
        headers: { host: "127.0.0.1:7448", authorization: `Bearer ${app.token(ADA)}` },
      }),
    );

  test("a log requested by HEAD, or abandoned before its first byte, is closed", async () => {
    await submit({ jobs: [someJob()] }, ADA);
    app.service.start(1, "some output");
    app.service.finish(1);
    for (let i = 0; i < 3; i++) {
      const head = await get("/v1/jobs/1/logs/stdout", "HEAD");
      expect([head.status, head.headers.get("accept-ranges"), await head.text()]).toEqual([200, "bytes", ""]);
      await (await get("/v1/jobs/1/logs/stdout")).body!.cancel();
      await (await get("/v1/jobs/1/logs/stdout?follow=1")).body!.cancel();
      expect(await (await get("/v1/jobs/1/logs/stdout")).text()).toBe("some output");
    }
    expect(openFiles()).toEqual([]);
  });

  test("a HEAD request for events adds no listener", async () => {
    expect((await get("/v1/events", "HEAD")).status).toBe(200);
    expect(app.service.listenerCount).toBe(0);
  });

  test("a user can follow only a limited number of times; others are answered, and each end makes room", async () => {
    const open: Response[] = [];
    for (;;) {
      const response = await get("/v1/events");
      if (response.status !== 200) break;
      open.push(response);
    }
    expect(open).toHaveLength(128);
    expect((await app.ask("GET", "/v1/jobs", { as: ADA })).json).toMatchObject({ refused: "full" });
    expect((await app.ask("GET", "/v1/jobs", { as: BOB })).status).toBe(200);
    expect((await app.ask("GET", "/v1/jobs")).status).toBe(200);
    await open.pop()!.body!.cancel();
    expect((await app.ask("GET", "/v1/jobs", { as: ADA })).status).toBe(200);
    const forecast = { as: ADA, body: { policies: ["fcfs"] } };
    expect((await app.ask("POST", "/v1/whatif", forecast)).json).toMatchObject({ refused: "full" });
    for (const response of open) await response.body!.cancel();
    expect(app.service.listenerCount).toBe(0);
  });
});

test("a log that is truncated while it is followed continues with new output", async () => {
  const path = join(app.jobsFolder, "log");
  mkdirSync(app.jobsFolder, { recursive: true });
  writeFileSync(path, "a long first line\n");
  let looks = 0;
  const look = async () => {
    looks++;
    if (looks === 2) truncateSync(path);
    if (looks === 3) appendFileSync(path, "short\n");
    return { path, hasEnded: looks === 3 };
  };
  const open = () => openSync(path, "r");
  const read: string[] = [];
  for await (const piece of followPieces(look, open, () => 0, new AbortController().signal)) {
    read.push(Buffer.from(piece).toString());
  }
  expect(read).toEqual(["a long first line\n", "short\n"]);
});
