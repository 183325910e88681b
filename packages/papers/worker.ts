/** Runs in each worker thread of programs that know the papers. */
import "./kinds.ts";
import "@tutti/lab/experiments/worker.ts";
