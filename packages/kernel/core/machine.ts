/**
 * Maps the processors of a machine to nodes and CPUs. Policies see the processors in one linear order, 0 …
 * P−1; the table here says which CPU of which node each processor is.
 *
 * The order begins with the nodes whose size is divisible by the largest power of two. Each node then begins
 * at a multiple of the largest power of two that divides its size, and there are no gaps. So every buddy
 * block (structures/matrix/buddy.ts) of at most that power of two is within one node:
 *
 *   sizes as given   6, 8, 3, 8
 *   in order         8, 8, 6, 3      first processors 0, 8, 16, 22
 *
 * If gangs must not share nodes, every node takes the same power of two of places in the order, and some of
 * them may have no CPU. Then all gangs of multiples of that number begin and end with a node, also in blocks:
 *
 *   sizes as given   6, 8, 3         first places 0, 8, 16; without a CPU are 6, 7 and 19 … 23
 */
import { rangesOf, rangesText } from "./number-ranges.ts";

/** CPUs of one node, numbered as on that node. */
export interface NodeCpus {
  readonly node: string;
  readonly cpus: readonly number[];
}

/** One CPU of one node. */
interface Processor {
  readonly node: string;
  readonly cpu: number;
}

/** Stands for the CPU of a place that has none. */
const NO_CPU = -1;

/** Name of the node if there is only one, the machine itself. */
export const THIS_NODE = "localhost";

export class NodeTable {
  /** In the linear order. */
  readonly nodes: readonly NodeCpus[];
  /** Number of processors on all nodes. */
  readonly processors: number;
  /** Places of each node, if all nodes have the same number of them; 0: as many as it has CPUs. */
  readonly width: number;
  readonly #order: readonly Processor[];
  readonly #indices = new Map<string, Map<number, number>>();
  /** Places without a CPU, by node. */
  readonly #gaps = new Map<string, readonly number[]>();

  /**
   * @param nodes with unique names, and with their CPUs in the order in which they will be numbered
   * @param isWhole whether gangs get whole nodes
   */
  constructor(nodes: readonly NodeCpus[], isWhole = false) {
    this.width = isWhole ? powerOfTwoFrom(Math.max(1, ...nodes.map(({ cpus }) => cpus.length))) : 0;
    this.processors = nodes.reduce((sum, { cpus }) => sum + cpus.length, 0);
    // The sort is stable: nodes of equal alignment keep the order given.
    this.nodes = isWhole
      ? [...nodes]
      : [...nodes].sort((a, b) => alignment(b.cpus.length) - alignment(a.cpus.length));
    const order: Processor[] = [];
    for (const { node, cpus } of this.nodes) {
      this.#indices.set(node, new Map(cpus.map((cpu, i) => [cpu, order.length + i])));
      for (const cpu of cpus) order.push({ node, cpu });
      const gap = Math.max(0, this.width - cpus.length);
      this.#gaps.set(
        node,
        Array.from({ length: gap }, (_, i) => order.length + i),
      );
      for (let i = 0; i < gap; i++) order.push({ node, cpu: NO_CPU });
    }
    this.#order = order;
  }

  /** Length of the linear order: the number of processors, and of places without one. */
  get places(): number {
    return this.#order.length;
  }

  /** Name of the node to which a place belongs. */
  nodeAt(index: number): string {
    return this.#order[index].node;
  }

  /** The CPU at a place; undefined: it has none. */
  processorAt(index: number): Processor | undefined {
    const processor = this.#order[index];
    return processor.cpu === NO_CPU ? undefined : processor;
  }

  /** Index of a CPU in the linear order; −1 if the machine does not have it. */
  indexOf({ node, cpu }: Processor): number {
    return this.#indices.get(node)?.get(cpu) ?? -1;
  }

  /** The CPUs at the given indices, grouped by node. */
  cpusAt(indices: readonly number[]): NodeCpus[] {
    const groups: { node: string; cpus: number[] }[] = [];
    let group: (typeof groups)[number] | undefined;
    for (const index of indices) {
      const { node, cpu } = this.#order[index];
      if (cpu === NO_CPU) continue;
      if (group?.node !== node) group = groups.find((entry) => entry.node === node);
      if (group === undefined) {
        group = { node, cpus: [] };
        groups.push(group);
      }
      group.cpus.push(cpu);
    }
    return groups;
  }

  /**
   * Indices of CPUs in the linear order; −1 for a CPU that the machine does not have. All CPUs of a node have
   * its places without a CPU, too.
   */
  indicesOf(nodes: readonly NodeCpus[]): number[] {
    return nodes.flatMap(({ node, cpus }) => {
      const indices = cpus.map((cpu) => this.indexOf({ node, cpu }));
      const isWhole = cpus.length === this.#indices.get(node)?.size;
      return isWhole ? [...indices, ...this.#gaps.get(node)!] : indices;
    });
  }
}

/** Whether both lists have the same CPUs in the same order. */
export function areSameCpus(a: readonly NodeCpus[], b: readonly NodeCpus[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      ({ node, cpus }, i) =>
        node === b[i].node &&
        cpus.length === b[i].cpus.length &&
        cpus.every((cpu, k) => cpu === b[i].cpus[k]),
    )
  );
}

/** The largest power of two that divides a size. */
function alignment(size: number): number {
  return size & -size;
}

function powerOfTwoFrom(size: number): number {
  return 2 ** (32 - Math.clz32(size - 1));
}

/** CPU numbers as ranges, such as `0-3,6`, or by node if `nodes` is given: `n1:0-3 n2:0`. */
export function cpusText(cpus: readonly number[], nodes?: readonly NodeCpus[]): string {
  if (nodes !== undefined) return nodes.map((entry) => `${entry.node}:${cpusText(entry.cpus)}`).join(" ");
  return rangesText(rangesOf(cpus));
}
