/** Sends requests, as any user, to a scheduler that is being killed. */
import { request } from "node:http";
import { readToken, runtimeDirOf } from "@tutti/live/api/runtime-dir.ts";
import { type Scheduler, sleep } from "./scheduler.ts";

/** The connection failed, so the front end has not received the request. */
const UNHEARD = ["ENOENT", "ECONNREFUSED", "EAGAIN"];
/** For now it cannot do anything, for example because its folder is not there. */
const UNAVAILABLE = 503;

export interface Reply<Value> {
  /** Left out: it was refused, or there was no answer. */
  readonly value?: Value;
  readonly refusal?: string;
  /** A request that was not answered may have been received. */
  readonly mayHaveWorked: boolean;
}

export class Sender {
  /** Requests for changes that are under way. */
  unanswered = 0;
  /** Requests for changes that the front end may have received when it died. */
  cutOff = 0;
  /** Nothing is sent again. */
  isOver = false;
  /** Changes wait, so that a backup has all that was acknowledged. The conductor notes pauses itself. */
  #isClosed = false;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Lets no change through until it is opened, and waits until those under way have been answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.unanswered > 0 && !this.isOver) await sleep(5);
  }

  open(): void {
    this.#isClosed = false;
  }

  /** Sends a request until there is an answer. */
  async send<Value>(method: string, path: string, body?: object, uid?: number): Promise<Reply<Value>> {
    let mayHaveWorked = false;
    while (!this.isOver) {
      const reply = await this.once<Value>(method, path, body, uid);
      mayHaveWorked ||= reply.mayHaveWorked;
      if (reply.value !== undefined || reply.refusal !== undefined) return { ...reply, mayHaveWorked };
      await sleep(10);
    }
    return { mayHaveWorked };
  }

  async once<Value>(method: string, path: string, body?: object, uid?: number): Promise<Reply<Value>> {
    const isChange = method !== "GET";
    const isNoted = /"action":"(?:pause|resume)"/.test(JSON.stringify(body) ?? "");
    while (isChange && !isNoted && this.#isClosed && !this.isOver) await sleep(5);
    if (isChange) this.unanswered++;
    try {
      const { status, text } = await this.#ask(method, path, body, uid);
      if (status === UNAVAILABLE) return { mayHaveWorked: false };
      if (status < 300) return { value: JSON.parse(text), mayHaveWorked: false };
      return { refusal: (JSON.parse(text) as { message: string }).message, mayHaveWorked: false };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const mayHaveWorked = isChange && !UNHEARD.includes(code ?? "");
      if (mayHaveWorked) this.cutOff++;
      return { mayHaveWorked };
    } finally {
      if (isChange) this.unanswered--;
    }
  }

  #ask(method: string, path: string, body: object | undefined, uid: number | undefined) {
    const { socket } = this.#scheduler;
    const token = readToken(runtimeDirOf(socket), uid);
    return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
      const outgoing = request(
        {
          ...{ socketPath: socket, agent: false, method, path },
          headers: {
            host: "localhost",
            ...(body !== undefined && { "content-type": "application/json" }),
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
          },
        },
        async (answer) => {
          try {
            let text = "";
            for await (const piece of answer.setEncoding("utf8")) text += piece;
            resolve({ status: answer.statusCode ?? 0, text });
          } catch (error) {
            reject(error);
          }
        },
      );
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
