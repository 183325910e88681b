/**
 * Returns whether a text matches a pattern. In the pattern, `*` stands for any text, and every other
 * character stands for itself. The time is at most proportional to the product of both lengths: after a
 * mismatch, the last star takes one more character. Earlier stars need not change, because what they matched
 * still matches.
 */
export function matchesGlob(text: string, pattern: string): boolean {
  let place = 0;
  let next = 0;
  /** The last star, and the end of the text that it takes. */
  let star = -1;
  let taken = 0;
  while (place < text.length) {
    if (pattern[next] === "*") {
      star = next++;
      taken = place;
    } else if (next < pattern.length && pattern[next] === text[place]) {
      next++;
      place++;
    } else if (star >= 0) {
      next = star + 1;
      place = ++taken;
    } else return false;
  }
  while (pattern[next] === "*") next++;
  return next === pattern.length;
}
