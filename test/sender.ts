/** Sends requests to a front end that is being killed. */
import { NoDaemonError, RefusedError } from "../src/api/client/errors.ts";
import { type KilledScheduler, sleep } from "./killed-scheduler.ts";

/** The connection failed, so the front end has not received the request. */
export const UNHEARD = [undefined, "ENOENT", "ECONNREFUSED"];

interface Reply<Value> {
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
  readonly #scheduler: KilledScheduler;

  constructor(scheduler: KilledScheduler) {
    this.#scheduler = scheduler;
  }

  /** Sends a request until there is an answer. */
  async send<Value>(method: string, path: string, body?: object): Promise<Reply<Value>> {
    let mayHaveWorked = false;
    while (!this.isOver) {
      const reply = await this.once<Value>(method, path, body);
      mayHaveWorked ||= reply.mayHaveWorked;
      if (reply.value !== undefined || reply.refusal !== undefined) return { ...reply, mayHaveWorked };
      await sleep(10);
    }
    return { mayHaveWorked };
  }

  async once<Value>(method: string, path: string, body?: object): Promise<Reply<Value>> {
    const isChange = method !== "GET";
    if (isChange) this.unanswered++;
    try {
      const options = { method, ...(body !== undefined && { body }) };
      return { value: await this.#scheduler.client.ask<Value>(path, options), mayHaveWorked: false };
    } catch (error) {
      if (error instanceof RefusedError) return { refusal: error.message, mayHaveWorked: false };
      if (!(error instanceof NoDaemonError)) throw error;
      const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
      const mayHaveWorked = isChange && !UNHEARD.includes(code);
      if (mayHaveWorked) this.cutOff++;
      return { mayHaveWorked };
    } finally {
      if (isChange) this.unanswered--;
    }
  }
}
