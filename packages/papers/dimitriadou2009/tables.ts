/** The tables of dimitriadou2009, each with the simulations that it needs. */
import numbers from "../../../docs/papers/dimitriadou2009.numbers.json" with { type: "json" };
import { gridTable } from "../grid.ts";
import type { PaperTable, PaperTables, ReproducedTable } from "../paper.ts";
import { cells, LOCAL_EVERY_S, type Place, STUDIES, type StudyName } from "./cells.ts";
import { claims, READINGS, type Reading } from "./claims.ts";
import { at, MEASURES, type Measure } from "./measures.ts";

const { lambdas, replications: publishedRuns, approach1, approach2 } = numbers.tableII;

/** What a reading counts as idle. */
const IDLE = {
  held: "every processor that serves no job is idle, even if a gang waits in its queue",
  free: "a processor is idle only if no gang waits in its queue",
} as const;

/** The two approaches under a reading. */
const APPROACHES = { held: ["one, held", "across, held"], free: ["one", "across"] } as const;

function tableTwo(reading: Reading): PaperTable<Place, "sites"> {
  return gridTable({
    id: `Table II, idle=${reading}`,
    title: `Mean processor utilization; ${IDLE[reading]}`,
    labelColumns: ["λ"],
    valueColumns: [
      { name: "Approach 1", meaning: "busy share of all processors; gangs on one site" },
      { name: "Approach 2", meaning: "busy share of all processors; gangs may be split over sites" },
    ],
    rows: LOCAL_EVERY_S.map((everyS, i) => ({
      labels: [lambdas[i]],
      values: APPROACHES[reading].map((variant, approach) => ({
        place: at("uniform", variant, everyS),
        measure: MEASURES.U,
        published: [approach1, approach2][approach][i],
        publishedRuns,
      })),
    })),
  });
}

/** How many statements hold under each reading, by all replications together and by each alone. */
function readingsTable(statements: ReturnType<typeof claims>): ReproducedTable {
  const of = (reading: Reading) => statements.filter((one) => one.reading === reading);
  const count = (reading: Reading, test: (one: (typeof statements)[number]) => boolean) =>
    of(reading).filter(test).length;
  const { replications } = STUDIES.uniform;
  const replicated = (reading: Reading) => of(reading).filter(({ alone }) => alone.length === replications);
  const alone = (reading: Reading) =>
    Array.from(
      { length: replications },
      (_, i) => replicated(reading).filter(({ alone }) => alone[i]).length,
    );
  const row = (label: string, value: (reading: Reading) => number) => ({
    labels: [label],
    values: READINGS.map((reading) => ({ published: null, ours: value(reading), halfWidth: null })),
  });
  return {
    id: "Statements by reading",
    title: `How many of the ${of("held").length} statements hold under each reading`,
    labelColumns: ["statements"],
    valueColumns: READINGS.map((reading) => ({ name: `idle=${reading}`, meaning: IDLE[reading] })),
    rows: [
      row("hold: the 95 % intervals lie on their side", (reading) =>
        count(reading, ({ holds }) => holds === true),
      ),
      row("neither shown nor refuted", (reading) => count(reading, ({ holds }) => holds === null)),
      row("do not hold", (reading) => count(reading, ({ holds }) => holds === false)),
      row("shown by every replication alone", (reading) =>
        count(reading, ({ alone }) => alone.every((one) => one)),
      ),
      row("shown by no replication alone", (reading) =>
        count(reading, ({ alone }) => alone.every((one) => !one)),
      ),
      row(
        `fewest that one of ${replications} replications shows, of ${replicated("held").length}`,
        (reading) => Math.min(...alone(reading)),
      ),
      row(`most that one of ${replications} replications shows, of ${replicated("held").length}`, (reading) =>
        Math.max(...alone(reading)),
      ),
    ],
  };
}

/** The paper's two systems with exact predictions, at all loads. */
const PAPER_ROWS = (["uniform", "powers"] as const).flatMap((study) =>
  ["one, held", "across, held", "one", "across"].flatMap((variant) =>
    LOCAL_EVERY_S.map((everyS) => [study, variant, everyS] as const),
  ),
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

type MeasuredRow = readonly [study: StudyName, variant: string, everyS: number];

/** One row per variant and load; columns by measure. */
function measured(
  id: string,
  title: string,
  rows: readonly MeasuredRow[],
  columns: readonly Column[],
): PaperTable<Place, "sites"> {
  return gridTable({
    id,
    title,
    labelColumns: ["Study", "Scheduler", "λ"],
    valueColumns: columns.map(([name, unit, meaning]) => ({ name, unit, meaning })),
    rows: rows.map(([study, variant, localEveryS]) => ({
      labels: [study, variant, lambdas[LOCAL_EVERY_S.indexOf(localEveryS as 0.1)]],
      values: columns.map(([, , , measure]) => ({ place: { study, variant, localEveryS }, measure })),
    })),
  });
}

export const dimitriadou2009Tables: PaperTables<Place, "sites"> = {
  key: "dimitriadou2009",
  defaultSeed: 2009,
  cells,
  tables: [
    ...READINGS.map(tableTwo),
    { needs: () => true, of: (results) => readingsTable(claims(results)) },
    measured("Local jobs", "Local jobs, exact predictions", PAPER_ROWS, LOCAL_COLUMNS),
    measured("Gangs", "Gangs, exact predictions", PAPER_ROWS, GANG_COLUMNS),
    measured("Variants", "All schedulers under high load", HIGH_LOAD_ROWS, VARIANT_COLUMNS),
  ],
};
