/**
 * What changed from one matrix to the next. Rows have no names, so a row is the earlier row with which it
 * shares the most cells, and rows keep their order: re-packing moves gangs between rows, but rows are only
 * added and removed. An earlier row without a later one has vanished.
 */
import { plural } from "@tutti/kernel/core/format.ts";
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
  const same = sameRows(before, after);
  const partner = matchRows(before, after, same);
  const laterRow = new Int32Array(before.rows).fill(-1);
  for (const [late, early] of partner.entries()) if (early >= 0) laterRow[early] = late;
  // Everything in such a row stays: only jobs that are also elsewhere can change.
  const isSettled = (row: number) => same[row] === 1 && partner[row] === row;
  const touched = jobsIn([before, after], (row) => !isSettled(row));
  const earlier = stretchesOf(before, touched);
  const later = stretchesOf(after, touched);
  const moves: Move[] = [];
  const gone: number[] = [];
  const added: number[] = [];
  const moved: number[] = [];
  const left: number[] = [];
  const came: number[] = [];
  const isInPlace = (from: number, to: number) =>
    after.row[to] === laterRow[before.row[from]] &&
    after.first[to] === before.first[from] &&
    after.end[to] === before.end[from];
  const keep = (from: number, to: number) => {
    // The row has another number because an earlier one was added or has vanished.
    if (after.row[to] !== before.row[from]) moves.push({ from, to });
  };
  for (const [job, own] of earlier) {
    const now = later.get(job);
    if (now === undefined) {
      left.push(job);
      gone.push(...own);
      continue;
    }
    // Nearly all jobs of nearly all changes stay where they are.
    let placed = 0;
    if (own.length === now.length)
      while (placed < own.length && isInPlace(own[placed], now[placed])) placed++;
    if (placed === own.length) {
      for (let i = 0; i < placed; i++) keep(own[i], now[i]);
      continue;
    }
    let isMoved = false;
    const rest = new Set(now);
    const restless: number[] = [];
    for (const from of own) {
      const stays = now.find((to) => rest.has(to) && isInPlace(from, to));
      if (stays === undefined) restless.push(from);
      else {
        rest.delete(stays);
        keep(from, stays);
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
  for (const [job, own] of later) {
    if (earlier.has(job)) continue;
    came.push(job);
    added.push(...own);
  }
  return {
    moves,
    gone,
    added,
    moved: ascending(moved),
    left: ascending(left),
    came: ascending(came),
    vanished: [...laterRow.keys()].filter((row) => laterRow[row] < 0),
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

/** For each row of both matrices, 1 if it is the same in both. Nearly all are in nearly all changes. */
function sameRows(before: Stretches, after: Stretches): Uint8Array {
  const rows = Math.min(before.rows, after.rows);
  const same = new Uint8Array(rows);
  let [i, j] = [0, 0];
  for (let row = 0; row < rows; row++) {
    let isSame = true;
    for (; before.row[i] === row && after.row[j] === row; i++, j++)
      isSame &&=
        before.job[i] === after.job[j] &&
        before.first[i] === after.first[j] &&
        before.end[i] === after.end[j];
    if (isSame && before.row[i] !== row && after.row[j] !== row) same[row] = 1;
    while (before.row[i] === row) i++;
    while (after.row[j] === row) j++;
  }
  return same;
}

/** The jobs of some rows. */
function jobsIn(matrices: readonly Stretches[], isIn: (row: number) => boolean): Set<number> {
  const jobs = new Set<number>();
  for (const { row, job } of matrices)
    for (let i = 0; i < job.length; i++) if (isIn(row[i])) jobs.add(job[i]);
  return jobs;
}

/** Indices of the stretches of each of these jobs. */
function stretchesOf({ job }: Stretches, jobs: ReadonlySet<number>): ReadonlyMap<number, readonly number[]> {
  const lists = new Map<number, number[]>();
  for (let i = 0; i < job.length; i++) {
    if (!jobs.has(job[i])) continue;
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
export function matchRows(before: Stretches, after: Stretches, same = sameRows(before, after)): number[] {
  const [n, m] = [before.rows, after.rows];
  const isChanged = (row: number) => same[row] !== 1;
  // No row shares more cells than an equal one. If each other row also shares the most with the row in its
  // place, all rows stay: no other matching has as many pairs.
  const ofChanged = sharedCells(before, after, isChanged);
  if (n === m && ofChanged.every((cells, at) => cells <= ofChanged[Math.floor(at / n) * (n + 1)]))
    return Array.from({ length: n }, (_, row) => row);
  const shared = sharedCells(before, after, () => true);
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

/** Cells that the same job has in an earlier row of some and in a later row; earlier row × later row. */
function sharedCells(before: Stretches, after: Stretches, isIn: (row: number) => boolean): Float64Array {
  const later = stretchesOf(after, jobsIn([before], isIn));
  const shared = new Float64Array(before.rows * after.rows);
  for (let i = 0; i < before.job.length; i++) {
    if (!isIn(before.row[i])) continue;
    for (const j of later.get(before.job[i]) ?? []) {
      const cells = Math.min(before.end[i], after.end[j]) - Math.max(before.first[i], after.first[j]);
      if (cells > 0) shared[before.row[i] * after.rows + after.row[j]] += cells;
    }
  }
  return shared;
}

/** The changes in a sentence; empty if there are none. */
export function changesText({ moved, left, came, vanished, opened }: Changes): string {
  const count = (list: readonly number[], how: string) =>
    list.length === 0 ? [] : [`${plural(list.length, "gang")} ${how}`];
  const rows = (list: readonly number[]) =>
    `${list.length === 1 ? "row" : "rows"} ${list.map((row) => row + 1).join(", ")}`;
  return [
    ...count(came, "came"),
    ...count(left, "left"),
    ...count(moved, "moved"),
    ...(opened.length === 0 ? [] : [`${rows(opened)} added`]),
    ...(vanished.length === 0 ? [] : [`${rows(vanished)} vanished`]),
  ].join(", ");
}
