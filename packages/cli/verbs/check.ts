/** `tutti check [FILE]`: checks the store or a backup for damage. The scheduler may be running. */
import { resolve } from "node:path";
import { plural } from "@tutti/kernel/core/format.ts";
import { checkFile, checkState, type StateReport } from "@tutti/live/daemon/state/check-state.ts";
import { defaultStateFolder } from "@tutti/live/daemon/state/state-place.ts";
import { bytesText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { CheckFailed } from "../errors.ts";
import { bold, dim, wrap, writeJson, writeOut } from "../text/text.ts";

interface Options {
  readonly state?: string;
  readonly json?: boolean;
}

export function configure(command: Command): void {
  command
    .argument("[file]", "a backup to check (default: the scheduler's store, its numbers and its folders)")
    .option("--state <folder>", "state folder of the scheduler (default: as for tutti serve)")
    .option("--json", "print as JSON")
    .action(run);
}

/** @throws CheckFailed when something is wrong */
function run(file: string | undefined, { state, json = false }: Options): void {
  const folder = state === undefined ? defaultStateFolder(process.env) : resolve(state);
  const report = file === undefined ? checkState(folder) : checkFile(resolve(file));
  if (json) writeJson({ schema: "tutti.check/1", ok: report.problems.length === 0, ...flat(report) });
  else writeOut(textOf(report));
  if (report.problems.length > 0) throw new CheckFailed(`${report.path} has problems`);
}

function flat({ path, findings, problems, numbers, lastFolder }: StateReport) {
  return { path, problems, ...findings, numbers, lastFolder };
}

function textOf({ path, findings, problems, numbers, lastFolder }: StateReport): string {
  const lines: (readonly [string, string])[] = [];
  if (findings !== undefined) {
    const { bytes, version, jobs, live, lastJob, lastEvent } = findings;
    lines.push(
      ["size", `${bytesText(bytes)}, version ${version}`],
      ["jobs", `${plural(jobs, "job")}, ${live} of them not ended; last job number ${lastJob}`],
      ["events", `up to ${lastEvent}`],
    );
  }
  if (numbers !== undefined) {
    const text =
      typeof numbers === "string" ? numbers : `job ${numbers.job}, event ${numbers.event} confirmed`;
    lines.push(["numbers", text]);
  }
  if (lastFolder !== undefined)
    lines.push(["folders", lastFolder === 0 ? "none" : `up to jobs/${lastFolder}`]);
  return [
    `${bold(visibleLine(path))}: ${problems.length === 0 ? "sound" : `not sound, ${plural(problems.length, "problem")}`}`,
    ...lines.map(([name, value]) => dim(`  ${name.padEnd(9)}${value}`)),
    ...problems.map((problem) => `  ${wrap(`problem: ${visibleLine(problem)}`, 4)}`),
    "",
  ].join("\n");
}
