/** The event log: what has happened, numbered without gaps, on disk in the turn in which it happened, then told to those who listen. */
import type { JobRecord } from "./record.ts";
import type { Caller, DaemonEvent } from "./service.ts";
import type { StoredEvent } from "./store/rows.ts";
import type { Store } from "./store/store.ts";

type Data = NonNullable<DaemonEvent["data"]>;

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

  constructor(store: Store) {
    this.#store = store;
    this.#committed = store.latestEvent();
  }

  /** Writes an event; it is told after `commit`. */
  add(
    kind: DaemonEvent["kind"],
    atMs: number,
    record?: Pick<JobRecord, "job" | "user" | "uid">,
    data?: Data,
  ): void {
    const stored: StoredEvent = {
      event: {
        sequence: this.#committed + this.#pending.length + 1,
        atMs,
        kind,
        ...(record !== undefined && { job: record.job, user: record.user }),
        ...(data !== undefined && { data }),
      },
      uid: record?.uid,
    };
    this.#store.addEvent(stored);
    this.#pending.push(stored);
  }

  commit(): void {
    const events = this.#pending;
    this.#pending = [];
    this.#committed += events.length;
    for (const stored of events) {
      for (const listener of [...this.#listeners]) {
        if (tell(listener, stored) === false) this.#listeners.delete(listener);
      }
    }
  }

  rollback(): void {
    this.#pending = [];
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
}

/** What happens to jobs of others is not told. A listener that fails must not disturb the rest. */
function tell({ caller, tell: call }: Listener, { event, uid }: StoredEvent): unknown {
  if (uid !== undefined && uid !== caller.uid && !caller.isAdministrator) return undefined;
  try {
    return call(event);
  } catch {
    // Whoever listens has to look after its own errors.
    return undefined;
  }
}
