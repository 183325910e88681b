/** Reads names of signals as people write them: `USR1`, `SIGUSR1`, `usr1` or `10`. */
import { constants } from "node:os";

/** Undefined: this machine has no such signal. */
export function signalNamed(word: string): NodeJS.Signals | undefined {
  const signals = Object.entries(constants.signals) as [NodeJS.Signals, number][];
  const upper = word.toUpperCase();
  const name = upper.startsWith("SIG") ? upper : `SIG${upper}`;
  const number = signals.find(([one, value]) => one === name || String(value) === word)?.[1];
  // Some numbers have two names, of which the first is the usual one.
  return signals.find(([, value]) => value === number)?.[0];
}
