/** The simulations of zhou2000's two experiments. */
import {
  NONE,
  type ParameterValues,
  type PolicyChoice,
  type PolicyDefinition,
} from "../../../core/policy.ts";
import { DEFAULT_RULES } from "../../../core/rules.ts";
import { zhou2000Classes } from "../../../metrics/classes.ts";
import { metricOf, summarise } from "../../../metrics/summary.ts";
import { bc } from "../../../policies/gangs/buddy.ts";
import { br, brmms, brms } from "../../../policies/gangs/buddy-blocks.ts";
import { simulate } from "../../../simulator/simulate.ts";
import { downey } from "../../../workload/models/downey.ts";
import { prepare } from "../../../workload/prepare.ts";
import type { PaperOptions } from "../paper.ts";
import { ZHOU2000_LOADS, ZHOU2000_SCHEMES, type Zhou2000Row, type Zhou2000Scheme } from "./published.ts";

const PROCESSORS = 128;
const LONGEST_RUN_SLOTS = 120;

/** BRMS once more, with an extra slot for every job that can have one. */
export const OTHER_READING = "brms:perChange=0";
export type Variant = Zhou2000Scheme | typeof OTHER_READING;

interface Experiment {
  readonly table: 1 | 2;
  readonly jobs: number;
  readonly replications: number;
  readonly variants: readonly Variant[];
}

const EXPERIMENTS: readonly Experiment[] = [
  { table: 2, jobs: 20_000, replications: 5, variants: ZHOU2000_SCHEMES },
  { table: 1, jobs: 200, replications: 20, variants: [...ZHOU2000_SCHEMES, OTHER_READING] },
];

/** One simulation. */
export interface Zhou2000Cell {
  readonly table: 1 | 2;
  readonly variant: Variant;
  readonly load: number;
  readonly jobs: number;
  readonly replication: number;
  readonly seed: number;
}

/** All simulations, those that take longest first. */
export function cells(options: PaperOptions): Zhou2000Cell[] {
  const list: Zhou2000Cell[] = [];
  for (const { table, jobs, replications, variants } of EXPERIMENTS) {
    for (const [at, load] of [...ZHOU2000_LOADS.entries()].reverse()) {
      for (const variant of [...variants].reverse()) {
        for (let replication = 0; replication < replications; replication++) {
          const seed = options.seed + 10_000 * table + 1_000 * at + replication;
          list.push({ table, variant, load, jobs, replication, seed });
        }
      }
    }
  }
  return list;
}

/** Runs one simulation; one number per measure, times in slots. */
export function runCell(cell: Zhou2000Cell): Zhou2000Row {
  const parameters = {
    ...defaults(downey.parameters),
    jobs: cell.jobs,
    processors: PROCESSORS,
    load: cell.load,
    minRunS: 1,
    maxRunS: LONGEST_RUN_SLOTS,
    unitS: 1,
  };
  const workload = downey.generate(parameters, cell.seed);
  const submitS = workload.jobs.submitS.map(Math.ceil); // arrivals at slot boundaries
  const inSlots = { ...workload, jobs: { ...workload.jobs, submitS } };
  const instance = prepare(inSlots, PROCESSORS, DEFAULT_RULES);
  const schedule = simulate(instance, CHOICES[cell.variant], { slotS: 1, switchS: 0 });
  const summary = summarise(instance, schedule, {
    metrics: ["response"],
    classes: zhou2000Classes(1),
    quantiles: "none",
  });
  const { activeRatio, maxRows, meanRows } = summary.gang!;
  const response = metricOf(summary, "response");
  const [small, medium, large] = response.byClass.map((one) => one.mean);
  return [activeRatio, maxRows, meanRows, response.all.mean, small, medium, large];
}

const CHOICES: Readonly<Record<Variant, PolicyChoice>> = {
  bc: choice(bc),
  br: choice(br),
  brms: choice(brms),
  brmms: choice(brmms),
  [OTHER_READING]: choice(brms, { extraPerChange: NONE }),
};

function choice(definition: PolicyDefinition, set: ParameterValues = {}): PolicyChoice {
  return { definition, parameters: { ...defaults(definition.parameters), ...set }, label: definition.name };
}

function defaults(specs: PolicyDefinition["parameters"]): ParameterValues {
  return Object.fromEntries(specs.map((spec) => [spec.name, spec.default]));
}
