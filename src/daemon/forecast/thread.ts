/** Forecasts in a thread of their own: started with the first one, one at a time, ended when it has had nothing to do for a while. */
import { Worker } from "node:worker_threads";
import { programFile } from "../../host/programs.ts";
import type { ForecastTask } from "./model.ts";
import type { ForecastReply } from "./worker.ts";

/** Makes a forecast; rejects when it cannot. */
export type ForecastEngine = (task: ForecastTask) => Promise<Float64Array>;

const IDLE_MS = 30_000;
const MOST_HEAP_MB = 512;

export function forecastThread(): ForecastEngine {
  let worker: Worker | undefined;
  let before: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;
  const run = (task: ForecastTask): Promise<Float64Array> =>
    new Promise((resolve, reject) => {
      clearTimeout(idle);
      worker ??= startWorker();
      const used = worker;
      const onReply = (reply: ForecastReply) => {
        used.off("exit", onExit);
        idle = setTimeout(() => {
          worker = undefined;
          void used.terminate();
        }, IDLE_MS).unref();
        if ("starts" in reply) resolve(reply.starts);
        else reject(new Error(reply.failure));
      };
      // Out of memory, or a bug: the next forecast gets another thread.
      const onExit = () => {
        used.off("message", onReply);
        if (worker === used) worker = undefined;
        reject(new Error("the thread of the forecast has ended"));
      };
      used.once("message", onReply).once("exit", onExit);
      used.postMessage(task);
    });
  return (task) => {
    const result = before.then(() => run(task));
    before = result.catch(() => {});
    return result;
  };
}

function startWorker(): Worker {
  const file = programFile("forecast", new URL("./worker.ts", import.meta.url));
  const limits = { maxOldGenerationSizeMb: MOST_HEAP_MB };
  const worker = new Worker(file, { resourceLimits: limits });
  // Its end, which follows, says enough.
  worker.on("error", () => {});
  // It must not keep the front end from ending.
  worker.unref();
  return worker;
}
