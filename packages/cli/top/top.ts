/** Runs `tutti top`: connects the scheduler, the view and the screen. */

import { sleep } from "@tutti/host/sleep.ts";
import { formatDuration } from "@tutti/kernel/core/format.ts";
import { NoDaemonError, RefusedError } from "@tutti/live/api/client/errors.ts";
import type { Job, WhyAnswer } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { jobCountsText, outcomeText } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { whySentences } from "@tutti/words/why.ts";
import { changesOf } from "../live/job-changes.ts";
import { logPieces } from "../live/log-stream.ts";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { onSignals } from "../live/signals.ts";
import { tableOptions } from "../text/text.ts";
import { changeText } from "../text/updated-text.ts";
import { Feed } from "./feed.ts";
import { frameLines } from "./frame.ts";
import { LogLines, MAX_LINES } from "./log-lines.ts";
import { Screen } from "./screen.ts";
import { type Key, type Request, type Stream, TopView } from "./top-view.ts";
import type { World } from "./world.ts";

const MIN_REDRAW_MS = 100;
const MAX_REDRAW_MS = 1000;
const SILENCE_MS = 3000;
const UNREACHED = "Cannot reach the scheduler; press the key again when it is back.";
const GONE = "The scheduler is gone; waiting until it is back. Running jobs continue.";

/** @returns whether it was interrupted */
export async function runTop(): Promise<boolean> {
  const top = new Top();
  return top.run();
}

class Top {
  readonly #view = new TopView();
  readonly #stop = new AbortController();
  readonly #screen: Screen;
  readonly #connection: ReconnectingClient;
  readonly #feed: Feed;
  readonly #colour = tableOptions().colour;
  #isGone = false;
  #wasInterrupted = false;
  #following: { readonly job: number; readonly stream: Stream; readonly end: AbortController } | undefined;
  #explained = 0;
  /** Rejects with the error of a request that a key began. */
  readonly #failure = Promise.withResolvers<never>();

