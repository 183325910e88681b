/**
 * Writes docs/findings.md from the runs: a table of means, then every claim with its ratios, verdicts and
 * command.
 */
import texts from "../../../docs/findings.texts.json" with { type: "json" };
import { verdictOf } from "../claims.ts";
import { canonicalText } from "../experiments/cell.ts";
import type { Cell } from "../experiments/kinds.ts";
import { CLAIMS, type RatioClaim, TABLE, TABLE_SOURCES } from "./claims.ts";
import { cellsOf, type FindingsRun, type FindingsSource, isModel, meanOf, ratioOf } from "./findings.ts";
import { type BlocksResult, FINDING_METRICS } from "./run.ts";

/**
 * Every cell that the page needs, once. Cells on the same jobs are adjacent, so that a worker opens the jobs
 * once.
 */
export function findingsCells(): Cell<"blocks">[] {
  const runs = [
    ...TABLE_SOURCES.flatMap((source) => TABLE.map((policy) => ({ ...source, policy, switchS: 0 }))),
    ...CLAIMS.flatMap((claim) => claim.sources.flatMap((source) => pairOf(claim, source))),
  ];
  const cells = new Map(runs.flatMap(cellsOf).map((cell) => [canonicalText(cell), cell]));
  const keyOf = ({ source }: Cell<"blocks">) => canonicalText(source);
  return [...cells.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}

/** The text above the tables, which does not depend on the runs. */
export const INTRODUCTION: readonly string[] = ["# Findings", "", ...texts.introduction];

/** @param results in the order of the cells */
export function findingsPage(cells: readonly Cell<"blocks">[], results: readonly BlocksResult[]): string {
  const byText = new Map(cells.map((cell, i) => [canonicalText(cell), results[i]]));
  const resultOf: Results = (run) => ({
    blocks: cellsOf(run).flatMap((cell) => byText.get(canonicalText(cell))!.blocks),
  });
  return [
    ...INTRODUCTION,
    "## Means",
    "",
    ...FINDING_METRICS.slice(0, 2).flatMap((metric) => meansTable(metric, resultOf)),
    "## Claims",
    "",
    ...CLAIMS.flatMap((claim, i) => claimLines(claim, i + 1, resultOf)),
    "## What this does not show",
    "",
    ...texts.limits.map((limit) => `* ${limit}`),
    "",
  ].join("\n");
}

type Results = (run: FindingsRun) => BlocksResult;

function meansTable(metric: (typeof FINDING_METRICS)[number], resultOf: Results): string[] {
  const inHours = metric === "response";
  const cellText = (source: FindingsSource, policy: string) => {
    const mean = meanOf(resultOf({ ...source, policy, switchS: 0 }), metric);
    return inHours ? (mean / 3600).toFixed(2) : mean.toFixed(1);
  };
  return [
    `Mean ${metric}${inHours ? ", hours" : ""}`,
    "",
    `| policy | ${TABLE_SOURCES.map(nameOf).join(" | ")} |`,
    `| --- |${" ---: |".repeat(TABLE_SOURCES.length)}`,
    ...TABLE.map(
      (policy) =>
        `| \`${policy}\` | ${TABLE_SOURCES.map((source) => cellText(source, policy)).join(" | ")} |`,
    ),
    "",
  ];
}

function claimLines(claim: RatioClaim, number: number, resultOf: Results): string[] {
  const [a, is, b, metric] = claim.ratio;
  const policies = a === b ? `\`${a}\`, with and without the switch` : `\`${a}\` ÷ \`${b}\``;
  const rows = claim.sources.map((source) => {
    const [underA, underB] = pairOf(claim, source).map(resultOf);
    const ratio = ratioOf(underA, underB, metric, isModel(source));
    const interval = `${digits(ratio.low)} to ${digits(ratio.high)}`;
    return `| ${nameOf(source)} | ${digits(ratio.ratio)} | ${interval} | ${verdictOf({ a: ratio, is, b: 1 })} |`;
  });
  return [
    `### ${number}. ${claim.text}`,
    "",
    `${policies}, mean ${metric}`,
    "",
    "| jobs | ratio | 95 % | claim |",
    "| --- | ---: | ---: | --- |",
    ...rows,
    "",
    ...commands(claim),
    "",
  ];
}

function commands({ ratio: [a, , b], sources, switchShare = 0 }: RatioClaim): string[] {
  const [source] = sources;
  if (source.load !== undefined) return ["`npm run findings` shows it."];
  const words = (policies: string, share: number) =>
    [
      `npx tutti compare ${source.source} --policy ${policies} --slot ${source.slotS}`,
      ...(source.limit === undefined ? [] : [`--first ${source.limit}`]),
      ...(source.seeds === undefined ? [] : [`--replications ${source.seeds}`]),
      ...(share === 0 ? [] : [`--switch ${share * source.slotS}`]),
    ].join(" ");
  if (switchShare === 0) return [`\`${words(`${a},${b}`, 0)}\``];
  return [`\`${words(a, switchShare)}\` and \`${words(b, 0)}\``];
}

function pairOf(
  { ratio: [a, , b], switchShare = 0 }: RatioClaim,
  source: FindingsSource,
): [FindingsRun, FindingsRun] {
  return [
    { ...source, policy: a, switchS: switchShare * source.slotS },
    { ...source, policy: b, switchS: 0 },
  ];
}

function nameOf({ source, load }: FindingsSource): string {
  const [name] = source.split(":");
  return load === undefined ? name : `${name}, load ${load}`;
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
