/**
 * What is written into the named pipes of a job that has an input (conductor/attempts/job-input.ts).
 *
 *   on this machine   clients write into the pipes: of a terminal frames, and else what the job reads
 *   on other nodes    clients send pieces to the scheduler, and the conductor of the job's first node writes
 *                     frames. Those of a pipe say where they begin, so that a piece that is sent twice,
 *                     because a scheduler or a conductor was started again, is read once.
 */

/** The pipe that the job, or the holder of its terminal, reads. */
export const INPUT_PIPE = "input";
/** The pipe in which a client says that it has opened the other. */
export const READY_PIPE = "ready";
export const READY = "go\n";
/**
 * The kernel writes at most this number of bytes into a pipe all at once or not at all, so frames of several
 * clients do not mix.
 */
export const MAX_FRAME_BYTES = 4096;
const MAX_TYPED_BYTES = MAX_FRAME_BYTES - "d 4096\n".length;

/** The most bytes of an input that a client sends at once. */
export const MAX_PIECE_BYTES = 65_536;

/** The frame that gives a terminal another size. */
export function sizeFrame(rows: number, columns: number): Uint8Array {
  const within = (count: number) => Math.min(9999, Math.max(1, Math.trunc(count) || 1));
  return new TextEncoder().encode(`w ${within(rows)} ${within(columns)}\n`);
}

/** The frames of what was typed. */
export function* typedFrames(typed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < typed.length; at += MAX_TYPED_BYTES) {
    const part = typed.subarray(at, at + MAX_TYPED_BYTES);
    yield framed(`d ${part.length}\n`, part);
  }
}

/** The frames of a piece of what the job reads. @param offset number of the bytes before it */
export function* pieceFrames(offset: number, piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < piece.length; ) {
    const head = (bytes: number) => pieceHead(offset + at, bytes);
    const part = piece.subarray(at, at + MAX_FRAME_BYTES - head(MAX_FRAME_BYTES).length);
    yield framed(head(part.length), part);
    at += part.length;
  }
}

/** The frame that says that more will come. */
export function emptyFrame(offset: number): Uint8Array {
  return framed(pieceHead(offset, 0), new Uint8Array());
}

/** The frame that ends what the job reads. */
export const END_FRAME: Uint8Array = new TextEncoder().encode("e\n");

function pieceHead(offset: number, bytes: number): string {
  return `p ${offset} ${bytes}\n`;
}

function framed(head: string, part: Uint8Array): Uint8Array {
  const frame = new Uint8Array(head.length + part.length);
  frame.set(new TextEncoder().encode(head));
  frame.set(part, head.length);
  return frame;
}
