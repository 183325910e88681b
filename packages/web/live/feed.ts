/**
 * One stream of events for all tabs of a browser: a browser opens only six connections to a host, so a stream
 * in each tab would stop the seventh. The feed runs in a shared worker, or in the page where the browser has
 * none. While no tab is visible it is silent: no connection, no request.
 */
import type { Event } from "@tutti/protocol/answers.ts";
import { prove } from "./proof.ts";
import type { Session } from "./session.ts";

/** From a tab to the feed. */
export type ToFeed =
  | { readonly kind: "session"; readonly session: Session | undefined }
  | { readonly kind: "visible"; readonly isVisible: boolean }
  | { readonly kind: "leave" };

/** From the feed to a tab. */
export type FromFeed =
  /** The session of another tab, for a tab that has just joined. */
  | { readonly kind: "session"; readonly session: Session }
  /** Another tab has begun a session: from now on, all tabs of this browser have it. */
  | { readonly kind: "switched"; readonly session: Session }
  /** Events may be missing before this moment: load everything again. `last`: number of the last event. */
  | { readonly kind: "fresh"; readonly last: number }
  | { readonly kind: "events"; readonly events: readonly Event[] }
  /** The scheduler cannot be reached, or can be again. */
  | { readonly kind: "connection"; readonly isLive: boolean }
  /** The session has ended: the scheduler does not accept it, or the user has signed out. */
  | { readonly kind: "refused"; readonly message: string };

/** A tab, as the feed sees it. */
interface Tab {
  readonly send: (message: FromFeed) => void;
  isVisible: boolean;
  /** Whether it has every event so far. */
  isCurrent: boolean;
  /** Whether it began a session, or got it from here. Others may be pages of another process on the port. */
  hasSession: boolean;
}

/** What the feed uses of its surroundings; tests replace it. */
export interface FeedWorld {
  readonly fetch: typeof globalThis.fetch;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly nowMs: () => number;
  /** Port of the page. */
  readonly port: string;
}

/** A sequence number above all: the stream begins with the next event. */
const FROM_NOW = 999_999_999_999_999;
/** After this long without a stream, loading everything again is cheaper than reading what was missed. */
const RESUME_MS = 60_000;
/** The server sends a sign of life every 15 s. */
const SILENCE_MS = 40_000;
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 5000;

export class Feed {
  readonly #world: FeedWorld;
  readonly #tabs = new Set<Tab>();
  #session: Session | undefined;
  #last = FROM_NOW;
  #lostAtMs = Number.NEGATIVE_INFINITY;
  #isLive = false;
  #running: AbortController | undefined;

  constructor(world: FeedWorld) {
    this.#world = world;
  }

