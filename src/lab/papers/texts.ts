/**
 * Texts of papers are data, next to their pages: docs/papers/KEY.texts.json. `npm run build` checks their
 * form (scripts/paper-data.ts). In a text, a name in braces stands for another text.
 */
import type { IndexEntry, PaperHeading, PaperIndex } from "../../results/reproduction.ts";
import type { Paper } from "./paper.ts";

interface PaperTexts extends Omit<PaperHeading, "key"> {
  /** How the paper was read. */
  readonly notes: readonly string[];
  /** Texts that others quote by their names. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Every table, figure and sentence of the paper that claims something, in its order. */
  readonly index: readonly IndexEntry[];
  readonly added: PaperIndex["added"];
}

/** @throws RangeError if a name in braces has no text */
export function filled(text: string, texts: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (texts[name] === undefined) throw new RangeError(`Cannot fill "{${name}}" in "${text}": no such text`);
    return filled(texts[name], texts);
  });
}

export function headingOf(texts: PaperTexts): Pick<Paper, "title" | "authors" | "published" | "index"> {
  const { title, authors, published, reasons, index, added } = texts;
  const entries = index.map((entry) =>
    entry.notClaimed === undefined ? entry : { ...entry, notClaimed: filled(entry.notClaimed, reasons) },
  );
  return { title, authors, published, index: { entries, added } };
}

/** @param values what only the program knows, by the names that the notes give it */
export function notesOf({ notes }: PaperTexts, values: Readonly<Record<string, string>> = {}): string[] {
  return notes.map((note) => filled(note, values));
}
