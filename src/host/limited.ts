/** Code that must not run for long: a thread of the engine's watches the clock and cuts it off, also in a loop without end. */
import { Script } from "node:vm";

const WORK = Symbol.for("tutti.limited-work");
const runWork = new Script(`globalThis[Symbol.for("tutti.limited-work")]()`);
const scope = globalThis as { [WORK]?: (() => void) | undefined };

/**
 * Runs something that returns or throws. Whatever it was changing when it is cut off is left half changed: neither `catch` nor `finally` of its
 * code runs.
 * @param late what to do when it was cut off
 */
export function limited<Result>(mostMs: number, work: () => Result, late: () => never): Result {
  let outcome: { readonly result: Result } | { readonly error: unknown } | undefined;
  const before = scope[WORK];
  scope[WORK] = () => {
    try {
      outcome = { result: work() };
    } catch (error) {
      outcome = { error };
    }
  };
  try {
    runWork.runInThisContext({ timeout: mostMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") late();
    throw error;
  } finally {
    scope[WORK] = before;
  }
  if (outcome === undefined) return late();
  if ("error" in outcome) throw outcome.error;
  return outcome.result;
}
