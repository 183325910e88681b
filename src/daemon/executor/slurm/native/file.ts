/**
 * Keeps what the next front end must know about jobs of Slurm that are attempts, in
 * STATE/slurm/native.json. An attempt is in the file before it is submitted, so none is forgotten or
 * submitted twice.
 */
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { InputError } from "../../../../core/errors.ts";
import { makeFolder } from "../../../../host/make-folders.ts";

const attemptSchema = z.object({
  job: z.int(),
  attempt: z.int(),
  identity: z.string().optional(),
  folder: z.string(),
  cwd: z.string(),
  command: z.array(z.string()),
  graceMs: z.number(),
  limitMs: z.number().optional(),
  /** Id of its job in Slurm; left out: no answer of sbatch has arrived. */
  id: z.string().optional(),
  /** Unix time in ms at which Slurm was asked to start it. */
  releasedAtMs: z.number().optional(),
  /** Unix time in ms of its start. */
  startedAtMs: z.number().optional(),
  /** Why Tutti ends it, noted before the signal is sent. */
  endReason: z.enum(["none", "cancelled", "time-limit", "memory-limit", "shutdown", "requeued"]).optional(),
});
const contentSchema = z.object({
  schema: z.literal("tutti.native/1"),
  /** Random name of this state folder. */
  owner: z.string().regex(/^[0-9a-f]{16}$/),
  attempts: z.array(attemptSchema),
});

export type StoredAttempt = z.infer<typeof attemptSchema>;
type NativeContent = z.infer<typeof contentSchema>;

/** Where the content is kept between front ends; tests keep it in memory. */
export interface NativeStore {
  read(): NativeContent;
  /** The content is safe when this returns. */
  write(content: NativeContent): void;
}

function newNativeContent(): NativeContent {
  return { schema: "tutti.native/1", owner: randomBytes(8).toString("hex"), attempts: [] };
}

export class NativeFile implements NativeStore {
  readonly #path: string;

  /** Creates the folder, private, if it is missing. */
  constructor(path: string) {
    this.#path = path;
    makeFolder(dirname(path), 0o700);
  }

  read(): NativeContent {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      const content = newNativeContent();
      this.write(content);
      return content;
    }
    try {
      return contentSchema.parse(JSON.parse(text));
    } catch {
      throw new InputError(
        `Cannot read "${this.#path}": it is not a file of this version of Tutti; if no job of this folder is in Slurm (squeue --me shows a comment that begins with tutti:), remove the file`,
      );
    }
  }

  write(content: NativeContent): void {
    const whole = `${this.#path}.new`;
    const descriptor = openSync(whole, "w", 0o600);
    try {
      writeSync(descriptor, `${JSON.stringify(content)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(whole, this.#path);
  }
}
