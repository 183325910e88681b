/** Entry of a worker thread: answers cell by cell. */
import { parentPort, workerData } from "node:worker_threads";
import { RuleViolation } from "../../core/errors.ts";
import type { Cell } from "./kinds.ts";
import { cellsTask } from "./run-cells.ts";
import type { CellFailure, CellReply } from "./workers.ts";

const run = cellsTask(workerData);

parentPort?.on("message", async ({ cell, value }: { readonly cell: number; readonly value: Cell }) => {
  let reply: CellReply;
  try {
    reply = { cell, result: await run(value) };
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
