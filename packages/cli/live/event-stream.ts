/** Reads the events of one connection to the scheduler, as server-sent events. */
import type { IncomingMessage } from "node:http";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { Event } from "@tutti/protocol/schema.ts";

/** The events of an answer of `/v1/events`, as they arrive. @throws NoDaemonError if it is cut off */
export async function* eventsIn(client: Client, answer: IncomingMessage): AsyncGenerator<Event> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of client.pieces(answer)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: ")) yield JSON.parse(line.slice(6)) as Event;
  }
}
