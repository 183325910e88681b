/**
 * Plain text tables that fit a width. The table itself never wraps: when it is too wide, the columns that matter least are left out and
 * named below it; then the texts on the left are shortened.
 */
import { withoutControls } from "./escape.ts";

export interface TableColumn {
  readonly title: string;
  readonly align: "left" | "right";
  /** Columns with the largest number go first when the width does not suffice; 0 is never left out. */
  readonly dispensable: number;
}

export interface TableOptions {
  /** Columns of the terminal. */
  readonly width: number;
  /** Bold heading by ANSI codes; default off. */
  readonly colour?: boolean;
}

const GAP = "  ";
const NARROWEST_TEXT = 6;

/** The table as lines that end in a line end. Rows hold one text per column. */
export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  { width, colour = false }: TableOptions,
): string {
  const cells = rows.map((row) => columns.map((_, i) => withoutControls(row[i] ?? "")));
  const widths = columns.map(({ title }, i) =>
    Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[i]!))),
  );
  const shown = columns.map((_, i) => i);
  const total = () => shown.reduce((sum, i) => sum + widths[i]!, GAP.length * (shown.length - 1));
  const left: number[] = [];
  while (total() > width) {
    const worst = shown.reduce(
      (a, b) => (columns[b]!.dispensable >= columns[a]!.dispensable ? b : a),
      shown[0]!,
    );
    if (columns[worst]!.dispensable === 0) break;
    shown.splice(shown.indexOf(worst), 1);
    left.unshift(worst);
  }
  for (const i of shown) {
    const excess = total() - width;
    if (excess > 0 && columns[i]!.align === "left") {
      widths[i] = Math.max(Math.min(NARROWEST_TEXT, widths[i]!), widths[i]! - excess);
    }
  }
  const line = (row: readonly string[]) =>
    shown
      .map((i) => pad(shorten(row[i]!, widths[i]!), widths[i]!, columns[i]!.align))
      .join(GAP)
      .trimEnd();
  const heading = line(columns.map(({ title }) => title));
  const lines = [colour ? `\u001b[1m${heading}\u001b[22m` : heading, ...cells.map(line)];
  if (left.length > 0) {
    const names = left.sort((a, b) => a - b).map((i) => columns[i]!.title);
    lines.push(...folded(`not shown at this width: ${names.join(", ")}`, width));
  }
  return `${lines.join("\n")}\n`;
}

/** A text on lines that fit; a word that does not is cut. */
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

/** Places a text takes on a terminal: two for East Asian wide characters and emoji, none for combining marks. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** Cut to `width` places, with an ellipsis at the end where something was cut. */
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
