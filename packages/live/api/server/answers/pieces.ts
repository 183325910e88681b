/**
 * Sends long answers in pieces. A piece is made only when the client has read the previous pieces and it is
 * the user's turn. So an answer of any length needs the memory of one piece, delays other users by at most
 * one piece, and stops when the client leaves.
 *
 * A handler gives a generator and returns the response:
 *
 *     jobs: ({ turns }) => listResponse(turns, "tutti.jobs/1", "jobs", pages(), () => ({ next }))
 *
 * Here `pages()` is a generator of arrays. Each array should take at most about 10 ms to make, and be at most
 * about 100 kB as JSON. Data may change while the client reads, so the generator should remember a job's
 * number, not a position in a list.
 */
import type { RequestTurns } from "../fairness/request-scheduler.ts";

/** Text or bytes, one piece at a time. `return` is called if the client leaves early. */
type Pieces = Generator<string | Uint8Array, void, void>;

/** A JSON object with one long list: `{schema, [name]: […all pages], …after()}`. `after` is called last. */
function* listPieces(
  schema: string,
  name: string,
  pages: Iterable<readonly object[]>,
  after: () => object,
): Pieces {
  yield `{"schema":${JSON.stringify(schema)},${JSON.stringify(name)}:[`;
  let isFirst = true;
  for (const page of pages) {
    if (page.length === 0) {
      // Even a page without entries took time, so others get their turn.
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

/** Sends a JSON object with one long list; see `listPieces`. */
export function listResponse(
  turns: RequestTurns,
  schema: string,
  name: string,
  pages: Iterable<readonly object[]>,
  after: () => object = () => ({}),
  status = 200,
): Response {
  return piecesResponse(turns, listPieces(schema, name, pages, after), "application/json", status);
}

/** The entries of a complete list, as pages of `most` entries. */
export function* pagesOf<Entry>(entries: readonly Entry[], most: number): Generator<readonly Entry[]> {
  for (let i = 0; i < entries.length; i += most) yield entries.slice(i, i + most);
}

/** @param type the answer's content type */
export function piecesResponse(turns: RequestTurns, pieces: Pieces, type: string, status = 200): Response {
  return new Response(streamOfPieces(turns, pieces), { status, headers: { "content-type": type } });
}

function streamOfPieces(turns: RequestTurns, pieces: Pieces): ReadableStream<Uint8Array> {
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
  return pulledStream(next, () => void pieces.return());
}

/**
 * A stream that prepares nothing ahead: it makes each piece when the client has taken the previous one.
 * @param next returns the next piece, or undefined at the end
 * @param atEnd called once, after the last piece or an error
 * @param whenLeft called instead if the client leaves early; a piece in progress is then not sent
 */
export function pulledStream(
  next: () => Promise<Uint8Array | undefined>,
  atEnd: () => void,
  whenLeft: (reason: unknown) => void | Promise<void> = atEnd,
): ReadableStream<Uint8Array> {
  let isWanted = true;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await next();
          if (!isWanted) return;
          if (piece !== undefined) return controller.enqueue(piece);
          controller.close();
        } catch (error) {
          if (!isWanted) return;
          controller.error(error);
        }
        atEnd();
      },
      cancel(reason) {
        isWanted = false;
        return whenLeft(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
