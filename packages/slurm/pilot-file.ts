/** What the next front end must know about pilots: STATE/slurm/pilot.json. */

import { type KeptStore, newOwner, owner } from "@tutti/live/daemon/executor/kept-file.ts";
import {
  list,
  number,
  object,
  oneOf,
  optional,
  record,
  type TypeOf,
  text,
  whole,
} from "@tutti/protocol/shape.ts";
import { SlurmError } from "./commands.ts";
import type { KindSize } from "./node-kinds.ts";
import type { PilotKind } from "./slurm-options.ts";

const storedPilot = object({
  /** Comment of the job in Slurm; see `markOf`. A job without it is not ours, whatever its id. */
  mark: text,
  /** Left out: no answer of sbatch has arrived. */
  jobId: optional(text),
  /** What was asked for: the name of its kind, nodes, and time limit in ms. Left out: not known. */
  kind: optional(text),
  nodes: optional(whole(1)),
  timeMs: optional(whole(1)),
  /** What it has used, as far as known: time that it has run, and time of nodes without a gang, in ms. */
  ranMs: optional(whole()),
  idleNodeMs: optional(whole()),
  /** Nodes without a gang at that time. */
  idleNodes: optional(whole()),
  /** Its nodes were handed out. */
  hasBegun: optional(oneOf(true)),
  /** Nodes on which jobs have lost attempts, with these jobs, which must not run there again. */
  lostJobs: optional(record(list(whole()))),
  /** We have decided to cancel it, so its end is no surprise. */
  isGivenUp: optional(oneOf(true)),
});
export type StoredPilot = TypeOf<typeof storedPilot>;

const bill = object({ askedNodeMs: whole(), usedNodeMs: whole(), idleNodeMs: whole() });

const kindSize = object({
  cpus: object({ min: whole(1), max: whole(1) }),
  memoryMib: optional(whole(1)),
  mostMemoryMib: optional(whole(1)),
  mostProcessors: whole(1),
});

export const pilotContent = object({
  schema: oneOf("tutti.pilot/1"),
  owner,
  /** Number of the last pilot. */
  counter: whole(),
  /** Pilots submitted since somebody asked for pilots. */
  submitted: whole(),
  /** What the kinds of pilots can have, as far as known. */
  sizes: optional(record(kindSize)),
  /** Node time of all pilots that have ended, and of those that did since somebody asked for pilots. */
  bill: optional(bill),
  usedSinceAskedMs: optional(whole()),
  /** When somebody last asked for pilots, monotonic. */
  askedMs: optional(number),
  /** Why no pilot is submitted until somebody asks for one. */
  halted: optional(text),
  /** In the order in which they were submitted. */
  pilots: list(storedPilot),
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
export function storedOf(pilot: StoredPilot): StoredPilot {
  const { mark, jobId, kind, nodes, timeMs, ranMs, idleNodeMs, idleNodes } = pilot;
  const { hasBegun, lostJobs, isGivenUp } = pilot;
  return {
    ...{ mark, jobId, kind, nodes, timeMs, idleNodes, lostJobs },
    ...(ranMs !== undefined && { ranMs: Math.round(ranMs) }),
    ...(idleNodeMs !== undefined && { idleNodeMs: Math.round(idleNodeMs) }),
    ...(hasBegun && { hasBegun }),
    ...(isGivenUp && { isGivenUp }),
  };
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
 * Asks what the kinds of pilots can have. Without an answer, that of an earlier front end counts; and while
 * there are pilots, their gangs go on, whatever the next pilot can have.
 * @throws InputError if Slurm refuses, or has never answered for these kinds
 */
export async function learnSizes(
  content: PilotContent,
  kinds: readonly Pick<PilotKind, "name">[],
  ask: () => Promise<Record<string, KindSize>>,
): Promise<Readonly<Record<string, KindSize>>> {
  try {
    content.sizes = await ask();
  } catch (error) {
    const mayGoOn = error instanceof SlurmError || content.pilots.length > 0;
    if (!mayGoOn || !kinds.every(({ name }) => content.sizes?.[name] !== undefined)) throw error;
  }
  return content.sizes!;
}
