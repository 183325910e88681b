/**
 * `tutti usage` sums up what ended jobs had and used, by user and queue; `tutti usage JOBS` says how much of
 * what they asked for these jobs used; `tutti usage --shares` says who should get how much of the machine,
 * and what they have used of it.
 */

import {
  formatCount,
  formatDigits,
  formatPercent,
  limitText,
  NO_VALUE,
  plural,
} from "@tutti/kernel/core/format.ts";
import type { Job, SharesAnswer, UsageAnswer, UsageRow } from "@tutti/protocol/schema.ts";
import { ENDED_STATES } from "@tutti/protocol/states.ts";
import { beginTimeMs } from "@tutti/words/begin-time.ts";
import { secondsOf } from "@tutti/words/command-line.ts";
import { efficiencyText } from "@tutti/words/efficiency.ts";
import { quotaText } from "@tutti/words/limits.ts";
import { clockText, elapsedText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../errors.ts";
import { wholeJobs } from "../live/job-lists.ts";
import { SELECTOR_HELP, selectJobs } from "../live/selectors.ts";
import { Asked, present, type Shown } from "../live/show.ts";
import { left, right, tableOf, wrap } from "../text/text.ts";

interface Options {
  readonly by: string;
  readonly since?: number;
  readonly until?: number;
  readonly shares?: boolean;
  readonly json?: boolean;
}
type Words = [jobs: readonly string[]];

/** Options of the sums. */
const OF_SUMS = ["by", "since", "until"];
/** Maximum number of sentences about jobs. */
const MAX_JOBS = 20;

const WHEN = "such as 7d for the last seven days, 2026-11-01 or 2026-11-01T08:00";

const HELP = `
Administrators see all users, others their own jobs and their rank. Sums do not
count jobs that have not ended.

For shares, usage is the CPUs of jobs times their running time; after a
half-life, it counts half. The factor is 2^(-usage/share): 1 without usage, 0.5
with exactly the share. With a policy such as easy:order=fair-share, jobs of
users with a larger factor go first.`;

export function configure(command: Command): void {
  command
    .argument("[jobs...]", `how much these jobs used of what they asked for: ${SELECTOR_HELP}`)
    .option("--by <names>", "sums with a row for each: user, queue or user,queue", names, "user")
    .option("--since <when>", `only jobs that ended since then, ${WHEN}`, pastMs)
    .option("--until <when>", "only jobs that ended before then", pastMs)
    .addOption(
      new Option("--shares", "your share of the machine, and what you used of it").conflicts(OF_SUMS),
    )
    .option("--json", "print as JSON")
    .addHelpText("after", HELP)
    .action((words: readonly string[], options: Options) => {
      const asked = new Asked<Options, Words>([words], options);
      if (words.length === 0) return options.shares ? present(asked, SHARES) : present(asked, SUMS);
      const other = [...OF_SUMS, "shares"].find((name) => command.getOptionValueSource(name) === "cli");
      if (other === undefined) return present(asked, EFFICIENCY);
      throw new UsageError(`Cannot use --${other} for jobs "${words.join(" ")}": expected one or the other`);
    });
}

/** Of jobs, their efficiency. */
const EFFICIENCY: Shown<{ readonly schema: string; readonly jobs: readonly Job[] }, Options, Words> = {
  ask: async ({ client, words: [words], options: { json } }) => {
    const states = words.includes("all") ? ENDED_STATES : undefined;
    const numbers = await selectJobs(client, words, states);
    const shown = json ? numbers : numbers.slice(0, MAX_JOBS);
    return { schema: "tutti.jobs/1", jobs: await wholeJobs(client, shown) };
  },
  text: ({ jobs }) => jobs.map((job) => `${wrap(efficiencyText(job), 2)}\n`).join(""),
};
const SUMS: Shown<UsageAnswer, Options, Words> = {
  ask: ({ client, options: { by, since, until } }) => {
    const query = new URLSearchParams({ by });
    if (since !== undefined) query.set("from", String(since));
    if (until !== undefined) query.set("to", String(until));
    return client.ask(`/v1/usage?${query}`);
  },
  text: ({ rows }) => (rows.length === 0 ? "No jobs ended in that time.\n" : `${usageTable(rows)}\n`),
  next: ({ keptSinceMs }) =>
    keptSinceMs === undefined
      ? undefined
      : `Jobs that ended before ${clockText(keptSinceMs)} are forgotten and not counted`,
};
const SHARES: Shown<SharesAnswer, Options, Words> = {
  ask: ({ client }) => client.ask("/v1/shares"),
  text: sharesText,
};

function names(text: string): string {
  if (/^(?:user|queue|user,queue|queue,user)$/.test(text)) return text;
  throw new InvalidArgumentError("expected user, queue or user,queue");
}

/** Unix time in ms of a time in the past, or of a duration ago. */
function pastMs(text: string): number {
  const nowMs = Date.now();
  const ago = secondsOf(text);
  const ms = ago >= 0 ? nowMs - ago * 1000 : (beginTimeMs(text, nowMs) ?? Number.NaN);
  if (ms >= 0 && ms <= nowMs) return Math.round(ms);
  throw new InvalidArgumentError(`expected a time in the past, ${WHEN}`);
}

function usageTable(rows: readonly UsageRow[]): string {
  const [first] = rows;
  return tableOf<UsageRow>(rows, [
    first.user === undefined ? undefined : left("user", ({ user = "" }) => visibleLine(user)),
    first.queue === undefined ? undefined : left("queue", ({ queue = "" }) => visibleLine(queue)),
    right("jobs", ({ done, failed, cancelled }) => formatCount(done + failed + cancelled)),
    right("done", ({ done }) => formatCount(done), 3),
    right("failed", ({ failed }) => formatCount(failed), 3),
    right("cancelled", ({ cancelled }) => formatCount(cancelled), 4),
    right("CPU time held", ({ heldMs }) => elapsedText(heldMs)),
    right(
      "used",
      ({ cpuMs, countedMs }) => (countedMs === 0 ? NO_VALUE : `${Math.round((100 * cpuMs) / countedMs)} %`),
      1,
    ),
    right(
      "mean wait",
      ({ waitMs, started }) => (started === 0 ? NO_VALUE : elapsedText(waitMs / started)),
      2,
    ),
  ]);
}

function sharesText(answer: SharesAnswer): string {
  const { policy, isUsed, halfLifeMs, rank, ofUsers, users, groups, quotas = [] } = answer;
  const halfLife = `Usage counts half after ${limitText(halfLifeMs)}.`;
  const order = isUsed
    ? `The policy ${visibleLine(policy)} starts jobs of users with a larger factor first.`
    : `The policy ${visibleLine(policy)} does not order jobs by these factors.`;
  const own = rank === undefined ? [] : [`You are number ${rank} of ${plural(ofUsers, "user")}.`];
  const lines = [
    users.length === 0 ? "No usage is known, and nobody has a share of their own." : usersTable(users),
  ];
  if (groups !== undefined) lines.push("", tableOf(groups, [GROUP, ...VALUES]));
  const ofQuotas = quotas.map(
    (quota) => `Quota of ${quota.of} ${visibleLine(quota.name)}: ${quotaText(quota)} are used.`,
  );
  return [...lines, "", ...ofQuotas, ...own, halfLife, order, ""].join("\n");
}

type Share = Pick<SharesAnswer["users"][number], "shares" | "share" | "usedCpuMs" | "usage" | "factor">;

const VALUES = [
  right<Share>("shares", ({ shares }) => String(shares)),
  right<Share>("share", ({ share }) => formatPercent(share)),
  right<Share>("CPU time", ({ usedCpuMs }) => elapsedText(usedCpuMs)),
  right<Share>("usage", ({ usage }) => formatPercent(usage)),
  right<Share>("factor", ({ factor }) => formatDigits(factor, 4)),
];

const GROUP = left<{ readonly group?: string }>("group", ({ group = "" }) => visibleLine(group));

function usersTable(users: SharesAnswer["users"]): string {
  return tableOf<(typeof users)[number]>(users, [
    right("rank", ({ rank }) => String(rank)),
    left("user", ({ user }) => visibleLine(user)),
    users.some(({ group }) => group !== undefined) ? GROUP : undefined,
    ...VALUES,
  ]);
}
