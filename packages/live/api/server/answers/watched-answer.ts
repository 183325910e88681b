/** Counts the unread bytes of each answer against its user's quota until the client has read them. */

import type { Ticket } from "../fairness/request-quota.ts";
import { ClientLeft } from "../fairness/request-scheduler.ts";
import { pulledStream } from "./pieces.ts";

/**
 * The response as a stream in which each piece counts until the next one is requested. The answer to HEAD has
 * no body, because no client would read it.
 * @param onBug receives errors thrown while a piece is made
 * @param onEnd called once, when the client has taken everything or has left
 * @param cut closes the connection, so that its client does not take a part for the whole; left out: the
 *   stream has an error, which the HTTP server would write into the log
 */
export function watched(
  response: Response,
  { method }: Request,
  ticket: Ticket,
  onBug: (error: unknown) => void,
  onEnd: () => void,
  cut?: () => void,
): Response {
  const { body } = response;
  if (method === "HEAD" || body === null) {
    void body?.cancel();
    onEnd();
    return new Response(null, response);
  }
  const reader = body.getReader();
  let pieceBytes = 0;
  const counted = pulledStream(
    async () => {
      ticket.count(-pieceBytes);
      pieceBytes = 0;
      try {
        const { value } = await reader.read();
        pieceBytes = value?.byteLength ?? 0;
        ticket.count(pieceBytes);
        return value;
      } catch (error) {
        // Nobody reads the rest.
        if (error instanceof ClientLeft) return undefined;
        onBug(error);
        if (cut === undefined) throw error;
        cut();
        return undefined;
      }
    },
    onEnd,
    (reason) => {
      onEnd();
      return reader.cancel(reason);
    },
  );
  return new Response(counted, response);
}
