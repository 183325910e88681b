/**
 * Whether a text fits a pattern in which `*` stands for anything and everything else for itself. Takes at most the product of both lengths:
 * a star that has taken too little takes one character more, and only the last star has to, since what fits the stars before it fits still.
 */
export function matchesGlob(text: string, pattern: string): boolean {
  let place = 0;
  let next = 0;
  /** The last star, and where what it takes ends. */
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
