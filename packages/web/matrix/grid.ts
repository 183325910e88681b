/**
 * What the matrix view draws, whether a live scheduler or a simulation provides it: rows × processors with
 * gangs on them. A stretch is a list of neighboring processors of one gang in one row; the stretches are in
 * columns, one entry each.
 */

import type { MatrixSnapshot } from "@tutti/lab/results/matrix-record.ts";
import type { MatrixAnswer } from "@tutti/protocol/schema.ts";
import { visibleLine } from "@tutti/words/visible.ts";

/** Characters of a node's name, as long as a label of a host name may be. */
const MAX_NODE_NAME = 63;

/** In the order of rows and processors. */
export type Stretches = Omit<MatrixSnapshot, "atS" | "done">;

type Columns = Omit<Stretches, "rows">;

export interface Grid extends Stretches {
  readonly processors: number;
  /** In the order of the processors, with harmless names; one without a name if there is only one node. */
  readonly nodes: readonly NodeSpan[];
  /** Number of each processor on its node. */
  readonly cpu: readonly number[];
  /** Harmless names of the jobs that have one. An empty name belongs to a job of another user. */
  readonly names: ReadonlyMap<number, string>;
}

/** The processors of one node: first … end − 1. */
interface NodeSpan {
  readonly name: string;
  readonly first: number;
  readonly end: number;
}

export function gridOfAnswer({
  cpus,
  nodes = [],
  rows,
}: Pick<MatrixAnswer, "cpus" | "nodes" | "rows">): Grid {
  const groups = nodes.length > 1 ? nodes : [{ node: nodes[0]?.node ?? "", cpus }];
  const spans: NodeSpan[] = [];
  const places = new Map<string, Map<number, number>>();
  const cpu: number[] = [];
  for (const { node, cpus: own } of groups) {
    places.set(node, new Map(own.map((number, i) => [number, cpu.length + i])));
    spans.push({
      name: groups.length > 1 ? shortName(node) : "",
      first: cpu.length,
      end: cpu.length + own.length,
    });
    cpu.push(...own);
  }
  const names = new Map<number, string>();
  const stretches = { row: [], first: [], end: [], job: [] } as Record<keyof Columns, number[]>;
  for (const [row, gangs] of rows.entries())
    for (const gang of gangs) {
      names.set(gang.job, visibleLine(gang.name));
      const own = groups.length > 1 ? (gang.nodes ?? []) : [{ node: groups[0].node, cpus: gang.cpus }];
      const indices = own.flatMap(({ node, cpus: used }) =>
        used.flatMap((number) => places.get(node)?.get(number) ?? []),
      );
      for (const [first, end] of neighbours(indices)) {
        stretches.row.push(row);
        stretches.first.push(first);
        stretches.end.push(end);
        stretches.job.push(gang.job);
      }
    }
  return { rows: rows.length, ...inOrder(stretches), processors: cpu.length, nodes: spans, cpu, names };
}

/** Nodes name themselves, so their names are as untrusted as those of jobs. */
function shortName(node: string): string {
  const name = visibleLine(node);
  return name.length > MAX_NODE_NAME ? `${name.slice(0, MAX_NODE_NAME)}…` : name;
}

/** @param idOf number of a job by its index; default: the index */
export function gridOfSnapshot(
  snapshot: Stretches,
  processors: number,
  idOf: (job: number) => number = (job) => job,
): Grid {
  return {
    rows: snapshot.rows,
    ...inOrder({ ...snapshot, job: snapshot.job.map((job) => idOf(job)) }),
    processors,
    nodes: [{ name: "", first: 0, end: processors }],
    cpu: Array.from({ length: processors }, (_, i) => i),
    names: new Map(),
  };
}

/** Name of a processor: its number, with its node if there are several. */
export function processorName({ nodes, cpu }: Pick<Grid, "nodes" | "cpu">, processor: number): string {
  const node = nodes.find(({ end }) => processor < end)?.name ?? "";
  return node === "" ? String(cpu[processor]) : `${node}:${cpu[processor]}`;
}

/** First processor and end of each stretch, ascending. */
function neighbours(indices: readonly number[]): [first: number, end: number][] {
  const found: [number, number][] = [];
  for (const index of [...indices].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === index) last[1]++;
    else found.push([index, index + 1]);
  }
  return found;
}

/** By rows and processors; a simulation records stretches in the order of its decisions. */
function inOrder({ row, first, end, job }: Columns): Columns {
  const isBefore = (i: number, j: number) => row[i] < row[j] || (row[i] === row[j] && first[i] < first[j]);
  if (row.every((_, i) => i === 0 || isBefore(i - 1, i))) return { row, first, end, job };
  const order = [...row.keys()].sort((i, j) => (isBefore(i, j) ? -1 : 1));
  const sorted = (column: readonly number[]) => order.map((i) => column[i]);
  return { row: sorted(row), first: sorted(first), end: sorted(end), job: sorted(job) };
}
