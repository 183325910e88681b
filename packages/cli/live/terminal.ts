/**
 * Connects this terminal with that of a job (conductor/attempts/job-input.ts): what is typed goes into the
 * job's named pipe, and what the job shows is read from its output file. Neither passes through the
 * scheduler, so both continue while it restarts.
 */
import { spawnSync } from "node:child_process";
import { closeSync, constants, type FSWatcher, fstatSync, openSync, watch } from "node:fs";
import { join } from "node:path";
import { sleep } from "@tutti/host/sleep.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import { openInside, piecesOf } from "@tutti/live/api/server/answers/logs.ts";
import { sizeFrame, typedFrames } from "@tutti/protocol/input/frames.ts";
import type { InputAnswer, Job } from "@tutti/protocol/schema.ts";
import { UsageError } from "../errors.ts";
import { hint } from "../text/text.ts";
import { openJobPipe } from "./job-input.ts";
import type { JobPipe } from "./job-pipe.ts";
import { ReconnectingClient } from "./reconnecting-client.ts";
import { TerminalModes } from "./terminal-modes.ts";

export const DETACH_HELP = "Ctrl-] three times within a second detaches: the job keeps running";

const LINE_FEED = 0x0a;
const DETACH_KEY = 0x1d;
const DETACH_PRESSES = 3;
const DETACH_MS = 1000;
/** As much as most screens show; the modes that the terminal is in may have been set earlier. */
const SHOWN_AGAIN_BYTES = 8 * 1024;
const MODES_BYTES = 1024 * 1024;
/** A terminal that is so far behind goes on with the end: the user wants to see what happens now. */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024;
/** What was typed while the gang is stopped. Above this, the keyboard waits. */
const MAX_TYPED_BYTES = 1024 * 1024;
const LOOK_FOR_READER_MS = 500;
/** How long the scheduler may take to say how a job ended before the user gets the terminal back. */
const SAY_END_MS = 3000;
/** Wait for news of a file system that reports no changes, and between two sizes of the window. */
const LOOK_MS = 200;

/** @throws UsageError if this is not a terminal that a job can have */
export function needTerminal(what: string): void {
  if (process.stdin.isTTY && process.stdout.isTTY) return;
  throw new UsageError(
    `Cannot ${what}: ${process.stdin.isTTY ? "standard output" : "standard input"} is not a terminal, expected to run in one`,
  );
}

/** The connection of a command that uses a terminal, where a line feed alone does not begin a line. */
export function terminalConnection(next: string): ReconnectingClient {
  const onGone = () =>
    hint("\r\ntutti: the scheduler is gone; waiting until it is back (running jobs continue)\r");
  return new ReconnectingClient(next, { onGone });
}

/**
 * Attaches until the job has ended or the user detaches.
 * @param isFirst the job has just been submitted, so it has shown nothing yet
 * @param onOpen called when the terminal is connected
 * @returns the job if it has ended
 */
export async function attachTerminal(
  connection: ReconnectingClient,
  job: Job,
  isFirst: boolean,
  onOpen: () => void = () => {},
): Promise<Job | undefined> {
  const over = new AbortController();
  const leaving = new AbortController();
  const ended = connection.retry((client) => client.ended(job.job, leaving.signal));
  ended.then(
    () => over.abort(),
    () => over.abort(),
  );
  try {
    return await attachUntil(ended, over.signal, { connection, job, isFirst, onOpen });
  } finally {
    // Nothing waits for the job any longer, also if it cannot be attached.
    leaving.abort();
  }
}

interface Attaching {
  readonly connection: ReconnectingClient;
  readonly job: Job;
  readonly isFirst: boolean;
  readonly onOpen: () => void;
}

