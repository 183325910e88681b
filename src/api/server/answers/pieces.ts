/**
 * Long answers in pieces. Each piece is made when the client has read the ones before and it is its user's turn, so an answer of any length costs one
 * piece of memory, holds nobody up for longer than a piece takes, and ends when the client leaves.
 *
 * A handler gives a generator and returns the response:
 *
 *     jobs: (call, { service }) => jsonResponse(call.turns, jsonPieces({ schema: "tutti.jobs/1" }, "jobs", pages(), () => ({ next })))
 *
 * where `pages()` is a generator of arrays, each made in at most some 10 ms and of at most some 100 kB as JSON. What changes while the client
 * reads is the generator's to think of: it should remember a job's number, not a place in a list.
 */
import type { Turns } from "../fairness/fair-gate.ts";

/** Text or bytes, one piece at a time. It is closed (`return`) when the client leaves early. */
export type Pieces = Generator<string | Uint8Array, void, void>;

/** A JSON object with one long list: `{…before, [name]: […entries of all pages], …after()}`. `after` is asked at the end. */
export function* jsonPieces(
  before: object,
  name: string,
  pages: Iterable<readonly object[]>,
  after: () => object = () => ({}),
): Pieces {
  const opening = JSON.stringify(before).slice(0, -1);
  yield `${opening}${opening === "{" ? "" : ","}${JSON.stringify(name)}:[`;
  let isFirst = true;
  for (const page of pages) {
    if (page.length === 0) {
      // A page without entries is work all the same: others have their turn.
      yield "";
      continue;
    }
    const text = JSON.stringify(page).slice(1, -1);
    yield isFirst ? text : `,${text}`;
    isFirst = false;
  }
  const rest = JSON.stringify(after()).slice(1);
  yield rest === "}" ? "]}" : `],${rest}`;
}

/** An answer of type application/json from pieces. */
export function jsonResponse(turns: Turns, pieces: Pieces, status = 200): Response {
  return piecesResponse(turns, pieces, "application/json", status);
}

/** @param type the answer's content type */
export function piecesResponse(turns: Turns, pieces: Pieces, type: string, status = 200): Response {
  return new Response(streamOfPieces(turns, pieces), { status, headers: { "content-type": type } });
}

function streamOfPieces(turns: Turns, pieces: Pieces): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  /** The next piece that is not empty. */
  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const piece = await turns.run(() => {
        const { done, value } = pieces.next();
        if (done) return undefined;
        return typeof value === "string" ? encoder.encode(value) : value;
      });
      if (piece === undefined || piece.length > 0) return piece;
    }
  };
  let isWanted = true;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await next();
          if (!isWanted) return;
          if (piece === undefined) controller.close();
          else controller.enqueue(piece);
        } catch (error) {
          pieces.return();
          controller.error(error);
        }
      },
      cancel() {
        isWanted = false;
        pieces.return();
      },
    },
    { highWaterMark: 0 },
  );
}
