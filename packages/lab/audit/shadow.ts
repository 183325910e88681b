/**
 * Computes the shadow time of EASY (Lifka, JSSPP 1995) for the checker, independently of the policy.
 */

/** A running job: when it ends by its estimate, and its processors. */
export type Holding = readonly [expectedEndS: number, size: number];

/**
 * The earliest instant from `nowS` on at which a job of `size` processors fits if every running job ends at
 * its estimate and no other job starts.
 * @param running in the order of the expected ends; together they hold no more than `processors`
 */
export function shadowS(size: number, processors: number, nowS: number, running: readonly Holding[]): number {
  let missing = size - processors;
  for (const [, held] of running) missing += held;
  for (const [endS, held] of running) {
    if (missing <= 0) break;
    missing -= held;
    nowS = Math.max(nowS, endS);
  }
  return nowS;
}
