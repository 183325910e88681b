/** `tutti events [-f]`: prints the scheduler's decisions and changes, one line each. */

import type { Event, EventsAnswer } from "@tutti/protocol/schema.ts";
import { eventDetails } from "@tutti/words/events.ts";
import { clockText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { eventsIn } from "../live/event-stream.ts";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { integer } from "../options/parse.ts";
import { writeOut } from "../text/text.ts";

interface Options {
  readonly follow?: boolean;
  readonly since?: number;
  readonly json?: boolean;
}

/** Number of past events that -f shows first. */
const PAST_EVENTS = 20;

export function configure(command: Command): void {
  command
    .option(
      "-f, --follow",
      `keep printing new events until Ctrl-C; without --since, begin with the last ${PAST_EVENTS}`,
    )
    .option("--since <n>", "only events after this number (default: all kept events)", integer(0))
    .option("--json", "one JSON object per line")
    .action(run);
}

async function run({ follow = false, since, json = false }: Options): Promise<void> {
  const connection = new ReconnectingClient("tutti events -f");
  let last = since ?? 0;
  const write = (event: Event) => {
    last = event.sequence;
    writeOut(json ? `${JSON.stringify(event)}\n` : `${eventText(event)}\n`);
  };
  const newest: Event[] = [];
  for (;;) {
    const accept = "application/json";
    const path = `/v1/events?since=${last}`;
    const { events } = await connection.retry((client) => client.ask<EventsAnswer>(path, { accept }));
    if (events.length === 0) break;
    if (!follow || since !== undefined) for (const event of events) write(event);
    else {
      newest.push(...events);
      newest.splice(0, newest.length - PAST_EVENTS);
      last = events.at(-1)!.sequence;
    }
  }
  for (const event of newest) write(event);
  // The server may end, and it cuts off a reader that is too far behind. Then we ask again for the missed
  // events.
  while (follow) {
    try {
      const { client } = connection;
      const answer = await client.open("/v1/events", { headers: { "last-event-id": String(last) } });
      for await (const event of eventsIn(client, answer)) write(event);
    } catch (error) {
      connection.next = `tutti events -f --since ${last}`;
      await connection.waitUntilBack(error);
    }
  }
}

function eventText(event: Event): string {
  const head = [String(event.sequence).padStart(6), clockText(event.atMs), visibleLine(event.kind).padEnd(9)];
  return [...head, ...eventDetails(event)].join(" ");
}
