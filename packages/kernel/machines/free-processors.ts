/**
 * Chooses which processors a job gets under space sharing, where each of them serves one job at a time: the
 * smallest free stretch that is large enough, of these the first, else the lowest free ones. So wide jobs
 * find stretches, and jobs are on few nodes. The live scheduler and the laboratory's pilots choose alike.
 */

/**
 * @param isFree of each processor, 1 or 0; at least `size` are free
 * @returns ascending
 */
export function chooseProcessors(isFree: Uint8Array, size: number): number[] {
  let best = -1;
  let bestLength = Number.POSITIVE_INFINITY;
  for (let first = 0; first < isFree.length; first++) {
    if (isFree[first] === 0) continue;
    let end = first;
    while (end < isFree.length && isFree[end] === 1) end++;
    if (end - first >= size && end - first < bestLength) {
      best = first;
      bestLength = end - first;
    }
    first = end;
  }
  if (best >= 0) return Array.from({ length: size }, (_, i) => best + i);
  const chosen: number[] = [];
  for (let processor = 0; chosen.length < size; processor++)
    if (isFree[processor] === 1) chosen.push(processor);
  return chosen;
}
