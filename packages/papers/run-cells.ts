/** Runs cells of all kinds, those that only papers need included. */
import "./kinds.ts";
import { programFile } from "@tutti/host/programs.ts";
import { startThreadsFrom } from "@tutti/lab/experiments/workers.ts";

startThreadsFrom(programFile("worker", new URL("./worker.ts", import.meta.url)));

export { runCells } from "@tutti/lab/experiments/run-cells.ts";
