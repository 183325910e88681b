/** Commands of Slurm that have no counterpart under their name: they say what answers the question here. */
import type { Command } from "../command.ts";
import { BareError } from "../errors.ts";

const pointer = (name: string, instead: string): Command => ({
  options: "help,h usage version,V",
  takesAll: true,
  usage: `${name}; here: ${instead}`,
  async run() {
    throw new BareError(`${name}: error: Tutti has no ${name}; use ${instead}`);
  },
});

export const sreport = pointer("sreport", "tutti usage, which sums up what ended jobs had and used");
export const sshare = pointer("sshare", "tutti usage --shares");
export const sprio = pointer("sprio", "tutti why JOB, which says what a job waits for");
