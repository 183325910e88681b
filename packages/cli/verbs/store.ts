/**
 * `tutti store backup FILE` copies the store to one file, and `tutti store check [FILE]` checks the store or
 * a backup for damage. They need no scheduler, because they read the store themselves; one may be running.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { plural } from "@tutti/kernel/core/format.ts";
import { checkFile, checkState, type StateReport } from "@tutti/live/daemon/state/check-state.ts";
import { defaultStateFolder } from "@tutti/live/daemon/state/state-place.ts";
import { backUp } from "@tutti/live/daemon/store/backup.ts";
import { bytesText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { CheckFailed, UsageError } from "../errors.ts";
import { bold, dim, wrap, writeJson, writeOut } from "../text/text.ts";

interface Options {
  readonly state?: string;
  readonly json?: boolean;
}

const HELP = `
Only root and the user who runs the scheduler can make a backup. The file holds
all kept jobs with their commands, environments and scripts, so only you can
read it. It does not hold the output of jobs. docs/reference-administration.md
says how to restore it.`;

export function configure(command: Command): void {
  addOptions(command.command("backup").description("copy the store to a file, even while the scheduler runs"))
    .argument("<file>", "file to write, preferably on another disk")
    .option("--force", "replace the file if it exists")
    .addHelpText("after", HELP)
    .action(backup);
  addOptions(command.command("check").description("check the store or a backup for damage"))
    .argument("[file]", "a backup to check (default: the scheduler's store, its numbers and its folders)")
    .action(check);
}

function addOptions(command: Command): Command {
  return command
    .option("--state <folder>", "state folder of the scheduler (default: as for tutti serve)")
    .option("--json", "print as JSON");
}

function folderOf({ state }: Options): string {
  return state === undefined ? defaultStateFolder(process.env) : resolve(state);
}

async function backup(file: string, options: Options & { readonly force?: boolean }): Promise<void> {
  const { force = false, json = false } = options;
  const folder = folderOf(options);
  const target = outside(folder, file);
  const findings = await backUp(join(folder, "tutti.db"), target, force);
  const { bytes, jobs, live, lastJob, lastEvent, version } = findings;
  if (json) {
    writeJson({ schema: "tutti.backup/1", file: target, bytes, version, jobs, live, lastJob, lastEvent });
    return;
  }
  writeOut(
    `${wrap(`Wrote ${target}: ${bytesText(bytes)}, ${plural(jobs, "job")}, ${live} of them not ended, last job number ${lastJob}.`, 0)}\n`,
  );
  writeOut(
    `${wrap(`Not included: the folder ${join(folder, "jobs")} with the output of jobs, and the configuration file.`, 0)}\n`,
  );
}

/**
 * Returns the path of the backup, which must be outside the state folder: inside, it would be lost with the
 * store or even replace the store.
 */
function outside(folder: string, file: string): string {
  const target = resolve(file);
  const real = (path: string): string => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  };
  const place = join(real(dirname(target)), basename(target));
  if (`${place}${sep}`.startsWith(`${real(folder)}${sep}`)) {
    throw new UsageError(
      `Cannot write the backup to "${target}": that is in the state folder, expected a place outside it, preferably on another disk`,
    );
  }
  return target;
}

/** @throws CheckFailed when something is wrong */
function check(file: string | undefined, options: Options): void {
  const report = file === undefined ? checkState(folderOf(options)) : checkFile(resolve(file));
  if (options.json) writeJson({ schema: "tutti.check/1", ok: report.problems.length === 0, ...flat(report) });
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
