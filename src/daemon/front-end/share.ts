/** Checks whether there is room for new jobs: in the scheduler, in its store, and in the user's share. */
import { type Refusal, refuse } from "../../protocol/refusal.ts";
import type { SubmitJob } from "../../protocol/schema.ts";
import type { Caller } from "../contract/service.ts";
import { jobCount, retainedBytesOf, type Submission } from "../contract/submission.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { Content } from "../store/contents.ts";
import type { Store } from "../store/store.ts";

/** Environment and script of a job. */
export interface Needs {
  readonly environment: Content;
  readonly script: Content | undefined;
}

/** Share of the maximum number of live jobs that one user may have. */
const MAX_SHARE = 0.25;
const MAX_BYTES_OF_USER = 2 ** 27;

export function needsOf({ env, script }: SubmitJob, { contents }: Store): Needs {
  return {
    environment: contents.ofEnvironment(env),
    script: script === undefined ? undefined : contents.ofScript(script.base64),
  };
}

/** A refusal if the scheduler or its store is full; applies to administrators, too. */
export function refuseWhenFull(
  { book, store, maxJobs, maxStoreBytes }: FrontEndParts,
  count: number,
): Refusal | undefined {
  if (book.liveCount + count > maxJobs) {
    return refuse(
      "full",
      `Cannot accept ${count} jobs: ${book.liveCount} jobs have not ended yet, and the scheduler accepts at most ${maxJobs}; try again when some have ended`,
    );
  }
  const usedBytes = store.usedBytes();
  if (usedBytes <= maxStoreBytes) return undefined;
  return refuse(
    "full",
    `Cannot accept ${count} jobs: the scheduler's store has ${usedBytes} bytes on disk, expected at most ${maxStoreBytes}; try again when some jobs have ended, or ask the administrator to keep less (keepDays, keepJobs)`,
  );
}

/** A refusal if the user would exceed their share; administrators have no limit. */
export function refuseOverShare(
  context: FrontEndParts,
  caller: Caller,
  batch: readonly Submission[],
  needs: readonly Needs[],
): Refusal | undefined {
  if (caller.isAdministrator) return undefined;
  const { book, maxJobs } = context;
  const share = Math.floor(maxJobs * MAX_SHARE);
  const held = book.holdings.of(caller.uid);
  const count = jobCount(batch);
  if (held.jobs + count > share) {
    return refuse(
      "full",
      `Cannot accept ${count} jobs: ${held.jobs} of your jobs have not ended yet, and the scheduler accepts at most ${share} from each user; try again when some have ended`,
    );
  }
  let bytes = held.bytes + newBytes(context, caller, needs);
  for (const submission of batch) bytes += retainedBytesOf(submission);
  if (bytes <= MAX_BYTES_OF_USER) return undefined;
  return refuse(
    "full",
    `Cannot accept ${count} jobs: with them, your jobs that have not ended would have ${bytes} bytes of commands, paths, environments and scripts, expected at most ${MAX_BYTES_OF_USER} (an environment or script that several jobs share counts once); put data into files, or try again when some jobs have ended`,
  );
}

/** Bytes of environments and scripts that no job of the user has yet. */
function newBytes({ book, store }: FrontEndParts, { uid }: Caller, needs: readonly Needs[]): number {
  const seen = new Set<string>();
  let bytes = 0;
  const count = (content: Content): void => {
    if (seen.has(content.name)) return;
    seen.add(content.name);
    const id = store.contents.find(content);
    if (id === undefined || !book.holdings.has(uid, { table: content.table, id })) bytes += content.bytes;
  };
  for (const { environment, script } of needs) {
    count(environment);
    if (script !== undefined) count(script);
  }
  return bytes;
}
