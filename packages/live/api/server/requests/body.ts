/** Reads request bodies: limits bytes, depth and entries before parsing, and checks the schema afterwards. */

import { MAX_SUBMIT_BYTES } from "@tutti/protocol/limits.ts";
import { isRefusal, refuse } from "@tutti/protocol/refusal.ts";
import { submitBody } from "@tutti/protocol/schema.ts";
import type { z } from "zod";
import type { RequestTurns } from "../fairness/request-scheduler.ts";
import type { ApiRefusal } from "../refusal.ts";
import { beyondLimits, checked, parsed } from "./issues.ts";
import { scanJson } from "./json-scan.ts";
import { submitPieces } from "./submit-body.ts";

/** For all requests except submits. */
const MAX_SMALL_BODY_BYTES = 1024 * 1024;
const LIMITS_OF_SMALL = { depth: 12, entries: 1000 };

/** The body as a value of the schema, or a refusal. Checked in pieces, so that others get their turns. */
export async function readBody<Body>(
  request: Request,
  schema: z.ZodType<Body>,
  turns: RequestTurns,
): Promise<Body | ApiRefusal> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    return {
      refused: "invalid",
      status: 415,
      message: `Cannot read a body of type "${type}": expected application/json`,
    };
  }
  const isSubmit = (schema as z.ZodType) === submitBody;
  const bytes = await readBytes(request, isSubmit ? MAX_SUBMIT_BYTES : MAX_SMALL_BODY_BYTES);
  if (isRefusal(bytes)) return bytes;
  return isSubmit
    ? (turns.through(submitPieces(bytes)) as Promise<Body | ApiRefusal>)
    : turns.through(wholePieces(bytes, schema));
}

/** Parses and checks a small body in one piece. */
function* wholePieces<Body>(
  bytes: Buffer,
  schema: z.ZodType<Body>,
): Generator<undefined, Body | ApiRefusal, void> {
  const scan = yield* scanJson(bytes, LIMITS_OF_SMALL);
  const refusal = beyondLimits(scan.beyond, LIMITS_OF_SMALL);
  if (refusal !== undefined) return refusal;
  const value = parsed(bytes.toString("utf8"));
  return isRefusal(value) ? value : checked(value.json, schema, "the body");
}

/** Query parameters as values of their schemas. Refuses parameters that the route does not know. */
export function readQuery(
  url: URL,
  schemas: Readonly<Record<string, z.ZodType>>,
): Readonly<Record<string, string>> | ApiRefusal {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of url.searchParams) {
    if (!Object.hasOwn(schemas, name)) {
      const known = Object.keys(schemas);
      return refuse(
        "invalid",
        `Cannot use the query parameter "${name}": expected ${known.length === 0 ? "no parameters" : `one of ${known.join(", ")}`}`,
      );
    }
    const result = checked(value, schemas[name], `the query parameter "${name}"`);
    if (isRefusal(result)) return result;
    values[name] = value;
  }
  return values;
}

/** The bytes of a body, or a refusal if there are more than `maxBytes`. */
export async function readBytes(
  request: Request,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer> | ApiRefusal> {
  try {
    return await bytesUpTo(request, maxBytes);
  } catch {
    return refuse("invalid", "Cannot read the body: the connection ended before its end");
  }
}

async function bytesUpTo(request: Request, maxBytes: number): Promise<Buffer<ArrayBuffer> | ApiRefusal> {
  const tooLarge: ApiRefusal = refuse(
    "too-large",
    `Cannot read a body of more than ${maxBytes} bytes; submit in several requests`,
  );
  const stated = request.headers.get("content-length");
  if (stated !== null) {
    if (Number(stated) > maxBytes) return tooLarge;
    // Node's parser enforces the stated length.
    return Buffer.from(await request.arrayBuffer());
  }
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the rest of the body.
  for await (const part of request.body ?? []) {
    bytes += part.byteLength;
    if (bytes > maxBytes) return tooLarge;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
