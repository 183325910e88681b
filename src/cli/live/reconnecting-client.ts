/**
 * For verbs that go on for long: when the scheduler is ended or killed under them, they say so once, wait until it is back, and go on. All
 * that one verb does at a time shares one connection, so that it is said once and asked once.
 */
import { Client } from "../../api/client/client.ts";
import { NoDaemonError } from "../../api/client/errors.ts";
import { pause } from "../../host/pause.ts";
import { hint } from "../text/text.ts";

const LOOK_MS = 200;
const GIVE_UP_MS = 600_000;

interface ReconnectOptions {
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
  readonly giveUpMs?: number;
}

export class ReconnectingClient {
  /** What to type when it was given up, such as `tutti wait 12`. */
  next: string;
  readonly #options: ReconnectOptions;
  #client = new Client();
  /** Whether it was ever there; nobody waits for one that may never have been started. */
  #hasMet = false;
  #return: Promise<void> | undefined;

  /** @throws NoDaemonError when there is no scheduler to begin with */
  constructor(next: string, options: ReconnectOptions = {}) {
    this.next = next;
    this.#options = options;
  }

  /** The way to the present scheduler; another one after a restart, which may have other tokens. */
  get client(): Client {
    return this.#client;
  }

  /**
   * Does something that may be begun anew, until it has been done.
   * @throws NoDaemonError when the scheduler stays away, or was not there to begin with
   */
  async retry<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        const result = await work(this.#client);
        this.#hasMet = true;
        return result;
      } catch (error) {
        await this.waitUntilBack(error);
      }
    }
  }

  /** Returns when the scheduler is back after an error that says it is gone. @throws any other error */
  async waitUntilBack(error: unknown): Promise<void> {
    if (!(error instanceof NoDaemonError) || this.#options.signal?.aborted) throw error;
    if (!this.#hasMet && !wasCutOff(error)) throw error;
    this.#return ??= this.#wait(error).finally(() => {
      this.#return = undefined;
    });
    await this.#return;
  }

  async #wait(error: NoDaemonError): Promise<void> {
    const { signal, giveUpMs = GIVE_UP_MS } = this.#options;
    const untilMs = performance.now() + giveUpMs;
    let isTold = false;
    for (;;) {
      // Before the first look as well: whoever cuts us off and is there must not be asked without a break.
      await pause(LOOK_MS, signal);
      if (signal?.aborted) throw error;
      try {
        const client = new Client();
        await client.ask("/v1/status");
        this.#client = client;
        return;
      } catch (again) {
        if (!(again instanceof NoDaemonError)) throw again;
      }
      if (!isTold) hint("tutti: the scheduler is gone; waiting until it is back (running jobs go on)");
      isTold = true;
      if (performance.now() < untilMs) continue;
      throw new NoDaemonError(
        `Cannot go on without the scheduler\n  why:  it has been gone for ${Math.round(giveUpMs / 1000)} s\n  next: tutti serve, then ${this.next}`,
        { cause: error },
      );
    }
  }
}

/** Whether the connection was there: what was asked may have been done, or not. */
function wasCutOff({ cause }: NoDaemonError): boolean {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  return ["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"].includes(code ?? "");
}
