/**
 * Sends what a job on another node reads, through the scheduler: a piece at a time, so that what the job does
 * not read yet stays here. A piece is sent again until the job has it, also after a restart of the scheduler.
 */
import { randomUUID } from "node:crypto";
import { sleep } from "@tutti/host/sleep.ts";
import { MAX_PIECE_BYTES } from "@tutti/protocol/input/frames.ts";
import type { InputBody, InputTakenAnswer } from "@tutti/protocol/schema.ts";
import type { JobPipe } from "./job-pipe.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

/** Between two questions whether the job reads. */
const LOOK_MS = 200;

/**
 * Waits until the job reads.
 * @returns undefined if the signal comes first
 */
export async function openSentInput(
  connection: ReconnectingClient,
  job: number,
  signal: AbortSignal,
): Promise<JobPipe | undefined> {
  const input = new SentInput(connection, job, signal);
  while (!signal.aborted) {
    const reader = await input.look();
    if (reader === "open") return input;
    if (reader === "closed") return undefined;
    await sleep(LOOK_MS, signal);
  }
  return undefined;
}

class SentInput implements JobPipe {
  readonly #connection: ReconnectingClient;
  readonly #job: number;
  readonly #signal: AbortSignal;
  readonly #writer = randomUUID();
  #taken = 0;
  #isGone = false;
  /** Pieces are sent one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: ReconnectingClient, job: number, signal: AbortSignal) {
    this.#connection = connection;
    this.#job = job;
    this.#signal = signal;
  }

  look(): Promise<InputTakenAnswer["reader"]> {
    return this.#inTurn(() => this.#send({}));
  }

  write(bytes: Uint8Array): Promise<boolean> {
    return this.#inTurn(async () => {
      const from = this.#taken;
      for (let at = 0; at < bytes.length && !this.#isGone; at = this.#taken - from) {
        const piece = Buffer.from(bytes.subarray(at, at + MAX_PIECE_BYTES));
        const before = this.#taken;
        await this.#send({ data: piece.toString("base64") });
        if (this.#taken === before && !this.#isGone) await sleep(LOOK_MS, this.#signal);
      }
      return !this.#isGone;
    });
  }

  async hasReader(): Promise<boolean> {
    // While a piece waits for the job, its answer says whether somebody reads.
    return (await this.look()) !== "closed";
  }

  end(): Promise<void> {
    return this.#inTurn(async () => {
      while (!this.#isGone && (await this.#send({ end: true })) === "not-yet")
        await sleep(LOOK_MS, this.#signal);
    });
  }

  close(): void {
    this.#isGone = true;
  }

  #inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(act);
    this.#last = result.catch(() => {});
    return result;
  }

  async #send(more: Pick<InputBody, "data" | "end">): Promise<InputTakenAnswer["reader"]> {
    if (this.#isGone || this.#signal.aborted) {
      this.#isGone = true;
      return "closed";
    }
    const body: InputBody = { writer: this.#writer, offset: this.#taken, ...more };
    const path = `/v1/jobs/${this.#job}/input`;
    const { taken, reader } = await this.#connection.retry((client) =>
      client.ask<InputTakenAnswer>(path, { method: "POST", body }),
    );
    this.#taken = Math.max(this.#taken, taken);
    this.#isGone ||= reader === "closed";
    return reader;
  }
}
