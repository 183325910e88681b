/**
 * Sizes of jobs whose tasks have several threads, on machines of several nodes. The CPUs of a task must be on
 * one node, but a policy sees only a number of processors in one order. So a job gets as many processors as
 * hold all of its tasks wherever the policy puts them:
 *
 *   nodes of 4 CPUs     0 1 2 3 | 4 5 6 7 | 8 9 …
 *   1 task of 3 threads     . .   . . .            5 consecutive processors, not 3: from 2 on, 3 are split
 */

/**
 * Where a policy may put a gang of k processors: on k consecutive ones, on the k lowest idle ones if it
 * finds none, or on any.
 */
export type Placing = "consecutive" | "lowest" | "any";

/** How many tasks nodes of these sizes have room for. */
export function roomFor(threads: number, sizes: readonly number[]): number {
  return sizes.reduce((sum, cpus) => sum + Math.floor(cpus / threads), 0);
}

/** Halvings after which the memory of a task is known to the byte. */
const HALVINGS = 60;

/**
 * The most memory that a gang can have on these nodes if they have no other: each of its tasks has the same
 * share of it, on the node of the task, or the program on the first node has all of it.
 */
export function mostMemoryFor(
  { tasks, threads }: { readonly tasks: number; readonly threads: number },
  nodes: readonly { readonly cpus: number; readonly memoryBytes: number }[],
): number {
  const holds = (shareBytes: number) =>
    nodes.reduce(
      (room, { cpus, memoryBytes }) =>
        room + Math.min(Math.floor(cpus / threads), Math.floor(memoryBytes / shareBytes)),
      0,
    ) >= tasks;
  let [most, tooMuch] = [0, Math.max(1, ...nodes.map(({ memoryBytes }) => memoryBytes + 1))];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (most + tooMuch) / 2;
    if (holds(middle)) most = middle;
    else tooMuch = middle;
  }
  return most === 0 ? 0 : Math.max(Math.round(tasks * most), ...nodes.map(({ memoryBytes }) => memoryBytes));
}

/**
 * The smallest number of processors that always holds the tasks.
 * @param sizes CPUs of the nodes in the linear order; together they have room for all tasks
 */
export function sizeForTasks(
  tasks: number,
  threads: number,
  sizes: readonly number[],
  placing: Placing,
): number {
  if (threads === 1 || sizes.length === 1) return tasks * threads;
  const processors = sizes.reduce((sum, cpus) => sum + cpus, 0);
  const size =
    placing === "consecutive"
      ? longestStretch(tasks, threads, sizes, processors)
      : 1 + mostWithFewer(tasks - 1, threads, sizes);
  return Math.min(size, processors);
}

/** The most processors that hold no more than this number of whole tasks. */
function mostWithFewer(tasks: number, threads: number, sizes: readonly number[]): number {
  let processors = 0;
  let whole = 0;
  const rests: number[] = [];
  for (const cpus of sizes) {
    // All CPUs of a task but one, then whole tasks, and at the end what is left of the node.
    const incomplete = Math.min(cpus, threads - 1);
    processors += incomplete;
    whole += Math.floor((cpus - incomplete) / threads);
    const rest = (cpus - incomplete) % threads;
    if (rest > 0) rests.push(rest);
  }
  const taken = Math.min(tasks, whole);
  rests.sort((a, b) => b - a);
  return rests.slice(0, tasks - taken).reduce((sum, rest) => sum + rest, processors + taken * threads);
}

/** The length with which a stretch from anywhere holds the tasks, or reaches beyond the last processor. */
function longestStretch(
  tasks: number,
  threads: number,
  sizes: readonly number[],
  processors: number,
): number {
  let longest = 0;
  let first = 0;
  for (const [node, cpus] of sizes.entries()) {
    for (let from = first; from < first + cpus; from++) {
      longest = Math.max(longest, stretchFrom(from - first, node));
      if (longest > processors - from) return longest;
    }
    first += cpus;
  }
  return longest;

  function stretchFrom(offset: number, node: number): number {
    let left = tasks;
    let length = 0;
    for (let at = node; at < sizes.length; at++) {
      const cpus = sizes[at] - (at === node ? offset : 0);
      const here = Math.floor(cpus / threads);
      if (here >= left) return length + left * threads;
      left -= here;
      length += cpus;
    }
    return length + 1;
  }
}
