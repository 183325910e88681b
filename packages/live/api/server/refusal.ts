/** Turns refusals into HTTP answers: a status, a code for programs, and a message for people. */
import type { Refusal, RefusalCode } from "@tutti/protocol/refusal.ts";
import type { RefusalAnswer } from "@tutti/protocol/schema.ts";

export interface ApiRefusal extends Refusal {
  /** HTTP status; left out: the default of the code. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const STATUS: Readonly<Record<RefusalCode, number>> = {
  invalid: 400,
  "no-token": 401,
  forbidden: 403,
  "not-yours": 403,
  "not-found": 404,
  "wrong-state": 409,
  "too-large": 413,
  failed: 500,
  full: 503,
  unavailable: 503,
};

/** A refusal as an HTTP answer, in parts. */
export function refusalParts({ refused, message, status = STATUS[refused], headers }: ApiRefusal) {
  const answer: RefusalAnswer = { schema: "tutti.refusal/1", refused, message };
  const body = JSON.stringify(answer);
  return {
    status,
    headers: {
      ...headers,
      ...(status === 503 ? { "retry-after": "1" } : {}),
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    },
    body,
  };
}

export function refusalResponse(refusal: ApiRefusal): Response {
  const { body, ...init } = refusalParts(refusal);
  return new Response(body, init);
}
