/** Keeps the last lines of a job's output, harmless and ready for a terminal. */
import { VisibleStream } from "@tutti/words/visible.ts";

export const MAX_LINES = 2000;
/** The rest of a longer line is dropped: no terminal is that wide. */
const MAX_LENGTH = 1000;
const TAB = 8;

export class LogLines {
  readonly #stream = new VisibleStream();
  readonly #lines: string[] = [];
  /** The last line, which may continue. */
  #open = "";

  add(piece: Uint8Array): void {
    const [first = "", ...rest] = this.#stream.next(piece).split("\n");
    this.#extend(first);
    for (const line of rest) {
      this.#lines.push(this.#open);
      this.#open = "";
      this.#extend(line);
    }
    this.#lines.splice(0, this.#lines.length - MAX_LINES);
  }

  get lines(): readonly string[] {
    return this.#open === "" ? this.#lines : [...this.#lines, this.#open];
  }

  #extend(text: string): void {
    for (const [i, part] of text.split("\t").entries()) {
      if (i > 0) this.#open += " ".repeat(TAB - (this.#open.length % TAB));
      this.#open = (this.#open + part).slice(0, MAX_LENGTH);
    }
  }
}
