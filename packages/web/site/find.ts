/**
 * Finds sections of the site by words. It reads all text at each question: that takes a few milliseconds for
 * this site's text, which the page needs anyway to show where the words are.
 */

export interface FoundPage {
  /** From the root of the site. */
  readonly path: string;
  readonly title: string;
  /** The anchor may be empty. */
  readonly sections: readonly (readonly [anchor: string, heading: string, text: string])[];
}

export interface Found {
  /** From the root of the site, with the anchor. */
  readonly target: string;
  readonly page: string;
  readonly heading: string;
  /** Text around the first word, cut off. */
  readonly excerpt: string;
}

const BEFORE = 40;
const EXCERPT = 160;
/** More places in one section say nothing more. */
const MAX_PLACES = 5;

/** The words of a question, as they are searched. */
export function wordsOf(question: string): string[] {
  return question.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The sections that have all words, the best first. Pages come in the order of their importance. */
export function find(pages: readonly FoundPage[], question: string): Found[] {
  const words = wordsOf(question);
  if (words.length === 0) return [];
  const phrase = words.join(" ");
  const found: { readonly score: number; readonly of: Found }[] = [];
  for (const { path, title, sections } of pages) {
    const lowTitle = title.toLowerCase();
    for (const [anchor, heading, text] of sections) {
      const low = text.toLowerCase();
      const lowHeading = heading.toLowerCase();
      let score = lowHeading === phrase ? 30 : low.includes(phrase) ? 3 : 0;
      for (const word of words) {
        // A word says more of what a section is about, the larger its part of the heading is.
        const part = word.length / Math.max(1, lowHeading.length);
        const one = (4 + 12 * part) * worth(lowHeading, word) + 2 * worth(lowTitle, word) + worth(low, word);
        score = one === 0 ? Number.NEGATIVE_INFINITY : score + one;
      }
      if (score > 0) {
        const target = anchor === "" ? path : `${path}#${anchor}`;
        found.push({ score, of: { target, page: title, heading, excerpt: excerptOf(text, low, words) } });
      }
    }
  }
  return found.sort((a, b) => b.score - a.score).map(({ of }) => of);
}

/** 1 to 2 for whole words, half of it within words, 0 if the text does not have the word. */
function worth(text: string, word: string): number {
  let places = 0;
  let isWhole = false;
  for (let at = text.indexOf(word); at >= 0 && places < MAX_PLACES; at = text.indexOf(word, at + 1)) {
    places++;
    isWhole ||= !isLetter(text[at - 1]) && !isLetter(text[at + word.length]);
  }
  return places === 0 ? 0 : (1 + places / MAX_PLACES) / (isWhole ? 1 : 2);
}

function isLetter(sign = " "): boolean {
  return /[\p{L}\p{N}]/u.test(sign);
}

function excerptOf(text: string, low: string, words: readonly string[]): string {
  const first = Math.min(...words.map((word) => low.indexOf(word)).filter((at) => at >= 0));
  if (first === Number.POSITIVE_INFINITY) return text.slice(0, EXCERPT);
  const from = first <= BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1;
  return `${from === 0 ? "" : "… "}${text.slice(Math.min(from, first), Math.min(from, first) + EXCERPT)}`;
}
