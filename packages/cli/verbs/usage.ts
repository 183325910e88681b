/** `tutti usage`: sums of what ended jobs had and used, by user and queue. */

import { formatCount, NO_VALUE } from "@tutti/kernel/core/format.ts";
import type { UsageAnswer, UsageRow } from "@tutti/protocol/schema.ts";
import { beginTimeMs } from "@tutti/words/begin-time.ts";
import { secondsOf } from "@tutti/words/command-line.ts";
import { clockText, elapsedText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { type Command, InvalidArgumentError } from "commander";
import { type Asked, show } from "../live/show.ts";
import { left, right, tableOf } from "../text/text.ts";

interface Options {
  readonly by: string;
  readonly since?: number;
  readonly until?: number;
}

const WHEN = "such as 7d for the last seven days, 2026-11-01 or 2026-11-01T08:00";

export function configure(command: Command): void {
  command
    .option("--by <names>", "a row for each: user, queue or user,queue", names, "user")
    .option("--since <when>", `only jobs that ended since then, ${WHEN}`, pastMs)
    .option("--until <when>", "only jobs that ended before then", pastMs)
    .addHelpText(
      "after",
      "\nAdministrators see all users, others their own jobs. Jobs that have not ended\nare not counted.",
    );
  show(command, {
    ask,
    text: ({ rows }) => (rows.length === 0 ? "No job ended in that time.\n" : `${usageTable(rows)}\n`),
    next: ({ keptSinceMs }) =>
      keptSinceMs === undefined
        ? undefined
        : `Jobs that ended before ${clockText(keptSinceMs)} are forgotten and not counted`,
  });
}

function names(text: string): string {
  if (/^(?:user|queue|user,queue|queue,user)$/.test(text)) return text;
  throw new InvalidArgumentError("Expected user, queue or user,queue.");
}

/** Unix time in ms of a time in the past, or of a duration ago. */
function pastMs(text: string): number {
  const nowMs = Date.now();
  const ago = secondsOf(text);
  const ms = ago >= 0 ? nowMs - ago * 1000 : (beginTimeMs(text, nowMs) ?? Number.NaN);
  if (ms >= 0 && ms <= nowMs) return Math.round(ms);
  throw new InvalidArgumentError(`Expected a time in the past, ${WHEN}.`);
}

function ask({ client, options: { by, since, until } }: Asked<Options>): Promise<UsageAnswer> {
  const query = new URLSearchParams({ by });
  if (since !== undefined) query.set("from", String(since));
  if (until !== undefined) query.set("to", String(until));
  return client.ask(`/v1/usage?${query}`);
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
