/** Checks whether there is room for new jobs: in the scheduler, in its store, and in the user's share. */
import { type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { endBytes } from "../book/holdings.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import { jobCount, retainedBytesOf, type Submission } from "../contract/submission.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { Content } from "../store/contents.ts";
import { NEW_JOB_BYTES } from "../store/ledger.ts";
import type { Store } from "../store/store.ts";

/** Environment and script of a job. */
export interface Needs {
  readonly environment: Content;
  readonly script: Content | undefined;
}

/**
 * A user may have a quarter of each room (jobs that have not ended, bytes in the store), and no more than all
 * users leave free. So those who have most are refused first, and newcomers find room. An eighth is kept
 * for administrators.
 */
const MAX_SHARE = 0.25;
const FOR_USERS = 0.875;
/** For the memory that a user's live jobs take. */
const MAX_BYTES_OF_USER = 2 ** 27;

export function needsOf({ env, script }: SubmitJob, { contents }: Store): Needs {
  return {
    environment: contents.ofEnvironment(env),
    script: script === undefined ? undefined : contents.ofScript(script.base64),
  };
}

/** Whether a user who has `own` of a room, of which all have `used`, may have `more` of it. */
function hasRoom(room: number, used: number, own: number, more: number): boolean {
  return own + more <= Math.min(MAX_SHARE * room, FOR_USERS * room - used - more);
}

/** Bytes in the store that a user may have. */
export function storeShare({ maxStoreBytes }: Pick<FrontEndParts, "maxStoreBytes">): number {
  return Math.floor(MAX_SHARE * maxStoreBytes);
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
  const { book, store, maxJobs, maxStoreBytes } = context;
  const held = book.holdings.of(caller.uid);
  const count = jobCount(batch);
  if (!hasRoom(maxJobs, book.liveCount, held.jobs, count)) {
    return refuse(
      "full",
      `Cannot accept ${count} jobs: ${held.jobs} of your jobs have not ended yet, and the scheduler accepts at most ${Math.floor(maxJobs * MAX_SHARE)} from each user, and fewer while others have many; try again when some have ended`,
    );
  }
  const ofContents = newBytes(context, caller, needs);
  const ofJobs = batch.reduce((sum, submission) => sum + retainedBytesOf(submission), 0);
  const bytes = held.bytes + ofContents + ofJobs;
  if (bytes > MAX_BYTES_OF_USER) {
    return refuse(
      "full",
      `Cannot accept ${count} jobs: with them, your jobs that have not ended would have ${bytes} bytes of commands, paths, environments and scripts, expected at most ${MAX_BYTES_OF_USER} (an environment or script that several jobs share counts once); put data into files, or try again when some jobs have ended`,
    );
  }
  const own = book.storeBytesOf(caller.uid);
  const more = ofContents + ofJobs + batch.reduce((sum, submission) => sum + rowBytes(submission), 0);
  if (hasRoom(maxStoreBytes, store.usedBytes(), own, more)) return undefined;
  return refuse(
    "full",
    `Cannot accept ${count} jobs: ${storeText(context, caller.uid)}, and less while others have much, and these jobs need ${more} more; the scheduler forgets the jobs that ended first: try again in some minutes`,
  );
}

/**
 * A refusal if a user's jobs have their share of the store, so that nothing may be changed that adds to the
 * history.
 */
export function refuseMoreHistory(
  context: FrontEndParts,
  { isAdministrator }: Caller,
  { job, uid }: Pick<JobRecord, "job" | "uid">,
): Refusal | undefined {
  if (isAdministrator || context.book.storeBytesOf(uid) <= storeShare(context)) return undefined;
  return refuse(
    "full",
    `Cannot change job ${job}: ${storeText(context, uid)}; the scheduler forgets the jobs that ended first: try again in some minutes`,
  );
}

function storeText(context: FrontEndParts, uid: number): string {
  return `your jobs with their events and hooks have ${context.book.storeBytesOf(uid)} bytes in the scheduler's store, expected at most ${storeShare(context)} of each user`;
}

/** Bytes in the store that the jobs of a submission will have besides their texts, until they have ended. */
function rowBytes({ request, indices }: Submission): number {
  return indices.length * (NEW_JOB_BYTES + endBytes(request));
}

/** Bytes of environments and scripts that no job of the user has yet. */
function newBytes({ book, store }: FrontEndParts, { uid }: Caller, needs: readonly Needs[]): number {
  const seen = new Set<string>();
  let bytes = 0;
  const count = (content: Content): void => {
    if (seen.has(content.name)) return;
    seen.add(content.name);
    const id = store.contents.find(content);
    if (id === undefined || !book.holdings.has(uid, store.contents.stored(content.table, id)))
      bytes += content.bytes;
  };
  for (const { environment, script } of needs) {
    count(environment);
    if (script !== undefined) count(script);
  }
  return bytes;
}
