/**
 * Makes a new driver with a new policy and lets it take over the running jobs.
 *
 * On this machine, a gang that the policy does not leave where it is moves to other CPUs, or is stopped until
 * there is room. On a cluster, processes cannot move to another node. There, the driver is made for several
 * orders of the nodes (live-machine.ts), until the policy leaves all gangs where they are. If it never does,
 * gangs keep their rows and CPUs in a handover, in which nothing starts: the policy takes over when the gangs
 * that are in its way have ended.
 */
import type { NodeTable } from "@tutti/kernel/core/machine.ts";
import type { PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import type { LiveDriver, MatrixRows, Placement, RunningJob } from "./live-driver.ts";
import { type LiveMachine, renumbered } from "./live-machine.ts";
import { LivePool } from "./live-pool.ts";
import { LiveRounds, type LiveRoundsOptions } from "./live-rounds.ts";

interface AdoptionOptions extends Omit<LiveRoundsOptions, "definition"> {
  readonly definition: PolicyDefinition;
  /** Number of jobs, for the size of the table. */
  readonly known: number;
  /** The matrix, beginning with the row whose turn it is. */
  readonly rows: MatrixRows;
  readonly nowMs: number;
}

export interface Adopted {
  readonly driver: LiveDriver;
  readonly running: readonly RunningJob[];
  /** The order of the nodes for which the driver was made. */
  readonly nodes: NodeTable;
  /** In a handover: the gangs that the policy would have moved or stopped. */
  readonly inTheWay?: readonly JobNumber[];
}

/** Gangs stay on any CPUs, whatever the policy is. */
const HANDOVER = choosePolicy("gang:place=any");

/**
 * @param records of all gangs, whose CPUs are all there
 * @param describe a gang by the numbers of a table
 */
export function adopt(
  records: readonly JobRecord[],
  machine: LiveMachine,
  describe: (record: JobRecord, machine: LiveMachine, nodes: NodeTable) => RunningJob,
  options: Omit<AdoptionOptions, "processors">,
): Adopted {
  const { nodes: present } = machine;
  const at = (nodes: NodeTable, more: Partial<AdoptionOptions>, isCompleted: boolean): Adopted => {
    const running = records.map((record) => describe(record, machine, nodes));
    const own = renumbered(options.rows, present, nodes);
    const rows = isCompleted ? completed(own, running) : own;
    const all = { ...options, ...more, rows, processors: nodes.places };
    return { driver: driverFor(running, all as AdoptionOptions), running, nodes };
  };
  if (machine.movesGangs || records.length === 0) return at(present, {}, false);
  let inTheWay: readonly JobNumber[] | undefined;
  let failure: unknown;
  for (const nodes of machine.orders(records.map((record) => record.nodes))) {
    try {
      const adopted = at(nodes, {}, true);
      const moved = movedJobs(adopted.running, adopted.driver);
      if (moved.length === 0) return adopted;
      inTheWay ??= moved;
    } catch (error) {
      failure = error;
    }
  }
  if (inTheWay === undefined) throw failure;
  const { definition, parameters } = HANDOVER;
  return {
    ...at(present, { definition, parameters, limits: undefined, observer: undefined }, true),
    inTheWay,
  };
}

/** The rows, with every gang in at least one of them. */
function completed(rows: MatrixRows, running: readonly RunningJob[]): MatrixRows {
  const all: Placement[][] = rows.map((placements) =>
    placements.filter(({ job }) => running.some((other) => other.job === job)),
  );
  for (const { job, processors } of running) {
    if (all.some((row) => row.some((placement) => placement.job === job))) continue;
    const taken = (row: readonly Placement[]) => new Set(row.flatMap((placement) => placement.processors));
    let row = all.find((candidate) => processors.every((processor) => !taken(candidate).has(processor)));
    if (row === undefined) {
      row = [];
      all.push(row);
    }
    row.push({ job, processors });
  }
  return all;
}

/** Jobs that a driver has not left on their processors. */
function movedJobs(running: readonly RunningJob[], driver: LiveDriver): JobNumber[] {
  const placed = new Map<JobNumber, string>();
  for (const { job, processors } of driver.layout().flat()) placed.set(job, keyOf(processors));
  return running.filter(({ job, processors }) => placed.get(job) !== keyOf(processors)).map(({ job }) => job);
}

function keyOf(processors: readonly number[]): string {
  return [...processors].sort((a, b) => a - b).join(",");
}

function driverFor(running: readonly RunningJob[], options: AdoptionOptions): LiveDriver {
  const { definition, rows, nowMs, known } = options;
  if (definition.sharing === "space") {
    // A job without CPUs, which gave them back while it was paused, takes none from others.
    const hasCpus = ({ processors }: RunningJob) => Number(processors.length > 0);
    const inOrder = [...running].sort(
      (a, b) => hasCpus(b) - hasCpus(a) || b.ranMs - a.ranMs || a.job - b.job,
    );
    const { jobs, resources } = keepingUnits(inOrder, options);
    const pool = new LivePool({ ...options, definition, resources }, known);
    for (const job of jobs) pool.takeOver(job, nowMs);
    return pool;
  }
  const make = () =>
    new LiveRounds({ ...options, definition }, known + options.processors * (rows.length + 1), nowMs);
  if (running.length === 0) return make();
  if (definition.capabilities?.restore) {
    const driver = make();
    driver.restore(running, rows);
    return driver;
  }
  let best: { driver: LiveRounds; moved: number } | undefined;
  for (const fill of ["cells", "blocks", "none"] as const) {
    const driver = make();
    try {
      const moved = driver.takeOver(running, rows, fill).length;
      if (best === undefined || moved < best.moved) best = { driver, moved };
    } catch (error) {
      // The policy fails with these fillers; the attempt without fillers must succeed.
      if (fill === "none" && best === undefined) throw error;
    }
    if (best?.moved === 0) break;
  }
  return best!.driver;
}

/** The rows of a layout, beginning with the row whose turn it is in a slot. */
export function rowsFrom(
  layout: { readonly rows: MatrixRows; readonly slot: number },
  slot: number,
): MatrixRows {
  const { rows } = layout;
  if (rows.length === 0) return rows;
  const first = (((slot - layout.slot) % rows.length) + rows.length) % rows.length;
  return [...rows.slice(first), ...rows.slice(0, first)];
}

/**
 * A job that gets no processors now is stopped, but its process keeps its units. The policy counts only what
 * jobs on processors hold. So it does not see these units until the stopped job has ended.
 */
function keepingUnits(
  running: readonly RunningJob[],
  { processors, resources = [] }: Pick<AdoptionOptions, "processors" | "resources">,
): Pick<AdoptionOptions, "resources"> & { readonly jobs: readonly RunningJob[] } {
  const amounts = resources.map(({ amount }) => amount);
  let free = processors;
  const jobs = running.map((job) => {
    if (job.size <= free) {
      free -= job.size;
      return job;
    }
    job.demand?.forEach((units, k) => {
      amounts[k] -= units;
    });
    return { ...job, demand: undefined };
  });
  return { jobs, resources: resources.map(({ name }, k) => ({ name, amount: amounts[k] })) };
}

/** Jobs that a driver has taken over but has given no processors. */
export function stoppedJobs(running: readonly RunningJob[], driver: LiveDriver): JobNumber[] {
  const placed = new Set(driver.layout().flatMap((placements) => placements.map(({ job }) => job)));
  return running.filter(({ job }) => !placed.has(job)).map(({ job }) => job);
}
