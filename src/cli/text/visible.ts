/**
 * Text of other people's on a terminal: what could steer it (escape sequences, control characters, marks that turn the direction of
 * writing) is shown as text, `\x1b[2J`, instead of being obeyed. Line ends and tabs stay.
 */

const STEERING = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** For one line or more. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(STEERING, (character) => {
    if (character === "\n" || character === "\t") return character;
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

/** For a name in a table or in a sentence: line ends and tabs are shown too. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** The same for bytes that come in pieces; a character that is cut in two is put together again. */
export class VisibleStream {
  readonly #decoder = new TextDecoder();
  /** A carriage return at the end of a piece: what it is, is decided by the next one. */
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
