/** Runs cells on this machine, on several worker threads, with traces and policies from files. */
import "./no-maglev.ts";
import { InputError, RuleViolation } from "../../core/errors.ts";
import { describeThrown, PolicyError } from "../../own-policies/guarded-policy.ts";
import { isPolicyFile, loadPolicy } from "../../own-policies/own-policy.ts";
import { openSource } from "../files/source.ts";
import type { CellInputs } from "./cell.ts";
import type { Cell, CellResult, Kind } from "./kinds.ts";
import { CellRunner, type Environment, type OpenedJobs } from "./runner.ts";
import { runInThreads, type WorkerOptions } from "./workers.ts";

export const WITH_FILES: Environment = { open: openSource, policy: loadPolicy };

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

/** Runs cells one after the other, here or in a worker thread. */
export function cellRunner({ opened, progress }: Pick<CellsOptions, "opened" | "progress">) {
  const runner = new CellRunner(WITH_FILES, opened, progress);
  return async <K extends Kind>(cell: Cell<K>): Promise<CellResult<K>> => {
    try {
      return await runner.run(cell);
    } catch (error) {
      throw "policy" in cell ? policyFailure(cell.policy, error) : error;
    }
  };
}

/** Reports an error of the user's own policy as a failure of the policy, not of Tutti. */
export function policyFailure(policy: string, error: unknown): unknown {
  const [file = ""] = policy.split(":");
  if (
    !isPolicyFile(file) ||
    error instanceof RuleViolation ||
    error instanceof InputError ||
    error instanceof PolicyError
  ) {
    return error;
  }
  const name = file.slice(file.lastIndexOf("/") + 1);
  const stack = error instanceof Error ? String(error.stack) : "";
  const place = stack.split("\n").find((line) => line.includes(name)) ?? "";
  const where = /([^/(\s]+:\d+:\d+)\)?$/.exec(place)?.[1];
  return new PolicyError(
    `Cannot continue with policy "${file}": it failed with ${describeThrown(error)}${where === undefined ? "" : ` at ${where}`}`,
    { cause: error },
  );
}
