/** Copies standard input to all ranks, as srun does; a rank that has ended gets no more. */
import type { RankStreams } from "./started.ts";

export function feedInput(ranks: readonly RankStreams[]): void {
  const inputs = ranks.flatMap(({ stdin }) => (stdin === null ? [] : [stdin]));
  // A rank that has our own standard input reads it itself.
  if (inputs.length === 0) return;
  for (const input of inputs) input.on("error", () => {});
  process.stdin.on("error", () => {});
  process.stdin.on("data", (piece: Buffer) => {
    const full = inputs.filter((input) => input.writable && !input.write(piece));
    if (full.length === 0) return;
    process.stdin.pause();
    let waiting = full.length;
    for (const input of full) {
      let isDone = false;
      const done = () => {
        if (isDone) return;
        isDone = true;
        if (--waiting === 0) process.stdin.resume();
      };
      input.once("drain", done).once("close", done);
    }
  });
  process.stdin.on("end", () => {
    for (const input of inputs) input.end();
  });
  // Input that never ends must not keep srun alive when all ranks have ended.
  const handle = process.stdin as typeof process.stdin & { unref?: () => void };
  handle.unref?.();
}
