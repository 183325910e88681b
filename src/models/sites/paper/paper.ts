/**
 * Dimitriadou and Karatza 2009, "Job scheduling in a distributed system using backfilling with inaccurate
 * runtime computations": table II with the published values, the measures of figures 2 to 13, whose numbers
 * are not printed, and the sentences that describe them.
 */
import { judge } from "../../../lab/claims.ts";
import type { Paper, ReproducedTable } from "../../../lab/papers/paper.ts";
import { cells, LOCAL_EVERY_S, type Place, STUDIES, type StudyName } from "./cells.ts";
import { claims } from "./claims.ts";
import { extensionFigures, paperFigures } from "./figures.ts";
import { INDEX } from "./index.ts";
import { at, MEASURES, type Measure, type SitesResults } from "./measures.ts";
import { notesOf } from "./notes.ts";

/** Table II as printed; rows by λ, columns by approach. */
const TABLE_TWO: readonly (readonly [number, number])[] = [
  [0.87999, 0.88034],
  [0.73785, 0.73791],
  [0.63484, 0.6349],
];
/** Replications of which the printed values are means (section IV.B). */
const PUBLISHED_RUNS = 10;
/** The loads: local jobs at each site per mean service time. */
const LAMBDAS = ["12.5", "10", "8.3"] as const;

export const dimitriadou2009: Paper<Place, "sites"> = {
  key: "dimitriadou2009",
  title: "Job scheduling in a distributed system using backfilling with inaccurate runtime computations",
  authors: "S. K. Dimitriadou, H. D. Karatza",
  published: "Aristotle University of Thessaloniki, 2009",
  defaultSeed: 2009,
  index: INDEX,
  cells,
  collect: (results) => ({
    tables: [
      tableTwo(results),
      measuredTable(results, "Local jobs", "Local jobs, exact predictions", PAPER_ROWS, LOCAL_COLUMNS),
      measuredTable(results, "Gangs", "Gangs, exact predictions", PAPER_ROWS, GANG_COLUMNS),
      measuredTable(results, "Variants", "All schedulers under high load", HIGH_LOAD_ROWS, VARIANT_COLUMNS),
    ],
    figures: [...paperFigures(results), ...extensionFigures(results)],
    statements: claims(results).map(judge),
    notes: notesOf(results),
  }),
};

function tableTwo(results: SitesResults): ReproducedTable {
  return {
    id: "Table II",
    title: "Mean processor utilization",
    labelColumns: ["λ"],
    valueColumns: [
      { name: "Approach 1", meaning: "busy share of all processors; gangs on one site" },
      { name: "Approach 2", meaning: "busy share of all processors; gangs may be split over sites" },
    ],
    rows: LOCAL_EVERY_S.map((everyS, i) => ({
      labels: [LAMBDAS[i]],
      values: [
        results.value(at("uniform", "one", everyS), MEASURES.U, TABLE_TWO[i][0], undefined, PUBLISHED_RUNS),
        results.value(
          at("uniform", "across", everyS),
          MEASURES.U,
          TABLE_TWO[i][1],
          undefined,
          PUBLISHED_RUNS,
        ),
      ],
    })),
  };
}

/** The paper's two systems with exact predictions, at all loads. */
const PAPER_ROWS = (["uniform", "powers"] as const).flatMap((study) =>
  ["one", "across"].flatMap((variant) => LOCAL_EVERY_S.map((everyS) => [study, variant, everyS] as const)),
);
/** All variants of all studies under high load. */
const HIGH_LOAD_ROWS = (Object.keys(STUDIES) as StudyName[]).flatMap((study) =>
  Object.keys(STUDIES[study].variants).map((variant) => [study, variant, LOCAL_EVERY_S[0]] as const),
);

type Column = readonly [name: string, unit: string | undefined, meaning: string, measure: Measure];

const FINISHED: Column = ["finished", "%", "share of the gangs that arrived", MEASURES.finished];
const LOCAL_COLUMNS: readonly Column[] = [
  ["RT", "1/μ", "mean response time", MEASURES.RT],
  ["median RT", "1/μ", "median response time", (n) => n.locals.medianResponseS],
  ["SLD", undefined, "mean slowdown; does not converge", MEASURES.SLD],
  ["bounded SLD", undefined, "mean slowdown, service at least 0.1", MEASURES["bounded SLD"]],
  ["median SLD", undefined, "median slowdown", (n) => n.locals.medianSlowdown],
  ["passed", "%", "share that passed a gang", (n) => 100 * n.localsBackfilled],
];
const GANG_COLUMNS: readonly Column[] = [
  ["WRT", "1/μ", "mean response time, weighted by size", MEASURES.WRT],
  ["median RT", "1/μ", "median response time", (n) => n.gangs.medianResponseS],
  ["WSLD", undefined, "mean slowdown, weighted; does not converge", MEASURES.WSLD],
  ["bounded WSLD", undefined, "weighted mean slowdown, service at least 0.1", MEASURES["bounded WSLD"]],
  ["median SLD", undefined, "median slowdown", (n) => n.gangs.medianSlowdown],
  FINISHED,
  ["split", "%", "share of the gangs that started", (n) => 100 * n.gangsSplit],
];
const VARIANT_COLUMNS: readonly Column[] = [
  ["RT", "1/μ", "mean response time of local jobs", MEASURES.RT],
  ["WRT", "1/μ", "mean response time of gangs, weighted by size", MEASURES.WRT],
  FINISHED,
  ["U", undefined, "utilisation of all processors", MEASURES.U],
];

/** One row per variant and load; columns by measure. */
function measuredTable(
  results: SitesResults,
  id: string,
  title: string,
  rows: readonly (readonly [study: StudyName, variant: string, everyS: number])[],
  columns: readonly Column[],
): ReproducedTable {
  return {
    id,
    title,
    labelColumns: ["Study", "Scheduler", "λ"],
    valueColumns: columns.map(([name, unit, meaning]) => ({ name, unit, meaning })),
    rows: rows.map(([study, variant, everyS]) => ({
      labels: [study, variant, LAMBDAS[LOCAL_EVERY_S.indexOf(everyS as 0.1)]],
      values: columns.map(([, , , measure]) =>
        results.value({ study, variant, localEveryS: everyS }, measure),
      ),
    })),
  };
}
