/** Chooses the queue for the partitions that a job for Slurm names: a site may have other ones. */
import type { QueuesAnswer } from "@tutti/protocol/schema.ts";

interface Partitions {
  readonly names: readonly string[];
  /** The option, as messages quote it. */
  readonly text: string;
}

/**
 * The first partition that is a queue. Others are left out: the scheduler chooses a queue itself.
 * @param remark gets what users should know if there is none
 */
export function queueOf(
  { names, text }: Partitions,
  { queues }: QueuesAnswer,
  remark: (text: string) => void,
): string | undefined {
  const known = queues.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const found = names.find((name) => known.includes(name));
  if (found === undefined) remark(`${text}: ignored, ${noQueues(names, known)}`);
  return found;
}

/** Says that these names are no queues, and which there are. */
export function noQueues(unknown: readonly string[], known: readonly string[]): string {
  return `there is no queue ${unknown.join(", ")}; there ${known.length === 1 ? "is" : "are"} ${known.join(", ")}`;
}
