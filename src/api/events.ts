/**
 * Server-sent events: one line of JSON per event, its sequence number as id, so that a client that was cut off goes on where it was.
 *
 * Nothing is written ahead of the client: what it has missed is read from the log when it asks for more, a page at a time. So
 * a client that does not read costs a page, however much happens.
 */
import type { Caller, DaemonEvent, Service } from "../daemon/service.ts";
import { MOST_EVENTS } from "./contract.ts";
import { pause } from "./logs.ts";

const PAGE = 500;
const HEARTBEAT_MS = 15_000;

/** The events after `since`, as they happen, until the client leaves. */
export function eventStream(service: Service, caller: Caller, since: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let last = since;
  /** News since the log was read to its end; undefined while there is more in the log than was read. */
  let news: DaemonEvent[] | undefined;
  let isBegun = false;
  let wake = new AbortController();
  let isOpen = true;
  const unlisten = service.listen(caller, Number.MAX_SAFE_INTEGER, (event) => {
    if (news !== undefined && news.push(event) > PAGE) news = undefined;
    wake.abort();
  });
  const next = (): DaemonEvent[] => {
    if (news !== undefined) return news.splice(0);
    const page = pastEvents(service, caller, last, PAGE);
    if (page.length < PAGE) news = [];
    return page;
  };
  const text = async (): Promise<string> => {
    if (!isBegun) {
      // At once, so that the client knows it is connected.
      isBegun = true;
      return ": tutti events\nretry: 1000\n\n";
    }
    let events = next();
    if (events.length === 0 && isOpen) {
      wake = new AbortController();
      await pause(HEARTBEAT_MS, wake.signal);
      events = next();
    }
    last = events.at(-1)?.sequence ?? last;
    return events.length === 0 ? ": still here\n\n" : events.map(eventText).join("");
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = encoder.encode(await text());
        if (isOpen) controller.enqueue(piece);
      },
      cancel() {
        isOpen = false;
        unlisten();
        wake.abort();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The events after `since` that there are already, the first so many of them. */
export function pastEvents(
  service: Service,
  caller: Caller,
  since: number,
  most = MOST_EVENTS,
): DaemonEvent[] {
  const events: DaemonEvent[] = [];
  service.listen(caller, since, (event) => {
    events.push(event);
    return events.length < most;
  })();
  return events;
}

function eventText(event: DaemonEvent): string {
  return `id: ${event.sequence}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
}
