/**
 * The event log: what has happened, numbered without gaps, on disk in the cycle in which it happened, then told to those who listen.
 * Numbers leave a gap where an older store was put back. Old events are forgotten by user, so in what is kept there may be more.
 */
import type { DaemonEvent, EventData, EventKind, EventPayloads } from "../../protocol/events.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import type { EventCount } from "../store/kept.ts";
import type { StoredEvent } from "../store/rows.ts";
import type { Store } from "../store/store.ts";
import { aboveFairShare } from "./fair-share.ts";

interface Listener {
  readonly caller: Caller;
  readonly tell: (event: DaemonEvent) => unknown;
}

const PAGE = 500;

export class EventFeed {
  readonly #store: Store;
  #committed: number;
  #pending: StoredEvent[] = [];
  readonly #listeners = new Set<Listener>();
  /** Events kept of each user's jobs; undefined: of all. */
  readonly #kept = new Map<number | undefined, number>();
  #keptCount = 0;

  /** @param latest numbers go on above it, though the store may know none as high */
  constructor(store: Store, latest = store.latestEvent()) {
    this.#store = store;
    this.#committed = latest;
    this.#count(store.kept.eventCounts(), 1);
  }

  /** Number that the next event gets. */
  get next(): number {
    return this.#committed + this.#pending.length + 1;
  }

  /**
   * Writes an event; it is told after `commit`.
   * @param record the job that it tells of, to its owner and administrators alone
   * @param secret of an event for all: data for administrators, and for the user whose job it tells of
   */
  add<Kind extends EventKind>(
    kind: Kind,
    atMs: number,
    record: Pick<JobRecord, "job" | "user" | "uid"> | undefined,
    data: EventPayloads[Kind],
    secret?: { readonly data: Partial<EventPayloads[Kind]> & EventData; readonly of: number | undefined },
  ): void {
    const stored: StoredEvent = {
      event: {
        sequence: this.next,
        atMs,
        kind,
        ...(record !== undefined && { job: record.job, user: record.user }),
        ...(data !== undefined && { data }),
      },
      uid: record?.uid,
      secret,
    };
    this.#store.addEvent(stored);
    this.#pending.push(stored);
  }

  commit(): void {
    const events = this.#pending;
    this.#pending = [];
    this.#committed += events.length;
    for (const stored of events) {
      this.#count([{ uid: stored.uid, events: 1 }], 1);
      for (const listener of [...this.#listeners]) {
        if (tell(listener, stored) === false) this.#listeners.delete(listener);
      }
    }
  }

  rollback(): void {
    this.#pending = [];
  }

  /** How many events each user has above the fair share of a room, and those of all together have; none while there is room. */
  surpluses(room: number): EventCount[] {
    if (this.#keptCount <= room) return [];
    return aboveFairShare(this.#kept, room).map(([uid, events]) => ({ uid, events }));
  }

  /** Events have gone from the store. */
  forget(counts: readonly EventCount[]): void {
    this.#count(counts, -1);
  }

  /** Tells at once what came after `since`, then goes on, until the listener says false. Returns how to stop. */
  listen(caller: Caller, since: number, listener: (event: DaemonEvent) => unknown): () => void {
    const entry: Listener = { caller, tell: listener };
    const uid = caller.isAdministrator ? undefined : caller.uid;
    for (let last = since; last < this.#committed; ) {
      const page = this.#store.eventsAfter(last, PAGE, uid);
      if (page.length === 0) break;
      for (const stored of page) {
        if (stored.event.sequence <= this.#committed && tell(entry, stored) === false) return () => {};
        last = stored.event.sequence;
      }
    }
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  #count(counts: readonly EventCount[], sign: 1 | -1): void {
    for (const { uid, events } of counts) {
      const kept = (this.#kept.get(uid) ?? 0) + sign * events;
      if (kept === 0) this.#kept.delete(uid);
      else this.#kept.set(uid, kept);
      this.#keptCount += sign * events;
    }
  }
}

/** A listener that fails must not disturb the rest. */
function tell({ caller, tell: call }: Listener, stored: StoredEvent): unknown {
  const event = seenBy(caller, stored);
  if (event === undefined) return undefined;
  try {
    return call(event);
  } catch {
    // Whoever listens has to look after its own errors.
    return undefined;
  }
}

/** What happens to jobs of others is not told, nor why something concerns all when the reason is another's job. */
function seenBy(caller: Caller, { event, uid, secret }: StoredEvent): DaemonEvent | undefined {
  const mayKnow = (of: number | undefined): boolean => caller.isAdministrator || of === caller.uid;
  if (uid !== undefined && !mayKnow(uid)) return undefined;
  if (secret === undefined || !mayKnow(secret.of)) return event;
  return { ...event, data: { ...event.data, ...secret.data } };
}
