/**
 * The key by which the conductors of a pilot know each other: a private file next to that of pilots, on the
 * home folder that the nodes share. srun gives its content to the keepers.
 */
import { randomBytes } from "@tutti/host/ports/crypto.ts";
import { readdirSync, rmSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";

const SUFFIX = ".key";

export function keyFileOf(folder: string, pilot: string): string {
  return join(folder, pilot + SUFFIX);
}

/**
 * Makes a key for a pilot, unless it has one: the answer of an earlier sbatch may have been lost.
 * @param inUse pilots whose keys are kept
 */
export function makeKey(folder: string, pilot: string, inUse: readonly string[]): string {
  for (const file of readdirSync(folder)) {
    const isOld = file.endsWith(SUFFIX) && ![...inUse, pilot].includes(file.slice(0, -SUFFIX.length));
    if (isOld) rmSync(join(folder, file), { force: true });
  }
  const path = keyFileOf(folder, pilot);
  try {
    writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return path;
}
