/**
 * Texts of papers are data, next to their pages: docs/papers/KEY.texts.json. `npm run build` checks their
 * form (scripts/paper-data.ts). In a text, a name in braces stands for another text.
 */

import type { CellResult, Kind } from "@tutti/lab/experiments/kinds.ts";
import type {
  IndexEntry,
  PaperHeading,
  PaperIndex,
  ReproducedFigure,
  ReproducedStatement,
} from "@tutti/lab/results/reproduction.ts";
import type { DrawnFigures, Paper, PaperTables } from "./paper.ts";
import type { Results } from "./results.ts";

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

/** What a paper has in addition to its tables and its texts. */
interface Contents<Found> {
  figures(results: Found): ReproducedFigure[];
  statements(results: Found): ReproducedStatement[];
  /** Figures that the paper works through by hand. */
  drawn?(): DrawnFigures;
  /** What only the program knows, by the names that the notes give it. */
  noteValues?(results: Found): Readonly<Record<string, string>>;
}

/** The whole paper from its tables, its texts and the rest. */
export function paperOf<Place, K extends Kind>(
  paperTables: PaperTables<Place, K>,
  texts: PaperTexts,
  { figures, statements, drawn, noteValues }: Contents<Results<Place, CellResult<K>>>,
): Paper<Place, K> {
  const { title, authors, published, reasons, added } = texts;
  const entries = texts.index.map((entry) =>
    entry.notClaimed === undefined ? entry : { ...entry, notClaimed: filled(entry.notClaimed, reasons) },
  );
  return {
    ...paperTables,
    title,
    authors,
    published,
    index: { entries, added },
    collect: (results) => {
      const ofDrawn = drawn?.();
      return {
        tables: paperTables.tables.map((table) => table.of(results)),
        figures: figures(results),
        ...(ofDrawn && { matrices: ofDrawn.matrices }),
        statements: [...(ofDrawn?.statements ?? []), ...statements(results)],
        notes: texts.notes.map((note) => filled(note, noteValues?.(results) ?? {})),
      };
    },
  };
}
