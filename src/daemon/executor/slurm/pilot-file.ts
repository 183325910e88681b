/**
 * Keeps what the next front end must know about pilots in STATE/slurm/pilot.json. A pilot is in the file
 * before it is submitted, so none is forgotten or submitted twice, wherever the front end dies.
 */
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { InputError } from "../../../core/errors.ts";
import { syncPath } from "../../../host/files.ts";
import { makeFolder } from "../../../host/make-folders.ts";
import { SlurmError } from "./commands.ts";

const pilotSchema = z.object({
  /** Comment of the job in Slurm; see `markOf`. A job without it is not ours, whatever its id. */
  mark: z.string(),
  /** Left out: no answer of sbatch has arrived. */
  jobId: z.string().optional(),
  /** Its nodes were handed out. */
  hasBegun: z.literal(true).optional(),
  /** Nodes on which jobs have lost attempts, with these jobs, which must not run there again. */
  lostJobs: z.record(z.string(), z.array(z.int())).optional(),
  /** We have decided to cancel it, so its end is no surprise. */
  isGivenUp: z.literal(true).optional(),
});

const contentSchema = z.object({
  schema: z.literal("tutti.pilot/1"),
  /** Random name of this state folder. */
  owner: z.string().regex(/^[0-9a-f]{16}$/),
  /** Number of the last pilot. */
  counter: z.int().min(0),
  /** Pilots submitted since somebody asked for pilots. */
  submitted: z.int().min(0),
  /** The most processors that a pilot can have, as far as known. */
  mostProcessors: z.int().min(1).optional(),
  /** When somebody last asked for pilots, monotonic. */
  askedMs: z.number().optional(),
  /** Why no pilot is submitted until somebody asks for one. */
  halted: z.string().optional(),
  /** The one in use first; the one that follows it second. */
  pilots: z.array(pilotSchema).max(2),
});

export type StoredPilot = z.infer<typeof pilotSchema>;
export type PilotContent = z.infer<typeof contentSchema>;

const MARK = /^tutti:[0-9a-f]{16}:\d+$/;

/** Comment of a pilot: the owner's name, and the number of the pilot. */
export function markOf({ owner, counter }: Pick<PilotContent, "owner" | "counter">): string {
  return `tutti:${owner}:${counter}`;
}

/** Whether a comment is that of a pilot of any owner. */
export function isMark(comment: string): boolean {
  return MARK.test(comment);
}

/** Where the content is kept between front ends; tests keep it in memory. */
export interface PilotStore {
  read(): PilotContent | undefined;
  /** The content is safe when this returns. @throws InputError if the disk refuses it */
  write(content: PilotContent): void;
}

export function newContent(): PilotContent {
  return {
    schema: "tutti.pilot/1",
    owner: randomBytes(8).toString("hex"),
    counter: 0,
    submitted: 0,
    pilots: [],
  };
}

/** What the file keeps of a pilot. */
export function storedOf({ mark, jobId, hasBegun, lostJobs, isGivenUp }: StoredPilot): StoredPilot {
  return { mark, jobId, ...(hasBegun && { hasBegun }), lostJobs, ...(isGivenUp && { isGivenUp }) };
}

export class PilotFile implements PilotStore {
  readonly #path: string;

  /** Creates the folder, private, if it is missing. */
  constructor(path: string) {
    this.#path = path;
    makeFolder(dirname(path), 0o700);
  }

  read(): PilotContent | undefined {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
    const parsed = contentSchema.safeParse(jsonIn(text));
    if (parsed.success) return parsed.data;
    throw new InputError(
      `Cannot read "${this.#path}": it is not a file of pilots of this version of Tutti; if no pilot of this folder runs (squeue --me shows a comment that begins with tutti:), remove the file`,
    );
  }

  write(content: PilotContent): void {
    try {
      this.#write(content);
    } catch (error) {
      throw new InputError(
        `Cannot write "${this.#path}": ${(error as Error).message}; no pilot is submitted before it is in this file`,
      );
    }
  }

  #write(content: PilotContent): void {
    const whole = `${this.#path}.new`;
    const descriptor = openSync(whole, "w", 0o600);
    try {
      writeSync(descriptor, `${JSON.stringify(content, null, 2)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(whole, this.#path);
    syncPath(dirname(this.#path));
  }
}

/** Keeps what the store refuses, until it takes it. */
export class PatientStore {
  readonly #store: PilotStore;
  #refused: PilotContent | undefined;

  constructor(store: PilotStore) {
    this.#store = store;
  }

  save(content: PilotContent): void {
    this.#refused = content;
    try {
      this.retry();
    } catch {
      // Those who need it on the disk call retry.
    }
  }

  /** @throws InputError if the store still refuses what was saved last */
  retry(): void {
    if (this.#refused !== undefined) this.#store.write(this.#refused);
    this.#refused = undefined;
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Asks how many processors a pilot can have at most. Without an answer, that of an earlier front end counts;
 * and while there are pilots, their gangs go on, whatever the next pilot can have.
 * @throws InputError if Slurm refuses, or has never answered
 */
export async function learnSize(content: PilotContent, ask: () => Promise<number>): Promise<void> {
  try {
    content.mostProcessors = await ask();
  } catch (error) {
    const mayGoOn = error instanceof SlurmError || content.pilots.length > 0;
    if (!mayGoOn || content.mostProcessors === undefined) throw error;
  }
}
