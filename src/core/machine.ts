/**
 * The nodes of a machine. Policies see its processors in one linear order, 0 … P−1; which CPU of which node each is, the table says.
 *
 * Nodes whose size is divisible by a larger power of two come first. So each node begins at a multiple of the largest power of two that
 * divides its size, without gaps, and a buddy block of that size or less lies in one node:
 *
 *   sizes as given   6, 8, 3, 8
 *   in order         8, 8, 6, 3      first processors 0, 8, 16, 22
 */

/** CPUs of one node, by their numbers there. */
export interface NodeCpus {
  readonly node: string;
  readonly cpus: readonly number[];
}

/** One CPU of one node. */
interface Processor {
  readonly node: string;
  readonly cpu: number;
}

/** Name of the node that is the machine itself, where there is one only. */
export const THIS_NODE = "localhost";

export class NodeTable {
  /** In the linear order. */
  readonly nodes: readonly NodeCpus[];
  /** Processors of all nodes. */
  readonly processors: number;
  /** First processor of each node, and after the last one the number of processors. */
  readonly #firsts: readonly number[];
  readonly #indices = new Map<string, ReadonlyMap<number, number>>();

  /** @param nodes each with a name of its own; their CPUs in the order in which they are to be numbered */
  constructor(nodes: readonly NodeCpus[]) {
    // Stable: of equal alignment in the order given.
    this.nodes = [...nodes].sort((a, b) => alignment(b.cpus.length) - alignment(a.cpus.length));
    const firsts = [0];
    for (const [i, { node, cpus }] of this.nodes.entries()) {
      const first = firsts[i];
      this.#indices.set(node, new Map(cpus.map((cpu, k) => [cpu, first + k])));
      firsts.push(first + cpus.length);
    }
    this.#firsts = firsts;
    this.processors = firsts[this.nodes.length];
  }

  /** Which CPU a processor is. */
  processorAt(index: number): Processor {
    const i = this.#firsts.findLastIndex((first) => first <= index);
    const { node, cpus } = this.nodes[i];
    return { node, cpu: cpus[index - this.#firsts[i]] };
  }

  /** Place of a CPU in the linear order; −1 when the machine does not have it. */
  indexOf({ node, cpu }: Processor): number {
    return this.#indices.get(node)?.get(cpu) ?? -1;
  }

  /** The CPUs of some processors, node by node. */
  cpusAt(indices: readonly number[]): NodeCpus[] {
    const byNode = new Map<string, number[]>();
    for (const index of indices) {
      const { node, cpu } = this.processorAt(index);
      const cpus = byNode.get(node);
      if (cpus === undefined) byNode.set(node, [cpu]);
      else cpus.push(cpu);
    }
    return [...byNode].map(([node, cpus]) => ({ node, cpus }));
  }

  /** The processors that some CPUs are; −1 for one that the machine does not have. */
  indicesOf(nodes: readonly NodeCpus[]): number[] {
    return nodes.flatMap(({ node, cpus }) => cpus.map((cpu) => this.indexOf({ node, cpu })));
  }
}

/** Whether both are the same CPUs in the same order. */
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
