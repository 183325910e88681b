/**
 * Connects the command line to the scheduler: finds the socket, sends a request, and returns the answer or
 * throws an error that says what failed, why, and what to type next. It loads only Node's own modules, so
 * commands start fast.
 */
import { existsSync, lstatSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type * as c from "@tutti/protocol/schema.ts";
import { isEnded, type JobState } from "@tutti/protocol/states.ts";
import { defaultStateFolder, holderOfState, isStarting } from "../../daemon/state/state-place.ts";
import {
  currentUid,
  isTrustworthy,
  readToken,
  runtimeDirOf,
  socketsToTry,
  userSocket,
} from "../runtime-dir.ts";
import { NoDaemonError, RefusedError } from "./errors.ts";
import { watchSilence } from "./silence.ts";

/** Retries for two seconds while the kernel's queue of connections is full. */
const MAX_TRIES = 100;
const RETRY_MS = 20;
/** Otherwise Node looks for a name for TLS, with an expression that takes 5 ms to compile. */
const WITHOUT_TLS = { servername: "" };

interface RequestOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly accept?: string;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export class Client {
  readonly socket: string;
  readonly #token: string | undefined;
  readonly #env: NodeJS.ProcessEnv;
  readonly #ownSocket: string;
  #hasAnswered = false;

  /** @throws NoDaemonError if there is no socket, or if it cannot be trusted */
  constructor(env: NodeJS.ProcessEnv = process.env) {
    this.#env = env;
    this.socket = chooseSocket(socketsToTry(env), env);
    const runtimeDir = runtimeDirOf(this.socket);
    this.#token = readToken(runtimeDir);
    this.#ownSocket = userSocket(runtimeDir, currentUid());
  }

  /** Whether a scheduler has answered this client. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /**
   * Sends a request and returns the JSON answer.
   * @throws RefusedError, NoDaemonError
   */
  async ask<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
    return JSON.parse(await this.text(path, options)) as Answer;
  }

  /** The answer as text. */
  async text(path: string, options: RequestOptions = {}): Promise<string> {
    const parts: Buffer[] = [];
    for await (const piece of this.pieces(await this.open(path, options))) parts.push(piece);
    return Buffer.concat(parts).toString("utf8");
  }

  /** The body of an answer, piece by piece. @throws NoDaemonError if it is cut off */
  async *pieces(answer: IncomingMessage): AsyncGenerator<Buffer> {
    try {
      for await (const piece of answer) yield piece as Buffer;
    } catch (error) {
      throw this.#explained(error as NodeJS.ErrnoException);
    }
  }

  /** The answer as it arrives. */
  async open(path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
    const answer = await this.#send(path, options);
    this.#hasAnswered = true;
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    const parts: Buffer[] = [];
    for await (const piece of this.pieces(answer)) parts.push(piece);
    throw refusalOf(Buffer.concat(parts).toString("utf8"), status);
  }

  jobs(query: { readonly states?: readonly JobState[]; readonly last?: number } = {}): Promise<c.JobsAnswer> {
    const words = [
      ...(query.states === undefined ? [] : [`states=${query.states.join(",")}`]),
      ...(query.last === undefined ? [] : [`last=${query.last}`]),
    ];
    return this.ask(`/v1/jobs${words.length === 0 ? "" : `?${words.join("&")}`}`);
  }

  job(job: number): Promise<c.JobAnswer> {
    return this.ask(`/v1/jobs/${job}`);
  }

  /** Waits until the job has ended, and returns it. */
  async ended(job: number, signal?: AbortSignal): Promise<c.Job> {
    for (;;) {
      const answer = await this.ask<c.JobAnswer>(`/v1/jobs/${job}?wait=30`, { signal });
      if (isEnded(answer.job.state)) return answer.job;
    }
  }

  /** Uses the user's own socket if a scheduler answers there, otherwise the shared socket. */
  async #send(path: string, options: RequestOptions): Promise<IncomingMessage> {
    const body = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    let socket = existsSync(this.#ownSocket) ? this.#ownSocket : this.socket;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#sendTo(socket, path, options, body);
      } catch (error) {
        const { code = "", syscall } = error as NodeJS.ErrnoException;
        // Nothing was sent. A scheduler that is gone left this socket behind, or the socket belongs to
        // another user.
        const isOther = ["ENOENT", "ECONNREFUSED", "EACCES"].includes(code);
        if (syscall === "connect" && isOther && socket !== this.socket) socket = this.socket;
        // The kernel's queue of connections is full.
        else if (code === "EAGAIN" && tries < MAX_TRIES) await sleep(RETRY_MS);
        else throw this.#explained(error as NodeJS.ErrnoException);
      }
    }
  }

  #sendTo(
    socketPath: string,
    path: string,
    { method = "GET", accept, signal, headers }: RequestOptions,
    body: Buffer | undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const unwatch = watchSilence(socketPath, {
        onSilence: () => process.stderr.write(`tutti: ${this.#silent()}; jobs that run continue\n`),
        onGivenUp: () => outgoing.destroy(new NoDaemonError(this.#hangs())),
      });
      const outgoing = httpRequest(
        {
          socketPath,
          // No keep-alive: another scheduler may be running there at the next request.
          agent: false,
          ...WITHOUT_TLS,
          path,
          method,
          ...(signal && { signal }),
          headers: {
            host: "localhost",
            ...(body && { "content-type": "application/json", "content-length": body.length }),
            ...(accept !== undefined && { accept }),
            ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
            ...headers,
          },
        },
        resolve,
      );
      outgoing.on("response", unwatch);
      outgoing.on("error", (error) => {
        unwatch();
        reject(error);
      });
      outgoing.end(body);
    });
  }

  #silent(): string {
    const pid = holderOfState(defaultStateFolder(this.#env));
    return `the scheduler${pid === undefined ? "" : ` (process ${pid})`} does not answer`;
  }

  #hangs(): string {
    return `Cannot reach the scheduler: ${this.#silent()}; it may be stopped or wait for its disk, and it may still carry out this request; wait for it, or end it with kill -9 and start it again with tutti serve (jobs that run continue)`;
  }

  #explained(error: NodeJS.ErrnoException): Error {
    if (error.name === "AbortError" || error instanceof NoDaemonError) return error;
    const why: Readonly<Record<string, string>> = {
      ERR_STREAM_PREMATURE_CLOSE: "it closed the connection",
      ENOENT: `there is no socket "${this.socket}"`,
      ECONNREFUSED: `no process listens at "${this.socket}"; the scheduler may have been killed, but its jobs continue`,
      EACCES: whyClosed(this.socket),
      ECONNRESET: "it closed the connection",
      EAGAIN: "too many clients are connecting to it; try again",
      EPIPE: "it closed the connection",
    };
    return new NoDaemonError(noDaemonMessage(why[error.code ?? ""] ?? error.message, this.#env), {
      cause: error,
    });
  }
}

