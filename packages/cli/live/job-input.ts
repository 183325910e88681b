/**
 * Writes what a job reads (protocol/input/frames.ts). On the scheduler's machine, directly into the named
 * pipe in the folder of its attempt, so it reaches the job while the scheduler is away. The folder belongs to
 * the job's user; root may write there for others, and believes only a pipe of that user. A job on another
 * node is sent it through the scheduler (sent-input.ts).
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { sleep } from "@tutti/host/sleep.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import { INPUT_PIPE, READY, READY_PIPE } from "@tutti/protocol/input/frames.ts";
import type { InputAnswer, StatusAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { hint } from "../text/text.ts";
import type { JobPipe } from "./job-pipe.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";
import { openSentInput } from "./sent-input.ts";

const LOOK_MS = 50;
/** The job may get another attempt, with another folder. */
const ASK_AGAIN_MS = 1000;
/** Errors by which a pipe is not there, or has no reader yet. */
const NOT_YET = new Set(["ENOENT", "ENXIO"]);

/** A named pipe of a job that is open for writing. */
class NamedPipe implements JobPipe {
  readonly #file: number;
  readonly #socket: Socket;
  #isGone = false;

  constructor(file: number) {
    this.#file = file;
    this.#socket = new Socket({ fd: file, readable: false, writable: true });
    this.#socket
      .on("error", () => {})
      .on("close", () => {
        this.#isGone = true;
      });
  }

  write(bytes: Uint8Array): Promise<boolean> {
    if (this.#isGone) return Promise.resolve(false);
    return new Promise((resolve) => {
      // A pipe that is closed meanwhile calls back neither way.
      const gone = () => resolve(false);
      this.#socket.once("close", gone);
      this.#socket.write(bytes, (error) => {
        this.#socket.off("close", gone);
        resolve(!error);
      });
    });
  }

  async hasReader(): Promise<boolean> {
    if (this.#isGone) return false;
    try {
      // The kernel refuses to open a named pipe for writing if nobody has it open for reading.
      closeSync(openSync(`/proc/self/fd/${this.#file}`, constants.O_WRONLY | constants.O_NONBLOCK));
      return true;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== "ENXIO";
    }
  }

  /** The job reads the end when the pipe is closed. */
  async end(): Promise<void> {}

  close(): void {
    this.#isGone = true;
    this.#socket.destroy();
  }
}

/**
 * Opens the pipe as soon as the job reads it.
 * @returns undefined if the signal comes first
 */
export async function openJobPipe(
  connection: ReconnectingClient,
  job: number,
  signal: AbortSignal,
): Promise<JobPipe | undefined> {
  while (!signal.aborted) {
    const input = await connection.retry((client) => client.ask<InputAnswer>(`/v1/jobs/${job}/input`));
    if (input.isSent) return openSentInput(connection, job, signal);
    const untilMs = performance.now() + ASK_AGAIN_MS;
    while (performance.now() < untilMs && !signal.aborted) {
      const file = openOnce(input);
      if (file !== undefined) return new NamedPipe(file);
      await sleep(LOOK_MS, signal);
    }
  }
  return undefined;
}

function openOnce({ folder, uid, input }: InputAnswer): number | undefined {
  const ready = input === "pipe" ? openFor(join(folder, READY_PIPE), uid) : undefined;
  if (input === "pipe" && ready === undefined) return undefined;
  try {
    const file = openFor(join(folder, INPUT_PIPE), uid);
    if (file !== undefined && ready !== undefined) writeSync(ready, READY);
    return file;
  } finally {
    if (ready !== undefined) closeSync(ready);
  }
}

/** @throws RefusedError if this user or this machine cannot reach the pipe */
function openFor(path: string, uid: number): number | undefined {
  const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  let file: number;
  try {
    file = openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (NOT_YET.has(String((error as NodeJS.ErrnoException).code))) return undefined;
    throw new RefusedError(
      "not-yours",
      `Cannot write to the job's input "${path}": ${(error as Error).message}; expected to run as the job's user or root, on the scheduler's machine`,
    );
  }
  const stats = fstatSync(file);
  if (stats.isFIFO() && stats.uid === uid) return file;
  closeSync(file);
  throw new RefusedError(
    "not-yours",
    `Cannot write to the job's input "${path}": it is not a named pipe of the job's user`,
  );
}