  constructor() {
    const { signal } = this.#stop;
    this.#screen = new Screen(process.stdin, process.stdout, (key) => this.#press(key));
    this.#connection = new ReconnectingClient("tutti top", {
      signal,
      giveUpMs: Number.POSITIVE_INFINITY,
      onGone: () => {
        this.#isGone = true;
        this.#draw();
      },
    });
    this.#feed = new Feed(this.#connection, signal, (world) => this.#show(world));
  }

  async run(): Promise<boolean> {
    // Before the screen: a scheduler that cannot be reached is an error like that of any other command.
    await this.#feed.load();
    const unlisten = onSignals(["SIGINT", "SIGTERM", "SIGHUP"], () => this.#quit(true));
    const redraw = () => {
      this.#screen.forget();
      this.#draw();
    };
    process.stdout.on("resize", redraw);
    // The terminal has gone.
    process.stdin.on("end", () => this.#quit(true)).on("error", () => this.#quit(true));
    this.#screen.enter();
    try {
      this.#draw();
      await Promise.race([this.#feed.follow(), this.#redraw(), this.#failure.promise]);
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      this.#stop.abort();
      this.#following?.end.abort();
      this.#screen.leave();
      process.stdout.off("resize", redraw);
      unlisten();
    }
    return this.#wasInterrupted;
  }

  #quit(wasInterrupted: boolean): void {
    this.#wasInterrupted = wasInterrupted;
    this.#stop.abort();
  }

  #show(world: World): void {
    if (this.#isGone) this.#view.message = "";
    this.#isGone = false;
    this.#view.show(world);
    this.#attend();
    this.#explained = 0;
    this.#draw();
  }

  #press(key: Key): void {
    const request = this.#view.press(key);
    if (request?.kind === "quit") this.#quit(key.ctrl === true);
    else if (request?.kind === "suspend") this.#suspend();
    else if (request !== undefined) void this.#change(request);
    this.#attend();
    this.#draw();
  }

  /** Draws at each slot, because the row whose turn it is changes without an event. */
  async #redraw(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const { slotMs = MAX_REDRAW_MS, sharing } = this.#view.world?.matrix ?? {};
      const pauseMs = sharing === "time" ? Math.min(MAX_REDRAW_MS, slotMs) : MAX_REDRAW_MS;
      await sleep(Math.max(MIN_REDRAW_MS, pauseMs), signal);
      this.#draw();
    }
  }

  #draw(): void {
    if (this.#stop.signal.aborted) return;
    const monotonicMs = performance.now();
    const silentMs = this.#feed.silentMs(monotonicMs);
    this.#view.problem = this.#isGone
      ? GONE
      : silentMs > SILENCE_MS
        ? `The scheduler has not answered for ${formatDuration(Math.round(silentMs / 1000))}.`
        : "";
    const size = this.#screen.size;
    this.#screen.draw(
      frameLines(this.#view, { ...size, colour: this.#colour, nowMs: Date.now(), monotonicMs }),
    );
  }

  /** As Ctrl-Z does elsewhere: the shell takes over, and `fg` continues. */
  #suspend(): void {
    this.#screen.leave();
    process.kill(0, "SIGTSTP");
    // Runs when the process has been continued.
    setTimeout(() => {
      if (!this.#stop.signal.aborted) this.#screen.enter();
      this.#draw();
    }, MIN_REDRAW_MS);
  }

  /** Makes the output and the reasons below the table those of the selected job. */
  #attend(): void {
    const { job, pane, stream } = this.#view;
    const wanted = pane === "log" ? job?.job : undefined;
    if (wanted !== this.#following?.job || (wanted !== undefined && stream !== this.#following?.stream)) {
      this.#following?.end.abort();
      this.#following = undefined;
      this.#view.log = undefined;
      if (wanted !== undefined && job !== undefined) void this.#copyLog(job, stream);
    }
    if (pane === "why" && job !== undefined && this.#explained !== job.job) void this.#explain(job);
  }

  async #copyLog(job: Job, stream: Stream): Promise<void> {
    const end = new AbortController();
    const lines = new LogLines();
    this.#following = { job: job.job, stream, end };
    this.#view.log = lines;
    const options = { stream, follow: true, tail: MAX_LINES, signal: end.signal };
    try {
      for await (const piece of logPieces(this.#connection, job, options)) {
        if (end.signal.aborted) return;
        lines.add(piece);
        this.#draw();
      }
    } catch (error) {
      if (!end.signal.aborted) this.#say(error);
    }
  }

  async #explain(job: Job): Promise<void> {
    this.#explained = job.job;
    try {
      const why = await this.#connection.client.ask<WhyAnswer>(`/v1/jobs/${job.job}/why`);
      if (this.#view.job?.job !== job.job) return;
      const sentences = isEnded(job.state) ? [`${outcomeText(job)}.`] : whySentences(why, job);
      this.#view.why = sentences.length === 0 ? ["Nothing is in its way."] : sentences;
      this.#draw();
    } catch (error) {
      this.#say(error);
    }
  }

  async #change({ action, numbers }: Request & { kind: "change" }): Promise<void> {
    const jobs: Job[] = [];
    let refusal: string | undefined;
    try {
      for (const result of await changesOf(this.#connection.client, { action }, numbers)) {
        if ("job" in result) jobs.push(result.job);
        else refusal ??= visibleLine(result.message);
      }
      const done = jobs.length === 1 ? changeText(jobs[0]) : jobCountsText(jobs);
      this.#view.message = [
        ...(jobs.length === 0 ? [] : [done]),
        ...(refusal === undefined ? [] : [refusal]),
      ].join("; ");
      this.#draw();
    } catch (error) {
      this.#say(error);
    }
  }

  /** Shows the error of a request that the user can repeat; any other ends the program. */
  #say(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    if (!(error instanceof RefusedError || error instanceof NoDaemonError)) {
      this.#failure.reject(error);
      return;
    }
    this.#view.message = error instanceof NoDaemonError ? UNREACHED : visibleLine(error.message);
    this.#draw();
  }
}
