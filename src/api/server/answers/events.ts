/**
 * Sends events to clients, as server-sent events or as one JSON answer. A server-sent event is one line of
 * JSON whose id is its sequence number, so a client that was cut off can continue after the last event it
 * received.
 *
 * Nothing is prepared before the client asks for it. When the client is ready for more, and it is its user's
 * turn, the next page of events is read from the log. So a client that does not read costs at most one page
 * of memory, and many clients that connect at once block nobody.
 */
import type { Caller, Service } from "../../../daemon/contract/service.ts";
import { sleep } from "../../../host/sleep.ts";
import type { DaemonEvent } from "../../../protocol/events.ts";
import { MAX_EVENTS_PER_ANSWER } from "../../../protocol/limits.ts";
import type { RequestTurns } from "../fairness/request-scheduler.ts";
import { listResponse, pulledStream } from "./pieces.ts";

const PAGE = 500;
const HEARTBEAT_MS = 15_000;

/** The events after `since`, as they happen, until the client leaves. */
export function eventStream(
  service: Service,
  caller: Caller,
  since: number,
  turns: RequestTurns,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let last = since;
  /** Events since the log was last read to its end; undefined while the log has unread events. */
  let news: DaemonEvent[] | undefined;
  let wake = new AbortController();
  // Aborts only once: each abort makes an error with a stack trace, which is too slow for thousands of events
  // and many followers.
  const wakeUp = () => {
    if (!wake.signal.aborted) wake.abort();
  };
  const unlisten = service.listen(caller, Number.MAX_SAFE_INTEGER, (event) => {
    if (news !== undefined && news.push(event) > PAGE) news = undefined;
    wakeUp();
  });
  const end = () => {
    unlisten();
    wakeUp();
  };
  /** The text of the next events; empty if there are none. */
  const nextText = () =>
    turns.run(() => {
      const events = news?.splice(0) ?? pastEvents(service, caller, last, PAGE);
      if (events.length < PAGE) news ??= [];
      last = events.at(-1)?.sequence ?? last;
      return events.map(eventText).join("");
    });
  async function* texts(): AsyncGenerator<string, never> {
    // Immediately, so that the client knows that it is connected.
    yield ": tutti events\nretry: 1000\n\n";
    for (;;) {
      wake = new AbortController();
      const now = await nextText();
      if (now === "") await sleep(HEARTBEAT_MS, wake.signal);
      yield now || (await nextText()) || ": still here\n\n";
    }
  }
  const pieces = texts();
  return pulledStream(async () => encoder.encode((await pieces.next()).value), end);
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

/** The text of each event; it is made once for all followers. */
const texts = new WeakMap<DaemonEvent, string>();

function eventText(event: DaemonEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = `id: ${event.sequence}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
  texts.set(event, text);
  return text;
}
