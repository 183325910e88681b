/**
 * Connects the front end to the conductor's socket. It starts a conductor if none is running, and reconnects
 * when the connection is lost.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { findGpuPrograms } from "@tutti/host/gpu-programs.ts";
import { makeFolder } from "@tutti/host/make-folders.ts";
import { type ChildProcess, spawn } from "@tutti/host/ports/child-process.ts";
import { EventEmitter } from "@tutti/host/ports/events.ts";
import { closeSync, openSync, renameSync, statSync } from "@tutti/host/ports/fs.ts";
import { createConnection, type Socket } from "@tutti/host/ports/net.ts";
import { join } from "@tutti/host/ports/path.ts";
import { fileURLToPath } from "@tutti/host/ports/url.ts";
import { programFile } from "@tutti/host/programs.ts";
import { OWN_ENVIRONMENT } from "@tutti/host/surroundings.ts";
import type { FreezerKind } from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import { LineReader } from "@tutti/protocol/wire.ts";
import { SOCKET_NAME } from "./server.ts";

const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 1000;
/**
 * Starts another conductor after this many failed connections, even if the last one is alive. The conductor
 * that holds the lock continues.
 */
const TRIES_PER_START = 25;
/** If a conductor dies before a connection succeeds, wait at least this long before the next start. */
const START_AGAIN_MS = 1000;
const MAX_LOG_BYTES = 2 ** 20;

export interface ClientOptions {
  /**
   * Folder of the conductor: private, created if missing in a folder that exists. Its path must be short
   * (sockets allow about 100 characters).
   */
  readonly home: string;
  /** Name of the front end. */
  readonly name: string;
  /** Default: the best that works here. */
  readonly freezer?: FreezerKind;
  /** Default true. */
  readonly startConductor?: boolean;
}

/**
 * Stays connected until `close`, whatever happens to the conductor. `send` never throws and never blocks.
 * Messages sent without a connection are dropped. The client sends a hello on every connection. After each
 * `state`, the answer to that hello, the front end must repeat what it wants.
 */
export class ConductorClient extends EventEmitter<{
  /** Every message; the first on each connection is a `state`. */
  message: [FromConductor];
  /** The connection is lost. The argument is a reason to show to people. */
  disconnect: [string];
}> {
  /** True from the conductor's `state` until the connection is lost. */
  connected = false;
  readonly #options: ClientOptions;
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #started: { readonly child: ChildProcess; readonly atMs: number } | undefined;
  /** Conductors that this client has started and that still run. */
  readonly #children = new Set<ChildProcess>();
  /** Process of the conductor that answered last. */
  #pid: number | undefined;
  #closed = false;
  /** The conductor was asked to end, so it is not started again. */
  #shuttingDown = false;

  constructor(options: ClientOptions) {
    super();
    this.#options = options;
    this.#connect();
  }

  send(message: ToConductor): void {
    if (!this.connected) return;
    this.#write(message);
    // Later messages, such as forget, do not revoke a shutdown; only a refusal does.
    if (message.type === "shutdown") this.#shuttingDown = true;
  }

  /**
   * Closes the connection. The conductor continues, unless it was asked to end. Then another one, which we
   * started because that one did not answer at once, must not take its place.
   */
  close(): void {
    if (this.#shuttingDown) {
      for (const child of this.#children) if (child.pid !== this.#pid) child.kill();
    }
    this.#closed = true;
    this.connected = false;
    clearTimeout(this.#retry);
    this.#socket?.end();
  }

  #connect(): void {
    if (this.#closed) return;
    const lines = new LineReader();
    const socket = createConnection(join(this.#options.home, SOCKET_NAME));
    let reason = "the conductor closed the connection";
    this.#socket = socket;
    socket.on("connect", () => this.#hello());
    socket.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk) ?? []) this.#read(line);
    });
    socket.on("error", (error) => {
      reason = error.message;
    });
    socket.on("close", () => this.#lost(reason));
  }

  #hello(): void {
    this.#write({ type: "hello", protocol: 3, frontEnd: this.#options.name });
  }

  #write(message: ToConductor): void {
    this.#socket?.write(`${JSON.stringify(message)}\n`);
  }

  #read(line: string): void {
    if (this.#closed) return;
    const message: FromConductor = JSON.parse(line);
    if (message.type === "state") {
      this.connected = true;
      this.#pid = message.pid;
      this.#failures = 0;
    }
    if (message.type === "refused") this.#shuttingDown = false;
    this.emit("message", message);
  }

  #lost(reason: string): void {
    if (this.#closed) return;
    const was = this.connected;
    this.connected = false;
    if (was) this.emit("disconnect", reason);
    if (this.#shuttingDown) return;
    const isDue = this.#failures++ % TRIES_PER_START === 0 || this.#startedOneIsDead();
    if (isDue && this.#options.startConductor !== false) {
      this.#start();
    }
    const waitMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.floor(this.#failures / 8));
    this.#retry = setTimeout(() => this.#connect(), waitMs);
  }

  #start(): void {
    try {
      const child = startConductor(this.#options.home, this.#options.freezer);
      this.#started = { child, atMs: monotonicMs() };
      this.#children.add(child);
      child.once("exit", () => this.#children.delete(child));
    } catch (error) {
      // For example, the disk has become read-only. Tried again with the next connection.
      const message = `Cannot start the conductor: ${(error as Error).message}`;
      this.emit("message", { type: "refused", message });
    }
  }

  #startedOneIsDead(): boolean {
    if (this.#started === undefined || monotonicMs() - this.#started.atMs < START_AGAIN_MS) return false;
    const { exitCode, signalCode } = this.#started.child;
    return exitCode !== null || signalCode !== null;
  }
}

/**
 * Starts a conductor in its own session, so that it outlives us. It ends at once if there is already a
 * conductor.
 */
export function startConductor(home: string, freezer?: FreezerKind): ChildProcess {
  makeFolder(home, 0o700);
  const log = join(home, "conductor.log");
  try {
    if (statSync(log).size > MAX_LOG_BYTES) renameSync(log, `${log}.old`);
  } catch {
    // There is no log yet.
  }
  const descriptor = openSync(log, "a", 0o600);
  try {
    const gpuPrograms = findGpuPrograms();
    const words = [
      ...[PROGRAM, home, ...(freezer === undefined ? [] : [freezer])],
      ...(gpuPrograms.length === 0 ? [] : ["--gpus", gpuPrograms.join(":")]),
    ];
    const child = spawn(process.execPath, words, {
      cwd: "/",
      detached: true,
      env: OWN_ENVIRONMENT,
      stdio: ["ignore", descriptor, descriptor],
    });
    // Tried again with the next connection.
    child.on("error", () => {});
    child.unref();
    return child;
  } finally {
    closeSync(descriptor);
  }
}

const PROGRAM = fileURLToPath(programFile("conductor", new URL("./main.ts", import.meta.url)));
