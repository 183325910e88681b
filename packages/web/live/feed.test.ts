import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Feed, type FeedWorld, type FromFeed, type ToFeed } from "./feed.ts";
import type { Session } from "./session.ts";

const KEY = Buffer.alloc(32, 7).toString("base64url");
const session = (token: string): Session => ({
  token,
  user: "ada",
  isAdministrator: false,
  expiresAtMs: 1e15,
  id: "x".repeat(22),
  proofKey: KEY,
});
const FROM_NOW = 999_999_999_999_999;
/** The last event before a test. */
const NEWEST = 4;

/** A connection as the server sees it. */
interface Connection {
  readonly since: number;
  readonly token: string;
  readonly isOpen: () => boolean;
  send(text: string): void;
  end(): void;
}

/** A server, a clock that moves only by `pass`, and everything that the feed asked of them. */
class FakeWorld implements FeedWorld {
  readonly port = "8080";
  readonly connections: Connection[] = [];
  requests = 0;
  isUp = true;
  /** False: the process on the port is another one. */
  isGenuine = true;
  isHanging = false;
  refused: ReadonlySet<string> = new Set();
  #nowMs = 0;
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();

  nowMs = () => this.#nowMs;

  sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) resolve();
      const sleeper = { untilMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", () => {
        this.#sleepers.delete(sleeper);
        resolve();
      });
    });

  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      await settled();
      const next = [...this.#sleepers].sort((a, b) => a.untilMs - b.untilMs)[0];
      if (next === undefined || next.untilMs > endMs) break;
      this.#nowMs = next.untilMs;
      this.#sleepers.delete(next);
      next.wake();
    }
    this.#nowMs = endMs;
    await settled();
  }

  fetch = async (input: string | URL | Request, options: RequestInit = {}): Promise<Response> => {
    this.requests++;
    const url = new URL(String(input), "http://127.0.0.1:8080");
    const { signal } = options;
    if (this.isHanging)
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("aborted")));
      });
    if (!this.isUp) throw new TypeError("connection refused");
    if (url.pathname === "/v1/web/proof") {
      const key = Buffer.from(this.isGenuine ? KEY : "another key", "base64url");
      const text = `tutti on port 8080 of 127.0.0.1: ${url.searchParams.get("nonce")}`;
      return Response.json({ proof: createHmac("sha256", key).update(text).digest("base64url") });
    }
    const token = new Headers(options.headers).get("authorization")?.slice("Bearer ".length) ?? "";
    if (this.refused.has(token)) return Response.json({ message: "The session has ended" }, { status: 401 });
    let isOpen = true;
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (made) => {
        controller = made;
      },
      cancel: () => {
        isOpen = false;
      },
    });
    signal?.addEventListener("abort", () => {
      if (isOpen) controller.error(new Error("aborted"));
      isOpen = false;
    });
    const connection: Connection = {
      since: Number(url.searchParams.get("since")),
      token,
      isOpen: () => isOpen,
      send: (text) => controller.enqueue(new TextEncoder().encode(text)),
      end: () => {
        isOpen = false;
        controller.close();
      },
    };
    this.connections.push(connection);
    connection.send(`: tutti events\nretry: 1000\nid: ${Math.min(connection.since, NEWEST)}\n\n`);
    return new Response(body);
  };

  get latest(): Connection {
    const connection = this.connections.at(-1);
    if (connection === undefined) throw new Error("The feed has not connected");
    return connection;
  }
}

