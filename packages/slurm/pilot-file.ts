/** What the next front end must know about pilots: STATE/slurm/pilot.json. */

import { type KeptStore, newOwner, owner } from "@tutti/live/daemon/executor/kept-file.ts";
import {
  list,
  number,
  object,
  oneOf,
  optional,
  record,
  refined,
  type TypeOf,
  text,
  whole,
} from "@tutti/protocol/shape.ts";
import { SlurmError } from "./commands.ts";

const storedPilot = object({
  /** Comment of the job in Slurm; see `markOf`. A job without it is not ours, whatever its id. */
  mark: text,
  /** Left out: no answer of sbatch has arrived. */
  jobId: optional(text),
  /** Its nodes were handed out. */
  hasBegun: optional(oneOf(true)),
  /** Nodes on which jobs have lost attempts, with these jobs, which must not run there again. */
  lostJobs: optional(record(list(whole()))),
  /** We have decided to cancel it, so its end is no surprise. */
  isGivenUp: optional(oneOf(true)),
});
export type StoredPilot = TypeOf<typeof storedPilot>;

export const pilotContent = object({
  schema: oneOf("tutti.pilot/1"),
  owner,
  /** Number of the last pilot. */
  counter: whole(),
  /** Pilots submitted since somebody asked for pilots. */
  submitted: whole(),
  /** The most processors that a pilot can have, as far as known. */
  mostProcessors: optional(whole(1)),
  /** When somebody last asked for pilots, monotonic. */
  askedMs: optional(number),
  /** Why no pilot is submitted until somebody asks for one. */
  halted: optional(text),
  /** The one in use first; the one that follows it second. */
  pilots: refined(list(storedPilot), ({ length }) => (length > 2 ? " is longer than 2" : undefined)),
});
export type PilotContent = TypeOf<typeof pilotContent>;

const MARK = /^tutti:[0-9a-f]{16}:\d+$/;

/** Comment of a pilot: the owner's name, and the number of the pilot. */
export function markOf({ owner, counter }: Pick<PilotContent, "owner" | "counter">): string {
  return `tutti:${owner}:${counter}`;
}

/** Whether a comment is that of a pilot of any owner. */
export function isMark(comment: string): boolean {
  return MARK.test(comment);
}

export function newContent(): PilotContent {
  return {
    schema: "tutti.pilot/1",
    owner: newOwner(),
    counter: 0,
    submitted: 0,
    pilots: [],
  };
}

/** What the file keeps of a pilot. */
export function storedOf({ mark, jobId, hasBegun, lostJobs, isGivenUp }: StoredPilot): StoredPilot {
  return { mark, jobId, ...(hasBegun && { hasBegun }), lostJobs, ...(isGivenUp && { isGivenUp }) };
}

/** Keeps what the store refuses, until it takes it. */
export class PatientStore {
  readonly #store: KeptStore<PilotContent>;
  #refused: PilotContent | undefined;

  constructor(store: KeptStore<PilotContent>) {
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
