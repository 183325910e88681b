/** Runs in each worker thread: computes one cell after the other. */
import { workerData } from "node:worker_threads";
import { RuleViolation } from "../../core/errors.ts";
import { answerQuestions } from "../../host/thread.ts";
import type { Cell } from "./kinds.ts";
import { cellRunner } from "./run-cells.ts";
import type { CellFailure, CellReply } from "./workers.ts";

const run = cellRunner(workerData);

answerQuestions(async (cell: Cell): Promise<CellReply> => {
  try {
    return { result: await run(cell) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
});

function failureOf(error: unknown): CellFailure {
  if (!(error instanceof Error))
    return { name: "Error", message: String(error), stack: undefined, violation: undefined };
  const violation =
    error instanceof RuleViolation ? { rule: error.rule, job: error.job, timeS: error.timeS } : undefined;
  return { name: error.name, message: error.message, stack: error.stack, violation };
}
