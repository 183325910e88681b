/** Computes the result of a cell of the kind `golden`: a row of the golden table (table.ts). */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import type { CellInputs, MachineCell } from "../experiments/cell.ts";
import { PlacesRecorder, scheduleTable } from "./archive.ts";

interface GoldenCell extends MachineCell {
  /** Tables of archive.ts that the result has. */
  readonly tables?: readonly ("schedule" | "places")[];
}

export type GoldenResult =
  | {
      readonly jobs: number;
      readonly processors: number;
      /** Of all starts and ends (workload/hash.ts), 16 hexadecimal digits. */
      readonly hash: string;
      readonly meanWaitS: number;
      readonly maxWaitS: number;
      readonly tables?: GoldenTables | undefined;
    }
  /** Why the policy cannot run there, such as queues that do not cover the machine. */
  | { readonly refused: string };

interface GoldenTables {
  readonly schedule: string;
  /** Of gang policies only. */
  readonly places: string | undefined;
}

export async function runGolden(cell: GoldenCell, inputs: CellInputs): Promise<GoldenResult> {
  const { instance, choice } = await inputs.ready(cell);
  try {
    const { slotS, switchS, tables } = cell;
    const isGang = choice.definition.sharing === "time";
    const observer = tables?.includes("places") && isGang ? new PlacesRecorder(instance) : undefined;
    const schedule = simulate(instance, choice, { slotS, switchS, observer });
    const { startS, endS } = schedule;
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
      tables: tables && { schedule: scheduleTable(instance, schedule), places: observer?.table() },
    };
  } catch (error) {
    if (error instanceof InputError) return { refused: error.message };
    throw error;
  }
}