async function attachUntil(
  ended: Promise<Job>,
  over: AbortSignal,
  { connection, job, isFirst, onOpen }: Attaching,
): Promise<Job | undefined> {
  const pipe = await openJobPipe(connection, job.job, over);
  if (pipe === undefined) return ended;
  const { uid } = await connection.retry((client) => client.ask<InputAnswer>(`/v1/jobs/${job.job}/input`));
  const { job: now } = await connection.retry((client) => client.job(job.job));
  const modes = new TerminalModes();
  const detached = new AbortController();
  const gone = new AbortController();
  const stopped = AbortSignal.any([over, gone.signal, detached.signal]);
  void watchReader(pipe, stopped, () => gone.abort());
  const keyboard = new Keyboard(pipe, () => detached.abort());
  hint(`tutti: ${isFirst ? "this is" : "attached to"} job ${job.job}; ${DETACH_HELP}`);
  // When our terminal is gone, the job goes on.
  process.stdout.removeAllListeners("error").on("error", () => detached.abort());
  let isLineOpen = false;
  try {
    onOpen();
    keyboard.start(isFirst);
    isLineOpen = await showOutput(now, uid, { isFirst, modes, stopped, isLeft: detached.signal });
  } finally {
    keyboard.stop();
    process.stdout.write(modes.toLeave);
  }
  const beginLine = () => {
    if (isLineOpen) process.stdout.write("\n");
    isLineOpen = false;
  };
  if (detached.signal.aborted) {
    beginLine();
    return undefined;
  }
  if (!over.aborted) {
    beginLine();
    hint(
      `tutti: the terminal of job ${job.job} is gone; waiting until the scheduler says how the job ended (Ctrl-C ends only this wait)`,
    );
  }
  const last = await ended;
  if (last.state !== "done") beginLine();
  return last;
}

/** Calls back when nothing reads the job's pipe, and the scheduler has had time to say why. */
async function watchReader(pipe: JobPipe, signal: AbortSignal, onGone: () => void): Promise<void> {
  while (!signal.aborted && (await pipe.hasReader())) await sleep(LOOK_FOR_READER_MS, signal);
  await sleep(SAY_END_MS, signal);
  if (!signal.aborted) onGone();
}

/** Passes all keys on, and shows all bytes as they are: Node alone would still turn LF into CR LF. */
function makeRaw(): void {
  process.stdin.setRawMode(true);
  spawnSync("stty", ["-opost"], { stdio: ["inherit", "ignore", "ignore"] });
}

/** A terminal that does not know its size, such as a serial line, counts as one of 24 lines. */
function windowSize(): { readonly rows: number; readonly columns: number } {
  const { rows, columns } = process.stdout;
  return { rows: rows || 24, columns: columns || 80 };
}

/** Passes on what is typed, and the size of the window. */
class Keyboard {
  readonly #pipe: JobPipe;
  readonly #detach: () => void;
  readonly #frames: Uint8Array[] = [];
  #bytes = 0;
  #isSending = false;
  /** The keyboard waits. */
  #isFull = false;
  #isOver = false;
  #presses: number[] = [];

  constructor(pipe: JobPipe, detach: () => void) {
    this.#pipe = pipe;
    this.#detach = detach;
  }

