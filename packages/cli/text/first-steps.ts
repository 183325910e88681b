/**
 * The last three lines of what a first command shows, the same however Tutti was installed: the page, a job
 * to try, and where help is.
 */
import type { StatusAnswer } from "@tutti/protocol/schema.ts";
import { bold, commandName } from "./text.ts";

/**
 * @param page the page's address, or how to get to it
 * @param nodes those of a cluster, on which the present folder may be missing
 */
export function firstSteps(page: string, { cpus, nodes }: Pick<StatusAnswer, "cpus" | "nodes">): string {
  const tutti = commandName();
  const run = nodes === undefined ? "run" : "run -D /tmp";
  const doctor =
    nodes === undefined ? "doctor checks this machine" : "doctor --on slurm, or --on ssh, checks the cluster";
  return `page: ${page}
try:  ${bold(`${tutti} ${run} -n ${Math.min(2, Math.max(1, cpus))} -- nproc`)} (in another terminal)
help: ${tutti} --help, ${tutti} COMMAND --help; ${tutti} ${doctor}
`;
}
