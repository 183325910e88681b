/** Distributes the tasks of a gang over its nodes: ranks in the order of the nodes, a task on CPUs of one. */
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { MemberSpec } from "@tutti/protocol/conductor.ts";

type Gang = {
  readonly [Field in "nodes" | "tasks" | "threads"]?: LaunchSpec[Field] | undefined;
};

/** A node of a gang, and the number of its tasks there. */
interface NodeTasks {
  readonly node: string;
  readonly tasks: number;
}

/**
 * Nodes without tasks are left out: a gang can have more CPUs than its tasks need (whole-tasks.ts), or was
 * rounded up to whole nodes.
 */
export function nodeTasks({ nodes = [], tasks, threads = 1 }: Gang): NodeTasks[] {
  const room = nodes.map(({ node, cpus }) => ({ node, most: Math.floor(cpus.length / threads) }));
  let left = tasks ?? room.reduce((sum, { most }) => sum + most, 0);
  const all = room.map(({ node, most }) => {
    const here = Math.min(left, most);
    left -= here;
    return { node, tasks: here };
  });
  return all.filter((entry) => entry.tasks > 0);
}

/**
 * What the conductor of a node needs to know about its part of a gang.
 * @param nodes names of all nodes of the gang, packed
 * @param ranks of the tasks on the node; see `ranksByNode`
 */
export function memberOf(
  spec: LaunchSpec,
  nodes: readonly string[],
  ranks: readonly number[] = [],
): MemberSpec {
  const { job, attempt, identity, folder, uid, gid, graceMs, limitMs, limitSignal, memoryBytes, gpus } = spec;
  const isEach = spec.tasksRun === "each";
  return {
    job,
    attempt,
    identity,
    folder,
    uid,
    gid,
    graceMs,
    nodes,
    tasksRun: isEach ? "each" : "once",
    limitMs,
    limitSignal,
    memoryBytes,
    gpus,
    ranks,
  };
}

/** The ranks of tasks that run each. A gang whose command runs once has none. */
export function ranksByNode(spec: LaunchSpec): ReadonlyMap<string, readonly number[]> {
  const ranks = new Map<string, readonly number[]>();
  if (spec.tasksRun !== "each") return ranks;
  let first = 0;
  for (const { node, tasks } of nodeTasks(spec)) {
    ranks.set(
      node,
      Array.from({ length: tasks }, (_, i) => first + i),
    );
    first += tasks;
  }
  return ranks;
}
