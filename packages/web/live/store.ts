/**
 * What the page knows of the scheduler: loaded once, then kept current by events. Views read these signals;
 * only this file writes them.
 */
import { signal } from "@preact/signals";
import { messageOf } from "@tutti/kernel/core/errors.ts";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type {
  Event,
  EventsAnswer,
  Job,
  JobsAnswer,
  MatrixAnswer,
  QueuesAnswer,
  StatusAnswer,
} from "@tutti/protocol/answers.ts";
import { hasSentence } from "@tutti/words/event-sentences.ts";
import { trustedUrl } from "../page/trusted.ts";
import { ask } from "./client.ts";
import { reloadWhenProven } from "./come-back.ts";
import { connection, heard } from "./connection.ts";
import { Feed, type FromFeed, type ToFeed } from "./feed.ts";
import { BROWSER } from "./feed-world.ts";
import { forgetOldest } from "./kept-jobs.ts";
import {
  dropSession,
  exchange,
  keepSession,
  session,
  sessionProblem,
  storedSession,
  takeCode,
} from "./session.ts";

/** A matrix, and when it arrived on the clock of `performance.now()`. */
export interface TimedMatrix {
  readonly answer: MatrixAnswer;
  readonly receivedAtMs: number;
}

export const status = signal<StatusAnswer | undefined>(undefined);
export const matrix = signal<TimedMatrix | undefined>(undefined);
export const queues = signal<QueuesAnswer["queues"]>([]);
/** Limits on the user's own jobs, with what these use of them. */
export const ownLimits = signal<NonNullable<QueuesAnswer["yours"]>>([]);
/** All jobs that have not ended, and the newest ended ones. The map stays the same; see `changes`. */
export const jobs: ReadonlyMap<number, Job> = new Map<number, Job>();
/** Grows whenever `jobs` changes: read it in a view that shows jobs. */
export const changes = signal(0);
/** Share of the jobs that is loaded, 0 to 1. */
export const loaded = signal(0);
/** The newest events that are sentences, also from before the page was opened, newest last. */
export const events = signal<readonly Event[]>([]);

const MAX_EVENTS = 200;
/** Asked for when the page is opened. Most of them are no sentences, such as the submits of a large array. */
const PAST_EVENTS = 3000;
const PAGE_JOBS = 1000;
/** Numbers in one request: they must fit into its first line. */
const ASKED_JOBS = 500;
/** After a failure that is not a lost connection, such as a scheduler that has too much to do. */
const RETRY_MS = 1000;
/** Changes are collected for this long before they are fetched. */
const COLLECT_MS = 100;
const STATUS_EVERY_MS = 10_000;

const all = jobs as Map<number, Job>;
const dirty = new Set<number>();
let toFeed: (message: ToFeed) => void = () => {};
/** Aborted when everything is loaded again; undefined before the first time. */
let loading: AbortController | undefined;
/** Number of the last event before that. */
let lastEvent = 0;

/** Identifies the user and begins to follow the scheduler. */
export async function start(): Promise<void> {
  const code = takeCode();
  const send = connectFeed((message) => receive(message));
  toFeed = send;
  addEventListener("visibilitychange", tellVisibility);
  addEventListener("pagehide", () => send({ kind: "leave" }));
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    connection.value = "starting";
    void reloadWhenProven(session.peek(), BROWSER, () => location.reload());
  });
  if (code !== undefined) {
    try {
      keepSession(await exchange(code));
    } catch (error) {
      sessionProblem.value = messageOf(error);
    }
  } else {
    const kept = storedSession();
    if (kept !== undefined) keepSession(kept);
  }
  if (session.peek() !== undefined) send({ kind: "session", session: session.peek() });
  tellVisibility();
  setInterval(() => {
    if (!document.hidden && connection.peek() === "live") void refreshStatus();
  }, STATUS_EVERY_MS);
}

/** Ends the session in all tabs of this browser. */
export function leave(): void {
  toFeed({ kind: "session", session: undefined });
  dropSession("You have signed out.");
}

function tellVisibility(): void {
  // While the page is hidden, its scheduler may end and another process take the port. So the page waits
  // for the next proof before it asks again.
  if (document.hidden) connection.value = "starting";
  toFeed({ kind: "visible", isVisible: !document.hidden });
}

function connectFeed(onMessage: (message: FromFeed) => void): (message: ToFeed) => void {
  if (typeof SharedWorker === "undefined") return new Feed(BROWSER).join(onMessage);
  const { port } = new SharedWorker(trustedUrl("web/feed.js"), { name: "tutti" });
  port.onmessage = ({ data }) => onMessage(data);
  return (message) => port.postMessage(message);
}

function receive(message: FromFeed): void {
  if (message.kind !== "connection" || message.isLive) heard.atMs = Date.now();
  switch (message.kind) {
    case "session":
      if (session.peek() !== undefined) return;
      keepSession(message.session);
      toFeed(message);
      return;
    case "switched":
      keepSession(message.session);
      return;
    case "fresh":
      lastEvent = message.last;
      void loadAll();
      return;
    case "events":
      for (const event of message.events) note(event);
      addEvents(message.events);
      return;
    case "connection":
      connection.value = message.isLive ? "live" : "lost";
      if (message.isLive) {
        // What was asked for when the connection was lost, and what changes without an event.
        if (loading !== undefined && loaded.peek() < 1) void loadAll();
        if (dirty.size > 0) jobsSoon();
        matrixSoon();
        statusSoon();
      }
      return;
    case "refused":
      dropSession(message.message);
  }
}

