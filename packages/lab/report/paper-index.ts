/**
 * Makes the index of a paper: it lists every table, figure and claim, and says whether Tutti reproduced it.
 * If the paper's page shows or tests a claim, the numbers of the run determine its status.
 */

import { formatCount, plural } from "@tutti/kernel/core/format.ts";
import type {
  IndexEntry,
  ReproducedFigure,
  ReproducedPaper,
  ReproducedStatement,
  ReproducedTable,
  Reproduction,
} from "../results/reproduction.ts";
import { deviates, isFar } from "./deviations.ts";

type IndexStatus = "reproduced" | "deviating" | "open" | "not claimed";

interface IndexLine {
  readonly at: string;
  readonly says: string;
  readonly status: IndexStatus;
  /** The numbers that decide it or leave it open, or the reason why nothing is claimed. */
  readonly why: string;
  /** The parts of the page that decide it, on the paper's own page. */
  readonly parts: readonly { readonly name: string; readonly anchor: string }[];
}

/** A part of a page: a table, a figure, matrices or a statement. */
interface Part {
  readonly name: string;
  readonly anchor: string;
  readonly status: IndexStatus;
  readonly why: string;
}

/** The anchor of every table, figure and group of matrices of a page. */
export function anchorsOf({ tables, figures, matrices = [] }: Reproduction): ReadonlyMap<object, string> {
  const counts = new Map<string, number>();
  return new Map(
    [...tables, ...figures, ...matrices].map((part) => {
      const slug = part.id.toLowerCase().replace(/[^a-z0-9]+/g, "-");
      const count = (counts.get(slug) ?? 0) + 1;
      counts.set(slug, count);
      return [part, count === 1 ? slug : `${slug}-${count}`];
    }),
  );
}

/** The anchor of a statement by its place on the page, from 0. */
export function statementAnchor(place: number): string {
  return `statement-${place + 1}`;
}

export function statementWords({ holds }: ReproducedStatement): "holds" | "open" | "does not hold" {
  return holds === null ? "open" : holds ? "holds" : "does not hold";
}

/** @throws RangeError if the index names a part that the page does not have */
export function indexLines(paper: ReproducedPaper): IndexLine[] {
  return paper.index.entries.map((entry) => lineOf(entry, paper));
}

/** How many entries of the papers have each status. */
export function indexCounts(papers: readonly ReproducedPaper[]) {
  const lines = papers.flatMap(indexLines);
  const count = (status: IndexStatus) => lines.filter((line) => line.status === status).length;
  const notClaimed = count("not claimed");
  return {
    entries: lines.length,
    tested: lines.length - notClaimed,
    reproduced: count("reproduced"),
    deviating: count("deviating"),
    open: count("open"),
    notClaimed,
  };
}

/**
 * Such as `9 claims tested: 6 reproduced, 2 deviating, 1 open.` and what else is in the index. Definitions
 * and background would flatter the claims if both were one count.
 */
export function statusCounts(papers: readonly ReproducedPaper[]): string {
  const { tested, reproduced, deviating, open, notClaimed } = indexCounts(papers);
  return `${plural(tested, "claim")} tested: ${formatCount(reproduced)} reproduced, ${formatCount(deviating)} deviating, ${formatCount(open)} open. ${formatCount(notClaimed)} more ${notClaimed === 1 ? "entry is" : "entries are"} not claimed: definitions, background, and what our numbers cannot decide.`;
}

/** Tables, figures, matrices and statements of the page that the index does not name, as texts. */
export function notInIndex({ index, tables, figures, matrices = [], statements }: ReproducedPaper): string[] {
  const { entries, added } = index;
  const shown = new Set([...entries, added].flatMap((entry) => entry.shown ?? []));
  const beginnings = [...entries, added].flatMap((entry) => entry.statements ?? []);
  return [
    ...[...tables, ...figures, ...matrices].map(({ id }) => id).filter((id) => !shown.has(id)),
    ...statements
      .map(({ statement }) => statement)
      .filter((statement) => !beginnings.some((beginning) => statement.startsWith(beginning))),
  ];
}

function lineOf(entry: IndexEntry, paper: ReproducedPaper): IndexLine {
  const { at, says } = entry;
  if (entry.notClaimed !== undefined)
    return { at, says, status: "not claimed", why: entry.notClaimed, parts: [] };
  const shown = (entry.shown ?? []).flatMap((id) => shownParts(id, paper));
  const said = (entry.statements ?? []).flatMap((beginning) => statementParts(beginning, paper));
  const parts = [...shown, ...said];
  const deciding = parts.filter(({ status }) => status !== "not claimed");
  const status = (["deviating", "open", "reproduced"] as const).find((one) =>
    deciding.some((part) => part.status === one),
  );
  const whys = [
    ...shown.filter((part) => status === undefined || part.status === status).map(({ why }) => why),
    ...statementsWhy(said),
  ];
  return {
    at,
    says,
    status: status ?? "not claimed",
    why: [...new Set(whys)].join("; "),
    parts: parts.map(({ name, anchor }) => ({ name, anchor })),
  };
}

