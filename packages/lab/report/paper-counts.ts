/** Counts what a page on a paper claims and does not claim: values and statements by outcome. */

import { formatCount, NO_VALUE, plural } from "@tutti/kernel/core/format.ts";
import type { ReproducedPaper, ReproducedStatement, ReproducedTable } from "../results/reproduction.ts";
import { deviates, isChance, isFar } from "./deviations.ts";
import { indexCounts } from "./paper-index.ts";

/** Counts of published values next to ours. */
function countValues(tables: readonly ReproducedTable[]) {
  const compared = valuesOf(tables).filter(({ published }) => published !== null);
  const far = compared.filter(isFar);
  const beyond = far.filter(deviates);
  const explained = beyond.filter(({ reason = "" }) => reason !== "").length;
  return {
    /** Results with a published value. */
    compared: compared.length,
    /** Of these, the values whose difference from the published one was tested. */
    tested: compared.filter(({ test }) => test !== undefined).length,
    within: compared.length - far.length,
    /** Of those within 10 %, the values whose difference is still more than chance. */
    small: compared.filter((value) => !isFar(value) && isChance(value) === false).length,
    /** Beyond 10 %, but chance explains it. */
    byChance: far.length - beyond.length,
    /** Beyond both limits, with a reason. */
    explained,
    /** Beyond both limits, without a reason. There should be none. */
    unexplained: beyond.length - explained,
  };
}

const valuesOf = (tables: readonly ReproducedTable[]) =>
  tables.flatMap(({ rows }) => rows.flatMap(({ values }) => values));

/**
 * Counts the values and statements of a paper. Constants, fitted values, and tables and statements that are
 * not in the paper (such as a table in another reading) do not count.
 */
export function countReproduction({ tables, statements, index }: ReproducedPaper) {
  const { added } = index;
  const isAdded = ({ statement }: ReproducedStatement) =>
    added.statements.some((beginning) => statement.startsWith(beginning));
  const said = statements.filter((statement) => !isAdded(statement));
  const ofKind = (kind: ReproducedTable["kind"]) => tables.filter((table) => table.kind === kind);
  const ofPaper = ofKind(undefined).filter(({ id }) => !added.shown.includes(id));
  const unpublished = valuesOf(ofKind(undefined)).filter(({ published }) => published === null);
  return {
    ...countValues(ofPaper),
    constants: countValues(ofKind("constants")).compared,
    fitted: countValues(ofKind("fitted")).compared,
    unpublished: unpublished.length,
    /** Statements of the paper itself. */
    statements: said.length,
    holding: said.filter(({ holds }) => holds === true).length,
    /** Neither shown nor refuted. */
    open: said.filter(({ holds }) => holds === null).length,
    /** Statements about questions that the paper does not ask. */
    added: statements.length - said.length,
  };
}

/** The counts of each table that compares with the paper in another reading of it. */
function otherReadings({ tables, index }: ReproducedPaper): string[] {
  return tables
    .filter(({ id, kind }) => index.added.shown.includes(id) && kind === undefined)
    .flatMap((table) => {
      const { compared, within, byChance } = countValues([table]);
      if (compared === 0) return [];
      return [
        `${table.id}: ${formatCount(within)} of ${plural(compared, "published value")} within 10 %, ${formatCount(byChance)} more differ by no more than chance.`,
      ];
    });
}

/** Headings of `countTexts`, after the paper's own. */
export const COUNT_TITLES = [
  "values within 10 %",
  "beyond, by chance",
  "beyond, with a reason",
  "beyond, without",
  "statements that hold",
  "open",
] as const;

/** The counts of a paper for a table of papers. */
export function countTexts(reproduction: ReproducedPaper): string[] {
  const { compared, within, byChance, explained, unexplained, statements, holding, open } =
    countReproduction(reproduction);
  const shareText = (count: number, of: number) =>
    of === 0 ? NO_VALUE : `${formatCount(count)} of ${formatCount(of)}`;
  return [
    shareText(within, compared),
    ...[byChance, explained, unexplained].map(formatCount),
    shareText(holding, statements),
    formatCount(open),
  ];
}

/** Sentences for the beginning of the page. */
export function pageClaims(paper: ReproducedPaper): {
  readonly claimed: readonly string[];
  readonly notClaimed: readonly string[];
} {
  const counts = countReproduction(paper);
  const { compared, tested, within, small, byChance, explained, unexplained } = counts;
  const { constants, fitted, unpublished, statements, holding, open, added } = counts;
  const failing = statements - holding - open;
  const matrices = paper.matrices?.length ?? 0;
  const index = indexCounts([paper]);
  const values = (count: number) => plural(count, "published value");
  const said = (list: readonly (readonly [count: number, sentence: string])[]) =>
    list.filter(([count]) => count > 0).map(([, sentence]) => sentence);
  return {
    claimed: said([
      [compared, `${formatCount(within)} of ${values(compared)} are within 10 % of Tutti's.`],
      [
        byChance,
        `${values(byChance)} more differ by no more than chance (two-sample t with both numbers of runs, 95 %).`,
      ],
      [statements, `${formatCount(holding)} of ${plural(statements, "statement")} hold in our numbers.`],
      [matrices, `${plural(matrices, "figure")} of matrices made by the operations that the text describes.`],
      [
        index.entries,
        `${formatCount(index.entries)} tables, figures and sentences of the paper are in the index. ${formatCount(index.tested)} are tested: ${formatCount(index.reproduced)} reproduced, ${formatCount(index.deviating)} deviating, ${formatCount(index.open)} open.`,
      ],
      ...otherReadings(paper).map((sentence) => [1, sentence] as const),
    ]),
    notClaimed: said([
      [explained, `${values(explained)} beyond the limits: not reproduced, with a reason next to it.`],
      [unexplained, `${values(unexplained)} beyond the limits, without a reason.`],
      [small, `${values(small)} within 10 % of Tutti's, but the difference is more than chance.`],
      [
        failing,
        `${plural(failing, "statement")} of the text that ${failing === 1 ? "does" : "do"} not hold.`,
      ],
      [
        open,
        `${plural(open, "statement")} of the text neither shown nor refuted: a 95 % interval contains the limit.`,
      ],
      [constants, `${values(constants)} that Tutti contains as constants: shown, but not counted.`],
      [fitted, `${values(fitted)} to which the model of the jobs was fitted: shown, but not counted.`],
      [
        compared - tested,
        `Chance is not judged for ${values(compared - tested)}: the paper does not say how many runs they are means of.`,
      ],
      [unpublished, `${plural(unpublished, "value")} for which the paper prints no number.`],
      [added, `${plural(added, "statement")} that ${added === 1 ? "is" : "are"} not in the paper.`],
      [
        index.notClaimed,
        `${formatCount(index.notClaimed)} entries of the index that Tutti does not decide, such as definitions and background, each with a reason.`,
      ],
    ]),
  };
}
