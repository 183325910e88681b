/** Makes text from traces, file names and users' labels harmless for the place where it is written. */

const HTML: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** For element content and for attribute values in quotes. */
export function escapeHtml(text: string): string {
  return withoutControls(text).replace(/[&<>"']/g, (character) => HTML[character]!);
}

/**
 * Removes control characters, which could control a terminal or break a line. Tabs and newlines, including
 * those of Unicode, become a space.
 */
export function withoutControls(text: string): string {
  return text.replace(/[\t\r\n\u2028\u2029]/g, " ").replace(/[\p{Cc}\p{Bidi_Control}]/gu, "");
}
