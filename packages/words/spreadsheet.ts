/** Texts of users in files for spreadsheets. */
import { visibleLine } from "./visible.ts";

/** A spreadsheet computes texts that begin like a formula; other people chose these. */
export function spreadsheetCell(text: string): string {
  return /^[=+\-@]/.test(text) ? `'${visibleLine(text)}` : visibleLine(text);
}
