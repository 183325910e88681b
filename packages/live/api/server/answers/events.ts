/**
 * Sends events to clients, as server-sent events or as one JSON answer. A server-sent event is one line of
 * JSON whose id is its sequence number, so a client that was cut off can continue after the last event it
 * received.
 *
 * Nothing is prepared before the client asks for it. When the client is ready for more, and it is its user's
 * turn, the next page of events is read from the log. So a client that does not read costs at most one page
 * of memory, and many clients that connect at once block nobody.
 */

import type { DaemonEvent } from "@tutti/protocol/events.ts";
import { MAX_EVENTS_PER_ANSWER } from "@tutti/protocol/limits.ts";
import type { Caller, Service } from "../../../daemon/contract/service.ts";
import type { RequestTurns } from "../fairness/request-scheduler.ts";
import { listResponse, pulledStream } from "./pieces.ts";

const PAGE = 500;
/** So that a client notices when the connection or the scheduler is gone. */
const HEARTBEAT_MS = 15_000;
/**
 * Events are sent together, this long after the first of them for each follower. A piece of an answer takes
 * about 0.06 ms, however many events it has, so followers take a few % of one CPU, however many they are.
 */
const COLLECT_MS = 2;
const MIN_COLLECT_MS = 20;
const MAX_COLLECT_MS = 1000;
const encoder = new TextEncoder();
const STILL_HERE = encoder.encode(": still here\n\n");

/** The streams that are open. */
export interface EventStreams {
  count: number;
}

/** The events after `since`, as they happen, until the client leaves. */
export function eventStream(
  service: Service,
  caller: Caller,
  since: number,
  turns: RequestTurns,
  streams: EventStreams,
): ReadableStream<Uint8Array> {
  // A client that asks for the events after a number that does not exist yet gets the next one.
  let last = Math.min(since, service.latestEvent());
  const begin = encoder.encode(`: tutti events\nretry: 1000\nid: ${last}\n\n`);
  /** Events since the log was last read to its end; undefined while the log has unread events. */
  let news: DaemonEvent[] | undefined;
  /** Ends the wait for an event; undefined while the stream does not wait. */
  let wake: (() => void) | undefined;
  let collecting: NodeJS.Timeout | undefined;
  const unlisten = service.listen(caller, Number.MAX_SAFE_INTEGER, (event) => {
    if (news !== undefined && news.push(event) > PAGE) news = undefined;
    collecting ??= setTimeout(
      () => {
        collecting = undefined;
        wake?.();
      },
      Math.min(MAX_COLLECT_MS, Math.max(MIN_COLLECT_MS, COLLECT_MS * streams.count)),
    );
  });
  streams.count++;
  const end = () => {
    streams.count--;
    unlisten();
    clearTimeout(collecting);
    wake?.();
  };
  /** Resolves soon after an event, or after HEARTBEAT_MS. */
  const untilEvent = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => wake?.(), HEARTBEAT_MS);
      wake = () => {
        wake = undefined;
        clearTimeout(timer);
        resolve();
      };
    });
  /** The next events; undefined if there are none. */
  const nextEvents = () =>
    turns.run(() => {
      const events = news?.splice(0) ?? pastEvents(service, caller, last, PAGE);
      if (events.length < PAGE) news ??= [];
      last = events.at(-1)?.sequence ?? last;
      return events.length === 0 ? undefined : bytesOf(events);
    });
  // The begin is sent immediately: the client knows that it is connected, and where to continue if it is cut
  // off before the first event.
  let isBegun = false;
  const next = async () => {
    if (!isBegun) {
      isBegun = true;
      return begin;
    }
    const now = await nextEvents();
    if (now !== undefined) return now;
    await untilEvent();
    return (await nextEvents()) ?? STILL_HERE;
  };
  return pulledStream(next, end);
}

/** The events so far as one answer, at most MAX_EVENTS_PER_ANSWER, with `next` if there are more. */
export function eventList(service: Service, caller: Caller, since: number, turns: RequestTurns): Response {
  let last = since;
  let remaining = MAX_EVENTS_PER_ANSWER;
  let isAll = false;
  function* pages() {
    while (remaining > 0 && !isAll) {
      const page = pastEvents(service, caller, last, Math.min(PAGE, remaining));
      isAll = page.length < Math.min(PAGE, remaining);
      last = page.at(-1)?.sequence ?? last;
      remaining -= page.length;
      yield page;
    }
  }
  const rest = () => (isAll || pastEvents(service, caller, last, 1).length === 0 ? {} : { next: last });
  return listResponse(turns, "tutti.events/1", "events", pages(), rest);
}

/** The first `most` past events after `since`. */
function pastEvents(service: Service, caller: Caller, since: number, most: number): DaemonEvent[] {
  const events: DaemonEvent[] = [];
  service.listen(caller, since, (event) => {
    events.push(event);
    return events.length < most;
  })();
  return events;
}

/**
 * The bytes of events, by the first of them. Followers that have read everything get the same events at the
 * same time, so the bytes are made once for all of them.
 */
const made = new WeakMap<
  DaemonEvent,
  { readonly events: readonly DaemonEvent[]; readonly bytes: Uint8Array }
>();

function bytesOf(events: readonly DaemonEvent[]): Uint8Array {
  const known = made.get(events[0]);
  if (known?.events.length === events.length && known.events.every((event, i) => event === events[i])) {
    return known.bytes;
  }
  const bytes = encoder.encode(events.map(eventText).join(""));
  made.set(events[0], { events, bytes });
  return bytes;
}

function eventText(event: DaemonEvent): string {
  return `id: ${event.sequence}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
}
