/** Answers on their way to the client: what of them is unread counts for the user. */
import { ClientLeft } from "../fairness/fair-gate.ts";
import type { Ticket } from "../fairness/load.ts";

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
  let isWanted = true;
  const counted = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        ticket.made(-pieceBytes);
        pieceBytes = 0;
        try {
          const { done, value } = await reader.read();
          if (!isWanted) return;
          if (!done) {
            pieceBytes = value.byteLength;
            ticket.made(pieceBytes);
            return controller.enqueue(value);
          }
          controller.close();
        } catch (error) {
          if (!(error instanceof ClientLeft)) onBug(error);
          controller.error(error);
        }
        onEnd();
      },
      cancel(reason) {
        isWanted = false;
        onEnd();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(counted, response);
}
