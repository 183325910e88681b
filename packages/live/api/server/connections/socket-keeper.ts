/**
 * Restores sockets that were removed. People, or programs that clean /tmp, may remove the socket files or
 * their folder while the scheduler runs. Then no client could reach the scheduler, and no other scheduler
 * could start. So the files are checked twice a second. A missing or replaced socket is made again, unless
 * another program listens there.
 */
import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import type { SocketRights } from "@tutti/host/unix-socket.ts";
import type { RuntimeDir } from "../../runtime-dir.ts";
import { closed, isAnswered, listenForClients } from "./listening.ts";

const LOOK_MS = 500;

/** A socket that should exist. */
export interface WantedSocket {
  readonly path: string;
  readonly rights: SocketRights;
  readonly makeListener: () => Server;
}

interface KeeperOptions {
  readonly places: RuntimeDir;
  /** The first is the shared socket, which is always included. */
  readonly wanted: () => readonly WantedSocket[];
  /** Makes missing folders, key and tokens again. */
  readonly restore: () => void;
  /** Number of token files that should exist. */
  readonly tokenCount: () => number;
  /** Receives a sentence about what has happened. */
  readonly note: (text: string) => void;
}

interface Kept {
  readonly listener: Server;
  readonly inode: number;
}

export class SocketKeeper {
  readonly #options: KeeperOptions;
  readonly #kept = new Map<string, Kept>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #noted = "";

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    for (const wanted of this.#options.wanted()) await this.#listen(wanted);
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, LOOK_MS).unref();
  }

  /** Resolves when all connections are closed. Removes the files, unless others have replaced them. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    const ends = [...this.#kept.values()].map(({ listener }) => closed(listener));
    for (const path of this.#kept.keys()) this.#remove(path);
    await Promise.all(ends);
  }

  async #look(): Promise<void> {
    const { places, wanted, restore, note } = this.#options;
    try {
      const sockets = wanted();
      for (const path of [...this.#kept.keys()]) {
        if (sockets.every((socket) => socket.path !== path)) this.#remove(path);
      }
      // Missing sockets of new users are not a loss.
      const isLoss = !this.#isWhole() || [...this.#kept].some(([path, { inode }]) => inodeOf(path) !== inode);
      const missing = sockets.filter(
        ({ path }) => inodeOf(path) !== this.#kept.get(path)?.inode || !this.#kept.has(path),
      );
      if (!isLoss && missing.length === 0) return;
      const taken = await this.#takenByOther(missing);
      if (taken !== undefined) {
        this.#noteOnce(
          `The scheduler cannot be reached: its socket "${taken}" was replaced, and another program listens there`,
        );
        return;
      }
      restore();
      for (const socket of missing) await this.#listen(socket);
      this.#noted = "";
      if (isLoss)
        note(`Files of the socket were removed while the scheduler ran; "${places.socket}" works again`);
    } catch (error) {
      this.#noteOnce(`Cannot make the socket again: ${(error as Error).message}`);
    }
  }

  async #takenByOther(missing: readonly WantedSocket[]): Promise<string | undefined> {
    for (const { path } of missing) if (inodeOf(path) !== undefined && (await isAnswered(path))) return path;
    return undefined;
  }

  async #listen({ path, rights, makeListener }: WantedSocket): Promise<void> {
    const listener = makeListener();
    const inode = await listenForClients(listener, path, rights);
    // Closing the listener keeps open connections.
    this.#kept.get(path)?.listener.close();
    this.#kept.set(path, { listener, inode });
  }

  #remove(path: string): void {
    const { listener, inode } = this.#kept.get(path)!;
    this.#kept.delete(path);
    listener.close();
    if (inodeOf(path) === inode) rmSync(path);
  }

  #isWhole(): boolean {
    const { places, tokenCount } = this.#options;
    return existsSync(places.key) && entries(places.tokens) >= tokenCount();
  }

  #noteOnce(text: string): void {
    if (text !== this.#noted) this.#options.note(text);
    this.#noted = text;
  }
}

function inodeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino;
}

function entries(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}