/** Loads everything again. Events that arrive in the meantime mark their jobs as dirty. */
async function loadAll(): Promise<void> {
  loading?.abort();
  loading = new AbortController();
  const { signal } = loading;
  loaded.value = 0;
  try {
    void refreshMatrix();
    void refreshQueues();
    void loadEvents();
    await refreshStatus();
    const seen = new Set<number>();
    const counts = status.peek()?.counts ?? {};
    const expected = Object.values<number>(counts).reduce((sum, count) => sum + count, 0);
    for (let after: number | undefined = 0; after !== undefined; ) {
      const query: string = `after=${after}&limit=${PAGE_JOBS}`;
      const page: JobsAnswer = await ask<JobsAnswer>(`/v1/jobs?${query}`, { signal });
      for (const job of page.jobs) {
        seen.add(job.job);
        all.set(job.job, job);
      }
      loaded.value = Math.min(0.99, seen.size / Math.max(1, expected));
      changes.value++;
      after = page.next;
    }
    for (const [job] of all) if (!seen.has(job)) all.delete(job);
    forgetOldest(all);
    loaded.value = 1;
    changes.value++;
  } catch {
    // A new load is under way, or the connection is lost and the load begins again when it is back, or else
    // the scheduler has too much to do.
    setTimeout(() => {
      if (!signal.aborted && connection.peek() === "live") void loadAll();
    }, RETRY_MS);
  }
}

/** The stream began after these. Those that the user may not see are left out. */
async function loadEvents(): Promise<void> {
  const since = Math.max(0, lastEvent - PAST_EVENTS);
  const { events: past } = await ask<EventsAnswer>(`/v1/events?since=${since}`);
  const end = past.at(-1)?.sequence ?? lastEvent;
  const later = events.peek().filter(({ sequence }) => sequence > end);
  events.value = [];
  addEvents([...past, ...later]);
}

function addEvents(more: readonly Event[]): void {
  const told = more.filter(({ kind }) => hasSentence(kind));
  if (told.length > 0) events.value = [...events.peek(), ...told].slice(-MAX_EVENTS);
}

function note(event: Event): void {
  if (event.job !== undefined) {
    dirty.add(event.job);
    jobsSoon();
  }
  if (MATRIX_EVENTS.has(event.kind)) matrixSoon();
  statusSoon();
}

/** Kinds of events after which the matrix may be another one. */
const MATRIX_EVENTS: ReadonlySet<string> = new Set([
  "matrix",
  "policy",
  "capacity",
  "conductor",
  "started",
  "ended",
]);

const jobsSoon = soon(COLLECT_MS, async () => {
  const numbers = [...dirty].sort((a, b) => a - b);
  dirty.clear();
  for (let i = 0; i < numbers.length; i += ASKED_JOBS) {
    const asked = numbers.slice(i, i + ASKED_JOBS);
    const query = `numbers=${rangesText(rangesOf(asked))}&after=0&limit=${PAGE_JOBS}`;
    try {
      const answer = await ask<JobsAnswer>(`/v1/jobs?${query}`);
      const found = new Set(answer.jobs.map(({ job }) => job));
      for (const job of answer.jobs) all.set(job.job, job);
      for (const job of asked) if (!found.has(job)) all.delete(job);
    } catch {
      for (const job of numbers.slice(i)) dirty.add(job);
      setTimeout(jobsSoon, RETRY_MS);
      break;
    }
  }
  forgetOldest(all);
  changes.value++;
});
const matrixSoon = soon(30, refreshMatrix);
const statusSoon = soon(500, async () => {
  await Promise.all([refreshStatus(), refreshQueues()]);
});

async function refreshStatus(): Promise<void> {
  status.value = await ask<StatusAnswer>("/v1/status");
}

async function refreshMatrix(): Promise<void> {
  const askedAtMs = performance.now();
  const answer = await ask<MatrixAnswer>("/v1/matrix");
  // The answer was made between asking and now; half of that is the best guess.
  matrix.value = { answer, receivedAtMs: (askedAtMs + performance.now()) / 2 };
}

async function refreshQueues(): Promise<void> {
  const answer = await ask<QueuesAnswer>("/v1/queues");
  queues.value = answer.queues;
  ownLimits.value = answer.yours ?? [];
}

/**
 * Runs work once for many calls: `waitMs` after the first, and never twice at the same time. A failure is
 * ignored: the feed notices a lost connection, and everything is loaded again afterwards.
 */
function soon(waitMs: number, work: () => Promise<void>): () => void {
  let state: "idle" | "waiting" | "running" | "again" = "idle";
  const begin = () => {
    state = "waiting";
    setTimeout(async () => {
      state = "running";
      try {
        await work();
      } catch {
        // See above.
      }
      const isAgain = (state as string) === "again";
      state = "idle";
      if (isAgain) begin();
    }, waitMs);
  };
  return () => {
    if (state === "idle") begin();
    else if (state === "running") state = "again";
  };
}
