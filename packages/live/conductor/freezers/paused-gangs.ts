/**
 * Marks the gangs that users have paused, with a file for each that has the time. Nobody but the conductor's
 * matrix continues them: neither the guardian, when the conductor has died, nor the next conductor at its
 * start.
 */

import { unixMs } from "@tutti/host/clock.ts";
import { makeFolder } from "@tutti/host/make-folders.ts";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";

export class PausedGangs {
  /** The guardian looks here. */
  readonly folder: string;
  /** Since when each is paused, in Unix time in ms. */
  #gangs: ReadonlyMap<string, number>;

  /** Begins with the marks of an earlier conductor. */
  constructor(folder: string) {
    this.folder = folder;
    this.#gangs = new Map(marksIn(folder).map((gang) => [gang, timeIn(join(folder, gang))]));
  }

  has(gang: string): boolean {
    return this.#gangs.has(gang);
  }

  /** Undefined: it is not paused. */
  sinceMs(gang: string): number | undefined {
    return this.#gangs.get(gang);
  }

  /** From now on, exactly these gangs are paused. */
  set(gangs: ReadonlySet<string>): void {
    const isSame = gangs.size === this.#gangs.size && [...gangs].every((gang) => this.#gangs.has(gang));
    if (isSame) return;
    const before = this.#gangs;
    this.#gangs = new Map([...gangs].map((gang) => [gang, before.get(gang) ?? unixMs()]));
    this.write();
  }

  /** Also these gangs are paused. */
  add(gangs: ReadonlySet<string>): void {
    this.set(new Set([...this.#gangs.keys(), ...gangs]));
  }

  /** Makes the files agree, also if the folder was removed. */
  write(): void {
    try {
      // Only in the conductor's folder as it is: nobody but its lock makes that folder again (home.ts).
      if (this.#gangs.size > 0) makeFolder(this.folder, 0o700);
      const marks = new Set(marksIn(this.folder));
      for (const [gang, sinceMs] of this.#gangs)
        if (!marks.has(gang)) writeFileSync(join(this.folder, gang), `${Math.trunc(sinceMs)}\n`);
      for (const gang of marks) if (!this.#gangs.has(gang)) rmSync(join(this.folder, gang), { force: true });
    } catch (error) {
      // If the conductor dies before the disk has room, paused gangs run until the next one begins.
      console.error(`Cannot write the marks of paused gangs: ${(error as Error).message}`);
    }
  }
}

/** The mark of an earlier version is empty. */
function timeIn(mark: string): number {
  try {
    return Number(readFileSync(mark, "utf8").trim()) || Math.trunc(statSync(mark).mtimeMs);
  } catch {
    return unixMs();
  }
}

function marksIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
