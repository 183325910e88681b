/** Conductors of a pilot reach each other over real sockets of this machine, and nobody else does. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect as connectTcp, createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { ToConductor } from "@tutti/protocol/conductor.ts";
import { LineReader } from "@tutti/protocol/wire.ts";
import { afterEach, expect, test, vi } from "vitest";
import { dialPeer, PeerDoor } from "./peers.ts";
import { ConductorServer, SOCKET_NAME } from "./server.ts";

/** Ports follow from keys: two runs of this file at a time must not meet. */
const keyOf = (name: string) => createHash("sha256").update(`${name} ${process.pid}`).digest("hex");
const KEY = keyOf("own");
const OTHER_KEY = keyOf("other");
const WAIT = { timeout: 60_000 };
const HELLO = JSON.stringify({ type: "hello", protocol: 3, frontEnd: "test" });

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Peer {
  readonly home: string;
  readonly got: ToConductor[];
  readonly server: ConductorServer;
}

/** A conductor's server and door. Its node has an address of this machine as its name. */
async function peer(node: string, key = KEY): Promise<Peer> {
  const home = mkdtempSync(join(tmpdir(), "tutti-relay-"));
  const got: ToConductor[] = [];
  const server = new ConductorServer(home, (message) => got.push(message), key);
  await server.listen();
  const door = new PeerDoor(key, node, (socket) => server.accept(socket));
  closing.push(() => {
    door.close();
    server.close();
    rmSync(home, { recursive: true });
  });
  return { home, got, server };
}

/** The connection of a front end. */
function frontEnd({ home }: Peer): { readonly lines: string[]; readonly say: (line: string) => void } {
  const socket = createConnection(join(home, SOCKET_NAME));
  const lines: string[] = [];
  const reader = new LineReader();
  socket.on("data", (chunk: Buffer) => lines.push(...(reader.push(chunk) ?? [])));
  closing.push(() => socket.destroy());
  return { lines, say: (line) => socket.write(`${line}\n`) };
}

test("messages go to the right conductor and back, also through two others", async () => {
  const [n1, n2, n3] = await Promise.all(["127.2.0.1", "127.2.0.2", "127.2.0.3"].map((node) => peer(node)));
  const { lines, say } = frontEnd(n1);
  say("@127.2.0.2 +");
  await vi.waitFor(() => expect(lines).toEqual(["@127.2.0.2 +"]), WAIT);
  say(`@127.2.0.2 ${HELLO}`);
  say("@127.2.0.2 @127.2.0.3 +");
  await vi.waitFor(() => expect(lines).toContain("@127.2.0.2 @127.2.0.3 +"), WAIT);
  say(`@127.2.0.2 @127.2.0.3 ${HELLO}`);
  await vi.waitFor(() => expect([n2.got.length, n3.got.length]).toEqual([1, 1]), WAIT);
  expect(n1.got).toEqual([]);
  n3.server.send({ type: "staged", sequence: 7 });
  await vi.waitFor(
    () => expect(lines).toContain('@127.2.0.2 @127.2.0.3 {"type":"staged","sequence":7}'),
    WAIT,
  );
});

test("one line goes to several, each gets its lines in order, and reports arrive with what follows", async () => {
  const [n1, ...others] = await Promise.all(
    ["127.2.1.1", "127.2.1.2", "127.2.1.3"].map((node) => peer(node)),
  );
  const { lines, say } = frontEnd(n1);
  const both = "@127.2.1.2,127.2.1.3";
  say(`${both} +`);
  await vi.waitFor(() => expect(lines.length).toBe(2), WAIT);
  for (const text of [HELLO, '{"type":"ping","id":1}', '{"type":"ping","id":2}']) say(`${both} ${text}`);
  for (const { got } of others) {
    await vi.waitFor(() => expect(got.length).toBe(3), WAIT);
    expect(got.slice(1)).toEqual([
      { type: "ping", id: 1 },
      { type: "ping", id: 2 },
    ]);
  }
  const [n2] = others;
  const statistics = {
    ...{ slots: 1, lateP50Ms: 0, lateP99Ms: 0, lateMaxMs: 0, switchP50Us: 0, switchP99Us: 0, skipped: 0 },
    gangs: [],
  };
  n2.server.send({ type: "slots", statistics });
  n2.server.send({ type: "staged", sequence: 1 });
  await vi.waitFor(() => expect(lines.length).toBe(4), WAIT);
  expect(lines.slice(2).map((line) => JSON.parse(line.slice("@127.2.1.2 ".length)).type)).toEqual([
    "slots",
    "staged",
  ]);
});

