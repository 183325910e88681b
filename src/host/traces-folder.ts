import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DIST } from "./programs.ts";

/**
 * The folder in which traces are found by name: what the environment variable TUTTI_TRACES says, else `shared/data/swf` beside the
 * checkout. Undefined where neither is a folder.
 */
export function tracesFolder(): string | undefined {
  if (process.env.TUTTI_TRACES !== undefined) return process.env.TUTTI_TRACES;
  const folder = fileURLToPath(new URL("../../shared/data/swf", DIST));
  return existsSync(folder) ? folder : undefined;
}
