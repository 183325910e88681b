/** The conductor's socket: one front end at a time, lines of JSON, 0600 in a 0700 folder from the first instant. */
import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FromConductor, ToConductor } from "../protocol.ts";
import { LineReader, parseMessage } from "./wire.ts";

/** A front end that does not read is let go rather than kept in memory. */
const MOST_UNREAD_BYTES = 64 * 2 ** 20;

export const SOCKET_NAME = "socket";
const SQLITE_BUSY = 5;

/**
 * Makes the folder private and takes its lock, an exclusive one of the kernel's on a small database, which goes with this process. (A name
 * in the abstract name space of sockets would not do: /proc/net/unix shows it to everybody, who could take it when we have ended.)
 * @returns false when another conductor has it
 */
export function lockHome(home: string): boolean {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (statSync(home).uid !== process.getuid?.()) {
    throw new Error(`Cannot use the folder "${home}": it belongs to another user, expected our own`);
  }
  chmodSync(home, 0o700);
  const lock = new DatabaseSync(join(home, "lock.db"), { timeout: 0 });
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
  // A database that nobody refers to is closed.
  process.once("exit", () => lock.close());
  return true;
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
