/**
 * Dimitriadou and Karatza 2009, "Job scheduling in a distributed system using backfilling with inaccurate runtime
 * computations": table II beside the published values, the measures behind figures 2 to 13, whose numbers are not printed, and the
 * sentences that tell them.
 */
import { judge } from "../../../lab/claims.ts";
import type { Paper, ReproducedTable } from "../../../lab/papers/paper.ts";
import { cells, LOCAL_EVERY_S, type Place, STUDIES, type StudyName } from "./cells.ts";
import { claims } from "./claims.ts";
import { extensionFigures, paperFigures } from "./figures.ts";
import { at, MEASURES, type Measure, type SitesResults } from "./measures.ts";
import { notesOf } from "./notes.ts";
import { LAMBDAS, TABLE_TWO } from "./published.ts";

export const dimitriadou2009: Paper<Place, "sites"> = {
  key: "dimitriadou2009",
  title: "Job scheduling in a distributed system using backfilling with inaccurate runtime computations",
  authors: "S. K. Dimitriadou, H. D. Karatza",
  published: "Aristotle University of Thessaloniki, 2009",
  defaultSeed: 2009,
  cells,
  collect: (results) => ({
    tables: [tableTwo(results), localTable(results), gangTable(results), variantTable(results)],
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
      { name: "Approach 2", meaning: "busy share of all processors; gangs split over sites, too" },
    ],
    rows: LOCAL_EVERY_S.map((everyS, i) => ({
      labels: [LAMBDAS[i]],
      values: [
        results.value(at("uniform", "one", everyS), MEASURES.U, TABLE_TWO[i][0]),
        results.value(at("uniform", "across", everyS), MEASURES.U, TABLE_TWO[i][1]),
      ],
    })),
  };
}

/** One row per variant and load; columns by measure. */
function measuredTable(
  results: SitesResults,
  id: string,
  title: string,
  rows: readonly (readonly [study: StudyName, variant: string, everyS: number])[],
  columns: readonly {
    readonly name: string;
    readonly unit?: string;
    readonly meaning: string;
    readonly measure: Measure;
  }[],
): ReproducedTable {
  return {
    id,
    title,
    labelColumns: ["Study", "Scheduler", "λ"],
    valueColumns: columns.map(({ measure: _, ...column }) => column),
    rows: rows.map(([study, variant, everyS]) => ({
      labels: [study, variant, LAMBDAS[LOCAL_EVERY_S.indexOf(everyS as 0.1)]],
      values: columns.map(({ measure }) => results.value({ study, variant, localEveryS: everyS }, measure)),
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
function variantTable(results: SitesResults): ReproducedTable {
  return measuredTable(results, "Variants", "All schedulers under high load", HIGH_LOAD_ROWS, [
    { name: "RT", unit: "1/μ", meaning: "mean response time of local jobs", measure: MEASURES.RT },
    {
      name: "WRT",
      unit: "1/μ",
      meaning: "mean response time of gangs, weighted by size",
      measure: MEASURES.WRT,
    },
    { name: "finished", unit: "%", meaning: "share of the gangs that arrived", measure: MEASURES.finished },
    { name: "U", meaning: "utilisation of all processors", measure: MEASURES.U },
  ]);
}

function localTable(results: SitesResults): ReproducedTable {
  return measuredTable(results, "Local jobs", "Local jobs, exact predictions", PAPER_ROWS, [
    { name: "RT", unit: "1/μ", meaning: "mean response time", measure: MEASURES.RT },
    {
      name: "median RT",
      unit: "1/μ",
      meaning: "median response time",
      measure: (n) => n.locals.medianResponseS,
    },
    { name: "SLD", meaning: "mean slowdown; does not converge", measure: MEASURES.SLD },
    {
      name: "bounded SLD",
      meaning: "mean slowdown, service at least 0.1",
      measure: (n) => n.locals.boundedSlowdown,
    },
    { name: "median SLD", meaning: "median slowdown", measure: (n) => n.locals.medianSlowdown },
    {
      name: "passed",
      unit: "%",
      meaning: "share that passed a gang",
      measure: (n) => 100 * n.localsBackfilled,
    },
  ]);
}

function gangTable(results: SitesResults): ReproducedTable {
  return measuredTable(results, "Gangs", "Gangs, exact predictions", PAPER_ROWS, [
    { name: "WRT", unit: "1/μ", meaning: "mean response time, weighted by size", measure: MEASURES.WRT },
    {
      name: "median RT",
      unit: "1/μ",
      meaning: "median response time",
      measure: (n) => n.gangs.medianResponseS,
    },
    { name: "WSLD", meaning: "mean slowdown, weighted; does not converge", measure: MEASURES.WSLD },
    {
      name: "bounded WSLD",
      meaning: "weighted mean slowdown, service at least 0.1",
      measure: (n) => n.gangs.weightedBoundedSlowdown,
    },
    { name: "median SLD", meaning: "median slowdown", measure: (n) => n.gangs.medianSlowdown },
    { name: "finished", unit: "%", meaning: "share of the gangs that arrived", measure: MEASURES.finished },
    {
      name: "split",
      unit: "%",
      meaning: "share of the gangs that started",
      measure: (n) => 100 * n.gangsSplit,
    },
  ]);
}
