/** Entry of the thread that makes forecasts, so that nobody who asks for something else waits for them. */
import { parentPort } from "node:worker_threads";
import { type ForecastTask, forecastStarts } from "./model.ts";

export type ForecastReply = { readonly starts: Float64Array } | { readonly failure: string };

/** Some policies take seconds for one replication of a long queue; somebody may wait for the answer. */
const MOST_MS = 1000;

parentPort?.on("message", (task: ForecastTask) => {
  let reply: ForecastReply;
  try {
    const untilMs = performance.now() + MOST_MS;
    reply = { starts: forecastStarts(task, () => performance.now() < untilMs) };
  } catch (error) {
    reply = { failure: String(error) };
  }
  parentPort?.postMessage(reply);
});
