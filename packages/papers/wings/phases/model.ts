/** The model of gangs with phases: its parameters, and the measures of a run. Also runs in a page. */
import { ModelError } from "@tutti/kernel/core/errors.ts";
import { integer, list, number, numbersIn } from "@tutti/kernel/core/parameters.ts";
import type { ParameterSpec, ParameterValues } from "@tutti/kernel/core/policy.ts";
import { type Measure, measure } from "../wing.ts";
import type { PhasesInstance } from "./contract.ts";
import type { PhasesNumbers } from "./metrics.ts";
import { makePhases, type PhasesModel } from "./workload.ts";

export const MODEL_PARAMETERS: readonly ParameterSpec[] = [
  integer("units", { min: 1, max: 65_536, default: 16 }, "units, such as GPUs, of all nodes"),
  integer(
    "node",
    { min: 1, max: 65_536, default: 8 },
    "units of a node; a gang stays on the nodes on which its memory is, and may use any units there",
  ),
  list("sizes", "integer", { min: 1, max: 65_536, default: "2,2,4,4,8" }, "sizes of gangs, equally likely"),
  seconds("hold", 430, "mean time for which a gang holds its units"),
  seconds("wait", 390, "mean time until it wants them again"),
  number(
    "spread",
    { min: 0, max: 10, default: 0.3 },
    "standard deviation of both ÷ mean; their distribution is log-normal",
  ),
  integer("rounds", { min: 1, max: 1_000_000, default: 12 }, "turns of a gang"),
  integer("gangs", { min: 1, max: 1_000_000, default: 48 }, "number of gangs; all run to their end"),
  number(
    "interarrival",
    { min: 0, max: 1e6, default: 0, unit: "s" },
    "mean time between arrivals, exponential; 0: all come at once",
  ),
  number("save", { min: 0, max: 1e6, default: 0, unit: "s" }, "time until units are free after a turn"),
  number(
    "restore",
    { min: 0, max: 1e6, default: 5, unit: "s" },
    "time until a turn begins on units that another gang has had",
  ),
  number(
    "resident",
    { min: 1, max: 1000, default: 2 },
    "gangs with at most this many times the units of a node are resident there",
  ),
  number(
    "memory",
    { min: 0, max: 1e6, default: 0 },
    "GB that a gang keeps on each of its units, for host and rate",
  ),
  number(
    "host",
    { min: 0, max: 1e9, default: 0 },
    "GB of a node's host for what gangs keep; if given, at most host ÷ (memory × node) are resident",
  ),
  number(
    "rate",
    { min: 0, max: 1e6, default: 0 },
    "GB per second and unit of a snapshot; if given, memory ÷ rate is added to save and to restore",
  ),
];

function seconds(name: string, value: number, description: string): ParameterSpec {
  return number(name, { min: 0.001, max: 1e6, default: value, unit: "s" }, description);
}

/** The gangs that the parameters describe. */
export function modelInstance(parameters: ParameterValues, seed: number): PhasesInstance {
  const sizes = numbersIn(parameters.sizes);
  const { units, unitsPerNode } = nodesOf(parameters);
  const largest = Math.max(...sizes);
  if (largest > units)
    throw new ModelError(
      `Cannot use sizes=${parameters.sizes} with units=${units}: expected sizes of at most ${units}`,
    );
  return makePhases({
    ...{ units, sizes, seed, unitsPerNode },
    ...memoryOf(parameters),
    gangs: Number(parameters.gangs),
    rounds: Number(parameters.rounds),
    holdS: Number(parameters.hold),
    waitS: Number(parameters.wait),
    spread: Number(parameters.spread),
    interarrivalS: Number(parameters.interarrival),
  });
}

/** A node has all units, if there are fewer than it could have. */
export function nodesOf(parameters: ParameterValues): Pick<PhasesModel, "units" | "unitsPerNode"> {
  const [units, node] = [Number(parameters.units), Number(parameters.node)];
  const unitsPerNode = Math.min(units, node);
  if (units % unitsPerNode === 0) return { units, unitsPerNode };
  throw new ModelError(`Cannot use node=${node} with units=${units}: expected a divisor of ${units}`);
}

/** What the memory of gangs allows and costs. A gang that holds units keeps its place on the host, too. */
export function memoryOf(parameters: ParameterValues): Pick<PhasesModel, "resident" | "saveS" | "restoreS"> {
  const [memory, host, rate] = [parameters.memory, parameters.host, parameters.rate].map(Number);
  for (const [name, value] of Object.entries({ host, rate }))
    if (value > 0 && memory === 0)
      throw new ModelError(`Cannot use ${name}=${value} without memory=: expected the GB of a unit`);
  if (memory > 0 && host + rate === 0)
    throw new ModelError(`Cannot use memory=${memory} alone: expected host= or rate=, too`);
  const { unitsPerNode } = nodesOf(parameters);
  const places = host > 0 ? host / (memory * unitsPerNode) : Number.POSITIVE_INFINITY;
  if (places < 1)
    throw new ModelError(
      `Cannot use host=${host} with memory=${memory} and nodes of ${unitsPerNode} units: expected at least ${memory * unitsPerNode}, for the gangs of one node`,
    );
  const snapshotS = rate > 0 ? memory / rate : 0;
  return {
    resident: Math.min(Number(parameters.resident), places),
    saveS: Number(parameters.save) + snapshotS,
    restoreS: Number(parameters.restore) + snapshotS,
  };
}

/** @param exclusive of the same gangs under exclusive use */
export function measuresOf(numbers: PhasesNumbers, exclusive: PhasesNumbers): Measure[] {
  const ratio = numbers.turnsPerHour / exclusive.turnsPerHour;
  return [
    measure("rounds-per-hour", "rounds per hour", "1", numbers.turnsPerHour, true),
    measure("ratio", "÷ exclusive use", "1", ratio, true),
    measure("duty", "duty of the units", "share", numbers.duty, true),
    measure("switching", "saving and restoring", "share", numbers.switching, true),
    measure("switches", "turns that began with a switch", "1", numbers.switches),
    measure("wait", "mean wait for a turn", "s", numbers.meanWaitS),
    measure("p95-wait", "95 % wait no longer", "s", numbers.p95WaitS, true),
    measure("longest-wait", "longest wait", "s", numbers.longestWaitS, true),
    measure("slowdown", "mean slowdown", "1", numbers.meanSlowdown),
    measure("worst-slowdown", "slowest gang's slowdown", "1", numbers.worstSlowdown, true),
    measure("pace", "mean pace", "1", numbers.meanPace, true),
    measure("fairness", "fairness of paces", "1", numbers.fairness, true),
    measure("ended", "gangs ended", "1", numbers.gangsEnded),
  ];
}