/**
 * The numbers of one or two statements that fail or are open; if there are more, only their count (the page
 * has their numbers).
 */
function statementsWhy(statements: readonly Part[]): string[] {
  if (statements.length === 0) return [];
  const of = formatCount(statements.length);
  const words = [
    ["deviating", "does not hold", "do not hold"],
    ["open", "open", "are open"],
  ] as const;
  const whys = words.flatMap(([status, one, many]) => {
    const such = statements.filter((part) => part.status === status);
    if (such.length === 0) return [];
    const how = statements.length === 1 ? one : `${formatCount(such.length)} of ${of} statements ${many}`;
    return such.length > 2 ? [how] : [`${how}: ${such.map(({ why }) => why).join("; ")}`];
  });
  if (whys.length > 0) return whys;
  return [statements.length === 1 ? "holds" : `all ${of} statements hold`];
}

function shownParts(id: string, reproduction: ReproducedPaper): Part[] {
  const { paper, tables, figures, matrices = [] } = reproduction;
  const anchors = anchorsOf(reproduction);
  const parts = <Shown extends { readonly id: string }>(
    list: readonly Shown[],
    verdictOf: (part: Shown) => Verdict,
  ): Part[] =>
    list
      .filter((part) => part.id === id)
      .map((part) => {
        const [status, why] = verdictOf(part);
        return { name: id, anchor: anchors.get(part)!, status, why };
      });
  const found = [
    ...parts(tables, tableVerdict),
    ...parts(figures, figureVerdict),
    ...parts(matrices, () => ["reproduced", "made by the operations that the text describes"]),
  ];
  if (found.length === 0) throw missing(paper.key, `table or figure "${id}"`);
  return found;
}

function statementParts(beginning: string, { paper, statements }: ReproducedPaper): Part[] {
  const found = [...statements.entries()].filter(([, { statement }]) => statement.startsWith(beginning));
  if (found.length === 0) throw missing(paper.key, `statement that begins with "${beginning}"`);
  return found.map(([place, statement]) => ({
    name: `statement ${place + 1}`,
    anchor: statementAnchor(place),
    ...statementVerdict(statement),
  }));
}

const missing = (key: string, what: string) =>
  new RangeError(
    `Cannot make the index of ${key}: the page has no ${what}, expected the index to use the same name as the page`,
  );

type Verdict = readonly [status: IndexStatus, why: string];

function tableVerdict({ kind, rows }: ReproducedTable): Verdict {
  const compared = rows.flatMap(({ values }) => values.filter(({ published }) => published !== null));
  if (kind === "constants") return ["not claimed", "constants that Tutti contains"];
  if (kind === "fitted") return ["not claimed", "the model of the jobs was fitted to these values"];
  if (compared.length === 0) return ["not claimed", "the paper prints no numbers; ours are shown"];
  const far = compared.filter(isFar).length;
  const beyond = compared.filter(deviates).length;
  const of = formatCount(compared.length);
  const chance = far > beyond ? `, ${formatCount(far - beyond)} farther by no more than chance` : "";
  if (beyond === 0)
    return ["reproduced", `${formatCount(compared.length - far)} of ${of} values within 10 %${chance}`];
  const limits = compared.some(({ test }) => test !== undefined) ? "10 % and beyond chance" : "10 %";
  return ["deviating", `${formatCount(beyond)} of ${of} values beyond ${limits}, see the table for reasons`];
}

/** The numbers of a figure are means without a test, so only the 10 % count. */
function figureVerdict({ series }: ReproducedFigure): Verdict {
  const points = series.flatMap(({ ours, published = [] }) =>
    published.map(([x, y]) => ({
      published: y,
      ours: ours.find(([at]) => at === x)?.[1] ?? Number.NaN,
      halfWidth: null,
    })),
  );
  if (points.length === 0)
    return ["not claimed", "the paper prints no numbers of the figure; ours are drawn"];
  const far = points.filter(isFar).length;
  const of = formatCount(points.length);
  return far === 0
    ? ["reproduced", `${of} of ${of} points within 10 %`]
    : ["deviating", `${formatCount(far)} of ${of} points beyond 10 %`];
}

function statementVerdict({ holds, evidence }: ReproducedStatement): Pick<Part, "status" | "why"> {
  return { status: holds === null ? "open" : holds ? "reproduced" : "deviating", why: evidence };
}
