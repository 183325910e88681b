/**
 * Writes docs/findings.md from the runs: a table of means, then every claim with its ratios, verdicts and
 * command.
 */
import { verdictOf } from "../claims.ts";
import { canonicalText } from "../experiments/cell.ts";
import type { Cell } from "../experiments/kinds.ts";
import { CLAIMS, DOWNEY, LUBLIN, type RatioClaim, TABLE, TRACES } from "./claims.ts";
import { cellsOf, type FindingsRun, type FindingsSource, isModel, meanOf, ratioOf } from "./findings.ts";
import { type BlocksResult, FINDING_METRICS } from "./run.ts";

const TABLE_SOURCES: readonly FindingsSource[] = [...TRACES, LUBLIN, DOWNEY];

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
export const INTRODUCTION: readonly string[] = [
  "# Findings",
  "",
  "Which scheduler wins where. The page compares space sharing, gangs, and two things that none of the five papers has:",
  "gangs with an admission queue (`rows`, `queue`, `memory`), and gangs that move to other processors when that saves a",
  "row, where each moved gang pays `migrate` seconds of service. This page is generated: `npm run findings` reproduces it",
  "to the last digit (traces from `TUTTI_TRACES`).",
  "",
  "Others studied both before. Franke, Jann, Moreira, Pattnaik and Jette (An Evaluation of Parallel Job Scheduling for ASCI",
  "Blue-Pacific, SC 1999) limit how many gangs share a processor. Zhang, Franke, Moreira and Sivasubramaniam combine that",
  "with backfilling (Improving Parallel Job Scheduling by Combining Gang Scheduling and Backfilling Techniques, IPDPS",
  "2000), with migration (The Impact of Migration on Parallel Job Scheduling for Distributed Systems, Euro-Par 2000), and",
  "with both (An Integrated Approach to Parallel Scheduling Using Gang-Scheduling, Backfilling, and Migration, JSSPP 2001",
  "and IEEE TPDS 14(3), 2003). We have not reproduced their numbers, and their rules differ from ours. What this page adds",
  "are these policies on four public traces and two models, with an interval and a command for each ratio.",
  "",
  "Method. Every ratio divides the mean of one metric under one policy by its mean under another, on the same jobs; all",
  "jobs count. Traces: jobs form blocks of 28 days of submission. 2,000 bootstrap resamples draw the same blocks for both",
  "policies; their percentiles give the 95 % interval. One trace is one machine: the interval says how much its months",
  "differ, not how machines differ. Models: ten seeds give ten ratios, and the interval is Student's 95 % interval for the",
  "mean of their logarithms. The threshold of the bounded slowdown is 10 s. Slots are 60 s long (Downey: 5 s). Switches are",
  "free unless the claim names a cost. Estimates are those of the trace; one below the run time is raised to the run time.",
  "A claim *holds* if the whole interval is on its side of 1, *fails* if the whole interval is on the other side, and is",
  "*open* if the interval contains 1. We do not correct for the number of claims. We wrote the claims after looking at",
  "these runs: they describe, they do not predict.",
  "",
];

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
    ...LIMITS,
    "",
  ].join("\n");
}

const LIMITS: readonly string[] = [
  "## What this does not show",
  "",
  "* The users of a trace reacted to the machine on which it was recorded. Here they submit at the same times under every policy.",
  "* A job uses the memory that its user requested, or else the memory that it used, from start to end. Swapping, caches and the cost of bringing a gang back are not modelled beyond the cost of the switch.",
  "* Gangs need adjacent processors here, and space sharing takes any. On a machine that does not require adjacency, gangs would do better than shown.",
  "* A move to other processors costs every gang the same service here, whatever its size and memory, and no trace says how much it would cost. The rule for when to move is one of many; it uses the service that gangs have received, not estimates.",
];

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
