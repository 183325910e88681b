/** Answers on their way to the client: what of them is unread counts for the user. */

import type { Ticket } from "../fairness/request-quota.ts";
import { ClientLeft } from "../fairness/request-scheduler.ts";
import { pulledStream } from "./pieces.ts";

/**
 * The response as a stream that counts each piece until the next one is asked for. The answer to HEAD is the same without its body,
 * which nobody would ever read.
 * @param onBug told of an error in making a piece
 * @param onEnd called once, when all has been taken or is not wanted any more
 */
export function watched(
  response: Response,
  { method }: Request,
  ticket: Ticket,
  onBug: (error: unknown) => void,
  onEnd: () => void,
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
      ticket.made(-pieceBytes);
      pieceBytes = 0;
      try {
        const { value } = await reader.read();
        pieceBytes = value?.byteLength ?? 0;
        ticket.made(pieceBytes);
        return value;
      } catch (error) {
        if (!(error instanceof ClientLeft)) onBug(error);
        throw error;
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
