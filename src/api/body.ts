/** Reading a request's body: bounded in bytes and in depth before it is parsed, checked against its schema after. */
import type { z } from "zod";
import type { Turns } from "./fair-gate.ts";
import type { ApiRefusal } from "./refusal.ts";
import { isRefusal } from "./refusal.ts";

export const LARGEST_BODY_BYTES = 16 * 1024 * 1024;
const DEEPEST = 12;
const MOST_ISSUES = 3;

/** The body as a value of the schema, or why not. */
export async function readBody<Body>(
  request: Request,
  schema: z.ZodType<Body>,
  turns: Turns,
): Promise<Body | ApiRefusal> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    return {
      refused: "invalid",
      status: 415,
      message: `Cannot read a body of type "${type}", expected application/json`,
    };
  }
  let text: string | ApiRefusal;
  try {
    text = await readText(request);
  } catch {
    return { refused: "invalid", message: "Cannot read the body: the connection ended before it did" };
  }
  if (isRefusal(text)) return text;
  return turns.run(() => parsed(text, schema));
}

function parsed<Body>(text: string, schema: z.ZodType<Body>): Body | ApiRefusal {
  if (depthOf(text) > DEEPEST) {
    return {
      refused: "invalid",
      message: `Cannot read the body: it is nested deeper than ${DEEPEST} levels`,
    };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return {
      refused: "invalid",
      message: `Cannot read the body: it is not JSON (${(error as Error).message})`,
    };
  }
  return checked(value, schema, "the body");
}

/** Query parameters as values of their schemas, or why not; one that the route does not know is refused. */
export function readQuery(
  url: URL,
  schemas: Readonly<Record<string, z.ZodType>>,
): Readonly<Record<string, string>> | ApiRefusal {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of url.searchParams) {
    if (!Object.hasOwn(schemas, name)) {
      const known = Object.keys(schemas);
      return {
        refused: "invalid",
        message: `Cannot use the query parameter "${name}": expected ${known.length === 0 ? "none" : `one of ${known.join(", ")}`}`,
      };
    }
    const result = checked(value, schemas[name]!, `the query parameter "${name}"`);
    if (isRefusal(result)) return result;
    values[name] = value;
  }
  return values;
}

function checked<Value>(value: unknown, schema: z.ZodType<Value>, what: string): Value | ApiRefusal {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const words = result.error.issues.slice(0, MOST_ISSUES).map((issue) => {
    const { path } = issue;
    // What is wrong with a key stands one level deeper.
    const message =
      issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    const place = path
      .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
      .join("")
      .replace(/^\./, "");
    return place === "" ? message : `${place}: ${message}`;
  });
  const more = result.error.issues.length - words.length;
  return {
    refused: "invalid",
    message: `Cannot use ${what}: ${words.join("; ")}${more > 0 ? `; and ${more} more` : ""}`,
  };
}

async function readText(request: Request): Promise<string | ApiRefusal> {
  const tooLarge: ApiRefusal = {
    refused: "too-large",
    message: `Cannot read a body of more than ${LARGEST_BODY_BYTES} bytes; submit in several requests`,
  };
  const stated = request.headers.get("content-length");
  if (stated !== null) {
    if (Number(stated) > LARGEST_BODY_BYTES) return tooLarge;
    // Node's parser ends the body there.
    return request.text();
  }
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const reader = request.body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > LARGEST_BODY_BYTES) {
      await reader.cancel();
      return tooLarge;
    }
    parts.push(value);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Levels of brackets outside strings: an upper bound of the depth of the value, found without parsing. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      i = endOfString(text, i);
      if (i < 0) return deepest;
    } else if (code === 0x5b || code === 0x7b) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return deepest;
}

/** Place of the quote that ends the string which begins at `start`, or −1. */
function endOfString(text: string, start: number): number {
  for (let i = text.indexOf('"', start + 1); i >= 0; i = text.indexOf('"', i + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(i - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return i;
  }
  return -1;
}
