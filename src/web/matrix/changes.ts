/**
 * What changed from one matrix to the next. Rows have no names, so a row is the earlier row with which it
 * shares the most cells, and rows keep their order: re-packing moves gangs between rows, but rows are only
 * added and removed. An earlier row without a later one has vanished.
 */
import type { Stretches } from "./grid.ts";

export interface Changes {
  /** Stretches whose place in the picture differs; they belong to gangs of both matrices. */
  readonly moves: readonly Move[];
  /** Indices of stretches that only the earlier or only the later matrix has. */
  readonly gone: readonly number[];
  readonly added: readonly number[];
  /** Jobs of which some process or slot is elsewhere: in another row than its own, or on other processors. */
  readonly moved: readonly number[];
  readonly left: readonly number[];
  readonly came: readonly number[];
  /** Rows of the earlier matrix that have vanished, and rows of the later one that are new. */
  readonly vanished: readonly number[];
  readonly opened: readonly number[];
}

/** Indices of a stretch in the earlier and in the later matrix. */
interface Move {
  readonly from: number;
  readonly to: number;
}

export function changesBetween(before: Stretches, after: Stretches): Changes {
  const earlier = byJob(before);
  const later = byJob(after);
  const partner = matchRows(before, after, later);
  const laterRow = new Map(partner.flatMap((early, late) => (early < 0 ? [] : [[early, late] as const])));
  const moves: Move[] = [];
  const gone: number[] = [];
  const added: number[] = [];
  const moved: number[] = [];
  for (const [job, own] of earlier) {
    const now = later.get(job) ?? [];
    if (now.length === 0) {
      gone.push(...own);
      continue;
    }
    let isMoved = false;
    const rest = new Set(now);
    const restless: number[] = [];
    for (const from of own) {
      const stays = now.find(
        (to) =>
          rest.has(to) &&
          after.row[to] === laterRow.get(before.row[from]) &&
          after.first[to] === before.first[from] &&
          after.end[to] === before.end[from],
      );
      if (stays === undefined) restless.push(from);
      else {
        rest.delete(stays);
        // The row has another number because an earlier one was added or has vanished.
        if (after.row[stays] !== before.row[from]) moves.push({ from, to: stays });
      }
    }
    const targets = [...rest];
    for (const from of restless) {
      const to = nearest(before, from, after, targets);
      if (to === undefined) gone.push(from);
      else {
        targets.splice(targets.indexOf(to), 1);
        moves.push({ from, to });
        isMoved = true;
      }
    }
    added.push(...targets);
    if (isMoved) moved.push(job);
  }
  for (const [job, own] of later) if (!earlier.has(job)) added.push(...own);
  const matched = new Set(partner);
  return {
    moves,
    gone,
    added,
    moved: ascending(moved),
    left: ascending([...earlier.keys()].filter((job) => !later.has(job))),
    came: ascending([...later.keys()].filter((job) => !earlier.has(job))),
    vanished: Array.from({ length: before.rows }, (_, row) => row).filter((row) => !matched.has(row)),
    opened: partner.flatMap((early, late) => (early < 0 ? [late] : [])),
  };
}

/** The stretch on the same processors; otherwise the first one. */
function nearest(
  before: Stretches,
  from: number,
  after: Stretches,
  targets: readonly number[],
): number | undefined {
  return targets.find((to) => after.first[to] === before.first[from]) ?? targets[0];
}

function ascending(jobs: readonly number[]): number[] {
  return [...jobs].sort((a, b) => a - b);
}

/** Indices of the stretches of each job. */
function byJob({ job }: Stretches): Map<number, number[]> {
  const lists = new Map<number, number[]>();
  for (let i = 0; i < job.length; i++) {
    const list = lists.get(job[i]);
    if (list === undefined) lists.set(job[i], [i]);
    else list.push(i);
  }
  return lists;
}

/**
 * For each later row, its earlier row or −1: the matching in order that shares the most cells, and, of
 * several matchings, one that leaves the fewest rows alone.
 */
export function matchRows(before: Stretches, after: Stretches, later = byJob(after)): number[] {
  const [n, m] = [before.rows, after.rows];
  const shared = sharedCells(before, after, later);
  // best[i][j]: score of the first i earlier and j later rows. A shared cell outweighs all matched pairs.
  const cell = Math.min(n, m) + 1;
  const best = Array.from({ length: n + 1 }, () => new Float64Array(m + 1));
  const pair = (i: number, j: number) => best[i - 1][j - 1] + cell * shared[(i - 1) * m + j - 1] + 1;
  for (let i = 1; i <= n; i++)
    for (let j = 1; j <= m; j++) best[i][j] = Math.max(pair(i, j), best[i - 1][j], best[i][j - 1]);
  const partner = new Array<number>(m).fill(-1);
  for (let i = n, j = m; i > 0 && j > 0; ) {
    if (best[i][j] === best[i - 1][j]) i--;
    else if (best[i][j] === best[i][j - 1]) j--;
    else {
      i--;
      j--;
      partner[j] = i;
    }
  }
  return partner;
}

/** Cells that the same job has in an earlier and a later row; earlier row × later row. */
function sharedCells(
  before: Stretches,
  after: Stretches,
  later: ReadonlyMap<number, readonly number[]>,
): Float64Array {
  const shared = new Float64Array(before.rows * after.rows);
  for (const [i, job] of before.job.entries())
    for (const j of later.get(job) ?? []) {
      const cells = Math.min(before.end[i], after.end[j]) - Math.max(before.first[i], after.first[j]);
      if (cells > 0) shared[before.row[i] * after.rows + after.row[j]] += cells;
    }
  return shared;
}

/** The changes in a sentence; empty if there are none. */
export function changesText({ moved, left, came, vanished, opened }: Changes): string {
  const count = (list: readonly number[], one: string, several: string) =>
    list.length === 0 ? [] : [`${list.length} ${list.length === 1 ? one : several}`];
  const rows = (list: readonly number[]) =>
    `${list.length === 1 ? "row" : "rows"} ${list.map((row) => row + 1).join(", ")}`;
  return [
    ...count(came, "gang came", "gangs came"),
    ...count(left, "gang left", "gangs left"),
    ...count(moved, "gang moved", "gangs moved"),
    ...(opened.length === 0 ? [] : [`${rows(opened)} added`]),
    ...(vanished.length === 0 ? [] : [`${rows(vanished)} vanished`]),
  ].join(", ");
}