/** Lets everything happen that needs no time, also in the threads that check signatures. */
async function settled(): Promise<void> {
  for (let i = 0; i < 12; i++) {
    await Promise.all(Array.from({ length: 8 }, () => crypto.subtle.digest("SHA-256", new Uint8Array(1))));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

class Tab {
  readonly got: FromFeed[] = [];
  /** Number of the event after which everything was loaded. */
  last = 0;
  readonly tell: (message: ToFeed) => void;

  constructor(feed: Feed) {
    this.tell = feed.join((message) => {
      if (message.kind === "fresh") this.last = message.last;
      this.got.push(message);
    });
  }

  show(isVisible = true): void {
    this.tell({ kind: "visible", isVisible });
  }

  /** The messages since the last call, in short. */
  take(): string[] {
    return this.got.splice(0).map((message) => {
      if (message.kind === "events") return message.events.map(({ sequence }) => sequence).join(",");
      return message.kind === "connection" ? (message.isLive ? "live" : "lost") : message.kind;
    });
  }
}

function event(sequence: number): string {
  return `id: ${sequence}\ndata: ${JSON.stringify({ sequence, atMs: 1, kind: "started", job: 1 })}\n\n`;
}

async function connected(): Promise<{ world: FakeWorld; feed: Feed; tab: Tab }> {
  const world = new FakeWorld();
  const feed = new Feed(world);
  const tab = new Tab(feed);
  tab.tell({ kind: "session", session: session("a") });
  tab.show();
  await world.pass(0);
  expect(tab.take()).toEqual(["live", "fresh"]);
  return { world, feed, tab };
}

describe("a tab", () => {
  test("gets events as they come, however the bytes are split", async () => {
    const { world, tab } = await connected();
    expect(world.latest).toMatchObject({ since: FROM_NOW, token: "a" });
    expect(tab.last).toBe(NEWEST);
    const text = event(5) + event(6);
    for (const part of [text.slice(0, 10), text.slice(10, 70), text.slice(70)]) world.latest.send(part);
    world.latest.send(": still here\n\ndata: {damaged\n\n");
    await settled();
    expect(tab.take().join()).toBe("5,6");
  });

  test("continues after the last event if the connection is back within a minute", async () => {
    const { world, tab } = await connected();
    world.latest.send(event(5));
    await settled();
    world.isUp = false;
    world.latest.end();
    await world.pass(50_000);
    expect(tab.take()[1]).toBe("lost");
    world.isUp = true;
    // It tries again every 5 s.
    await world.pass(5000);
    expect(world.latest.since).toBe(5);
    expect(tab.take().filter((text) => text !== "lost")).toEqual(["live"]);
  });

  test("loads everything again after a longer time", async () => {
    const { world, tab } = await connected();
    world.latest.send(event(5));
    await settled();
    world.isUp = false;
    world.latest.end();
    await world.pass(70_000);
    world.isUp = true;
    await world.pass(6000);
    expect(world.latest.since).toBe(FROM_NOW);
    expect(tab.take().slice(-2)).toEqual(["live", "fresh"]);
  });

  test("continues even if it was cut off before the first event", async () => {
    const { world, tab } = await connected();
    world.latest.end();
    await world.pass(1000);
    expect(world.latest.since).toBe(NEWEST);
    expect(tab.take()).toEqual(["lost", "live"]);
  });

  test("notices a connection that is silent for 40 s", async () => {
    const { world, tab } = await connected();
    world.latest.send(event(5));
    await world.pass(30_000);
    world.latest.send(": still here\n\n");
    await world.pass(39_000);
    expect(tab.take()).toEqual(["5"]);
    await world.pass(2000);
    expect(tab.take()).toEqual(["lost", "live"]);
    expect(world.connections.map(({ since }) => since)).toEqual([FROM_NOW, 5]);
  });

  test("notices a process that accepts connections and never answers", async () => {
    const { world, tab } = await connected();
    world.isHanging = true;
    world.latest.end();
    await world.pass(41_000);
    world.isHanging = false;
    await world.pass(50_000);
    expect(tab.take().slice(-2)).toEqual(["live", "fresh"]);
  });

  test("sends its token to no process that cannot prove to be the scheduler", async () => {
    const { world, tab } = await connected();
    world.isGenuine = false;
    world.latest.end();
    await world.pass(30_000);
    expect(world.connections).toHaveLength(1);
    expect(new Set(tab.take())).toEqual(new Set(["lost"]));
  });

  test("is without a session when the scheduler refuses it, and asks no more", async () => {
    const { world, tab } = await connected();
    world.refused = new Set(["a"]);
    world.latest.end();
    await world.pass(1000);
    expect(tab.take().at(-1)).toBe("refused");
    const { requests } = world;
    await world.pass(100_000);
    expect(world.requests).toBe(requests);
    tab.tell({ kind: "session", session: session("b") });
    await settled();
    expect(world.latest.token).toBe("b");
    expect(tab.take()).toEqual(["live", "fresh"]);
  });
});

describe("hidden tabs", () => {
  test("cause no request, and continue when they are visible again", async () => {
    const { world, tab } = await connected();
    world.latest.send(event(5));
    await settled();
    tab.show(false);
    await settled();
    expect(world.latest.isOpen()).toBe(false);
    const { requests } = world;
    await world.pass(12 * 3_600_000);
    expect(world.requests).toBe(requests);
    tab.take();
    tab.show();
    await world.pass(0);
    expect(tab.take()).toEqual(["live", "fresh"]);
    tab.show(false);
    await world.pass(1000);
    tab.show();
    await world.pass(1000);
    expect(tab.take()).toEqual(["live"]);
  });

  test("load everything when they are visible again, if events came in the meantime", async () => {
    const { world, feed, tab } = await connected();
    const other = new Tab(feed);
    other.tell({ kind: "session", session: session("a") });
    other.show();
    expect(other.take()).toEqual(["live", "fresh"]);
    other.show(false);
    world.latest.send(event(5));
    await settled();
    expect([tab.take(), other.take()]).toEqual([["5"], []]);
    other.show();
    expect(other.take()).toEqual(["live", "fresh"]);
    world.latest.send(event(6));
    await settled();
    expect([tab.take(), other.take()]).toEqual([["6"], ["6"]]);
    expect(world.connections).toHaveLength(1);
  });

  test("that missed nothing load nothing again", async () => {
    const { world, feed, tab } = await connected();
    const other = new Tab(feed);
    await settled();
    other.show();
    other.show(false);
    other.take();
    await world.pass(5000);
    other.show();
    expect(other.take()).toEqual(["live"]);
    tab.tell({ kind: "leave" });
    other.tell({ kind: "leave" });
    await settled();
    expect(world.latest.isOpen()).toBe(false);
  });
});

describe("two tabs", () => {
  test("have one stream, and the second gets the session of the first", async () => {
    const { world, feed } = await connected();
    const other = new Tab(feed);
    expect(other.got).toEqual([]);
    await settled();
    expect(other.got).toEqual([{ kind: "session", session: session("a") }]);
    other.tell({ kind: "session", session: session("a") });
    other.show();
    await settled();
    expect(world.connections).toHaveLength(1);
  });

  test("of a process that has taken the port get no session, then or later", async () => {
    const { world, feed, tab } = await connected();
    world.isGenuine = false;
    world.latest.end();
    await settled();
    const thief = new Tab(feed);
    await world.pass(1000);
    world.isGenuine = true;
    await world.pass(10_000);
    tab.tell({ kind: "session", session: session("b") });
    await settled();
    expect(thief.got.filter(({ kind }) => kind === "session" || kind === "switched")).toEqual([]);
  });

  test("get the new session when one of them begins it", async () => {
    const { world, feed, tab } = await connected();
    const other = new Tab(feed);
    other.tell({ kind: "session", session: session("b") });
    other.show();
    await settled();
    expect(tab.got.find(({ kind }) => kind === "switched")).toEqual({
      kind: "switched",
      session: session("b"),
    });
    expect(tab.take()).toEqual(["switched", "live", "fresh"]);
    expect(other.take()).toEqual(["live", "fresh"]);
    expect(world.connections.map(({ token, isOpen }) => [token, isOpen()])).toEqual([
      ["a", false],
      ["b", true],
    ]);
  });

  test("are both without a session when the user signs out in one", async () => {
    const { world, feed, tab } = await connected();
    const other = new Tab(feed);
    other.show();
    other.take();
    other.tell({ kind: "session", session: undefined });
    await settled();
    expect(tab.take()).toEqual(["refused"]);
    expect(other.take()).toEqual([]);
    expect(world.latest.isOpen()).toBe(false);
  });
});
