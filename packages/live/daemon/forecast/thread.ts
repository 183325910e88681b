/** Makes forecasts one at a time in a thread. The first forecast starts the thread, which ends when idle. */
import { programFile } from "@tutti/host/programs.ts";
import { Thread } from "@tutti/host/thread.ts";
import type { ForecastTask } from "./task.ts";
import type { ForecastReply } from "./worker.ts";

/** Makes a forecast; rejects if it cannot. */
export type ForecastEngine = (task: ForecastTask) => Promise<readonly Float64Array[]>;

const IDLE_MS = 30_000;
const MAX_HEAP_MB = 512;

const LIMITS = { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } };
const FILE = programFile("forecast", new URL("./worker.ts", import.meta.url));

export function forecastThread(): ForecastEngine {
  let thread: Thread<ForecastTask, ForecastReply> | undefined;
  let before: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;
  const run = async (task: ForecastTask): Promise<readonly Float64Array[]> => {
    clearTimeout(idle);
    // unref(): the thread must not keep the front end from ending.
    thread ??= new Thread<ForecastTask, ForecastReply>(FILE, LIMITS).unref();
    const used = thread;
    const stop = () => {
      thread = undefined;
      return used.end();
    };
    const reply = await used.ask(task).catch(async () => {
      // Out of memory, or a bug. The next forecast gets a new thread.
      await stop();
      throw new Error("the thread of the forecast has ended");
    });
    idle = setTimeout(stop, IDLE_MS).unref();
    if ("times" in reply) return reply.times;
    throw new Error(reply.failure);
  };
  return (task) => {
    const result = before.then(() => run(task));
    before = result.catch(() => {});
    return result;
  };
}
