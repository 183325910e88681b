import { existsSync } from "./ports/fs.ts";
import { fileURLToPath } from "./ports/url.ts";
import { DIST } from "./programs.ts";

/**
 * The folder in which traces are found by name: TUTTI_TRACES if it is set, else `shared/data/swf` in the
 * checkout if that exists, else undefined.
 */
export function tracesFolder(): string | undefined {
  if (process.env.TUTTI_TRACES !== undefined) return process.env.TUTTI_TRACES;
  const folder = fileURLToPath(new URL("../../shared/data/swf", DIST));
  return existsSync(folder) ? folder : undefined;
}
