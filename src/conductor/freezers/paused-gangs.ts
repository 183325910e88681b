/**
 * Marks the gangs that users have paused, with an empty file for each. Nobody but the conductor's matrix
 * continues them: neither the guardian, when the conductor has died, nor the next conductor at its start.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export class PausedGangs {
  /** The guardian looks here. */
  readonly folder: string;
  #gangs: ReadonlySet<string>;

  /** Begins with the marks of an earlier conductor. */
  constructor(folder: string) {
    this.folder = folder;
    this.#gangs = new Set(marksIn(folder));
  }

  has(gang: string): boolean {
    return this.#gangs.has(gang);
  }

  /** From now on, exactly these gangs are paused. */
  set(gangs: ReadonlySet<string>): void {
    const isSame = gangs.size === this.#gangs.size && [...gangs].every((gang) => this.#gangs.has(gang));
    this.#gangs = gangs;
    if (!isSame) this.write();
  }

  /** Also these gangs are paused. */
  add(gangs: ReadonlySet<string>): void {
    this.set(new Set([...this.#gangs, ...gangs]));
  }

  /** Makes the files agree, also if the folder was removed. */
  write(): void {
    try {
      if (this.#gangs.size > 0) mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      const marks = new Set(marksIn(this.folder));
      for (const gang of this.#gangs) if (!marks.has(gang)) writeFileSync(join(this.folder, gang), "");
      for (const gang of marks) if (!this.#gangs.has(gang)) rmSync(join(this.folder, gang), { force: true });
    } catch (error) {
      // If the conductor dies before the disk has room, paused gangs run until the next one begins.
      console.error(`Cannot write the marks of paused gangs: ${(error as Error).message}`);
    }
  }
}

function marksIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
