/**
 * Dimitriadou and Karatza 2009, "Job scheduling in a distributed system using backfilling with inaccurate runtime
 * computations": table II beside the published values, the measures behind figures 2 to 13, whose numbers are not printed, and the
 * sentences that tell them. The experiments are in dimitriadou2009-studies.ts, the sentences in -statements.ts, our
 * readings in -notes.ts.
 */

import type { Paper, ReproducedFigure, ReproducedTable, ReproducedValue } from "../paper.ts";
import type { DimitriadouCell, DimitriadouNumbers, StudyName, VariantOf } from "./cells.ts";
import { cellsOf, LOCAL_EVERY_S, runCell, STUDIES } from "./cells.ts";
import { statementsOf } from "./claims.ts";
import { notesOf } from "./notes.ts";
import type { Measure } from "./results.ts";
import { MEASURES, Results } from "./results.ts";

export const dimitriadou2009: Paper<DimitriadouCell, DimitriadouNumbers> = {
  key: "dimitriadou2009",
  title: "Job scheduling in a distributed system using backfilling with inaccurate runtime computations",
  authors: "S. K. Dimitriadou, H. D. Karatza",
  published: "Aristotle University of Thessaloniki, 2009",
  defaultSeed: 2009,
  cells: ({ seed }) => cellsOf(seed),
  runCell,
  collect: (cells, numbers) => {
    const results = new Results(cells, numbers);
    return {
      tables: [tableTwo(results), localTable(results), gangTable(results), variantTable(results)],
      figures: [...paperFigures(results), ...extensionFigures(results)],
      statements: statementsOf(results),
      notes: notesOf(results),
    };
  },
};

/** Table II as printed; rows by λ, columns by approach. */
const TABLE_TWO: readonly (readonly [number, number])[] = [
  [0.87999, 0.88034],
  [0.73785, 0.73791],
  [0.63484, 0.6349],
];
const LAMBDAS = ["12.5", "10", "8.3"] as const;

function measured<S extends StudyName>(
  results: Results,
  study: S,
  variant: VariantOf<S>,
  localEveryS: number,
  measure: Measure,
  published: number | null = null,
): ReproducedValue {
  const { mean, half } = results.interval(study, variant, localEveryS, measure);
  return { published, ours: mean, halfWidth: half };
}

function tableTwo(results: Results): ReproducedTable {
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
        measured(results, "uniform", "one", everyS, MEASURES.U, TABLE_TWO[i][0]),
        measured(results, "uniform", "across", everyS, MEASURES.U, TABLE_TWO[i][1]),
      ],
    })),
  };
}

