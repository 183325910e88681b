/**
 * Writes plain text tables that fit a width. Lines never wrap: if the table is too wide, the least important
 * columns are left out and named below it. If that is not enough, left-aligned texts are shortened.
 */
import { withoutControls } from "@tutti/kernel/core/escape.ts";

export interface TableColumn {
  readonly title: string;
  readonly align: "left" | "right";
  /**
   * If the width is not enough, columns with the largest number are left out first. Columns with 0 always
   * stay.
   */
  readonly dropOrder: number;
  /** Before columns are left out, texts of this column are shortened to a third of the width. */
  readonly shrinksFirst?: boolean;
  /** Texts of this column are shortened to this width before it is left out; default: it is left out. */
  readonly leastWidth?: number;
}

interface TableOptions {
  /** Width of the terminal in characters. */
  readonly width: number;
  /** Whether the heading is bold, by ANSI codes; off by default. */
  readonly colour?: boolean;
}

const GAP = "  ";
const MIN_TEXT_WIDTH = 6;

/** The table as lines. Rows hold one text per column. */
export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string {
  const table = new Table(columns, rows, options);
  return table.heading() + table.lines(rows) + table.foot();
}

/**
 * A table whose rows come in parts. The first rows decide the widths of the columns. If a later text is
 * wider, it is cut if the width is limited and the text is left-aligned. Otherwise it takes the room it
 * needs, and only its own line is out of alignment.
 */
export class Table {
  readonly #columns: readonly TableColumn[];
  readonly #options: TableOptions;
  readonly #widths: number[];
  readonly #shown: number[];

  /** @param rows the rows that decide the widths */
  constructor(columns: readonly TableColumn[], rows: readonly (readonly string[])[], options: TableOptions) {
    this.#columns = columns;
    this.#options = options;
    this.#widths = columns.map(({ title }, i) =>
      rows.reduce(
        (widest, row) => Math.max(widest, displayWidth(withoutControls(row[i] ?? ""))),
        displayWidth(title),
      ),
    );
    this.#shown = columns.map((_, i) => i);
    this.#fit(options.width);
  }

  heading(): string {
    const heading = this.#line(this.#columns.map(({ title }) => title));
    return this.#options.colour ? `\u001b[1m${heading}\u001b[22m\n` : `${heading}\n`;
  }

  lines(rows: readonly (readonly string[])[]): string {
    return rows.map((row) => `${this.#line(row)}\n`).join("");
  }

  /** A line that names the columns that are left out; empty if there are none. */
  foot(): string {
    const omitted = this.#columns.filter((_, i) => !this.#shown.includes(i)).map(({ title }) => title);
    if (omitted.length === 0) return "";
    return `${folded(`not shown at this width: ${omitted.join(", ")}`, this.#options.width).join("\n")}\n`;
  }

  #fit(width: number): void {
    const columns = this.#columns;
    const widths = this.#widths;
    const shown = this.#shown;
    const total = () => shown.reduce((sum, i) => sum + widths[i], GAP.length * (shown.length - 1));
    for (const i of shown) {
      const excess = total() - width;
      const least = Math.max(MIN_TEXT_WIDTH, Math.floor(width / 3));
      if (columns[i].shrinksFirst && excess > 0 && widths[i] > least) {
        widths[i] = Math.max(least, widths[i] - excess);
      }
    }
    while (total() > width) {
      const worst = shown.reduce((a, b) => (columns[b].dropOrder >= columns[a].dropOrder ? b : a), shown[0]);
      if (columns[worst].dropOrder === 0) break;
      const room = widths[worst] - (total() - width);
      if (room >= (columns[worst].leastWidth ?? Number.POSITIVE_INFINITY)) {
        widths[worst] = room;
        break;
      }
      shown.splice(shown.indexOf(worst), 1);
    }
    for (const i of shown) {
      const excess = total() - width;
      if (excess > 0 && columns[i].align === "left") {
        widths[i] = Math.max(Math.min(MIN_TEXT_WIDTH, widths[i]), widths[i] - excess);
      }
    }
  }

  #line(row: readonly string[]): string {
    const cells = this.#shown.map((i) => {
      const { align } = this.#columns[i];
      const width = this.#widths[i];
      const text = withoutControls(row[i] ?? "");
      const isCut = align === "left" && Number.isFinite(this.#options.width);
      return pad(isCut ? shorten(text, width) : text, width, align);
    });
    return cells.join(GAP).trimEnd();
  }
}

/** Breaks a text into lines that fit. A word that does not fit is cut. */
function folded(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && displayWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(shorten(word, width));
  }
  return lines;
}

/**
 * Width of a text on a terminal: two columns for an East Asian wide character or an emoji, none for a
 * combining mark.
 */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Cuts a text to `width` columns, with an ellipsis if something was cut. */
export function shorten(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let result = "";
  let used = 0;
  for (const character of text) {
    used += characterWidth(character);
    if (used > width - 1) break;
    result += character;
  }
  return width < 1 ? "" : `${result}…`;
}

function characterWidth(character: string): number {
  if (/^[\u0020-\u007e]$/.test(character)) return 1;
  if (/^\p{Mark}$/u.test(character)) return 0;
  return /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u.test(
    character,
  )
    ? 2
    : 1;
}

function pad(text: string, width: number, align: "left" | "right"): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  return align === "left" ? text + space : space + text;
}
