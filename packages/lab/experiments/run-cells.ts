/** Runs cells on this machine, on several worker threads, with traces and policies from files. */
import "./compiler-flag.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import { runApart } from "./apart.ts";
import type { CellInputs, MachineCell } from "./cell.ts";
import type { Environment, OpenedJobs } from "./inputs.ts";
import type { Cell, CellResult, Kind } from "./kinds.ts";
import { CellRunner } from "./runner.ts";
import { openSource } from "./source.ts";
import { runInThreads, type WorkerOptions } from "./workers.ts";

export const WITH_FILES: Environment = { open: openSource, policy: choosePolicy };

export interface CellsOptions extends WorkerOptions {
  /** Jobs in memory; needed since standard input can be read only once. */
  readonly opened?: OpenedJobs | undefined;
  /** Called during long simulations, but only in this thread. */
  readonly progress?: CellInputs["progress"];
}

/**
 * The results in the order of the cells, with any number of workers.
 * @throws the error of the first cell that failed
 */
export async function runCells<K extends Kind>(
  cells: readonly Cell<K>[],
  options: CellsOptions,
): Promise<CellResult<K>[]> {
  const { opened, onDone } = options;
  const workers = Math.min(options.workers, cells.length);
  if (workers > 1) return (await runInThreads({ opened }, cells, workers, options)) as CellResult<K>[];
  const run = cellRunner(options);
  const results: CellResult<K>[] = [];
  for (const cell of cells) {
    results.push(await run(cell));
    onDone?.(results.length, cells.length);
  }
  return results;
}

/**
 * Runs cells one after the other, here or in a worker thread; users' own policies in processes of their own.
 */
export function cellRunner(
  { opened, progress }: Pick<CellsOptions, "opened" | "progress">,
  runner = new CellRunner(WITH_FILES, opened, progress),
) {
  return async <K extends Kind>(cell: Cell<K>): Promise<CellResult<K>> => {
    const { policy = "", source } = cell as Partial<MachineCell>;
    if (source === undefined || !isPolicyFile(policy.split(":")[0])) return runner.run(cell);
    const question = { cell: cell as Cell & MachineCell, opened: await runner.opened(source) };
    return (await runApart("cell", policy, question, progress)) as CellResult<K>;
  };
}
