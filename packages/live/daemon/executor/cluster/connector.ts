/**
 * Connects to the conductor of a node by a program of the provider, such as srun or ssh: what that starts on
 * the node joins the program's standard streams with the conductor's socket. No port is open, and the
 * provider authenticates. When the program or this process dies, the connection ends and nothing else.
 */

import type { Clock } from "@tutti/host/clock.ts";
import { type ChildProcessWithoutNullStreams, spawn } from "@tutti/host/ports/child-process.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import { LineReader } from "@tutti/protocol/wire.ts";
import type { LinkListener, NodeLink } from "./cluster.ts";

/** Waits between two connections, by the number of failures in a row. */
const RETRY_MS = [200, 1000, 2000, 5000, 10_000, 15_000];
/**
 * A conductor answers hello within this time, or the program hangs: srun itself would wait for ever. Longer
 * than the program on the node waits for a conductor (conductor/connect.ts).
 */
const FIRST_ANSWER_MS = 45_000;
/**
 * A conductor that has answered sends something each second. After a crash of a node, srun notices nothing.
 */
const SILENCE_MS = 10_000;
const WATCH_MS = 1000;
const MAX_UNSENT_BYTES = 64 * 2 ** 20;
const MAX_ERROR_LENGTH = 4096;

/** How a provider reaches a node. */
export interface Way {
  /** The command to run, or why there is none now: it is asked for again later. */
  command(): readonly [program: string, ...args: string[]] | string;
  readonly env: NodeJS.ProcessEnv;
  /** What the program said last on its standard error, for people; empty: nothing. */
  lastWords(stderr: string): string;
  /**
   * Gets the lines that come before the messages; the link is open after the last one.
   * @returns whether this was the last one. Left out: there are none.
   */
  preface?(line: string): boolean;
}

interface ConnectorSetup {
  readonly node: string;
  readonly clock: Clock;
  readonly listener: LinkListener;
  readonly way: Way;
  /** A line that its conductor passes on from another one; see conductor/relay.ts. */
  readonly onRelayed?: (line: string) => void;
  onClose?(): void;
}

export class Connector implements NodeLink {
  readonly node: string;
  readonly #setup: ConnectorSetup;
  #child: ChildProcessWithoutNullStreams | undefined;
  #stopTimer = () => {};
  #failures = 0;
  #hasAnswered = false;
  #lastHeardMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #isPreface = false;

  constructor(setup: ConnectorSetup) {
    this.node = setup.node;
    this.#setup = setup;
    setup.clock.soon(() => this.#connect());
  }

  /** When the conductor last sent something, on the monotonic clock in ms; −∞: never. */
  get lastHeardMs(): number {
    return this.#lastHeardMs;
  }

  send(message: ToConductor): void {
    this.sendLines([JSON.stringify(message)]);
  }

  sendLines(lines: readonly string[]): void {
    const child = this.#child;
    if (child === undefined || !child.stdin.writable) return;
    if (child.stdin.writableLength > MAX_UNSENT_BYTES) child.kill("SIGKILL");
    else child.stdin.write(`${lines.join("\n")}\n`);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTimer();
    this.#setup.onClose?.();
    // What runs on the node reads the end of its input and ends, and so does the program.
    const child = this.#child;
    if (child === undefined) return;
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), 2000);
    timer.unref();
    child.once("close", () => clearTimeout(timer));
  }

  #connect(): void {
    if (this.#isClosed) return;
    const { way } = this.#setup;
    const command = way.command();
    if (typeof command === "string") {
      this.#lost(command);
      return;
    }
    const [program, ...args] = command;
    const child = spawn(program, args, { cwd: "/", env: way.env });
    this.#child = child;
    this.#hasAnswered = false;
    this.#isPreface = way.preface !== undefined;
    const lines = new LineReader();
    let errors = "";
    let problem = "";
    const openedMs = this.#setup.clock.nowMs();
    const stopWatching = this.#watch(() => {
      const quietMs = this.#setup.clock.nowMs() - Math.max(openedMs, this.#lastHeardMs);
      if (quietMs < (this.#hasAnswered ? SILENCE_MS : FIRST_ANSWER_MS)) return;
      problem = `no answer for ${Math.round(quietMs / 1000)} s`;
      child.kill("SIGKILL");
    });
    child.stdin.on("error", () => {});
    child.stderr.on("data", (chunk: Buffer) => {
      errors = (errors + chunk.toString("utf8")).slice(-MAX_ERROR_LENGTH);
    });
    child.stdout.on("data", (chunk: Buffer) => {
      const complete = lines.push(chunk);
      if (complete === undefined || !complete.every((line) => this.#read(line))) {
        problem = "what arrives is not a message of a conductor";
        child.kill("SIGKILL");
      }
    });
    child.on("error", (error) => {
      problem = error.message;
    });
    child.on("close", (code) => {
      stopWatching();
      this.#child = undefined;
      const said = problem === "" ? way.lastWords(errors) : problem;
      const name = program.split("/").at(-1);
      if (!this.#isClosed) this.#lost(said === "" ? `${name} ended with status ${code}` : said);
    });
    // The program keeps what is written now until it has started something on the node.
    if (!this.#isPreface) this.#setup.listener.opened();
  }

  /** @returns false if the line is not a message */
  #read(line: string): boolean {
    if (this.#isPreface) {
      this.#isPreface = this.#setup.way.preface?.(line) === false;
      if (!this.#isPreface && !this.#isClosed) this.#setup.listener.opened();
      return true;
    }
    if (line.startsWith("@")) {
      this.#lastHeardMs = this.#setup.clock.nowMs();
      this.#setup.onRelayed?.(line);
      return true;
    }
    let message: FromConductor;
    try {
      message = JSON.parse(line);
    } catch {
      return false;
    }
    this.#lastHeardMs = this.#setup.clock.nowMs();
    this.#hasAnswered = true;
    // A conductor that belongs to another front end is not asked each moment.
    if (message.type !== "refused" || message.heldBy === undefined) this.#failures = 0;
    if (!this.#isClosed) this.#setup.listener.message(message);
    return true;
  }

  #lost(because: string): void {
    const waitMs = RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)];
    const { clock, listener } = this.#setup;
    this.#stopTimer = clock.at(clock.nowMs() + waitMs, () => {
      this.#connect();
    });
    listener.closed(because);
  }

  #watch(check: () => void): () => void {
    const timer = setInterval(check, WATCH_MS);
    return () => clearInterval(timer);
  }
}
