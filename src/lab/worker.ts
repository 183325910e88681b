/** Entry of a worker thread: makes its task ready once, then answers cell by cell. */
import { parentPort, workerData } from "node:worker_threads";
import { RuleViolation } from "../core/errors.ts";
import { TASKS, type TaskName } from "./tasks.ts";
import type { CellFailure, CellReply } from "./workers.ts";

const { name, shared } = workerData as { readonly name: TaskName; readonly shared: never };
const ready = TASKS[name]().then((task) => task(shared)) as Promise<(cell: unknown) => unknown>;
ready.catch(() => {}); // told by the first cell that awaits it

parentPort?.on("message", async ({ cell, value }: { readonly cell: number; readonly value: unknown }) => {
  let reply: CellReply;
  try {
    reply = { cell, result: await (await ready)(value) };
  } catch (error) {
    reply = { cell, failure: failureOf(error) };
  }
  parentPort?.postMessage(reply);
});

function failureOf(error: unknown): CellFailure {
  if (!(error instanceof Error))
    return { name: "Error", message: String(error), stack: undefined, violation: undefined };
  const violation =
    error instanceof RuleViolation ? { rule: error.rule, job: error.job, timeS: error.timeS } : undefined;
  return { name: error.name, message: error.message, stack: error.stack, violation };
}
