/** A front end on a cluster, and other nodes for its fake machine while jobs run. */
import { type NodeCpus, NodeTable } from "@tutti/kernel/core/machine.ts";
import type { Capacity } from "../executor/executor.ts";
import type { FakeMachine } from "./fake-machine-for-tests.ts";
import { ANNA, answerOf, type Bench, makeBench, request } from "./front-end-for-tests.ts";

/** Nodes n1, n2, … with these numbers of CPUs, 0 up to the number. */
export function nodesOf(...sizes: readonly number[]): NodeCpus[] {
  return sizes.map((size, i) => ({
    node: `n${i + 1}`,
    cpus: Array.from({ length: size }, (_, cpu) => cpu),
  }));
}

export function changeCapacity(
  machine: FakeMachine,
  nodes: readonly NodeCpus[],
  more: Partial<Capacity> = {},
  because = "the nodes have changed",
): void {
  machine.capacity = {
    memoryBytes: machine.capacity.memoryBytes,
    mostProcessors: 16,
    ...more,
    nodes: new NodeTable(nodes),
  };
  machine.report({ type: "capacity", because });
}

/** The executor ends the gangs that have a CPU on a lost node. */
export function endGangsOnLostNodes(machine: FakeMachine): void {
  const { nodes } = machine.capacity;
  for (const attempt of [...machine.attempts.values()]) {
    const isLost = nodes.indicesOf(attempt.spec.nodes ?? []).includes(-1);
    if (isLost) machine.end(attempt, "none", { lost: "its node was lost" });
  }
}

export const FOUR = nodesOf(4, 4, 4, 4);

export function cluster(policy: string, nodes = FOUR, more: Parameters<typeof makeBench>[0] = {}): Bench {
  const bench = makeBench({ nodes: [], config: { policy, slotMs: 100 }, runMs: () => 60_000, ...more });
  bench.machine.trouble = "Slurm has not started the pilot yet";
  changeCapacity(bench.machine, nodes);
  bench.clock.settle();
  return bench;
}

export const submit = ({ clock, frontEnd }: Bench, tasks: number, more = {}) =>
  answerOf(clock, frontEnd.submit(ANNA, [request({ tasks, ...more })]));

/** Jobs of the matrix and the nodes of each, row by row. */
export const rows = ({ machine }: Bench) =>
  machine.matrix!.rows.map((row) =>
    row.map(
      ({ job, nodes }) => `${job}:${nodes.map(({ node, cpus }) => `${node}/${cpus.length}`).join("+")}`,
    ),
  );
