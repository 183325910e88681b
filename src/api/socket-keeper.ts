/**
 * Keeps a socket where clients look for it. Cleaners of /tmp and people remove its file or its folder while the scheduler runs, and then nobody could reach it or
 * start another. So the file is looked at twice a second, and when it is gone or is something else, we listen there again. What another program
 * listens at is left alone.
 */
import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { closed, isAnswered, listenOnSocket, type SocketRights } from "./listening.ts";
import type { Places } from "./places.ts";

const LOOK_MS = 500;

export interface KeeperOptions {
  readonly places: Places;
  readonly rights: SocketRights;
  readonly makeListener: () => Server;
  /** Makes folders, key and tokens where they are missing. */
  readonly restore: () => void;
  /** How many files there are to be with tokens. */
  readonly tokenCount: () => number;
  /** Told in a sentence of what has happened. */
  readonly note: (text: string) => void;
}

export class SocketKeeper {
  readonly #options: KeeperOptions;
  #listener: Server | undefined;
  #inode: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #noted = "";

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#listen();
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, LOOK_MS).unref();
  }

  /** Ends; resolves when the connections are closed. The file goes, unless it is another's by now. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    const { socket } = this.#options.places;
    const end = this.#listener === undefined ? undefined : closed(this.#listener);
    if (this.#inode !== undefined && inodeOf(socket) === this.#inode) rmSync(socket);
    await end;
  }

  async #look(): Promise<void> {
    const { places, restore, note } = this.#options;
    try {
      const inode = inodeOf(places.socket);
      if (inode === this.#inode && this.#isWhole()) return;
      if (inode !== undefined && inode !== this.#inode && (await isAnswered(places.socket))) {
        this.#noteOnce(
          `Cannot be reached: another program listens at "${places.socket}" since its file was replaced`,
        );
        return;
      }
      restore();
      if (inode !== this.#inode) await this.#listen();
      this.#noted = "";
      note(`The files of the socket were removed while the scheduler ran; it is at "${places.socket}" again`);
    } catch (error) {
      this.#noteOnce(`Cannot make the socket again: ${(error as Error).message}`);
    }
  }

  async #listen(): Promise<void> {
    const { places, rights, makeListener } = this.#options;
    const listener = makeListener();
    this.#inode = await listenOnSocket(listener, places.socket, rights);
    // Who is connected stays so.
    this.#listener?.close();
    this.#listener = listener;
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
