/** Formats the texts in charts. Tooltips are HTML, so all text from users is escaped. */
import { escapeHtml } from "../text/escape.ts";
import { formatDuration, formatNumber } from "../text/format.ts";

/** A time since the first submit: `day 12, 06:30`; on the first two days as a duration. */
export function momentLabel(sinceFirstS: number): string {
  if (sinceFirstS < 172800) return `after ${formatDuration(sinceFirstS)}`;
  const seconds = Math.round(sinceFirstS);
  const day = Math.floor(seconds / 86400);
  const rest = seconds - day * 86400;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  return `day ${formatNumber(day)}, ${two(rest / 3600)}:${two((rest % 3600) / 60)}`;
}

/** A tooltip: a bold title, and rows of name, value and optionally a marker made by ECharts. */
export function hint(title: string, rows: readonly (readonly [string, string, string?])[]): string {
  const lines = rows.map(
    ([name, value, marker]) =>
      `<tr><td>${marker ?? ""}${escapeHtml(name)}</td><td style="text-align:right;padding-left:1.5em;font-variant-numeric:tabular-nums">${escapeHtml(value)}</td></tr>`,
  );
  return `<b>${escapeHtml(title)}</b><table>${lines.join("")}</table>`;
}
