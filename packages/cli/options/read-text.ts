/** Reads a whole file of a user, or standard input, as text: at most as much as one submit may have. */
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { whyUnreadable } from "@tutti/host/unreadable.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { formatCount } from "@tutti/kernel/core/format.ts";
import { MAX_SUBMIT_BYTES } from "@tutti/protocol/limits.ts";

/** A file, or standard input for `-`, in pieces. */
export function openInput(file: string): AsyncIterable<Buffer> {
  return file === "-" ? process.stdin : createReadStream(file);
}

/** The file as messages name it. */
export function nameOfInput(file: string): string {
  return file === "-" ? "standard input" : `"${file}"`;
}

/**
 * The text without a byte order mark.
 * @param expected what the file should contain, for messages
 * @throws InputError
 */
export async function readText(file: string, expected: string): Promise<{ text: string; what: string }> {
  const what = nameOfInput(file);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of openInput(file)) {
      parts.push(part);
      size += part.length;
      if (size > MAX_SUBMIT_BYTES) break;
    }
  } catch (error) {
    throw new InputError(`Cannot read ${what}: ${whyUnreadable(error)}, ${expected}`);
  }
  if (size > MAX_SUBMIT_BYTES) {
    throw new InputError(
      `Cannot read ${what}: it has more than ${formatCount(MAX_SUBMIT_BYTES)} bytes, which is the most that one submit can have; submit parts of it`,
    );
  }
  const bytes = Buffer.concat(parts);
  if (!isUtf8(bytes)) throw new InputError(`Cannot read ${what}: it is not UTF-8, ${expected}`);
  return { text: bytes.toString("utf8").replace(/^\uFEFF/, ""), what };
}
