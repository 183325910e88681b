/**
 * Connects commands that run for a long time to the scheduler, even across its restarts. When the scheduler
 * stops, the command reports this once, waits until the scheduler is back, and continues. All concurrent work
 * of a command shares one client, so the loss is reported only once, and only one request at a time checks
 * whether the scheduler is back.
 */

import { sleep } from "@tutti/host/sleep.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import { NoDaemonError } from "@tutti/live/api/client/errors.ts";
import { hint } from "../text/text.ts";

const POLL_MS = 200;
const GIVE_UP_MS = 600_000;

interface ReconnectOptions {
  /** Aborts the waiting. */
  readonly signal?: AbortSignal;
  readonly giveUpMs?: number;
  /** Called once when the scheduler is gone; by default, that is said on standard error. */
  readonly onGone?: () => void;
}

export class ReconnectingClient {
  /** The command that the user can type after we gave up, such as `tutti wait 12`. */
  next: string;
  readonly #options: ReconnectOptions;
  #client = new Client();
  #recovery: Promise<void> | undefined;

  /** @throws NoDaemonError when no scheduler runs at the start */
  constructor(next: string, options: ReconnectOptions = {}) {
    this.next = next;
    this.#options = options;
  }

  /**
   * The client of the present scheduler. After a restart it is a new one, because tokens may have changed.
   */
  get client(): Client {
    return this.#client;
  }

  /**
   * Does work that may be repeated, until it succeeds.
   * @throws NoDaemonError when the scheduler stays away, or did not run at the start
   */
  async retry<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work(this.#client);
      } catch (error) {
        await this.waitUntilBack(error);
      }
    }
  }

  /** After an error that says the scheduler is gone, waits until it is back. @throws any other error */
  async waitUntilBack(error: unknown): Promise<void> {
    if (!(error instanceof NoDaemonError) || this.#options.signal?.aborted) throw error;
    // We do not wait for a scheduler that may never have been started.
    if (!this.#client.hasAnswered && !wasCutOff(error)) throw error;
    this.#recovery ??= this.#wait(error).finally(() => {
      this.#recovery = undefined;
    });
    await this.#recovery;
  }

  async #wait(error: NoDaemonError): Promise<void> {
    const { signal, giveUpMs = GIVE_UP_MS, onGone = sayGone } = this.#options;
    const untilMs = performance.now() + giveUpMs;
    let isReported = false;
    for (;;) {
      // Pause before the first look, too: a scheduler that cuts us off but still runs must not be asked
      // without a break.
      await sleep(POLL_MS, signal);
      if (signal?.aborted) throw error;
      try {
        const client = new Client();
        await client.ask("/v1/status");
        this.#client = client;
        return;
      } catch (nextError) {
        if (!(nextError instanceof NoDaemonError)) throw nextError;
      }
      if (!isReported) onGone();
      isReported = true;
      if (performance.now() < untilMs) continue;
      throw new NoDaemonError(
        `Cannot continue without the scheduler: it has been gone for ${Math.round(giveUpMs / 1000)} s; start it with tutti serve, then ${this.next}`,
        { cause: error },
      );
    }
  }
}

function sayGone(): void {
  hint("tutti: the scheduler is gone; waiting until it is back (running jobs continue)");
}

/** Whether an established connection broke. Then it is unknown whether the request was carried out. */
function wasCutOff({ code }: NoDaemonError): boolean {
  return ["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"].includes(code ?? "");
}