/** One row per variant and load; columns by measure. */
function measuredTable(
  results: Results,
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
      values: columns.map(({ measure }) => measured(results, study, variant as never, everyS, measure)),
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
function variantTable(results: Results): ReproducedTable {
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

function localTable(results: Results): ReproducedTable {
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

function gangTable(results: Results): ReproducedTable {
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

/** One series per variant over the arrival rate of local jobs. */
function figure<S extends StudyName>(
  results: Results,
  id: string,
  title: string,
  yAxis: string,
  study: S,
  series: readonly (readonly [name: string, variant: VariantOf<S>, measure: Measure])[],
): ReproducedFigure {
  return {
    id,
    title,
    xAxis:
      study === "four" || study === "sizes" || study === "speeds"
        ? "λ (half of all local jobs per 1/μ)"
        : "λ (local jobs per site and 1/μ)",
    yAxis,
    series: series.map(([name, variant, measure]) => ({
      name,
      ours: [...LOCAL_EVERY_S]
        .reverse()
        .map((everyS) => [1 / everyS, results.mean(study, variant, everyS, measure)] as const),
    })),
  };
}

function paperFigures(results: Results): ReproducedFigure[] {
  const approaches = (
    id: string,
    title: string,
    yAxis: string,
    study: "uniform" | "powers",
    measure: Measure,
  ) =>
    figure(results, id, title, yAxis, study, [
      ["Approach 1", "one", measure],
      ["Approach 2", "across", measure],
      ["Approach 1, held processors count as idle", "one, held", measure],
      ["Approach 2, held processors count as idle", "across, held", measure],
    ]);
  const errors = (id: string, name: "WRT" | "WSLD" | "RT", approach: "one" | "across") =>
    figure(
      results,
      id,
      `${name} versus λ for uniform gang sizes using approach ${approach === "one" ? 1 : 2}`,
      name === "WSLD" ? name : `${name} (1/μ)`,
      "uniform",
      [
        ["E = 0", approach, MEASURES[name]],
        ["E = 10", `${approach}, E = 10`, MEASURES[name]],
        ["E = 30", `${approach}, E = 30`, MEASURES[name]],
      ],
    );
  const share = "finished gangs (%)";
  return [
    approaches(
      "Figure 2",
      "Percentage of finished gangs versus λ for uniform gang sizes",
      share,
      "uniform",
      MEASURES.finished,
    ),
    approaches(
      "Figure 3",
      "Percentage of finished gangs versus λ for power-of-2 gang sizes",
      share,
      "powers",
      MEASURES.finished,
    ),
    approaches("Figure 4", "WRT versus λ for uniform gang sizes", "WRT (1/μ)", "uniform", MEASURES.WRT),
    approaches("Figure 5", "WSLD versus λ for uniform gang sizes", "WSLD", "uniform", MEASURES.WSLD),
    approaches("Figure 6", "RT versus λ for uniform gang sizes", "RT (1/μ)", "uniform", MEASURES.RT),
    approaches("Figure 7", "SLD versus λ for uniform gang sizes", "SLD", "uniform", MEASURES.SLD),
    errors("Figure 8", "WRT", "one"),
    errors("Figure 9", "WRT", "across"),
    errors("Figure 10", "WSLD", "one"),
    errors("Figure 11", "WSLD", "across"),
    errors("Figure 12", "RT", "one"),
    errors("Figure 13", "RT", "across"),
  ];
}

/** What the paper's conclusion asks for, and what its rules are worth. */
function extensionFigures(results: Results): ReproducedFigure[] {
  const { WRT, RT, finished } = MEASURES;
  const critical: Measure = (n) => n.critical.weightedResponseS;
  return [
    figure(results, "Rules, local jobs", "RT of approach 1 as its rules vary", "RT (1/μ)", "rules", [
      ["E = 0, T = 0", "one", RT],
      ["E = 30", "one, E = 30", RT],
      ["E = 30, remaining times predicted", "one, E = 30, remaining times predicted", RT],
      ["T = 0.5", "one, T = 0.5", RT],
      ["oldest gang first", "one, oldest gang first", RT],
      ["no backfilling", "one, no backfilling", RT],
    ]),
    figure(results, "Rules, gangs", "WRT of approach 1 as its rules vary", "WRT (1/μ)", "rules", [
      ["E = 0, T = 0", "one", WRT],
      ["E = 30", "one, E = 30", WRT],
      ["E = 30, remaining times predicted", "one, E = 30, remaining times predicted", WRT],
      ["T = 0.5", "one, T = 0.5", WRT],
      ["oldest gang first", "one, oldest gang first", WRT],
      ["no backfilling", "one, no backfilling", WRT],
    ]),
    figure(
      results,
      "Critical gangs",
      `WRT of critical and of all gangs; ${STUDIES.critical.title}`,
      "WRT (1/μ)",
      "critical",
      [
        ["critical, treated like others", "one", critical],
        ["critical, ahead, approach 1", "one, critical ahead", critical],
        ["critical, ahead, approach 2", "across, critical ahead", critical],
        ["all, treated like others", "one", WRT],
        ["all, critical ahead, approach 1", "one, critical ahead", WRT],
      ],
    ),
    figure(results, "Speeds", `WRT; ${STUDIES.speeds.title}`, "WRT (1/μ)", "speeds", [
      ["Approach 1", "one", WRT],
      ["Approach 2", "across", WRT],
      ["Approach 1, fastest site", "one, fastest site", WRT],
    ]),
    figure(results, "Sizes", `WRT; ${STUDIES.sizes.title}`, "WRT (1/μ)", "sizes", [
      ["Approach 1", "one", WRT],
      ["Approach 2", "across", WRT],
    ]),
    figure(
      results,
      "Four sites",
      `Percentage of finished gangs; ${STUDIES.four.title}`,
      "finished gangs (%)",
      "four",
      [
        ["Approach 1", "one", finished],
        ["Approach 2", "across", finished],
      ],
    ),
  ];
}
