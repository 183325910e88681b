/** What simulated lives of the scheduler have come to, as a table, and how to repeat those that failed. */
import { formatCount, formatDigits, plural } from "@tutti/kernel/core/format.ts";
import { type NumberRange, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type { Verdict } from "@tutti/torture/run/course.ts";
import type { Shrunk } from "@tutti/torture/run/shrink.ts";
import { bold, bullet, commandName, leftColumn, rightColumn, table } from "./text.ts";

/** A life in which everything goes wrong has thousands. */
const SHOWN_PROBLEMS = 10;

/** What lives have come to together. */
interface TortureSums {
  readonly hours: number;
  readonly jobs: number;
  readonly starts: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly failedLives: number;
  /** Simulated time, divided by CPU time. */
  readonly speed: number;
}

export function sumsOf(lives: readonly Verdict[], cpuS: number): TortureSums {
  const faults: Record<string, number> = {};
  for (const life of lives)
    for (const [name, count] of Object.entries(life.faults)) faults[name] = (faults[name] ?? 0) + count;
  const sum = (of: "hours" | "jobs" | "starts") => lives.reduce((all, life) => all + life[of], 0);
  return {
    hours: sum("hours"),
    jobs: sum("jobs"),
    starts: sum("starts"),
    faults,
    failedLives: lives.filter(({ problems }) => problems.length > 0).length,
    speed: (sum("hours") * 3600) / cpuS,
  };
}

/** @param lives at least one */
export function tortureText(lives: readonly Verdict[], sums: TortureSums): string {
  return [sumsTable(lives, sums), "", ...lives.flatMap(problemLines), lastLine(lives, sums), ""].join("\n");
}

function sumsTable(lives: readonly Verdict[], { hours, jobs, starts, faults, speed }: TortureSums): string {
  const byKind = Object.entries(faults).sort(
    ([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1),
  );
  return table(
    [leftColumn("simulated"), rightColumn("")],
    [
      ["hours", formatDigits(hours, 1)],
      ["lives", formatCount(lives.length)],
      ["jobs", formatCount(jobs)],
      ["starts of jobs", formatCount(starts)],
      ["times real time, by CPU time", formatCount(Math.round(speed))],
      ["faults", formatCount(byKind.reduce((all, [, count]) => all + count, 0))],
      ...byKind.map(([name, count]) => [`  ${name}`, formatCount(count)]),
    ],
  );
}

function problemLines({ seed, problems }: Verdict): string[] {
  if (problems.length === 0) return [];
  const more = problems.length - SHOWN_PROBLEMS;
  return [
    `${bold(repeating(seed))} has ${plural(problems.length, "problem")}:`,
    ...problems.slice(0, SHOWN_PROBLEMS).map(bullet),
    ...(more > 0 ? [bullet(`and ${formatCount(more)} more; --json prints all`)] : []),
    "",
  ];
}

/** It stands alone in the summary of a soak. */
function lastLine(lives: readonly Verdict[], { hours, speed, failedLives }: TortureSums): string {
  const [first, last] = [lives[0].seed, lives[lives.length - 1].seed];
  const seeds = first === last ? `seed ${first}` : `seeds ${first} to ${last}`;
  const failed =
    failedLives === 0
      ? "no problems"
      : `problems in ${failedLives} of ${formatCount(lives.length)} ${lives.length === 1 ? "life" : "lives"}`;
  return `${formatDigits(hours, 1)} simulated hours, ${seeds}, ${formatCount(Math.round(speed))} times real time: ${failed}`;
}

/** The command that runs one life again. */
export function repeating(seed: number): string {
  return `${commandName()} torture --seed ${seed}`;
}

/** The smallest life that has the same problem, and how to repeat it. */
export function shrunkText({ verdict, jobs, faults, only, tries }: Shrunk): string {
  const words = `${repeating(verdict.seed)} --only-jobs ${numbersText(only.jobs)} --only-faults ${numbersText(only.faults)}`;
  return [
    `${plural(jobs, "job")} and ${plural(faults, "fault")} are enough for that (${formatCount(tries)} lives tried):`,
    `  ${bold(words)}`,
    ...verdict.problems.slice(0, SHOWN_PROBLEMS).map(bullet),
    "",
  ].join("\n");
}

/** As `--only-jobs` reads them. */
function numbersText(ranges: readonly NumberRange[]): string {
  return ranges.length === 0 ? NO_NUMBERS : rangesText(ranges);
}

/** The word for no number at all. */
export const NO_NUMBERS = "none";
