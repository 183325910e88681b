/**
 * How long gangs ran between the last save of a conductor and the beginning of the next one. When a
 * conductor has ended, its guardian continues all gangs that are not paused, so from then on they ran all the
 * time. Until then they took turns, or stood if the conductor hung.
 */
import { monotonicMs, unixMs } from "@tutti/host/clock.ts";
import { bootId } from "@tutti/host/processes.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import type { ConductorMatrix } from "@tutti/protocol/conductor.ts";

/** While it has gangs, a conductor saves its state this often. */
export const SAVE_MS = 1000;
/** After a save, a conductor may hang until its guardian continues all gangs, which takes 5 s. */
const HANG_MS = SAVE_MS + 5000;

/** What a saved state says about the time in which no conductor was there. */
export interface LastSeen {
  readonly bootId: string;
  /** Left out by earlier versions. */
  readonly savedAt?: { readonly monotonicMs: number; readonly unixMs: number };
  readonly matrix: Pick<ConductorMatrix, "rows">;
  /** Gangs that the next conductor found stopped: the guardian was killed, too. Not in the file. */
  readonly stood?: ReadonlySet<string>;
}

export function savedNow(): NonNullable<LastSeen["savedAt"]> {
  return { monotonicMs: monotonicMs(), unixMs: unixMs() };
}

/**
 * Running time in ms of a gang that had begun, was not paused and was not about to end. For one that still
 * runs, only what is certain, so that no limit comes early. 0 if an earlier version has saved the state.
 * @param endedAtMs when it ended, in Unix time in ms; undefined: it still runs
 */
export function ranUnseenMs(
  { savedAt, bootId: boot, matrix, stood }: LastSeen,
  gang: { readonly name: string; readonly kept: boolean },
  endedAtMs?: number,
): number {
  // What ended by a reboot left no time of its end.
  if (savedAt === undefined || (boot !== bootId() && endedAtMs === undefined)) return 0;
  if (endedAtMs === undefined && stood?.has(gang.name)) return 0;
  const untilNowMs = boot === bootId() ? monotonicMs() - savedAt.monotonicMs : Number.POSITIVE_INFINITY;
  const untilEndMs = endedAtMs === undefined ? untilNowMs : Math.min(untilNowMs, endedAtMs - savedAt.unixMs);
  const turnsMs = endedAtMs === undefined ? HANG_MS : SAVE_MS;
  const share = shareOf(matrix, gang);
  const sureShare = endedAtMs === undefined && share < 1 ? 0 : share;
  return Math.min(turnsMs, Math.max(0, untilEndMs)) * sureShare + Math.max(0, untilEndMs - turnsMs);
}

/** Share of the slots in which the gang runs. */
function shareOf({ rows }: LastSeen["matrix"], { name, kept }: { name: string; kept: boolean }): number {
  if (kept) return 1;
  const own = rows.filter((row) => row.some((gang) => gangName(gang) === name));
  return rows.length === 0 ? 0 : own.length / rows.length;
}
