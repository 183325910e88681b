/**
 * Counts ended jobs, which are stored only on disk: their number by user and state, and their size. Jobs that
 * were cancelled before their first start are counted separately.
 */
import { isEnded, type JobState } from "@tutti/protocol/states.ts";
import type { EndedJob, JobCount } from "../store/kept.ts";
import { aboveFairShare } from "./fair-share.ts";

/** Number of jobs that were started, number of jobs that were not, and the size of both together. */
interface Amounts {
  started: number;
  neverStarted: number;
  bytes: number;
}

interface OfUser extends Amounts {
  readonly states: Partial<Record<JobState, number>>;
}

/** A user's excess over the fair share: a number of jobs, or jobs with a total size. */
interface Surplus {
  readonly uid: number;
  /**
   * Which jobs: those that were started or those that never were; undefined: both, the never started ones
   * first.
   */
  readonly wasStarted: boolean | undefined;
  readonly jobs: number;
  readonly bytes: number;
}

/**
 * Share of the room that is reserved for jobs that were never started; above it, they may not displace
 * others.
 */
const NEVER_STARTED_SHARE = 0.1;

export class EndedJobs {
  readonly #users = new Map<number, OfUser>();
  readonly #all: Amounts = { started: 0, neverStarted: 0, bytes: 0 };

  constructor(counts: readonly JobCount[]) {
    for (const count of counts) if (isEnded(count.state)) this.#change(count, count.jobs, count.bytes);
  }

  /** Number of a user's jobs in a state. */
  inState(uid: number, state: JobState): number {
    return this.#users.get(uid)?.states[state] ?? 0;
  }

  add(job: Omit<EndedJob, "job" | "endedAtMs">): void {
    this.#change(job, 1, job.bytes);
  }

  remove(job: Omit<EndedJob, "job" | "endedAtMs">): void {
    this.#change(job, -1, -job.bytes);
  }

  /** The users with more than the fair share of the room, and their excess; empty while all jobs fit. */
  surpluses(roomJobs: number, roomBytes: number): Surplus[] {
    const surpluses: Surplus[] = [];
    const { started, neverStarted, bytes } = this.#all;
    if (started + neverStarted > roomJobs) {
      const reserved = Math.floor(NEVER_STARTED_SHARE * roomJobs);
      const rooms = {
        neverStarted: Math.max(roomJobs - started, reserved),
        started: roomJobs - Math.min(neverStarted, reserved),
      };
      for (const kind of ["neverStarted", "started"] as const) {
        for (const [uid, jobs] of this.#above(rooms[kind], kind)) {
          surpluses.push({ uid, wasStarted: kind === "started", jobs, bytes: 0 });
        }
      }
    }
    // Forgetting jobs may already free enough bytes.
    if (surpluses.length > 0 || bytes <= roomBytes) return surpluses;
    return this.#above(roomBytes, "bytes").map(([uid, above]) => ({
      uid,
      wasStarted: undefined,
      jobs: 0,
      bytes: above,
    }));
  }

  #above(room: number, kind: keyof Amounts): [uid: number, above: number][] {
    const amounts = [...this.#users].map(([uid, user]) => [uid, user[kind]] as const);
    return aboveFairShare(amounts, room);
  }

  #change(
    { uid, state, wasStarted }: Pick<EndedJob, "uid" | "state" | "wasStarted">,
    jobs: number,
    bytes: number,
  ): void {
    const user = this.#users.get(uid) ?? { states: {}, started: 0, neverStarted: 0, bytes: 0 };
    user.states[state] = (user.states[state] ?? 0) + jobs;
    for (const amounts of [user, this.#all]) {
      amounts.bytes += bytes;
      amounts[wasStarted ? "started" : "neverStarted"] += jobs;
    }
    if (user.started + user.neverStarted === 0) this.#users.delete(uid);
    else this.#users.set(uid, user);
  }
}