  /** Adds a tab; the function that is returned takes its messages. */
  join(send: Tab["send"]): (message: ToFeed) => void {
    const tab: Tab = { send, isVisible: false, isCurrent: false, hasSession: false };
    this.#tabs.add(tab);
    if (this.#session !== undefined) void this.#introduce(tab, this.#session);
    return (message) => {
      if (message.kind === "session") tab.hasSession = message.session !== undefined;
      if (message.kind === "leave") this.#tabs.delete(tab);
      else if (message.kind === "visible") tab.isVisible = message.isVisible;
      else if (message.session?.token !== this.#session?.token) this.#setSession(message.session, tab);
      if (this.#isLive) this.#greet(tab);
      this.#adjust();
    };
  }

  /**
   * Gives a new tab the session of the others, after a proof that the scheduler is still there. Otherwise the
   * tab may be the page of a process that has taken the port of an ended scheduler.
   */
  async #introduce(tab: Tab, session: Session): Promise<void> {
    try {
      await prove(session, this.#world.fetch, this.#world.port, AbortSignal.timeout(SILENCE_MS));
    } catch {
      return;
    }
    if (tab.hasSession || this.#session?.token !== session.token || !this.#tabs.has(tab)) return;
    tab.hasSession = true;
    tab.send({ kind: "session", session });
    if (this.#isLive) this.#greet(tab);
    this.#adjust();
  }

  /** @param by the tab that has begun or ended the session; the others that had one learn it from here */
  #setSession(session: Session | undefined, by?: Tab): void {
    if (by !== undefined) {
      const message: FromFeed =
        session === undefined
          ? { kind: "refused", message: "You have signed out in another tab." }
          : { kind: "switched", session };
      for (const tab of this.#tabs) if (tab !== by && tab.hasSession) tab.send(message);
    }
    this.#session = session;
    this.#last = FROM_NOW;
    this.#running?.abort();
    this.#running = undefined;
    this.#isLive = false;
    for (const tab of this.#tabs) tab.isCurrent = false;
  }

  /** Connects if a visible tab needs it, and disconnects otherwise. */
  #adjust(): void {
    const isNeeded = this.#session !== undefined && [...this.#tabs].some(isShown);
    if (isNeeded === (this.#running !== undefined)) return;
    if (isNeeded) {
      this.#running = new AbortController();
      void this.#run(this.#session!, this.#running.signal);
    } else {
      this.#running?.abort();
      this.#running = undefined;
      this.#lose();
    }
  }

  async #run(session: Session, stop: AbortSignal): Promise<void> {
    for (let retryMs = FIRST_RETRY_MS; !stop.aborted; retryMs = Math.min(MAX_RETRY_MS, 2 * retryMs)) {
      try {
        const resumed = this.#world.nowMs() - this.#lostAtMs < RESUME_MS;
        if (!resumed) this.#last = FROM_NOW;
        const refusal = await this.#stream(session, stop, resumed, () => {
          retryMs = FIRST_RETRY_MS;
        });
        if (refusal !== undefined) {
          this.#tellAll({ kind: "refused", message: refusal });
          this.#setSession(undefined);
          return;
        }
      } catch {
        // The scheduler is gone or silent: try again below.
      }
      if (stop.aborted) return;
      this.#lose();
      await this.#world.sleep(retryMs, stop);
    }
  }

  /** Reads the stream to its end. Returns the server's words if it does not accept the session. */
  async #stream(
    session: Session,
    stop: AbortSignal,
    resumed: boolean,
    onLive: () => void,
  ): Promise<string | undefined> {
    const silence = new AbortController();
    const signal = AbortSignal.any([stop, silence.signal]);
    /** A connection that is silent for too long is a lost one. */
    const watched = async <Value>(work: Promise<Value>): Promise<Value> => {
      const watch = new AbortController();
      void this.#world.sleep(SILENCE_MS, watch.signal).then(() => {
        if (!watch.signal.aborted) silence.abort();
      });
      return work.finally(() => watch.abort());
    };
    await watched(prove(session, this.#world.fetch, this.#world.port, signal));
    const answer = await watched(
      this.#world.fetch(`/v1/events?since=${this.#last}`, {
        headers: { authorization: `Bearer ${session.token}`, accept: "text/event-stream" },
        signal,
      }),
    );
    if (answer.status === 401) return (await answer.json()).message;
    if (!answer.ok || answer.body === null) throw new Error(`status ${answer.status}`);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    let isFirst = true;
    for (;;) {
      const { done, value } = await watched(reader.read());
      if (done || stop.aborted) return undefined;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      // The stream begins with the id of the last event before it.
      for (const block of blocks) this.#last = idOf(block) ?? this.#last;
      if (isFirst) {
        isFirst = false;
        onLive();
        this.#live(resumed);
      }
      const events = blocks.flatMap(eventsOf);
      if (events.length === 0) continue;
      for (const tab of this.#tabs) {
        if (isShown(tab) && tab.isCurrent) tab.send({ kind: "events", events });
        else tab.isCurrent = false;
      }
    }
  }

  #live(resumed: boolean): void {
    this.#isLive = true;
    for (const tab of this.#tabs) {
      if (!resumed) tab.isCurrent = false;
      this.#greet(tab);
    }
  }

  #greet(tab: Tab): void {
    if (!isShown(tab)) return;
    tab.send({ kind: "connection", isLive: true });
    if (tab.isCurrent) return;
    tab.isCurrent = true;
    tab.send({ kind: "fresh", last: this.#last });
  }

  #lose(): void {
    if (this.#isLive) this.#lostAtMs = this.#world.nowMs();
    this.#isLive = false;
    for (const tab of this.#tabs) if (isShown(tab)) tab.send({ kind: "connection", isLive: false });
  }

  #tellAll(message: FromFeed): void {
    for (const tab of this.#tabs) tab.send(message);
  }
}

function idOf(block: string): number | undefined {
  const id = /^id: (\d+)$/m.exec(block)?.[1];
  return id === undefined ? undefined : Number(id);
}

/** Whether a tab shows what the session may see. */
function isShown({ isVisible, hasSession }: Tab): boolean {
  return isVisible && hasSession;
}

/** The event of a block of the stream; none if it is a comment, or damaged. */
function eventsOf(block: string): Event[] {
  const data = block
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice("data: ".length))
    .join("\n");
  if (data === "") return [];
  try {
    return [JSON.parse(data)];
  } catch {
    return [];
  }
}
