/**
 * Simulates a gang scheduler that acts only between rounds: arrivals, ends and re-packing wait until every
 * row has had its slot. Tutti's own simulator acts at every slot (simulator/rounds.ts). This one goes slot by
 * slot, so it suits short runs. A slot is 1 s; submit times and run times are whole slots.
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { JobTable } from "@tutti/kernel/machines/job-table.ts";
import { Matrix } from "../drawn-matrix.ts";

interface ByRound {
  readonly endS: Float64Array;
  /** Time with 0, 1, 2 … rows, from the first submit to the last end. */
  readonly rowsS: readonly number[];
}

export function simulateByRound(instance: Instance, { definition, parameters }: PolicyChoice): ByRound {
  if (definition.sharing !== "time") throw new RangeError(`Cannot run ${definition.name}: expected gangs`);
  const { count, size, submitS, runS } = instance;
  const table = new JobTable({ shape: false, memory: false, origin: false });
  table.reserve(count);
  table.size.set(size);
  const machine = new Matrix(instance.processors, size);
  const policy = definition.make(machine, table, parameters);
  const leftS = runS.map((slots) => Math.max(1, Math.ceil(slots)));
  const endS = new Float64Array(count);
  let arrived = 0;
  let running = 0;
  const rowsS = [0];
  let ended: JobIndex[] = [];
  let nowS = submitS[0];
  while (running + ended.length > 0 || arrived < count) {
    if (running + ended.length === 0 && submitS[arrived] > nowS) {
      rowsS[0] += submitS[arrived] - nowS;
      nowS = submitS[arrived];
    }
    for (const job of ended) policy.depart(job);
    ended = [];
    const arrivals: JobIndex[] = [];
    while (arrived < count && submitS[arrived] <= nowS) arrivals.push(arrived++);
    policy.decide(arrivals);
    running += arrivals.length;
    // An empty system waits for the next arrival, even if the policy keeps a row.
    const rows = running === 0 ? 0 : machine.rowCount;
    if (rows === 0) continue;
    rowsS[rows] = (rowsS[rows] ?? 0) + rows;
    for (let position = 0; position < rows; position++) {
      nowS++;
      const row = machine.rowAt(position);
      const inRow: JobIndex[] = [];
      for (let run = machine.firstRun(row); run !== -1; run = machine.nextRun(run))
        inRow.push(machine.runJob(run));
      for (const job of inRow) {
        if (--leftS[job] > 0) continue;
        endS[job] = nowS;
        machine.removeJob(job);
        ended.push(job);
        running--;
      }
    }
  }
  return { endS, rowsS: Array.from(rowsS, (timeS) => timeS ?? 0) };
}
