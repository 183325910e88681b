import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The folder in which traces are found by name: what the environment variable TUTTI_TRACES says, else `shared/data/swf` beside the
 * checkout. Undefined where neither is a folder.
 */
export function tracesFolder(): string | undefined {
  if (process.env.TUTTI_TRACES !== undefined) return process.env.TUTTI_TRACES;
  // From the sources the checkout is two folders up, from a bundle one.
  const checkout = import.meta.url.endsWith(".ts") ? "../../" : "../";
  const folder = fileURLToPath(new URL(`${checkout}../shared/data/swf`, import.meta.url));
  return existsSync(folder) ? folder : undefined;
}
