/**
 * How much each user keeps us busy with at a time. Whoever may use the scheduler may also send it many slow requests and read the answers slowly;
 * that must cost the others nothing.
 */
import type { Caller } from "../daemon/service.ts";
import { LARGEST_BODY_BYTES } from "./body.ts";
import type { ApiRefusal } from "./refusal.ts";

/** Requests of one user that are open at a time; one with a body counts for as many more as it has such pieces. */
const MOST_OPEN = 512;
/** A forecast is made for a second, one at a time: who asks for many would keep others from theirs. */
const FORECAST_WEIGHT = 128;
const PIECE_BYTES = 256 * 1024;

/** Gives back what a request took. */
export type Release = () => void;

export class Load {
  readonly #open = new Map<number, number>();

  /**
   * Lets a request in, until it is released. Administrators are let in always.
   * @param isForecast whether forecasts are to be made for it
   */
  take({ uid, user, isAdministrator }: Caller, request: Request, isForecast = false): Release | ApiRefusal {
    if (isAdministrator) return () => {};
    const before = this.#open.get(uid) ?? 0;
    const weight = (isForecast ? FORECAST_WEIGHT : 1) + Math.ceil(bodyBytes(request) / PIECE_BYTES);
    if (before + weight > MOST_OPEN) {
      return {
        refused: "full",
        message: `Cannot answer yet: user ${user} has too many requests open, expected at most ${MOST_OPEN}, fewer with large bodies or forecasts; wait for some to end`,
      };
    }
    this.#open.set(uid, before + weight);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#open.get(uid) ?? 0) - weight;
      if (left > 0) this.#open.set(uid, left);
      else this.#open.delete(uid);
    };
  }
}

/** A body that does not say how long it is may be as long as any; without transfer-encoding there is none then. */
function bodyBytes({ method, headers }: Request): number {
  if (method === "GET" || method === "HEAD") return 0;
  const stated = headers.get("content-length");
  if (stated === null) return headers.has("transfer-encoding") ? LARGEST_BODY_BYTES : 0;
  return Math.min(Number(stated), LARGEST_BODY_BYTES);
}

/**
 * The response, whose request is released when it has been read or is not wanted any more. The answer to HEAD is the same
 * without its body, which nobody would ever read.
 */
export function untilRead(response: Response, { method }: Request, release: Release): Response {
  const { body } = response;
  if (method === "HEAD" || body === null || response.headers.get("content-type") === "application/json") {
    if (method === "HEAD") void body?.cancel();
    release();
    return method === "HEAD" ? new Response(null, response) : response;
  }
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        release();
      },
      cancel(reason) {
        release();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(watched, response);
}
