/** Copies standard input to all ranks, as srun does; a rank that has ended gets no more. */
import type { ChildProcess } from "node:child_process";

export function feedInput(children: readonly ChildProcess[]): void {
  const inputs = children.flatMap(({ stdin }) => (stdin === null ? [] : [stdin]));
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
