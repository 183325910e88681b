/**
 * Zhou, Walsh and Brent 2000: gang scheduling on a buddy system. Table 1 is 20 sets of 200 jobs, table 2 is 5 sets of 20,000
 * jobs, at four loads, under four schemes; figures 3 to 5 draw columns of table 1. Within a load all schemes see the same jobs.
 *
 * Time is counted in slots, so the slot is 1 s long and a switch costs nothing. The workload is the model `downey` with
 * run times of 1 … 120 slots on 128 processors.
 */
import type { ParameterValues, PolicyChoice, PolicyDefinition } from "../../core/policy.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { zhou2000Classes } from "../../metrics/classes.ts";
import { confidenceInterval } from "../../metrics/statistics.ts";
import { metricOf, summarise } from "../../metrics/summary.ts";
import { bc } from "../../policies/bc.ts";
import { br } from "../../policies/br.ts";
import { brmms } from "../../policies/brmms.ts";
import { brms } from "../../policies/brms.ts";
import { simulate } from "../../simulator/simulate.ts";
import { downey } from "../../workload/downey.ts";
import { prepare } from "../../workload/prepare.ts";
import type { Paper, PaperOptions, ReproducedTable, ReproducedValue, Reproduction } from "./paper.ts";
import { figures, statements } from "./zhou2000-findings.ts";
import {
  TABLE_1,
  TABLE_2,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
  type Zhou2000Measure,
  type Zhou2000Row,
  type Zhou2000Scheme,
} from "./zhou2000-published.ts";
import { NOTES, reasonFor } from "./zhou2000-reasons.ts";

const PROCESSORS = 128;
const LONGEST_RUN_SLOTS = 120;

/** BRMS once more, with an extra slot for every job that can have one. */
const OTHER_READING = "brms:perChange=0";
type Variant = Zhou2000Scheme | typeof OTHER_READING;

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

/** Tables beside the published ones, figures and statements. */
export function collect(list: readonly Zhou2000Cell[], numbers: readonly Zhou2000Row[]): Reproduction {
  const ours = groupRows(list, numbers);
  const tables = [
    table("Table 1", "200 jobs, mean of 20 sets of jobs", 1, ZHOU2000_SCHEMES, ours),
    table("Table 2", "20,000 jobs, mean of 5 sets of jobs", 2, ZHOU2000_SCHEMES, ours),
    table(
      "Table 1, BRMS read otherwise",
      "an extra slot for every job that can have one",
      1,
      [OTHER_READING],
      ours,
    ),
  ];
  const value: Lookup = (which, scheme, load, measure) =>
    mean(ours, which, scheme, load, ZHOU2000_MEASURES.indexOf(measure));
  return { tables, figures: figures(value), statements: statements(value), notes: NOTES };
}

export const zhou2000: Paper<Zhou2000Cell, Zhou2000Row> = {
  key: "zhou2000",
  title: "Resource Allocation Schemes for Gang Scheduling",
  authors: "B. B. Zhou, D. Walsh and R. P. Brent",
  published: "Job Scheduling Strategies for Parallel Processing, LNCS 1911, Springer 2000",
  defaultSeed: 2000,
  cells,
  runCell,
  collect,
};

/** Mean of our replications. */
export type Lookup = (table: 1 | 2, scheme: Zhou2000Scheme, load: number, measure: Zhou2000Measure) => number;

/** Rows of all replications by table, variant and load. */
type Groups = ReadonlyMap<string, readonly Zhou2000Row[]>;

const key = (table: 1 | 2, variant: Variant, load: number) => `${table} ${variant} ${load}`;

function groupRows(list: readonly Zhou2000Cell[], numbers: readonly Zhou2000Row[]): Groups {
  const groups = new Map<string, Zhou2000Row[]>();
  list.forEach((cell, at) => {
    const name = key(cell.table, cell.variant, cell.load);
    const rows = groups.get(name) ?? [];
    rows.push(numbers[at]);
    groups.set(name, rows);
  });
  return groups;
}

function column(groups: Groups, table: 1 | 2, variant: Variant, load: number, measure: number): number[] {
  return groups.get(key(table, variant, load))!.map((row) => row[measure]);
}

function mean(groups: Groups, table: 1 | 2, variant: Variant, load: number, measure: number): number {
  return confidenceInterval(column(groups, table, variant, load, measure)).mean;
}

function table(
  id: string,
  title: string,
  which: 1 | 2,
  variants: readonly Variant[],
  groups: Groups,
): ReproducedTable {
  const rows = ZHOU2000_LOADS.flatMap((load, at) =>
    variants.map((variant) => {
      const scheme = variant === OTHER_READING ? "brms" : variant;
      const published = (which === 1 ? TABLE_1 : TABLE_2)[scheme][at];
      const values = ZHOU2000_MEASURES.map((measure, m): ReproducedValue => {
        const interval = confidenceInterval(column(groups, which, variant, load, m));
        const deviates = Math.abs(interval.mean / published[m] - 1) > 0.1;
        return {
          published: published[m],
          ours: interval.mean,
          halfWidth: interval.half,
          ...(deviates && { reason: reasonFor(which, scheme, load, measure) }),
        };
      });
      return { labels: [variant.toUpperCase().replace(":PERCHANGE", ":perChange"), load.toFixed(2)], values };
    }),
  );
  return { id, title, labelColumns: ["scheme", "ρ"], valueColumns: VALUE_COLUMNS, rows };
}

const VALUE_COLUMNS: ReproducedTable["valueColumns"] = [
  { name: "r_a", meaning: "share of processor slots in which a job ran" },
  { name: "n_l", meaning: "largest number of rows in a run" },
  { name: "n_a", meaning: "rows, mean over time" },
  { name: "t_ta", unit: "slots", meaning: "mean turnaround time of all jobs" },
  { name: "t_sa", unit: "slots", meaning: "mean turnaround time of small jobs, 1 to 12 slots" },
  { name: "t_ma", unit: "slots", meaning: "mean turnaround time of medium jobs, 13 to 60 slots" },
  { name: "t_la", unit: "slots", meaning: "mean turnaround time of large jobs, more than 60 slots" },
];

const CHOICES: Readonly<Record<Variant, PolicyChoice>> = {
  bc: choice(bc),
  br: choice(br),
  brms: choice(brms),
  brmms: choice(brmms),
  [OTHER_READING]: choice(brms, { perChange: 0 }),
};

function choice(definition: PolicyDefinition, set: ParameterValues = {}): PolicyChoice {
  return { definition, parameters: { ...defaults(definition.parameters), ...set }, label: definition.name };
}

function defaults(specs: PolicyDefinition["parameters"]): ParameterValues {
  return Object.fromEntries(specs.map((spec) => [spec.name, spec.default]));
}
