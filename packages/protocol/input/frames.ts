/** What clients write into the named pipes of a job that has an input (conductor/attempts/job-input.ts). */

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

/** The frame that gives a terminal another size. */
export function sizeFrame(rows: number, columns: number): Uint8Array {
  const within = (count: number) => Math.min(9999, Math.max(1, Math.trunc(count) || 1));
  return new TextEncoder().encode(`w ${within(rows)} ${within(columns)}\n`);
}

/** The frames of what was typed. */
export function* typedFrames(typed: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < typed.length; at += MAX_TYPED_BYTES) {
    const part = typed.subarray(at, at + MAX_TYPED_BYTES);
    const head = new TextEncoder().encode(`d ${part.length}\n`);
    const frame = new Uint8Array(head.length + part.length);
    frame.set(head);
    frame.set(part, head.length);
    yield frame;
  }
}
