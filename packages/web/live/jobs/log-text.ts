/** The end of a growing text: a page that follows a log must not grow with it. */

const MAX_LINES = 2000;
const MAX_CHARACTERS = 131_072;
/** Longer lines are cut: a browser needs seconds to break a line of a megabyte. */
const MAX_LINE_CHARACTERS = 4000;

export class LogText {
  /** The last one may still grow. */
  #lines: string[] = [""];
  #characters = 0;
  #isCut = false;

  add(text: string): void {
    const [first = "", ...more] = text.split("\n");
    this.#append(first);
    for (const line of more) {
      this.#lines.push("");
      this.#append(line);
    }
    let drop = Math.max(0, this.#lines.length - MAX_LINES);
    for (let i = 0; i < drop; i++) this.#characters -= this.#lines[i].length + 1;
    this.#characters += more.length;
    while (this.#characters > MAX_CHARACTERS && drop < this.#lines.length - 1)
      this.#characters -= this.#lines[drop++].length + 1;
    if (drop > 0) {
      this.#lines = this.#lines.slice(drop);
      this.#isCut = true;
    }
  }

  #append(text: string): void {
    const last = this.#lines.length - 1;
    const before = this.#lines[last];
    if (before.length > MAX_LINE_CHARACTERS) return;
    const line = before + text;
    this.#lines[last] = line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}…` : line;
    this.#characters += this.#lines[last].length - before.length;
  }

  get text(): string {
    return this.#lines.join("\n");
  }

  /** Whether the beginning is gone. */
  get isCut(): boolean {
    return this.#isCut;
  }
}
