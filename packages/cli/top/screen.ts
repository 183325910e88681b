/**
 * A whole terminal as a screen: shows pictures and passes keys on. Whatever ends the program, the terminal is
 * as before; only kill -9 leaves it as it is.
 */
import { emitKeypressEvents, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "@tutti/lab/report/text/table.ts";
import type { Key } from "./top-view.ts";

/** The second screen, no cursor, and no new line after the last column. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l";
/** Escape alone is a key; so is a sequence that begins with it. Terminals send a sequence at once. */
const ESCAPE_MS = 50;

export class Screen {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  /** The lines that the terminal shows; empty: everything must be written. */
  #shown: readonly string[] = [];
  #isOpen = false;
  readonly #restore = () => this.leave();

  constructor(input: ReadStream, output: WriteStream, onKey: (key: Key) => void) {
    this.#input = input;
    this.#output = output;
    emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
    input.on("keypress", (text: string | undefined, { name, ctrl }: { name?: string; ctrl?: boolean }) => {
      if (this.#isOpen) onKey({ name, ctrl, text });
    });
  }

  get size(): { readonly columns: number; readonly lines: number } {
    return { columns: this.#output.columns, lines: this.#output.rows };
  }

  enter(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    process.on("exit", this.#restore);
    this.#input.setRawMode(true);
    this.#input.resume();
    this.#output.write(ENTER);
    this.#shown = [];
  }

  leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off("exit", this.#restore);
    this.#output.write(LEAVE);
    this.#input.setRawMode(false);
    this.#input.pause();
  }

  /** Writes every line at the next picture. */
  forget(): void {
    this.#shown = [];
  }

  /** Writes the lines that have changed, in one piece, so that nothing flickers. */
  draw(lines: readonly string[]): void {
    // A terminal that does not read gets no more pictures until it does.
    if (!this.#isOpen || this.#output.writableNeedDrain) return;
    const { columns } = this.size;
    let text = "";
    for (const [i, line] of lines.entries()) {
      if (line === this.#shown[i]) continue;
      // At the end of a full line, the cursor is on its last character, which must not be erased.
      const isFull = displayWidth(stripVTControlCharacters(line)) >= columns;
      text += `\u001b[${i + 1};1H${line}${isFull ? "" : "\u001b[K"}`;
    }
    this.#shown = lines;
    if (text !== "") this.#output.write(text);
  }
}
