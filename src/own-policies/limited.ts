/**
 * Runs code with a time limit: another thread of V8 watches the clock and aborts the code, even in an endless
 * loop.
 */
import { Script } from "node:vm";

const WORK = Symbol.for("tutti.limited-work");
const runWork = new Script(`globalThis[Symbol.for("tutti.limited-work")]()`);
const scope = globalThis as { [WORK]?: (() => void) | undefined };

/**
 * Runs synchronous code. If the code is aborted, its changes may be half done: neither its `catch` nor its
 * `finally` blocks run.
 * @param late called after an abort
 */
export function withTimeLimit<Result>(maxMs: number, work: () => Result, late: () => never): Result {
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
    runWork.runInThisContext({ timeout: maxMs });
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
