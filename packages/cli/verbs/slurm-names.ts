/** `tutti slurm-names FOLDER`: makes a folder with Slurm's commands, which work with Tutti. */

import { quote } from "@tutti/host/shell.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { makeNames } from "../slurm-names.ts";
import { writeOut } from "../text/text.ts";

const HELP = `
The folder gets sbatch, srun, salloc, squeue, scancel, sinfo, sacct, sacctmgr,
scontrol, seff and sstat, and sreport, sshare and sprio, which say what to use
instead. With the folder first on the PATH, scripts and programs for Slurm use
this scheduler. The command may be repeated, and is after an upgrade of Node or
Tutti. docs/slurm-names.md says what is honoured.
  tutti slurm-names ~/slurm && export PATH=~/slurm:$PATH
  sbatch --parsable --wrap hostname`;

export function configure(command: Command): void {
  command
    .argument("<folder>", "where to put the commands; it is made if it does not exist")
    .addHelpText("after", HELP)
    .action((path: string) => {
      const made = makeNames(path);
      const folder = visibleLine(made.folder);
      const word = /^[\w/.+:@-]+$/.test(folder) ? folder : quote(folder);
      writeOut(`${folder}: ${made.names.join(", ")}\nnext: export PATH=${word}:$PATH\n`);
    });
}
