/** Asks the laboratory's workers: one for reading, and a pool that runs cells. */
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import type { Schedule } from "../../core/schedule.ts";
import type { Cell } from "../../lab/experiments/kinds.ts";
import { workerUrl } from "../page/trusted.ts";
import type { Questions, Reply, RunAnswer, Topic } from "./messages.ts";
import type { Boxes } from "./worker/deal.ts";

/** More workers than this take more memory than they save time. */
const MAX_WORKERS = 8;

let madeUrl: string | undefined;

/** Where the worker's script is: next to the page, or in it, if the page is one file. */
function scriptUrl(): string {
  const inside = document.getElementById("lab-worker")?.textContent ?? "";
  if (inside === "") return "lab-worker.js";
  madeUrl ??= URL.createObjectURL(new Blob([inside], { type: "text/javascript" }));
  return madeUrl;
}

/** One worker, which answers questions in order. */
export class LabWorker {
  readonly #worker = new Worker(workerUrl(scriptUrl()));
  #fail: ((error: Error) => void) | undefined;

  ask<T extends Topic>(
    topic: T,
    asks: Questions[T]["asks"],
    onProgress: (progress: Questions[T]["progress"]) => void = () => {},
  ): Promise<Questions[T]["answer"]> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#worker.onerror = ({ message }) => reject(new Error(message || "The worker has ended"));
      this.#worker.onmessageerror = () => reject(new Error("The worker's answer could not be read"));
      this.#worker.onmessage = ({ data }: MessageEvent<Reply>) => {
        if ("progress" in data) onProgress(data.progress as Questions[T]["progress"]);
        else if ("answer" in data) resolve(data.answer as Questions[T]["answer"]);
        else
          reject(
            data.failure.isInput ? new InputError(data.failure.message) : new Error(data.failure.message),
          );
      };
      this.#worker.postMessage({ topic, ...asks });
    });
  }

  /** Ends the worker at once. What was asked fails with `Cancelled`. */
  end(): void {
    this.#worker.terminate();
    this.#fail?.(new Cancelled());
  }
}

export class Cancelled extends Error {}

/** Jobs with the name and the seed by which cells ask for them. */
export interface SharedJobs {
  readonly name: string;
  readonly seed: number;
  readonly workload: Workload;
}

/**
 * Workers that run cells. They stay, because code that has run once is faster; each gets the jobs once.
 */
export class LabPool {
  #workers: LabWorker[] = [];
  #jobs: SharedJobs | undefined;
  #isCancelled = false;

  /**
   * Results come in the order of the cells; cells start in this order.
   * @param onProgress share of the cell that is done, and later 1
   * @throws Error for the first cell that failed, or Cancelled
   */
  async run(
    jobs: SharedJobs,
    cells: readonly Cell<"summary">[],
    onProgress: (cell: number, share: number) => void,
  ): Promise<RunAnswer[]> {
    this.#isCancelled = false;
    await this.#provide(jobs, Math.min(cells.length, MAX_WORKERS, navigator.hardwareConcurrency || 2));
    const answers = new Array<RunAnswer>(cells.length);
    let next = 0;
    const workers = this.#workers.slice(0, cells.length);
    try {
      await Promise.all(
        workers.map(async (worker) => {
          while (next < cells.length && !this.#isCancelled) {
            const at = next++;
            answers[at] = await worker.ask("run", { cell: cells[at] }, ({ share }) => onProgress(at, share));
            onProgress(at, 1);
          }
        }),
      );
    } catch (error) {
      // The other workers may still run for a long time.
      this.cancel();
      throw error;
    }
    return answers;
  }

  async deal(jobs: SharedJobs, cell: Cell<"summary">, schedule: Schedule): Promise<Boxes> {
    await this.#provide(jobs, 1);
    return this.#workers[0].ask("deal", { cell, schedule });
  }

  async explain(jobs: SharedJobs, cell: Cell<"summary">, job: number): Promise<readonly string[]> {
    await this.#provide(jobs, 1);
    return this.#workers[0].ask("explain", { cell, job });
  }

  cancel(): void {
    this.#isCancelled = true;
    for (const worker of this.#workers) worker.end();
    this.#workers = [];
  }

  async #provide(jobs: SharedJobs, count: number): Promise<void> {
    const isKnown =
      this.#jobs?.name === jobs.name &&
      this.#jobs.seed === jobs.seed &&
      this.#jobs.workload === jobs.workload;
    const added = Array.from({ length: Math.max(0, count - this.#workers.length) }, () => new LabWorker());
    this.#workers.push(...added);
    this.#jobs = jobs;
    const without = isKnown ? added : this.#workers;
    await Promise.all(without.map((worker) => worker.ask("jobs", jobs)));
  }
}
