/** Makes other people's text harmless, for terminals and pages. */

/**
 * Characters that could control a terminal: escape sequences, control characters, and marks that change the
 * direction of writing. In other people's text, they are shown as text, such as `\x1b[2J`.
 */
const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Makes other people's text harmless. Newlines and tabs stay. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(STEERING, (character) => {
    if (character === "\n" || character === "\t") return character;
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

/**
 * Makes a name in a table or in a sentence harmless: shows newlines and tabs as text, too.
 */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** `visible` for bytes that come in pieces. A character that is split between two pieces is joined. */
export class VisibleStream {
  readonly #decoder = new TextDecoder();
  /** A carriage return at the end of a piece. The next piece shows whether it belongs to a newline. */
  #held = "";

  next(piece: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(piece, { stream: true });
    this.#held = text.endsWith("\r") ? "\r" : "";
    return visible(this.#held === "" ? text : text.slice(0, -1));
  }

  end(): string {
    const text = this.#held + this.#decoder.decode();
    this.#held = "";
    return visible(text);
  }
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
