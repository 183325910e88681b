/**
 * Keeps a world up to date by the scheduler's event stream: an event names the job that has changed, and that
 * job is asked for. Running times have no events, so running jobs are asked for once a second.
 */

import { sleep } from "@tutti/host/sleep.ts";
import { rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import type { Job, MatrixAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES, ENDED_STATES, hasProcess, isEnded } from "@tutti/protocol/states.ts";
import { eventsIn } from "../live/event-stream.ts";
import { type AskedJobs, jobPages } from "../live/job-lists.ts";
import type { ReconnectingClient } from "../live/reconnecting-client.ts";
import type { World } from "./world.ts";

/** A number above those of all events: the stream begins with the next one. */
const FROM_NOW = 999_999_999_999_999;
const MOST_ENDED = 100;
const ROUND_MS = 1000;
/** Least time between two rounds, however many events come. */
const MIN_ROUND_MS = 150;

export class Feed {
  readonly #connection: ReconnectingClient;
  readonly #stop: AbortSignal;
  readonly #onWorld: (world: World) => void;
  readonly #jobs = new Map<number, Job>();
  readonly #changed = new Set<number>();
  #wake = new AbortController();
  /** When the round in progress began; undefined while none is. */
  #askedAtMs: number | undefined;

  constructor(connection: ReconnectingClient, stop: AbortSignal, onWorld: (world: World) => void) {
    this.#connection = connection;
    this.#stop = stop;
    this.#onWorld = onWorld;
  }

  /** How long the scheduler has not answered. */
  silentMs(monotonicMs: number): number {
    return this.#askedAtMs === undefined ? 0 : monotonicMs - this.#askedAtMs;
  }

  /** Loads everything. @throws NoDaemonError if no scheduler runs */
  async load(): Promise<void> {
    await this.#connection.retry(async (client) => {
      this.#jobs.clear();
      await this.#fetch(client, { states: ENDED_STATES, last: MOST_ENDED });
      await this.#fetch(client, { states: ACTIVE_STATES });
      await this.#publish(client);
    });
  }

  /** Follows the events until `stop`. */
  async follow(): Promise<void> {
    const rounds = this.#rounds();
    // The await below reports a failure; without this handler, it would be unhandled until then.
    rounds.catch(() => {});
    await Promise.race([this.#events(), rounds]);
  }

  async #events(): Promise<void> {
    while (!this.#stop.aborted) {
      try {
        const { client } = this.#connection;
        const answer = await client.open(`/v1/events?since=${FROM_NOW}`, { signal: this.#stop });
        // Everything again: events before the stream are unknown.
        await this.load();
        for await (const { job } of eventsIn(client, answer)) {
          if (job !== undefined) this.#changed.add(job);
          this.#wake.abort();
        }
      } catch (error) {
        if (this.#stop.aborted) return;
        if (!isTooBusy(error)) await this.#connection.waitUntilBack(error);
      }
      await sleep(MIN_ROUND_MS, this.#stop);
    }
  }

  async #rounds(): Promise<void> {
    while (!this.#stop.aborted) {
      this.#wake = new AbortController();
      await sleep(ROUND_MS, AbortSignal.any([this.#wake.signal, this.#stop]));
      if (this.#stop.aborted) return;
      this.#askedAtMs = performance.now();
      try {
        await this.#connection.retry((client) => this.#round(client));
      } catch (error) {
        if (!isTooBusy(error)) throw error;
      }
      this.#askedAtMs = undefined;
      await sleep(MIN_ROUND_MS, this.#stop);
    }
  }

  async #round(client: Client): Promise<void> {
    const changed = [...this.#changed].sort((a, b) => a - b);
    const running = [...this.#jobs.values()].filter(({ state }) => hasProcess(state));
    const numbers = new Set([...changed, ...running.map(({ job }) => job)]);
    if (numbers.size > 0) {
      const asked = [...numbers].sort((a, b) => a - b);
      const found = await this.#fetch(client, { numbers: rangesOf(asked) });
      // Forgotten, or another user's.
      for (const number of asked) if (!found.has(number)) this.#jobs.delete(number);
    }
    for (const number of changed) this.#changed.delete(number);
    await this.#publish(client);
  }

  async #fetch(client: Client, asked: AskedJobs): Promise<ReadonlySet<number>> {
    const found = new Set<number>();
    for await (const { jobs } of jobPages(client, asked)) {
      for (const job of jobs) {
        found.add(job.job);
        this.#jobs.set(job.job, job);
      }
    }
    return found;
  }

  async #publish(client: Client): Promise<void> {
    const [status, matrix] = await Promise.all([
      client.ask<StatusAnswer>("/v1/status"),
      client.ask<MatrixAnswer>("/v1/matrix"),
    ]);
    this.#forgetOldest();
    this.#onWorld({ status, matrix, matrixAtMs: performance.now(), jobs: this.#jobs });
  }

  #forgetOldest(): void {
    const ended = [...this.#jobs.values()].filter(({ state }) => isEnded(state));
    ended.sort((a, b) => (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0) || a.job - b.job);
    for (const { job } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#jobs.delete(job);
  }
}

/** Whether the scheduler refused only for now. */
function isTooBusy(error: unknown): boolean {
  return error instanceof RefusedError && ["full", "unavailable"].includes(error.refused);
}