/** Why the kernel does not let this user connect. */
function whyClosed(socket: string): string {
  for (const path of [socket, dirname(socket)]) {
    try {
      return `only user ${lstatSync(path).uid} may ${path === socket ? "connect to" : "enter"} "${path}"`;
    } catch {
      // A folder above it is closed.
    }
  }
  return `you may not enter the folders above "${socket}"`;
}

/** What failed, why, and what to do. */
function noDaemonMessage(why: string, env: NodeJS.ProcessEnv): string {
  const folder = defaultStateFolder(env);
  const pid = holderOfState(folder);
  const text = `Cannot reach the scheduler: ${why}`;
  if (pid !== undefined && isStarting(folder))
    return `${text}; process ${pid} is a scheduler that is still starting; try again in some seconds; if it never answers, kill ${pid}, then tutti serve`;
  return pid === undefined
    ? `${text}; start it with tutti serve (with the same --on as the last time), or set TUTTI_SOCKET to the path of its socket`
    : `${text}; process ${pid} is a scheduler with its state in "${folder}"; set TUTTI_SOCKET to its socket, or try again in a second, because it restores a removed socket; else kill ${pid} (its jobs continue), then tutti serve`;
}

/**
 * The first socket that can be trusted. An untrusted socket at the user's own path must not hide the
 * machine's socket.
 * @throws NoDaemonError if no socket can be trusted
 */
export function chooseSocket(candidates: readonly string[], env = process.env): string {
  const existing = candidates.filter((socket) => exists(socket));
  const trusted = existing.find((socket) => isTrustworthy(dirname(socket)));
  if (trusted !== undefined) return trusted;
  const [distrusted] = existing;
  if (distrusted === undefined) {
    const paths = candidates.map((socket) => `"${socket}"`).join(" or ");
    throw new NoDaemonError(noDaemonMessage(`there is no socket ${paths}`, env), {
      cause: { code: "ENOENT" },
    });
  }
  const folder = dirname(distrusted);
  throw new NoDaemonError(
    `Cannot trust the scheduler at "${distrusted}": other users can write to the folder "${folder}", or it belongs to neither you nor root; see ls -ld ${folder}; remove it if it should not be there (you are user ${currentUid()})`,
  );
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    // The socket may exist in a folder that we cannot enter; connecting reports that.
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

function refusalOf(text: string, status: number): Error {
  try {
    const { refused, message } = JSON.parse(text) as c.RefusalAnswer;
    if (typeof message === "string") return new RefusedError(refused, message);
  } catch {
    // Not an answer of Tutti's API.
  }
  return new RefusedError(
    "failed",
    `The scheduler answered with status ${status}, expected an answer of its API`,
  );
}
