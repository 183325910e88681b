/** The conductor's socket: one front end at a time, lines of JSON, 0600 in a 0700 folder from the first instant. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { FromConductor, ToConductor } from "../protocol.ts";
import { LineReader, parseMessage } from "./wire.ts";

/** A front end that does not read is let go rather than kept in memory. */
const MOST_UNREAD_BYTES = 64 * 2 ** 20;

export const SOCKET_NAME = "socket";

/**
 * Makes the folder private and takes its lock, which the kernel lets go when this process ends.
 * @returns undefined when another conductor has it
 */
export async function lockHome(home: string): Promise<Server | undefined> {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (statSync(home).uid !== process.getuid?.()) {
    throw new Error(`Cannot use the folder "${home}": it belongs to another user, expected our own`);
  }
  chmodSync(home, 0o700);
  const lock = join(home, "lock");
  try {
    symlinkSync(randomBytes(16).toString("hex"), lock);
  } catch {
    // Made by an earlier one.
  }
  // A name in the abstract name space of Unix sockets: nobody else knows it, and no stale file is left.
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(`\0tutti-conductor-${readlinkSync(lock)}`, () => resolve(server.unref()));
  });
}

export class ConductorServer {
  readonly #path: string;
  readonly #receive: (message: ToConductor) => void;
  readonly #server = createServer((socket) => this.#accept(socket));
  #frontEnd: Socket | undefined;

  constructor(home: string, receive: (message: ToConductor) => void) {
    this.#path = join(home, SOCKET_NAME);
    this.#receive = receive;
  }

  get isConnected(): boolean {
    return this.#frontEnd !== undefined;
  }

  /** Under a name of its own first, then in one step under the one that front ends look for. */
  async listen(): Promise<void> {
    const unnamed = `${this.#path}.${process.pid}`;
    rmSync(unnamed, { force: true });
    const umask = process.umask(0o177);
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once("error", reject);
        this.#server.listen(unnamed, resolve);
      });
    } finally {
      process.umask(umask);
    }
    renameSync(unnamed, this.#path);
  }

  tell(message: FromConductor): void {
    const socket = this.#frontEnd;
    if (socket === undefined) return;
    if (socket.writableLength > MOST_UNREAD_BYTES) socket.destroy();
    else socket.write(`${JSON.stringify(message)}\n`);
  }

  close(): void {
    this.#frontEnd?.end();
    this.#server.close();
    rmSync(this.#path, { force: true });
  }

  #accept(socket: Socket): void {
    const lines = new LineReader();
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      if (this.#frontEnd === socket) this.#frontEnd = undefined;
    });
    socket.on("data", (chunk: Buffer) => {
      const complete = lines.push(chunk);
      if (complete === undefined) {
        refuse(socket, "Cannot read a message: the line is too long");
        socket.destroy();
        return;
      }
      for (const line of complete) if (line.trim() !== "") this.#read(socket, line);
    });
  }

  #read(socket: Socket, line: string): void {
    const message = parseMessage(line);
    if (message.type === "malformed") refuse(socket, message.message);
    else if (message.type === "hello") {
      if (this.#frontEnd !== undefined && this.#frontEnd !== socket) {
        refuse(this.#frontEnd, "Another front end has connected");
        this.#frontEnd.end();
      }
      this.#frontEnd = socket;
      this.#receive(message);
    } else if (socket === this.#frontEnd) this.#receive(message);
    else refuse(socket, "Cannot take a message before hello");
  }
}

function refuse(socket: Socket, message: string): void {
  if (!socket.destroyed)
    socket.write(`${JSON.stringify({ type: "refused", message } satisfies FromConductor)}\n`);
}