test("says why there is no connection, and when one is lost", async () => {
  const n1 = await peer("127.2.2.1");
  const { lines, say } = frontEnd(n1);
  say("@127.2.2.2 +");
  await vi.waitFor(() => expect(lines.length).toBe(1), WAIT);
  expect(lines[0]).toMatch(/^@127\.2\.2\.2 -connect ECONNREFUSED/);
  const sockets: Socket[] = [];
  const door = new PeerDoor(KEY, "127.2.2.2", (socket) => sockets.push(socket));
  closing.push(() => door.close());
  say("@127.2.2.2 +");
  await vi.waitFor(() => expect(lines.at(-1)).toBe("@127.2.2.2 +"), WAIT);
  sockets[0].destroy();
  await vi.waitFor(() => expect(lines.at(-1)).toMatch(/^@127\.2\.2\.2 -./), WAIT);
});

test("the end of a front end's connection ends those that it has opened", async () => {
  const n1 = await peer("127.2.3.1");
  const ended: boolean[] = [];
  const door = new PeerDoor(KEY, "127.2.3.2", (socket) =>
    socket.on("close", () => ended.push(true)).resume(),
  );
  closing.push(() => door.close());
  const socket = createConnection(join(n1.home, SOCKET_NAME));
  socket.write("@127.2.3.2 +\n");
  await vi.waitFor(() => new Promise((resolve) => socket.once("data", resolve)), WAIT);
  socket.end();
  await vi.waitFor(() => expect(ended).toEqual([true]), WAIT);
});

test("who has another key, or none, gets no connection and no byte", async () => {
  const node = "127.2.4.1";
  const accepted: TLSSocket[] = [];
  const door = new PeerDoor(KEY, node, (socket) => accepted.push(socket));
  closing.push(() => door.close());
  const dial = (key: string, to: string) =>
    new Promise<TLSSocket | { readonly because: string }>((resolve) => void dialPeer(key, to, resolve));
  await vi.waitFor(async () => expect(await dial(KEY, node)).not.toHaveProperty("because"), WAIT);
  await vi.waitFor(() => expect(accepted.length).toBe(1), WAIT);
  const ports = accepted.map(({ localPort }) => localPort!);
  // Another pilot's key leads to other ports; and here to the right one, with the wrong key.
  expect(await dial(OTHER_KEY, node)).toHaveProperty("because");
  for (const psk of [Buffer.alloc(32), Buffer.from(KEY, "hex"), undefined]) {
    const said: string[] = [];
    const stranger = connectTls({
      host: node,
      port: ports[0],
      ciphers: "TLS_AES_128_GCM_SHA256",
      rejectUnauthorized: false,
      ...(psk !== undefined && { pskCallback: () => ({ psk, identity: "tutti" }) }),
    });
    const end = new Promise((resolve) => stranger.on("error", resolve).on("close", resolve));
    stranger.on("secureConnect", () => said.push("connected"));
    stranger.on("data", (chunk: Buffer) => said.push(String(chunk)));
    await end;
    expect(said).toEqual([]);
  }
  const plain = connectTcp({ host: node, port: ports[0] });
  const said: Buffer[] = [];
  plain.on("data", (chunk: Buffer) => said.push(chunk));
  plain.write(`${HELLO}\n`);
  await new Promise((resolve) => plain.on("error", resolve).on("close", resolve));
  // An alert of TLS and nothing else: type 21, version, length 2, and two bytes.
  expect(Buffer.concat(said).length).toBeLessThanOrEqual(7);
  expect(accepted.length).toBe(ports.length);
});

test("a conductor of the same pilot on another node is not taken for the one that was dialled", async () => {
  const door = new PeerDoor(KEY, "127.2.5.1", (socket) => socket.resume());
  closing.push(() => door.close());
  let port = 0;
  await vi.waitFor(async () => {
    const result = await new Promise<TLSSocket | { readonly because: string }>(
      (resolve) => void dialPeer(KEY, "127.2.5.1", resolve),
    );
    if ("because" in result) throw new Error(result.because);
    port = result.remotePort!;
    result.destroy();
  }, WAIT);
  expect(port).toBeGreaterThanOrEqual(20_480);
  expect(port).toBeLessThan(30_720);
  // The other node's key does not fit, whatever the port.
  const result = await new Promise<TLSSocket | { readonly because: string }>(
    (resolve) => void dialPeer(KEY, "127.2.5.2", resolve),
  );
  expect(result).toHaveProperty("because");
});

test("strangers who only connect do not keep others out for long", async () => {
  const node = "127.2.6.1";
  const door = new PeerDoor(KEY, node, (socket) => socket.resume());
  closing.push(() => door.close());
  const dial = () =>
    new Promise<TLSSocket | { readonly because: string }>((resolve) => void dialPeer(KEY, node, resolve));
  let port = 0;
  await vi.waitFor(async () => {
    const result = await dial();
    if ("because" in result) throw new Error(result.because);
    port = result.remotePort!;
    result.destroy();
  }, WAIT);
  const strangers = Array.from({ length: 40 }, () => connectTcp({ host: node, port }).on("error", () => {}));
  closing.push(() => {
    for (const socket of strangers) socket.destroy();
  });
  await vi.waitFor(() => expect(strangers.filter(({ closed }) => closed).length).toBe(24), WAIT);
  await vi.waitFor(async () => expect(await dial()).not.toHaveProperty("because"), WAIT);
});
