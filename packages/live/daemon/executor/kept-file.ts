/**
 * Keeps what the next front end must know about jobs of a batch system, in a file. A job is in the file
 * before it is submitted, so none is forgotten or submitted twice, wherever the front end dies.
 */

import { syncPath } from "@tutti/host/files.ts";
import { makeFolder } from "@tutti/host/make-folders.ts";
import { randomBytes } from "@tutti/host/ports/crypto.ts";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "@tutti/host/ports/fs.ts";
import { dirname } from "@tutti/host/ports/path.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { matching, problemIn, type Shape } from "@tutti/protocol/shape.ts";

/** Random name of a state folder, in the marks of its jobs. */
export const owner = matching("16 hexadecimal digits", /^[0-9a-f]{16}$/);

export function newOwner(): string {
  return randomBytes(8).toString("hex");
}

/** Where the content is kept between front ends; tests keep it in memory. */
export interface KeptStore<Content> {
  /** @returns undefined if nothing is kept yet */
  read(): Content | undefined;
  /** The content is safe when this returns. @throws InputError if the disk refuses it */
  write(content: Content): void;
}

export class KeptFile<Content> implements KeptStore<Content> {
  readonly #path: string;
  readonly #shape: Shape<Content>;
  readonly #jobs: string;

  /**
   * Creates the folder, private, if it is missing.
   * @param jobs where jobs of the folder can be, for people who may remove the file
   */
  constructor(path: string, shape: Shape<Content>, jobs: string) {
    this.#path = path;
    this.#shape = shape;
    this.#jobs = jobs;
    makeFolder(dirname(path), 0o700);
  }

  read(): Content | undefined {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
    const [content, problem] = this.#contentIn(text);
    if (problem === undefined) return content as Content;
    throw new InputError(
      `Cannot read "${this.#path}": it is not a file of this version of Tutti (${problem}); if no job of this folder is ${this.#jobs}, remove the file`,
    );
  }

  #contentIn(text: string): [content: unknown, problem?: string] {
    try {
      const content = JSON.parse(text);
      return [content, problemIn(this.#shape, content)];
    } catch {
      return [undefined, "it is not JSON"];
    }
  }

  write(content: Content): void {
    const text = JSON.stringify(content);
    // A file that the next front end refuses to read would keep it from starting.
    const problem = problemIn(this.#shape, JSON.parse(text));
    if (problem !== undefined) throw new Error(`Broken invariant: ${this.#path} would have${problem}`);
    try {
      this.#write(`${text}\n`);
    } catch (error) {
      throw new InputError(
        `Cannot write "${this.#path}": ${(error as Error).message}; no job is submitted before it is in this file`,
      );
    }
  }

  #write(text: string): void {
    const whole = `${this.#path}.new`;
    const descriptor = openSync(whole, "w", 0o600);
    try {
      writeSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(whole, this.#path);
    syncPath(dirname(this.#path));
  }
}
