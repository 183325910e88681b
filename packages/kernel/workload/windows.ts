/**
 * Turns the windows of a world that have the whole machine into withdrawals: a job that a window does
 * not name is away from its last start, so that it would end by its limit at the window's begin, until the
 * window's end. The live scheduler does the same (daemon/scheduling/windows.ts).
 */
import { InputError } from "../core/errors.ts";
import type { Withdrawal } from "../core/interruptions.ts";
import type { WorkloadEvent } from "../core/workload-events.ts";

/** Of jobs by windows. */
const MOST_WITHDRAWALS = 1_000_000;
const NEVER = Number.POSITIVE_INFINITY;

/** What a window asks of a job, from `fromS` on. */
interface Terms {
  readonly fromS: number;
  /** NEVER: it has no limit. */
  readonly limitS: number;
  readonly user: string | undefined;
  readonly queue: string | undefined;
}

/** The part of a job's line that windows need. */
export interface WindowedJob extends Omit<Terms, "fromS"> {
  readonly arrivalS: number;
}

type WholeWindow = Pick<Extract<WorkloadEvent, { event: "window" }>, "atS" | "fromS" | "users" | "queues"> & {
  /** When it ends, or is removed. */
  readonly endS: number;
};

export class JobsInWindows {
  readonly #first: number;
  readonly #count: number;
  readonly #jobOf: (row: number) => WindowedJob;
  readonly #edits = new Map<number, Terms[]>();

  /** @param first row of the first job that windows concern */
  constructor(first: number, count: number, jobOf: (row: number) => WindowedJob) {
    this.#first = first;
    this.#count = count;
    this.#jobOf = jobOf;
  }

  /** The job in a row has another limit or queue from now on. Edits come in order of time. */
  edit(row: number, fromS: number, change: { readonly limitS?: number; readonly queue?: string }): void {
    const edits = this.#edits.get(row) ?? [];
    const before = edits.at(-1) ?? this.#jobOf(row);
    const { limitS = before.limitS, queue = before.queue } = change;
    edits.push({ fromS, limitS, queue, user: before.user });
    this.#edits.set(row, edits);
  }

  /** @throws InputError if there are too many */
  withdrawals(windows: readonly WholeWindow[]): Withdrawal[] {
    const made: Withdrawal[] = [];
    if (windows.length === 0) return made;
    for (let row = this.#first; row < this.#count; row++) {
      const job = this.#jobOf(row);
      const all: readonly Terms[] = [{ ...job, fromS: 0 }, ...(this.#edits.get(row) ?? [])];
      for (const window of windows) {
        if (job.arrivalS >= window.endS) continue;
        for (const { fromS, untilS } of closedBy(window, all)) made.push({ job: row, fromS, untilS });
        if (made.length > MOST_WITHDRAWALS) {
          throw new InputError(
            `Cannot use ${windows.length} windows with ${this.#count} jobs: expected at most ${MOST_WITHDRAWALS} times at which a window keeps a job from starting; use a shorter part of the file`,
          );
        }
      }
    }
    return made;
  }
}

/** When the window keeps a job from starting that has these terms, in order of time. */
function closedBy({ atS, fromS: beginS, endS, users, queues }: WholeWindow, all: readonly Terms[]) {
  const closed: { fromS: number; untilS: number }[] = [];
  for (const [i, terms] of all.entries()) {
    const { user, queue, limitS } = terms;
    if (user !== undefined && users?.includes(user)) continue;
    if (queue !== undefined && queues?.includes(queue)) continue;
    const fromS = Math.max(atS, beginS - limitS, terms.fromS);
    const untilS = Math.min(endS, all[i + 1]?.fromS ?? NEVER);
    if (fromS >= untilS) continue;
    const last = closed.at(-1);
    if (last?.untilS === fromS) last.untilS = untilS;
    else closed.push({ fromS, untilS });
  }
  return closed;
}
