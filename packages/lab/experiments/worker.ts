/** Runs in each worker thread: computes one cell after the other. */
import { workerData } from "node:worker_threads";
import { answerQuestions } from "@tutti/host/thread.ts";
import { failureOf } from "./failures.ts";
import type { Cell } from "./kinds.ts";
import { cellRunner } from "./run-cells.ts";
import type { CellReply } from "./workers.ts";

const run = cellRunner(workerData);

answerQuestions(async (cell: Cell): Promise<CellReply> => {
  try {
    return { result: await run(cell) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
});
