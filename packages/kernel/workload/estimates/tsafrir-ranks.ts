/**
 * Ranks the 20 head times in Tsafrir, Etsion and Feitelson 2005 by popularity: the table of the authors'
 * program. Row 0 is the largest estimate, rows 1 … 19 are the other head times in ascending order. Each
 * column is one log; 1 is the most popular value.
 */
import type { Random } from "../../core/random.ts";

/** Popularity ranks in sdsc-106, ctc, kth4h and blue. */
// biome-ignore format: a table
export const HEAD_RANKS: readonly (readonly number[])[] = [
  [3, 1, 1, 1],
  [1, 3, 4, 6],
  [4, 4, 10, 5],
  [17, 2, 14, 3],
  [13, 12, 20, 7],
  [7, 9, 2, 2],
  [8, 8, 3, 18],
  [18, 18, 7, 19],
  [2, 6, 12, 4],
  [6, 7, 6, 11],
  [16, 11, 19, 20],
  [10, 20, 5, 9],
  [5, 16, 18, 10],
  [15, 5, 16, 14],
  [14, 14, 9, 13],
  [19, 13, 17, 16],
  [11, 10, 15, 15],
  [12, 15, 13, 17],
  [9, 17, 8, 8],
  [20, 19, 11, 12],
];

/**
 * Draws a popularity rank for each row; all ranks are different. The largest estimate is the most popular.
 * Every other row adds its ranks to a pool, draws two of the pool and takes the more popular. A rank that no
 * later row has is taken first.
 */
export function drawHeadRanks(random: Random): number[] {
  const lastRow = new Map<number, number>();
  for (const [row, ranks] of HEAD_RANKS.entries()) for (const rank of ranks) lastRow.set(rank, row);
  const drawn: number[] = [];
  let pool: number[] = [];
  for (const [row, ranks] of HEAD_RANKS.entries()) {
    for (const rank of ranks) if (!drawn.includes(rank)) pool.push(rank);
    const due = row === 0 ? [1] : pool.filter((rank) => lastRow.get(rank)! <= row);
    const candidates =
      due.length > 0 ? due : [pool[random.below(pool.length)], pool[random.below(pool.length)]];
    const taken = Math.min(...candidates);
    drawn.push(taken);
    pool = pool.filter((rank) => rank !== taken);
  }
  return drawn;
}
