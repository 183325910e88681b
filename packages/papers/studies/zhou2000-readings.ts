/** Runs readings of a scheme of zhou2000 on the sets of jobs of the paper's page. */
import type { WorkerOptions } from "@tutti/lab/experiments/workers.ts";
import {
  cells,
  MEASURES,
  PRINTED,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  type Zhou2000Measure,
  type Zhou2000Scheme,
} from "../zhou2000/cells.ts";
import { mean, percentText, resultsOf, type StudyTable } from "./study.ts";

const LOADS: readonly number[] = ZHOU2000_LOADS;
/** Load as a share of the nominal one, as in the paper's own runs. */
const SHARE = 0.98;

interface Readings {
  readonly table: 1 | 2;
  readonly scheme: Zhou2000Scheme;
  /** Policies by name. */
  readonly policies: Readonly<Record<string, string>>;
  readonly shown: readonly Zhou2000Measure[];
  /** Sets of jobs, by load; all if undefined. */
  readonly sets?: Readonly<Record<number, number>>;
}

/** Mean of our sets and the printed value. */
type Values = (load: number, name: string, measure: Zhou2000Measure) => { ours: number; printed: number };

/** The table of a scheme, with the printed values above those of each reading, and the values themselves. */
export async function runReadings(
  { table, scheme, policies, shown, sets }: Readings,
  options: WorkerOptions,
): Promise<{ readonly table: StudyTable; readonly values: Values }> {
  const names = Object.keys(policies);
  const ofScheme = cells(2000).filter(
    ({ place }) => place.table === table && place.share === SHARE && place.variant === "br",
  );
  const loads = LOADS.filter((load) => sets?.[load] !== 0);
  const placed = loads.flatMap((load) =>
    names.flatMap((name) =>
      ofScheme
        .filter(({ place }) => place.load === load)
        .slice(0, sets?.[load])
        .map(({ cell }) => ({ place: { load, name }, cell: { ...cell, policy: policies[name] } })),
    ),
  );
  const results = await resultsOf(placed, options);
  const published = PRINTED[table].rows[scheme];
  const printedAt = (load: number, measure: Zhou2000Measure) =>
    published[LOADS.indexOf(load)][ZHOU2000_MEASURES.indexOf(measure)];
  const values: Values = (load, name, measure) => ({
    ours: mean(results.values({ load, name }, MEASURES[measure])),
    printed: printedAt(load, measure),
  });
  return {
    values,
    table: {
      title: `Table ${table}`,
      columns: ["ρ, reading", ...shown],
      rows: loads.flatMap((load) => [
        [`${load.toFixed(2)} printed`, ...shown.map((measure) => printedAt(load, measure).toFixed(2))],
        ...names.map((name) => [
          `${load.toFixed(2)} ${name}`,
          ...shown.map((measure) => {
            const { ours, printed } = values(load, name, measure);
            return `${ours.toFixed(2)} (${percentText(ours, printed)})`;
          }),
        ]),
      ]),
    },
  };
}
