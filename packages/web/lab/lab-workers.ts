/** Asks the laboratory's workers: one for reading, and a pool that runs cells. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import type { Cell } from "@tutti/lab/experiments/kinds.ts";
import type { Boxes } from "@tutti/lab/report/page/boxes.ts";
import type { PrintedTable } from "@tutti/lab/report/printed-table.ts";
import { trustedUrl } from "../page/trusted.ts";
import { Cancelled } from "./cancelled.ts";
import type { Questions, Reply, RunAnswer, Topic } from "./messages.ts";
import { isOwn } from "./own/messages.ts";
import { askOwn, endOwn } from "./own/own-worker.ts";
import { scriptUrl } from "./scripts.ts";
import type { TableName } from "./worker/papers.ts";

/** More workers than this take more memory than they save time. */
const MAX_WORKERS = 8;

/** One worker, which is asked one question after the other. */
export class LabWorker {
  readonly #worker = new Worker(trustedUrl(scriptUrl()));
  #fail: ((error: Error) => void) | undefined;
  #isEnded = false;
  /** Settled when everything that was asked before has been answered. */
  #before: Promise<unknown> = Promise.resolve();

  ask<T extends Topic>(
    topic: T,
    asks: Questions[T]["asks"],
    onProgress: (progress: Questions[T]["progress"]) => void = () => {},
  ): Promise<Questions[T]["answer"]> {
    const answer = this.#before.then(() => this.#askNow(topic, asks, onProgress));
    this.#before = answer.catch(() => {});
    return answer;
  }

  #askNow<T extends Topic>(
    topic: T,
    asks: Questions[T]["asks"],
    onProgress: (progress: Questions[T]["progress"]) => void,
  ): Promise<Questions[T]["answer"]> {
    return new Promise((resolve, reject) => {
      if (this.#isEnded) {
        reject(new Cancelled());
        return;
      }
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
    this.#isEnded = true;
    this.#worker.terminate();
    this.#fail?.(new Cancelled());
  }
}

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
   * @param ownCode the policy that was typed in, without types
   * @throws Error for the first cell that failed, or Cancelled
   */
  async run(
    jobs: SharedJobs,
    cells: readonly Cell<"summary">[],
    onProgress: (cell: number, share: number) => void,
    ownCode: string,
  ): Promise<RunAnswer[]> {
    this.#isCancelled = false;
    await this.#provide(jobs, poolSize(cells.length));
    return this.#deal(cells, async (worker, cell, at) => {
      const answer = isOwn(cell.policy)
        ? await askOwn(ownCode, "run", { jobs, cell }, (share) => onProgress(at, share))
        : await worker.ask("run", { cell }, ({ share }) => onProgress(at, share));
      onProgress(at, 1);
      return answer;
    });
  }

  /**
   * Computes a table of a paper; its simulations start in order.
   * @param onDone how many of them are done
   * @throws Error for the first cell that failed, or Cancelled
   */
  async runTable(name: TableName, onDone: (done: number, of: number) => void): Promise<PrintedTable> {
    this.#isCancelled = false;
    this.#add(1);
    const cells = await this.#workers[0].ask("table-cells", name);
    this.#add(poolSize(cells.length));
    onDone(0, cells.length);
    let done = 0;
    const results = await this.#deal(cells, async (worker, cell) => {
      const result = await worker.ask("paper-cell", { cell });
      onDone(++done, cells.length);
      return result;
    });
    return this.#workers[0].ask("table", { name, results });
  }

  /** What the workers make of a list, in its order; each worker takes the next item when it is free. */
  async #deal<Item, Made>(
    items: readonly Item[],
    make: (worker: LabWorker, item: Item, at: number) => Promise<Made>,
  ): Promise<Made[]> {
    const made = new Array<Made>(items.length);
    let next = 0;
    try {
      await Promise.all(
        this.#workers.slice(0, items.length).map(async (worker) => {
          while (next < items.length && !this.#isCancelled) {
            const at = next++;
            made[at] = await make(worker, items[at], at);
          }
        }),
      );
    } catch (error) {
      // The other workers may still run for a long time.
      this.cancel();
      throw error;
    }
    return made;
  }

  async deal(jobs: SharedJobs, cell: Cell<"summary">, schedule: Schedule): Promise<Boxes> {
    await this.#provide(jobs, 1);
    return this.#workers[0].ask("deal", { cell, schedule });
  }

  async explain(
    jobs: SharedJobs,
    cell: Cell<"summary">,
    job: number,
    ownCode: string,
  ): Promise<readonly string[]> {
    if (isOwn(cell.policy)) return askOwn(ownCode, "explain", { jobs, cell, job });
    await this.#provide(jobs, 1);
    return this.#workers[0].ask("explain", { cell, job });
  }

  cancel(): void {
    this.#isCancelled = true;
    for (const worker of this.#workers) worker.end();
    endOwn();
    this.#workers = [];
  }

  async #provide(jobs: SharedJobs, count: number): Promise<void> {
    const isKnown =
      this.#jobs?.name === jobs.name &&
      this.#jobs.seed === jobs.seed &&
      this.#jobs.workload === jobs.workload;
    const added = this.#add(count);
    this.#jobs = jobs;
    const without = isKnown ? added : this.#workers;
    await Promise.all(without.map((worker) => worker.ask("jobs", jobs)));
  }

  /** Starts workers until there are `count`, and returns the new ones. */
  #add(count: number): LabWorker[] {
    const added = Array.from({ length: Math.max(0, count - this.#workers.length) }, () => new LabWorker());
    this.#workers.push(...added);
    return added;
  }
}

function poolSize(cells: number): number {
  return Math.min(cells, MAX_WORKERS, navigator.hardwareConcurrency || 2);
}
