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

/** Name of the node if there is only one, the machine itself. */
export const THIS_NODE = "localhost";

export class NodeTable {
  /** In the linear order. */
  readonly nodes: readonly NodeCpus[];
  readonly #order: readonly Processor[];
  readonly #indices = new Map<string, Map<number, number>>();

  /** @param nodes with unique names, and with their CPUs in the order in which they will be numbered */
  constructor(nodes: readonly NodeCpus[]) {
    // The sort is stable: nodes of equal alignment keep the order given.
    this.nodes = [...nodes].sort((a, b) => alignment(b.cpus.length) - alignment(a.cpus.length));
    this.#order = this.nodes.flatMap(({ node, cpus }) => cpus.map((cpu) => ({ node, cpu })));
    for (const { node } of nodes) this.#indices.set(node, new Map());
    for (const [index, { node, cpu }] of this.#order.entries()) this.#indices.get(node)?.set(cpu, index);
  }

  /** Number of processors on all nodes. */
  get processors(): number {
    return this.#order.length;
  }

  processorAt(index: number): Processor {
    return this.#order[index];
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
      if (group?.node !== node) group = groups.find((entry) => entry.node === node);
      if (group === undefined) {
        group = { node, cpus: [] };
        groups.push(group);
      }
      group.cpus.push(cpu);
    }
    return groups;
  }

  /** Indices of CPUs in the linear order; −1 for a CPU that the machine does not have. */
  indicesOf(nodes: readonly NodeCpus[]): number[] {
    return nodes.flatMap(({ node, cpus }) => cpus.map((cpu) => this.indexOf({ node, cpu })));
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

/** CPU numbers as ranges, such as `0-3,6`, or by node if `nodes` is given: `n1:0-3 n2:0`. */
export function cpusText(cpus: readonly number[], nodes?: readonly NodeCpus[]): string {
  if (nodes !== undefined) return nodes.map((entry) => `${entry.node}:${cpusText(entry.cpus)}`).join(" ");
  return rangesText(rangesOf(cpus));
}
