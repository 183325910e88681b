/** Answers that a view asks for itself, and keeps up to date while it is visible. */
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { messageOf } from "@tutti/kernel/core/errors.ts";
import { useEffect, useState } from "preact/hooks";
import { ask } from "./client.ts";
import { changes } from "./store.ts";

interface Asked<Answer> {
  /** The latest one, also while the next is on its way; undefined before the first. */
  readonly answer?: Answer;
  /** What it answers. */
  readonly question?: Question;
  /** When it arrived, on the clock of `performance.now()`. */
  readonly receivedAtMs: number;
  /** Why the last request failed. */
  readonly problem: string;
  readonly isAsking: boolean;
}

interface Question {
  readonly path: string;
  /** Makes it a POST. */
  readonly body?: unknown;
}

/** An answer with forecasts is renewed after this time, without changes of jobs. */
const RENEW_MS = 30_000;
/** Least time between two requests for the same, while jobs change. */
const AGAIN_MS = 1500;
/** The first answer after a change may have forecasts from before it: they are up to 5 s old. */
const SETTLE_MS = 5500;
/** A question that changes, while the user drags or types, is asked when it stands still. */
const CALM_MS = 200;

/** Asks when the question or the jobs change. Undefined asks nothing. */
export function useAsked<Answer>(question: Question | undefined): Asked<Answer> {
  const [asker] = useState(() => new Asker<Answer>());
  const key = JSON.stringify(question);
  useEffect(() => asker.set(question), [asker, key]);
  useEffect(() => asker.follow(), [asker]);
  return asker.asked.value;
}

/**
 * Loads now, when an input changes, and again after each `everyMs`, while the page is visible.
 * @returns why the last load failed; empty if it did not
 */
export function useRepeated(
  load: (signal: AbortSignal) => Promise<void>,
  everyMs: number,
  inputs: readonly unknown[],
): string {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    const loadNow = async () => {
      if (document.hidden) return;
      try {
        await load(stop.signal);
        setProblem("");
      } catch (error) {
        if (!stop.signal.aborted) setProblem(messageOf(error));
      }
    };
    void loadNow();
    const timer = setInterval(loadNow, everyMs);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, inputs);
  return problem;
}

class Asker<Answer> {
  readonly #asked = signal<Asked<Answer>>({ receivedAtMs: 0, problem: "", isAsking: false });
  #question: Question | undefined;
  #abort = new AbortController();
  #sentAtMs = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOutdated = false;
  /** Whether jobs have changed since the last request. */
  #hasChanged = false;

  get asked(): ReadonlySignal<Asked<Answer>> {
    return this.#asked;
  }

  set(question: Question | undefined): void {
    this.#question = question;
    this.#abort.abort();
    this.#plan(CALM_MS);
  }

  /** @returns ends it */
  follow(): () => void {
    let isFirst = true;
    const stop = effect(() => {
      changes.value;
      if (!isFirst) this.#outdated();
      isFirst = false;
    });
    const onVisibility = () => (document.hidden ? clearTimeout(this.#timer) : this.#outdated());
    document.addEventListener("visibilitychange", onVisibility);
    return () => {
      stop();
      clearTimeout(this.#timer);
      this.#abort.abort();
      document.removeEventListener("visibilitychange", onVisibility);
    };
  }

  #outdated(): void {
    this.#hasChanged = true;
    if (this.#asked.peek().isAsking) this.#isOutdated = true;
    else this.#plan(Math.max(CALM_MS, this.#sentAtMs + AGAIN_MS - performance.now()));
  }

  #plan(waitMs: number): void {
    clearTimeout(this.#timer);
    if (this.#question !== undefined && !document.hidden)
      this.#timer = setTimeout(() => void this.#send(this.#question!), waitMs);
  }

  async #send(question: Question): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    const hasChanged = this.#hasChanged;
    this.#isOutdated = false;
    this.#hasChanged = false;
    this.#sentAtMs = performance.now();
    this.#asked.value = { ...this.#asked.peek(), isAsking: true };
    const { path, body } = question;
    try {
      const more = body === undefined ? {} : { method: "POST", body };
      const answer = await ask<Answer>(path, { ...more, signal: abort.signal });
      this.#asked.value = {
        ...{ answer, question, problem: "" },
        receivedAtMs: performance.now(),
        isAsking: false,
      };
    } catch (error) {
      const problem = messageOf(error);
      const before = this.#asked.peek();
      this.#asked.value = { ...before, isAsking: false, ...(!abort.signal.aborted && { problem }) };
    }
    // Another question is planned already.
    if (abort.signal.aborted) return;
    if (this.#isOutdated) this.#outdated();
    else this.#plan(hasChanged ? SETTLE_MS : RENEW_MS);
  }
}
