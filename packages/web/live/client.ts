/** Sends requests of the page to the scheduler, as the user of the session. */
import type { RefusalAnswer } from "@tutti/protocol/answers.ts";
import { heard, untilLive } from "./connection.ts";
import { dropSession, session } from "./session.ts";

/** A request that the scheduler refused. The message says what failed, why, and what to do. */
export class RefusedError extends Error {
  readonly refused: RefusalAnswer["refused"];

  constructor({ refused, message }: Pick<RefusalAnswer, "refused" | "message">) {
    super(message);
    this.refused = refused;
  }
}

/** A request waits this long for a lost connection to come back, in ms. */
const PATIENCE_MS = 10_000;

interface AskOptions {
  readonly method?: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

const AS_JSON = { accept: "application/json" };

/**
 * Sends a request and returns its JSON answer.
 * @throws RefusedError if the scheduler refuses; TypeError if it cannot be reached
 */
export async function ask<Answer>(path: string, options: AskOptions = {}): Promise<Answer> {
  return (await open(path, options, AS_JSON)).json();
}

/** The answer as it arrives. @throws RefusedError, TypeError */
export async function open(
  path: string,
  { method = "GET", body, signal }: AskOptions = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  await untilLive(signal === undefined ? patience : AbortSignal.any([signal, patience])).catch(() => {
    signal?.throwIfAborted();
    throw new TypeError("The scheduler does not answer");
  });
  const answer = await fetch(path, {
    method,
    headers: {
      ...headers,
      authorization: `Bearer ${session.peek()?.token ?? ""}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  });
  heard.atMs = Date.now();
  if (answer.ok) return answer;
  const error = new RefusedError(await refusalOf(answer));
  if (error.refused === "no-token") dropSession(error.message);
  throw error;
}

async function refusalOf(answer: Response): Promise<Pick<RefusalAnswer, "refused" | "message">> {
  try {
    return await answer.json();
  } catch {
    return { refused: "failed", message: `The scheduler answered with status ${answer.status}` };
  }
}
