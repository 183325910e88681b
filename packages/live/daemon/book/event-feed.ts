/**
 * Keeps the event log. Events are numbered without gaps, written to disk in their cycle, then sent to
 * listeners. If an older store is restored, a gap in the numbers follows. Old events are forgotten per user,
 * so the stored log may have more gaps.
 */
import type {
  DaemonEvent,
  EventData,
  EventKind,
  EventPayloads,
  LoggedEvent,
} from "@tutti/protocol/events.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import type { EventCount } from "../store/kept.ts";
import { EVERYBODY } from "../store/ledger.ts";
import type { StoredEvent } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { withTexts } from "./event-texts.ts";
import { aboveFairShare } from "./fair-share.ts";

interface Listener {
  readonly caller: Caller;
  readonly onEvent: (event: DaemonEvent) => unknown;
}

const PAGE = 500;

export class EventFeed {
  readonly #store: Store;
  #committed: number;
  #pending: StoredEvent[] = [];
  readonly #listeners = new Set<Listener>();

  /** @param latest new numbers begin above it, even if the store's last event has a lower number */
  constructor(store: Store, latest = store.latestEvent()) {
    this.#store = store;
    this.#committed = latest;
  }

  /** Number of the last event that listeners have received; 0 if there is none. */
  get latest(): number {
    return this.#committed;
  }

  /** Number of the next event. */
  get next(): number {
    return this.#committed + this.#pending.length + 1;
  }

  /**
   * Writes an event; listeners receive it after `commit`.
   * @param record the job that the event is about; then only its owner and administrators receive it
   * @param secret additional data of an event for all users; only administrators and the user `of` receive it
   */
  add<Kind extends EventKind>(
    kind: Kind,
    atMs: number,
    record: Pick<JobRecord, "job" | "user" | "uid"> | undefined,
    data: EventPayloads[Kind],
    secret?: { readonly data: Partial<EventPayloads[Kind]> & EventData; readonly of: number | undefined },
  ): void {
    const sequence = this.next;
    const event: LoggedEvent =
      record === undefined
        ? { sequence, atMs, kind, data }
        : { sequence, atMs, kind, job: record.job, user: record.user, data };
    const stored: StoredEvent = { event, uid: record?.uid, secret };
    this.#store.addEvent(stored);
    this.#pending.push(stored);
  }

  commit(): void {
    const events = this.#pending;
    this.#pending = [];
    this.#committed += events.length;
    for (const listener of [...this.#listeners]) {
      for (const stored of events) {
        // It may also have stopped itself.
        if (notify(listener, stored) === false) this.#listeners.delete(listener);
        if (!this.#listeners.has(listener)) break;
      }
    }
  }

  rollback(): void {
    this.#pending = [];
  }

  /** The users' numbers of events above the fair share of a room; empty while all events fit. */
  surpluses(room: number): EventCount[] {
    const { ledger } = this.#store;
    const kept = [...ledger.users()].map((uid) => [uid, ledger.of(uid, "events").rows] as const);
    return aboveFairShare(kept, room).map(([uid, events]) => ({
      uid: uid === EVERYBODY ? undefined : uid,
      events,
    }));
  }

  /**
   * Sends all events after `since`, then new ones, until the listener returns false.
   * @returns a function to stop it
   */
  listen(caller: Caller, since: number, listener: (event: DaemonEvent) => unknown): () => void {
    const entry: Listener = { caller, onEvent: listener };
    const uid = caller.isAdministrator ? undefined : caller.uid;
    for (let last = since; last < this.#committed; ) {
      const page = this.#store.eventsAfter(last, PAGE, uid);
      if (page.length === 0) break;
      for (const stored of page) {
        if (stored.event.sequence <= this.#committed && notify(entry, stored) === false) return () => {};
        last = stored.event.sequence;
      }
    }
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }
}

/** Sends an event to a listener, whose errors must not disturb others. */
function notify({ caller, onEvent }: Listener, stored: StoredEvent): unknown {
  const event = seenBy(caller, stored);
  if (event === undefined) return undefined;
  try {
    return onEvent(event);
  } catch {
    // Listeners must handle their own errors.
    return undefined;
  }
}

/** The event as this caller may see it: without other users' jobs, and without secret data about them. */
function seenBy(caller: Caller, { event, uid, secret }: StoredEvent): DaemonEvent | undefined {
  const mayKnow = (of: number | undefined): boolean => caller.isAdministrator || of === caller.uid;
  if (uid !== undefined && !mayKnow(uid)) return undefined;
  if (secret === undefined || !mayKnow(secret.of)) return withTexts(event);
  return withTexts({ ...event, data: { ...event.data, ...secret.data } });
}
