/** Computes the result of a cell of the kind `golden`: a row of the golden table (table.ts). */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import type { CellInputs, MachineCell } from "../experiments/cell.ts";

export type GoldenResult =
  | {
      readonly jobs: number;
      readonly processors: number;
      /** Of all starts and ends (workload/hash.ts), 16 hexadecimal digits. */
      readonly hash: string;
      readonly meanWaitS: number;
      readonly maxWaitS: number;
    }
  /** Why the policy cannot run there, such as queues that do not cover the machine. */
  | { readonly refused: string };

export async function runGolden(cell: MachineCell, inputs: CellInputs): Promise<GoldenResult> {
  const { instance, choice } = await inputs.ready(cell);
  try {
    const { startS, endS } = simulate(instance, choice, { slotS: cell.slotS, switchS: cell.switchS });
    let sumS = 0;
    let maxWaitS = 0;
    for (let job = 0; job < instance.count; job++) {
      const waitS = startS[job] - instance.submitS[job];
      sumS += waitS;
      if (waitS > maxWaitS) maxWaitS = waitS;
    }
    return {
      jobs: instance.count,
      processors: instance.processors,
      hash: hashColumns(startS, endS),
      meanWaitS: sumS / instance.count,
      maxWaitS,
    };
  } catch (error) {
    if (error instanceof InputError) return { refused: error.message };
    throw error;
  }
}
