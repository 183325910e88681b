/**
 * What the matrix view draws, whether a live scheduler or a simulation provides it: rows × processors with
 * gangs on them. A stretch is a list of neighboring processors of one gang in one row; the stretches are in
 * columns, one entry each.
 */
import type { MatrixAnswer } from "../../protocol/schema.ts";
import type { MatrixSnapshot } from "../../results/matrix-record.ts";
import { visibleLine } from "../../words/visible.ts";

export type Stretches = Omit<MatrixSnapshot, "atS" | "done">;

export interface Grid extends Stretches {
  readonly processors: number;
  /** In the order of the processors; one without a name if there is only one node. */
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
    spans.push({ name: groups.length > 1 ? node : "", first: cpu.length, end: cpu.length + own.length });
    cpu.push(...own);
  }
  const names = new Map<number, string>();
  const stretches: { row: number; first: number; end: number; job: number }[] = [];
  for (const [row, gangs] of rows.entries())
    for (const gang of gangs) {
      names.set(gang.job, visibleLine(gang.name));
      const own = groups.length > 1 ? (gang.nodes ?? []) : [{ node: groups[0].node, cpus: gang.cpus }];
      const indices = own.flatMap(({ node, cpus: used }) =>
        used.flatMap((number) => places.get(node)?.get(number) ?? []),
      );
      for (const [first, end] of neighbours(indices)) stretches.push({ row, first, end, job: gang.job });
    }
  return { rows: rows.length, ...columns(stretches), processors: cpu.length, nodes: spans, cpu, names };
}

/** @param idOf number of a job by its index; default: the index */
export function gridOfSnapshot(
  snapshot: Stretches,
  processors: number,
  idOf: (job: number) => number = (job) => job,
): Grid {
  const stretches = snapshot.row.map((row, i) => ({
    row,
    first: snapshot.first[i],
    end: snapshot.end[i],
    job: idOf(snapshot.job[i]),
  }));
  return {
    rows: snapshot.rows,
    ...columns(stretches),
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

function columns(list: readonly { row: number; first: number; end: number; job: number }[]) {
  const sorted = [...list].sort((a, b) => a.row - b.row || a.first - b.first);
  return {
    row: sorted.map(({ row }) => row),
    first: sorted.map(({ first }) => first),
    end: sorted.map(({ end }) => end),
    job: sorted.map(({ job }) => job),
  };
}
