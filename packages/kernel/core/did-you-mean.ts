/** A prefix of at least this many letters suggests the whole word. */
const MIN_PREFIX_LENGTH = 3;
/** Longer words are no typos, and the time to compare grows with the length. */
const MAX_LENGTH = 100;

/**
 * The suggestion ` (did you mean "…"?)` for a word that is close to a known one, or else the empty string.
 */
export function closest(word: string, known: readonly string[]): string {
  if (word.length > MAX_LENGTH) return "";
  let best = "";
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const isBeginning = word.length >= MIN_PREFIX_LENGTH && candidate.startsWith(word);
    const distance = isBeginning ? 1 : editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best === "" ? "" : ` (did you mean "${best}"?)`;
}

/**
 * Number of insertions, deletions, replacements and swaps of adjacent letters that turn one word into the
 * other.
 */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => new Array<number>(b.length + 1).fill(i));
  for (let j = 0; j <= b.length; j++) rows[0][j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replace = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i][j] = Math.min(replace, rows[i - 1][j] + 1, rows[i][j - 1] + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
