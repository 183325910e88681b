/** Attempts that run and that the store does not know, with what to do about them, for `tutti status`. */
import type { Stray } from "../../protocol/schema.ts";
import { formatDuration } from "../../report/text/format.ts";
import { commandName, plural, visibleLine, wrap } from "./text.ts";

const LINES_SHOWN = 10;

export function strayText(strays: readonly Stray[]): string {
  const tutti = commandName();
  const [first] = strays;
  if (first === undefined) return "";
  const run = strays.length === 1 ? "runs" : "run";
  const head = `${plural(strays.length, "attempt")} ${run} that the store does not know, because it is older. They run beside the gangs until they end, and leave what they write in their folders. ${tutti} cancel ${first.job} ends the first.`;
  const lines = strays
    .slice(0, LINES_SHOWN)
    .map(
      ({ job, attempt, user, state, ranMs, command, folder }) =>
        `  job ${job}, attempt ${attempt}, of ${visibleLine(user)}: ${state} for ${formatDuration(ranMs / 1000)}: ${visibleLine(command.join(" "))}\n    in ${visibleLine(folder)}`,
    );
  const more = strays.length - lines.length;
  return [
    wrap(head, 0),
    ...lines,
    ...(more > 0 ? [`  and ${more} more: ${tutti} status --json`] : []),
    "",
  ].join("\n");
}
