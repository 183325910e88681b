/**
 * The last three lines of what a first command shows, the same however Tutti was installed: the page, a job
 * to try, and where help is.
 */
import { bold, commandName } from "./text.ts";

/**
 * @param page the page's address, or how to get to it
 * @param size the scheduler's CPUs, or its nodes
 */
export function firstSteps(page: string, size: number): string {
  const tutti = commandName();
  return `page: ${page}
try:  ${bold(`${tutti} run -n ${Math.min(2, Math.max(1, size))} -- nproc`)} (in another terminal)
help: ${tutti} --help, ${tutti} COMMAND --help; ${tutti} doctor checks this machine
`;
}
