/** Finds where the last lines of a text begin, reading it in pieces from its end. */

const PIECE_BYTES = 64 * 1024;
const LINE_FEED = 10;

/**
 * The offset at which the last `lines` lines begin. As in `tail -n`, text after the last line feed is a line.
 * @param read returns bytes of the text; fewer than asked for only if the text became shorter
 */
export async function startOfLastLines(
  size: number,
  lines: number,
  read: (offset: number, length: number) => Promise<Uint8Array>,
): Promise<number> {
  if (lines === 0) return size;
  let found = 0;
  for (let end = size; end > 0; ) {
    const offset = Math.max(0, end - PIECE_BYTES);
    const piece = await read(offset, end - offset);
    for (let i = piece.length - 1; i >= 0; i--) {
      const at = offset + i;
      // The line feed at the very end belongs to the last line.
      if (piece[i] !== LINE_FEED || at === size - 1) continue;
      if (++found === lines) return at + 1;
    }
    end = offset;
  }
  return 0;
}
