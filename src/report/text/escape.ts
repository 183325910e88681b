/** Makes text from traces, file names and users' labels harmless for the place where it is written. */

const HTML: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** For element content and for attribute values in quotes. */
export function escapeHtml(text: string): string {
  return withoutControls(text).replace(/[&<>"']/g, (character) => HTML[character]!);
}

/**
 * JSON for the inside of a <script> element: no `</script>`, no `<!--`, and no U+2028 or U+2029, which end a
 * line in old JavaScript. The JSON value stays the same. NaN and infinities become null.
 */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * JavaScript for the inside of a <script> element, unchanged. Throws if it contains a sequence that would end
 * the element or start a comment. It cannot be escaped without parsing, and bundlers do not emit these
 * sequences.
 */
export function scriptSource(source: string): string {
  const found = /<\/script|<!--|<script/i.exec(source);
  if (found !== null) {
    throw new Error(`Cannot embed the chart script: it holds "${found[0]}" at ${found.index}, expected none`);
  }
  return source;
}

/**
 * Removes control characters, which could control a terminal or break a line. Tabs and newlines, including
 * those of Unicode, become a space.
 */
export function withoutControls(text: string): string {
  return text.replace(/[\t\r\n\u2028\u2029]/g, " ").replace(/[\p{Cc}\p{Bidi_Control}]/gu, "");
}
