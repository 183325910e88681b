/**
 * Chooses the CPUs of this machine for jobs, in the order in which policies number them. Unless the
 * administrator lists CPUs, a core is one processor: jobs on two threads of a core slow each other down.
 */
import { type CpuPlace, countOf, firstThreads, inOrder } from "@tutti/host/topology.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import type { Config } from "../../config/config.ts";
import type { JobRecord } from "../../contract/record.ts";

export interface OwnCpus {
  /** By socket and core. */
  readonly cpus: readonly number[];
  readonly sockets: number;
  readonly cores: number;
  /** Further threads of cores, which jobs do not get. */
  readonly unused: readonly number[];
  /** Jobs for which further threads are used until the next start, although the setting says otherwise. */
  readonly keptFor: readonly number[];
}

/**
 * @param places of the CPUs that this process may use, or of those that the administrator has listed
 * @param live jobs that have not ended. A version that used all threads may have started them, or accepted
 *   them with more processors than there are cores
 */
export function ownCpus(
  places: readonly CpuPlace[],
  { cpus, machine }: Pick<Config, "cpus" | "machine">,
  live: readonly Pick<JobRecord, "job" | "tasks" | "threads" | "nodes">[],
): OwnCpus {
  const all = inOrder(places);
  const first = cpus !== undefined || machine.smt ? all : firstThreads(all);
  const isFirst = new Set(first.map(({ cpu }) => cpu));
  const unused = all.filter(({ cpu }) => !isFirst.has(cpu)).map(({ cpu }) => cpu);
  const needMore = live.filter(
    (job) =>
      job.nodes.some((node) => node.cpus.some((cpu) => unused.includes(cpu))) ||
      (processorsOf(job) > first.length && processorsOf(job) <= all.length),
  );
  const isKept = unused.length > 0 && needMore.length > 0;
  const used = isKept ? all : first;
  return {
    cpus: used.map(({ cpu }) => cpu),
    sockets: countOf(used, "socket"),
    cores: countOf(used, "core"),
    unused: isKept ? [] : unused,
    keptFor: isKept ? needMore.map(({ job }) => job) : [],
  };
}
