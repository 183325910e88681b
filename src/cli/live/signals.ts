/**
 * Ctrl-C, told once. One press can arrive several times: from the terminal, and again from npm, `timeout`, or bin/tutti.js under an old
 * Node, each of which passes on what its child has had already.
 */
import { ExitCode } from "../errors.ts";

/** Signals of the same press come within this, of a later one hardly ever. */
const ECHO_MS = 500;

/** Calls back at each press; the function given back ends that. */
export function onSignals(
  names: readonly NodeJS.Signals[],
  callback: (name: NodeJS.Signals) => void,
): () => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  const listen = (name: NodeJS.Signals) => {
    if (performance.now() - lastMs < ECHO_MS) return;
    lastMs = performance.now();
    callback(name);
  };
  for (const name of names) process.on(name, listen);
  return () => {
    for (const name of names) process.off(name, listen);
  };
}

/** Aborts at the first press; the second ends the process at once. */
export function untilSignal(names: readonly NodeJS.Signals[]): AbortSignal {
  const left = new AbortController();
  onSignals(names, () => {
    if (left.signal.aborted) process.exit(ExitCode.interrupted);
    left.abort();
  });
  return left.signal;
}
