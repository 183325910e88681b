/**
 * Reports each press of Ctrl-C once. One press can arrive several times: first from the terminal, then from
 * npm, `timeout`, or bin/tutti.js under an old Node. These forward the signal to their child, which already
 * has it.
 */
import { ExitCode } from "../errors.ts";

/** Signals of the same press arrive within this time; a second press hardly ever does. */
const ECHO_MS = 500;

/** Calls back at each press, until the returned function is called. */
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
  const interrupt = new AbortController();
  onSignals(names, () => {
    if (interrupt.signal.aborted) process.exit(ExitCode.interrupted);
    interrupt.abort();
  });
  return interrupt.signal;
}