  start(isFirst: boolean): void {
    const { stdin, stdout } = process;
    makeRaw();
    stdin.on("data", this.#onTyped).on("end", this.#detach).on("error", this.#detach);
    stdout.on("resize", this.#onResize);
    // The terminal is gone, or somebody wants us to go: the job goes on.
    for (const name of ["SIGHUP", "SIGTERM"] as const) process.on(name, this.#detach);
    process.on("SIGCONT", this.#onContinued);
    if (isFirst) this.#onResize();
    else void this.#redraw();
  }

  stop(): void {
    const { stdin, stdout } = process;
    stdin.off("data", this.#onTyped).off("end", this.#detach).off("error", this.#detach);
    stdout.off("resize", this.#onResize);
    for (const name of ["SIGHUP", "SIGTERM"] as const) process.off(name, this.#detach);
    process.off("SIGCONT", this.#onContinued);
    try {
      stdin.setRawMode(false);
    } catch {
      // The terminal is gone.
    }
    this.#isOver = true;
    stdin.pause();
    this.#pipe.close();
  }

  readonly #onTyped = (typed: Buffer): void => {
    for (const frame of typedFrames(typed)) this.#send(frame);
    if (this.#isDetach(typed)) this.#detach();
  };

  readonly #onResize = (): void => {
    const { rows, columns } = windowSize();
    this.#send(sizeFrame(rows, columns));
  };

  /** A shell that stopped and continued us has given the terminal its own modes. */
  readonly #onContinued = (): void => {
    process.stdin.setRawMode(false);
    makeRaw();
  };

  /** A program draws its whole screen again when the size has changed. */
  async #redraw(): Promise<void> {
    const { rows, columns } = windowSize();
    this.#send(sizeFrame(rows > 1 ? rows - 1 : 2, columns));
    await sleep(LOOK_MS);
    this.#onResize();
  }

  #isDetach(typed: Buffer): boolean {
    const nowMs = performance.now();
    for (const byte of typed) {
      if (byte !== DETACH_KEY) this.#presses = [];
      else this.#presses = [...this.#presses.filter((ms) => nowMs - ms < DETACH_MS), nowMs];
      if (this.#presses.length >= DETACH_PRESSES) return true;
    }
    return false;
  }

  #send(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#bytes += frame.length;
    if (this.#bytes > MAX_TYPED_BYTES && !this.#isFull) {
      this.#isFull = true;
      process.stdin.pause();
    }
    if (!this.#isSending) void this.#sendAll();
  }

  /** Each frame alone, because several would not be written all at once. */
  async #sendAll(): Promise<void> {
    this.#isSending = true;
    for (let frame = this.#frames.shift(); frame !== undefined; frame = this.#frames.shift()) {
      await this.#pipe.write(frame);
      if (this.#isOver) return;
      this.#bytes -= frame.length;
      if (!this.#isFull || this.#bytes > MAX_TYPED_BYTES / 2) continue;
      this.#isFull = false;
      process.stdin.resume();
    }
    this.#isSending = false;
  }
}

interface Showing {
  readonly isFirst: boolean;
  readonly modes: TerminalModes;
  /** Aborts when the job has ended or the user has left. */
  readonly stopped: AbortSignal;
  readonly isLeft: AbortSignal;
}

/**
 * Shows the last part of the output, and all that comes, until the job has ended.
 * @returns whether the last line that was shown has no end
 */
async function showOutput(job: Job, uid: number, showing: Showing): Promise<boolean> {
  const { isFirst, modes, stopped, isLeft } = showing;
  const file = openOutput(job, uid);
  let isLineOpen = false;
  const news = new News(file);
  try {
    const { size } = fstatSync(file);
    let at = isFirst ? 0 : Math.max(0, size - SHOWN_AGAIN_BYTES);
    if (at > 0) {
      const from = Math.max(0, at - MODES_BYTES);
      for await (const piece of piecesOf(file, { offset: from, limit: at - from })) modes.next(piece);
      process.stdout.write(modes.toEnter);
    }
    for (;;) {
      // Looks at the state before the file, so that all that was shown before the end is read.
      const isLast = stopped.aborted;
      const behind = fstatSync(file).size - at;
      if (behind > MAX_BEHIND_BYTES) {
        const limit = behind - SHOWN_AGAIN_BYTES;
        for await (const piece of piecesOf(file, { offset: at, limit })) modes.next(piece);
        at += limit;
        await write(Buffer.from(modes.toEnter));
      }
      for await (const piece of piecesOf(file, { offset: at, limit: MAX_BEHIND_BYTES })) {
        at += piece.length;
        isLineOpen = piece.at(-1) !== LINE_FEED;
        modes.next(piece);
        await write(piece);
        if (isLeft.aborted) return isLineOpen;
      }
      if (isLast) return isLineOpen;
      if (fstatSync(file).size === at) await news.wait(stopped);
    }
  } finally {
    news.close();
    closeSync(file);
  }
}

/** @throws RefusedError */
function openOutput({ job, stdout }: Job, uid: number): number {
  const { O_RDONLY, O_NONBLOCK } = constants;
  try {
    if (uid === process.getuid!()) return openSync(stdout, O_RDONLY | O_NONBLOCK);
    // Root, for another user: only the file in the job's folder.
    const file = openInside(join(stdout, ".."), stdout, uid);
    if (file !== undefined) return file;
  } catch (error) {
    throw new RefusedError(
      "not-yours",
      `Cannot read what job ${job} shows, in "${stdout}": ${(error as Error).message}`,
    );
  }
  throw new RefusedError(
    "not-yours",
    `Cannot read what job ${job} shows, in "${stdout}": it is not a plain file of the job's user`,
  );
}

/** Tells when a file may have changed. */
class News {
  #watcher: FSWatcher | undefined;
  #isNew = false;
  #wake = () => {};

  constructor(file: number) {
    try {
      this.#watcher = watch(`/proc/self/fd/${file}`, () => {
        this.#isNew = true;
        this.#wake();
      }).on("error", () => this.#watcher?.close());
    } catch {
      // The user may watch too many files already. Then we look at intervals.
    }
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#isNew && !signal.aborted) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await sleep(LOOK_MS, AbortSignal.any([woken.signal, signal]));
    }
    this.#isNew = false;
  }

  close(): void {
    this.#watcher?.close();
  }
}

/** Waits for a slow terminal. */
function write(piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    if (process.stdout.write(piece)) resolve();
    else process.stdout.once("drain", resolve).once("error", () => resolve());
  });
}
