/**
 * `tutti backup FILE`: copies the store to one file. It needs no scheduler, because it reads the store
 * itself.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { plural } from "@tutti/kernel/core/format.ts";
import { defaultStateFolder } from "@tutti/live/daemon/state/state-place.ts";
import { backUp } from "@tutti/live/daemon/store/backup.ts";
import { bytesText } from "@tutti/words/times.ts";
import type { Command } from "commander";
import { UsageError } from "../errors.ts";
import { wrap, writeJson, writeOut } from "../text/text.ts";

interface Options {
  readonly state?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const HELP = `
Only root and the user who runs the scheduler can make a backup. The file holds
all kept jobs with their commands, environments and scripts, so only you can
read it. It does not hold the output of jobs. docs/guide-administrator.md says
how to restore it.`;

export function configure(command: Command): void {
  command
    .argument("<file>", "file to write, preferably on another disk")
    .option("--state <folder>", "state folder of the scheduler (default: as for tutti serve)")
    .option("--force", "replace the file if it exists")
    .option("--json", "print as JSON")
    .addHelpText("after", HELP)
    .action(run);
}

async function run(file: string, { state, force = false, json = false }: Options): Promise<void> {
  const folder = state === undefined ? defaultStateFolder(process.env) : resolve(state);
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
