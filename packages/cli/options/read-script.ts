/** Reads the file of a job script, which is copied at the submit. */

import { readFileSync, statSync } from "node:fs";
import { whyUnreadable } from "@tutti/host/unreadable.ts";
import { MAX_SCRIPT_BYTES } from "@tutti/protocol/limits.ts";
import { UsageError } from "../errors.ts";

/** @throws UsageError if it cannot be a script */
export function readScript(verb: string, path: string): Buffer {
  const refusal = (why: string) =>
    new UsageError(
      `Cannot ${verb} "${path}": ${why}, expected a script; to run a command, write tutti ${verb} -- ${path}`,
    );
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw refusal(`it is ${stats.isDirectory() ? "a folder" : "not an ordinary file"}`);
    const content = stats.size > MAX_SCRIPT_BYTES ? undefined : readFileSync(path);
    if (content === undefined || content.length > MAX_SCRIPT_BYTES) {
      throw new UsageError(
        `Cannot ${verb} "${path}": it has ${content?.length ?? stats.size} bytes, expected a script of at most ${MAX_SCRIPT_BYTES} bytes; move its data to another file, or write tutti ${verb} -- ${path}, which copies nothing`,
      );
    }
    if (content.length === 0) throw refusal("it is empty");
    if (content.subarray(0, 4096).includes(0)) throw refusal("it is a binary program");
    return content;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw refusal(whyUnreadable(error));
  }
}
