export type { WorkerOptions } from "node:worker_threads";
export { parentPort, Worker } from "node:worker_threads";
