/** Server-sent events: one line of JSON per event, its sequence number as id, so that a client that was cut off goes on where it was. */

import type { Caller, DaemonEvent, Service } from "../daemon/service.ts";
import { MOST_EVENTS } from "./contract.ts";

/** A listener that is further behind than this is cut off; it connects again and asks for what it missed. */
const MOST_BEHIND = 10_000;
const HEARTBEAT_MS = 15_000;

/** The events after `since`, as they happen, until the client leaves. */
export function eventStream(service: Service, caller: Caller, since: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let stop = () => {};
  let heartbeat: NodeJS.Timeout | undefined;
  let isOpen = true;
  const end = () => {
    isOpen = false;
    clearInterval(heartbeat);
    stop();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string): boolean => {
          if (!isOpen) return false;
          controller.enqueue(encoder.encode(text));
          if ((controller.desiredSize ?? 0) > -MOST_BEHIND) return true;
          end();
          controller.close();
          return false;
        };
        // Begins the answer at once, so that the client knows it is connected.
        send(": tutti events\nretry: 1000\n\n");
        heartbeat = setInterval(() => send(": still here\n\n"), HEARTBEAT_MS);
        heartbeat.unref();
        const unlisten = service.listen(caller, since, (event) => send(eventText(event)));
        if (isOpen) stop = unlisten;
        else unlisten();
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  );
}

/** The events after `since` that there are already, the first 10,000 of them. */
export function pastEvents(service: Service, caller: Caller, since: number): DaemonEvent[] {
  const events: DaemonEvent[] = [];
  service.listen(caller, since, (event) => {
    events.push(event);
    return events.length < MOST_EVENTS;
  })();
  return events;
}

function eventText(event: DaemonEvent): string {
  return `id: ${event.sequence}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
}
