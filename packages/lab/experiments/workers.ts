/**
 * Distributes independent cells over worker threads. Cells are handed out in order, and their results are
 * returned in the same order, so the number of workers never affects a result. Only the caller and the code
 * of the threads (worker.ts) know what a cell is.
 */
import { programFile } from "@tutti/host/programs.ts";
import { Thread, ThreadEnded } from "@tutti/host/thread.ts";
import { PolicyError } from "@tutti/own-policies/guarded-policy.ts";
import { type CellFailure, revive } from "./failures.ts";

export interface WorkerOptions {
  /** Number of threads, 1 or more; 1 runs in this thread. There are never more threads than cells. */
  readonly workers: number;
  /** Called after each cell. */
  onDone?(done: number, of: number): void;
}

/** What a worker sends back for a cell. */
export type CellReply = { readonly result: unknown } | { readonly failure: CellFailure };

let program = programFile("worker", new URL("./worker.ts", import.meta.url));

/** The program of later threads, in a package that adds kinds of cells. */
export function startThreadsFrom(file: URL): void {
  program = file;
}

/**
 * Runs every cell in one of several threads.
 * @param shared sent to each thread once
 * @throws the error of the first failed cell, in the order of cells
 */
export async function runInThreads(
  shared: unknown,
  cells: readonly unknown[],
  workers: number,
  { onDone }: WorkerOptions,
): Promise<unknown[]> {
  const results: unknown[] = new Array(cells.length);
  const failures = new Map<number, Error>();
  let next = 0;
  let done = 0;

  const serve = async (): Promise<void> => {
    const thread = new Thread<unknown, CellReply>(program, { workerData: shared });
    while (next < cells.length && failures.size === 0) {
      const cell = next++;
      try {
        const reply = await thread.ask(cells[cell]);
        if ("failure" in reply) failures.set(cell, revive(reply.failure));
        else results[cell] = reply.result;
      } catch (error) {
        failures.set(cell, error instanceof ThreadEnded ? threadEnded(cells[cell]) : (error as Error));
      }
      onDone?.(++done, cells.length);
    }
    await thread.end();
  };

  await Promise.all(Array.from({ length: workers }, serve));
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
  return results;
}

/** Only the code of a user's own policy can end a worker from within; Tutti's own code does not. */
function threadEnded(cell: unknown): PolicyError {
  const policy = String((cell as { readonly policy?: unknown } | undefined)?.policy ?? "");
  return new PolicyError(
    `Cannot continue with policy "${policy}": it ended its own thread, expected a policy that only makes decisions`,
  );
}
