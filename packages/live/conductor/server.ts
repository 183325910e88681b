/**
 * Serves the conductor's socket: one front end at a time, lines of JSON, mode 0600 in a 0700 folder from
 * the start. In a cluster, a front end may also come through the conductor of another node, and each
 * connection may have lines for others (relay.ts).
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { rmSync, type Stats, statSync } from "@tutti/host/ports/fs.ts";
import { createServer, type Server, type Socket } from "@tutti/host/ports/net.ts";
import { join } from "@tutti/host/ports/path.ts";
import { listenOnSocket } from "@tutti/host/unix-socket.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import { LineReader, parseMessage } from "@tutti/protocol/wire.ts";
import { isSameFile } from "./home.ts";
import { Relay } from "./relay.ts";

/** A front end that does not read is disconnected, so that its messages do not fill the memory. */
const MAX_UNREAD_BYTES = 64 * 2 ** 20;
/** An owner that has lost its connection has this time to come back before another owner is accepted. */
const OWNER_STAYS_MS = 10_000;

export const SOCKET_NAME = "socket";
/** What the program that connects to the socket from elsewhere (connect.ts) says when it has done so. */
export const CONNECTED = "tutti-connected";

export class ConductorServer {
  readonly #path: string;
  readonly #receive: (message: ToConductor) => void;
  readonly #key: string | undefined;
  #server: Server | undefined;
  #file: Stats | undefined;
  #frontEnd: Socket | undefined;
  /** Who last said hello with an owner (protocol 3). */
  #owner: { readonly owner: string; readonly frontEnd: string } | undefined;
  #leftAtMs = Number.NEGATIVE_INFINITY;

  /** @param key of the pilot; undefined: it passes nothing on */
  constructor(home: string, receive: (message: ToConductor) => void, key?: string) {
    this.#path = join(home, SOCKET_NAME);
    this.#receive = receive;
    this.#key = key;
  }

  get isConnected(): boolean {
    return this.#frontEnd !== undefined;
  }

  /** Whether front ends can find this socket. */
  get isInPlace(): boolean {
    return isSameFile(this.#file, statSync(this.#path, { throwIfNoEntry: false }));
  }

  /** May be called again if the socket's file is gone. A connected front end stays connected. */
  async listen(): Promise<void> {
    this.#server?.close();
    const server = createServer((socket) => this.accept(socket));
    this.#server = server;
    this.#file = await listenOnSocket(server, this.#path, { mode: 0o600 });
  }

  send(message: FromConductor): void {
    const socket = this.#frontEnd;
    if (socket === undefined) return;
    if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
    else socket.write(`${JSON.stringify(message)}\n`);
  }

  close(): void {
    this.#frontEnd?.end();
    this.#server?.close();
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // The disk has become read-only, say. A socket on which nobody listens refuses who connects.
    }
  }

  /** The other end may be the front end: it has the rights of the conductor's user. */
  accept(socket: Socket): void {
    const lines = new LineReader();
    const relay = this.#relayFor(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      relay?.close();
      if (this.#frontEnd !== socket) return;
      this.#frontEnd = undefined;
      this.#leftAtMs = monotonicMs();
    });
    socket.on("data", (chunk: Buffer) => {
      const complete = lines.push(chunk);
      if (complete === undefined) {
        refuse(socket, "Cannot read a message: the line is too long");
        socket.destroy();
        return;
      }
      for (const line of complete)
        if (line.trim() !== "" && relay?.receive(line) !== true) this.#read(socket, line);
    });
  }

  #relayFor(socket: Socket): Relay | undefined {
    if (this.#key === undefined) return undefined;
    return new Relay({
      key: this.#key,
      send: (text) => {
        if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
        else if (!socket.destroyed) socket.write(text);
      },
    });
  }

  #read(socket: Socket, line: string): void {
    const message = parseMessage(line);
    if (message.type === "malformed") refuse(socket, message.message);
    else if (message.type === "hello") {
      const refusal = this.#refusal(message.owner);
      if (refusal !== undefined) {
        refuse(socket, refusal, this.#owner?.frontEnd);
        socket.end();
        return;
      }
      const { owner, frontEnd } = message;
      this.#owner = owner === undefined ? undefined : { owner, frontEnd };
      if (this.#frontEnd !== undefined && this.#frontEnd !== socket) {
        refuse(this.#frontEnd, "Another front end has connected");
        this.#frontEnd.end();
      }
      this.#frontEnd = socket;
      this.#receive(message);
    } else if (socket === this.#frontEnd) this.#receive(message);
    else refuse(socket, "Cannot accept a message before hello");
  }

  /**
   * Why a front end of this owner cannot connect now. Without owners, the newest front end replaces others.
   */
  #refusal(owner: string | undefined): string | undefined {
    const present = this.#owner;
    if (present === undefined || present.owner === owner) return undefined;
    if (!this.isConnected && monotonicMs() - this.#leftAtMs >= OWNER_STAYS_MS) return undefined;
    const state = this.isConnected ? "is connected" : "was connected a moment ago";
    return `Cannot accept this front end: "${present.frontEnd}", which owns the jobs here, ${state}; expected the same front end, or none for ${OWNER_STAYS_MS / 1000} s`;
  }
}

function refuse(socket: Socket, message: string, heldBy?: string): void {
  const refusal: FromConductor = { type: "refused", message, heldBy };
  if (!socket.destroyed) socket.write(`${JSON.stringify(refusal)}\n`);
}
