/** Words for signals. */
import { SIGNALS } from "../world/kernel/signals.ts";

const NAMES = new Map(Object.entries(SIGNALS).map(([name, { number }]) => [String(number), name]));

/** @returns such as SIGTERM for 15, TERM, term or SIGTERM; undefined if there is no such signal */
export function signalNamed(word: string): string | undefined {
  const upper = word.toUpperCase();
  const name = NAMES.get(word) ?? (upper.startsWith("SIG") ? upper : `SIG${upper}`);
  return SIGNALS[name] === undefined ? undefined : name;
}

/** @param name such as SIGTERM */
export function signalNumber(name: string): number {
  return SIGNALS[name].number;
}
