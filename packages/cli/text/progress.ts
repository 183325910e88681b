/**
 * Shows a progress bar on standard error, but only on a terminal and only for work of more than two seconds.
 */
const SHOW_AFTER_MS = 2000;
const REDRAW_MS = 200;
const WIDTH = 30;

export class Progress {
  readonly #what: string;
  readonly #isShown: boolean;
  readonly #startedMs = performance.now();
  #drawnMs = 0;

  /**
   * @param what the unit, such as `jobs`
   * @param wanted false for --no-progress
   */
  constructor(what: string, wanted: boolean) {
    this.#what = what;
    this.#isShown = wanted && process.stderr.isTTY === true;
  }

  /** @param of the total; undefined if it is not known */
  update(done: number, of?: number): void {
    this.show(() => (of === undefined ? `${done} ${this.#what}` : this.#bar(done, of)));
  }

  /** Shows another line in its place. */
  show(line: () => string): void {
    if (!this.#isShown) return;
    const nowMs = performance.now();
    if (nowMs - this.#startedMs < SHOW_AFTER_MS || nowMs - this.#drawnMs < REDRAW_MS) return;
    this.#drawnMs = nowMs;
    process.stderr.write(`\r${line()}\x1b[K`);
  }

  #bar(done: number, of: number): string {
    const filled = Math.round((WIDTH * done) / of);
    const leftS = ((this.#drawnMs - this.#startedMs) * (of - done)) / done / 1000;
    const leftText = Number.isFinite(leftS) ? `, ${Math.ceil(leftS)} s left` : "";
    return `${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${done} of ${of} ${this.#what}${leftText}`;
  }

  /** Removes the bar. */
  end(): void {
    if (this.#drawnMs > 0) process.stderr.write("\r\x1b[K");
  }
}

/** Shows a bar for work that says how far it is. */
export async function withBar<Result>(
  what: string,
  wanted: boolean,
  work: (update: (done: number, of: number) => void) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress(what, wanted);
  return work((done, of) => progress.update(done, of)).finally(() => progress.end());
}

/**
 * Passes the pieces on, and counts them on a progress bar.
 * @param of the total; undefined if it is not known
 */
export async function* withProgress<Piece>(
  progress: Progress,
  pieces: AsyncIterable<Piece>,
  sizeOf: (piece: Piece) => number,
  of?: number,
): AsyncGenerator<Piece> {
  let done = 0;
  for await (const piece of pieces) {
    yield piece;
    done += sizeOf(piece);
    progress.update(done, of);
  }
  progress.end();
}