/**
 * The job, which reads our standard input if that is a pipe, a file or a socket. If it cannot be given and
 * has content, the job asks for it all the same, so that the scheduler refuses it and says why: without its
 * input, it would work on nothing.
 */
export async function withOwnInput(
  connection: ReconnectingClient,
  job: SubmitJob,
  say: (remark: string) => void,
): Promise<SubmitJob> {
  if (!hasPipedInput()) return job;
  const why = !(await takesInput(connection))
    ? "this scheduler cannot pass it on"
    : (job.retries ?? 0) > 0
      ? "a job with --retries has none"
      : undefined;
  const seen = why === undefined ? "content" : await lookAtInput();
  if (seen === "content") return { ...job, input: "pipe" };
  // Under CI or ssh, it is often open and nothing ever comes.
  if (seen === "open") {
    say(
      `the job does not read standard input, which is open but has nothing yet: ${why}; < /dev/null avoids this message`,
    );
  }
  return job;
}

/**
 * Copies our standard input to the job. As after the end of a local pipe, the program that writes to our
 * standard input gets SIGPIPE when the job has stopped reading.
 * @param signal aborts when the job has ended
 */
export async function copyInput(
  connection: ReconnectingClient,
  job: number,
  signal: AbortSignal,
): Promise<void> {
  const pipe = await openJobPipe(connection, job, signal);
  const { stdin } = process;
  if (pipe === undefined) {
    stdin.destroy();
    return;
  }
  const stop = () => {
    stdin.destroy();
    pipe.close();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    let isRead = true;
    for await (const piece of stdin as AsyncIterable<Uint8Array>) {
      isRead = await pipe.write(piece);
      if (!isRead) break;
    }
    if (isRead) await pipe.end();
  } catch (error) {
    // The job then reads the end, as from a local pipe.
    if (!signal.aborted) hint(`tutti: Cannot read standard input: ${(error as Error).message}`);
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Whether something other than a terminal or a device is connected to our standard input. */
function hasPipedInput(): boolean {
  const stats = fstatSync(0);
  return stats.isFIFO() || stats.isFile() || stats.isSocket();
}

/** Whether jobs can read from a client here. A scheduler of an earlier version does not say so. */
async function takesInput(connection: ReconnectingClient): Promise<boolean> {
  const status = await connection.retry((client) => client.ask<StatusAnswer>("/v1/status"));
  return status.takesInput === true;
}

/**
 * What is in our standard input, a pipe, a file or a socket. open: nothing, and it has not ended. Does not
 * wait. What was in a pipe is lost.
 */
async function lookAtInput(): Promise<"content" | "open" | "ended"> {
  if (fstatSync(0).isFile()) return hasUnreadBytes() ? "content" : "ended";
  const { stdin } = process;
  let seen: "content" | "open" | "ended" = "open";
  stdin
    .once("data", () => {
      seen = "content";
    })
    .once("end", () => {
      if (seen === "open") seen = "ended";
    })
    .on("error", () => {});
  // The first turn of the event loop begins to read. By the end of the second, what is there has come.
  await setImmediate();
  await setImmediate();
  // It would keep this process alive, and read what comes later. This leaves the descriptor open.
  stdin.destroy();
  return seen;
}

/** A loop of the shell may have read the file to its end. */
function hasUnreadBytes(): boolean {
  try {
    const position = /^pos:\s*(\d+)$/m.exec(readFileSync("/proc/self/fdinfo/0", "latin1"))?.[1];
    return readSync(0, Buffer.alloc(1), 0, 1, Number(position ?? 0)) > 0;
  } catch {
    // It is open for writing only.
    return false;
  }
}
