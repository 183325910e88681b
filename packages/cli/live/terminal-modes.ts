/**
 * Follows which modes a program has set in a terminal, such as the alternate screen, a hidden cursor or the
 * mouse. So the user's terminal can be given back as it was when the program is left alone, and be brought
 * into the program's modes when the user comes back.
 */

/** Modes that are on in a terminal as it starts: automatic wrap, visible cursor. */
const ON_AT_FIRST = new Set([7, 25]);
const ESCAPE = "\u001b";
/** `ESC [ ? 1 ; 25 h` sets modes, `l` resets them; `ESC =` and `ESC >` are the keypad; `ESC c` resets all. */
const CONTROL = new RegExp(String.raw`${ESCAPE}(?:\[\?([\d;]{1,40})([hl])|([=>c]))`, "g");
/** Beginning of such a control at the end of a piece. */
const UNFINISHED = new RegExp(String.raw`${ESCAPE}(?:\[(?:\?[\d;]{0,40})?)?$`);
const MAX_MODE = 9999;

export class TerminalModes {
  /** Modes that differ from those of a terminal at first. */
  readonly #changed = new Set<number>();
  #keypad = false;
  #rest = "";

  /** The next bytes that the program has shown. */
  next(piece: Uint8Array): void {
    const text = this.#rest + Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("latin1");
    for (const [, modes, letter, single] of text.matchAll(CONTROL)) {
      if (modes !== undefined) for (const mode of modes.split(";")) this.#set(Number(mode), letter === "h");
      else if (single === "c") this.#reset();
      else this.#keypad = single === "=";
    }
    this.#rest = UNFINISHED.exec(text)?.[0] ?? "";
  }

  #set(mode: number, isOn: boolean): void {
    if (mode === 0 || mode > MAX_MODE) return;
    if (isOn === ON_AT_FIRST.has(mode)) this.#changed.delete(mode);
    else this.#changed.add(mode);
  }

  #reset(): void {
    this.#changed.clear();
    this.#keypad = false;
  }

  /** Brings a terminal as it is at first into these modes. */
  get toEnter(): string {
    const modes = [...this.#changed].map((mode) => `${ESCAPE}[?${mode}${ON_AT_FIRST.has(mode) ? "l" : "h"}`);
    return modes.join("") + (this.#keypad ? `${ESCAPE}=` : "");
  }

  /** Brings a terminal in these modes back to what it was at first, also with default colors. */
  get toLeave(): string {
    const modes = [...this.#changed].map((mode) => `${ESCAPE}[?${mode}${ON_AT_FIRST.has(mode) ? "h" : "l"}`);
    return `${modes.reverse().join("")}${this.#keypad ? `${ESCAPE}>` : ""}${ESCAPE}[m`;
  }
}
