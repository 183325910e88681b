/**
 * Judges gang scheduling by the tasks' own records of when they ran (test/slurm/tasks/record.h). Times are in
 * ms on one clock for all nodes.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A time in which a task ran. Work is in units of its program. */
export interface Piece {
  readonly fromMs: number;
  readonly toMs: number;
  readonly cpuMs: number;
  readonly work: number;
}

export interface TaskRecord {
  readonly gang: string;
  readonly node: string;
  /** In order of time, without overlap. */
  readonly pieces: readonly Piece[];
  /** When it was continued. */
  readonly continuedMs: readonly number[];
  /** Whether these times are prompt: they are noted at a real-time priority. */
  readonly isPrompt: boolean;
}

export interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/** @param aheadMs how far the clock of the record's node is ahead */
export function parseRecord(gang: string, text: string, aheadMs: (node: string) => number): TaskRecord {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" "));
  const word = (key: string) => lines.find(([first]) => first === key)?.[1];
  const node = word("node");
  if (node === undefined || word("ended") === undefined) {
    throw new Error(`A record of gang ${gang} is incomplete: ${JSON.stringify(text.slice(0, 200))}`);
  }
  const ahead = aheadMs(node);
  const timeMs = (ns: string) => Number(ns) / 1e6 - ahead;
  return {
    gang,
    node,
    isPrompt: word("prompt") === "1",
    pieces: lines
      .filter(([first]) => first === "ran")
      .map(([, from, to, cpu, work]) => ({
        fromMs: timeMs(from),
        toMs: timeMs(to),
        cpuMs: Number(cpu) / 1e6,
        work: Number(work),
      })),
    continuedMs: lines.filter(([first]) => first === "continued").map(([, ns]) => timeMs(ns)),
  };
}

/** Records of a gang's tasks that have ended, from the folder that they write to. */
export function readRecords(
  gang: string,
  folder: string,
  aheadMs: (node: string) => number,
): readonly TaskRecord[] {
  return readdirSync(folder)
    .filter((name) => !name.endsWith(".new"))
    .map((name) => parseRecord(gang, readFileSync(join(folder, name), "utf8"), aheadMs));
}

const from = ({ pieces }: TaskRecord) => pieces[0]?.fromMs ?? Number.NaN;
const to = ({ pieces }: TaskRecord) => pieces.at(-1)?.toMs ?? Number.NaN;

/** The time from the last begin of a task to the first end of one. */
export function commonTime(records: readonly TaskRecord[]): Interval {
  return { fromMs: Math.max(...records.map(from)), toMs: Math.min(...records.map(to)) };
}

/**
 * The whole rounds within an interval: from the begin of a turn of the first gang to the begin of its last
 * one. In them, each gang has the same number of turns, wherever the interval begins and ends.
 * @param pauseMs as for turnsOf
 */
export function wholeRounds(records: readonly TaskRecord[], within: Interval, pauseMs: number): Interval {
  const first = records.filter(({ gang }) => gang === records[0].gang);
  const begins = turnsOf(first, pauseMs)
    .map((turn) => turn.fromMs)
    .filter((atMs) => atMs >= within.fromMs && atMs <= within.toMs);
  return begins.length < 2 ? within : { fromMs: begins[0], toMs: begins[begins.length - 1] };
}

/** CPU time of each gang within an interval, as a share of that of all gangs together. */
export function sharesOf(records: readonly TaskRecord[], within: Interval): ReadonlyMap<string, number> {
  const cpuMs = new Map<string, number>();
  for (const { gang, pieces } of records) {
    const sum = pieces.reduce((all, piece) => all + piece.cpuMs * partWithin(piece, within), 0);
    cpuMs.set(gang, (cpuMs.get(gang) ?? 0) + sum);
  }
  const all = [...cpuMs.values()].reduce((sum, one) => sum + one, 0);
  return new Map([...cpuMs].map(([gang, one]) => [gang, one / all]));
}

/** The part of a piece that is within an interval, 0 … 1. */
function partWithin({ fromMs, toMs }: Piece, within: Interval): number {
  const insideMs = Math.min(toMs, within.toMs) - Math.max(fromMs, within.fromMs);
  if (insideMs < 0) return 0;
  return toMs === fromMs ? 1 : insideMs / (toMs - fromMs);
}

/** Total time within an interval in which at least one task ran. */
export function coveredMs(records: readonly TaskRecord[], within: Interval): number {
  let sumMs = 0;
  for (const { fromMs, toMs } of turnsOf(records, 0)) {
    sumMs += Math.max(0, Math.min(toMs, within.toMs) - Math.max(fromMs, within.fromMs));
  }
  return sumMs;
}

/** Units of work per second of CPU time. */
export function workPerCpuS(records: readonly TaskRecord[]): number {
  const pieces = records.flatMap((record) => record.pieces);
  const sum = (value: (piece: Piece) => number) => pieces.reduce((all, piece) => all + value(piece), 0);
  return sum(({ work }) => work) / (sum(({ cpuMs }) => cpuMs) / 1000);
}

/**
 * The turns of a gang on a node: its tasks take turns on the CPUs, so shorter pauses belong to the turn.
 * @param pauseMs a longer time without any of its tasks ends a turn
 */
export function turnsOf(records: readonly TaskRecord[], pauseMs: number): readonly Interval[] {
  const pieces = records.flatMap((record) => record.pieces).toSorted((a, b) => a.fromMs - b.fromMs);
  const turns: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of pieces) {
    const turn = turns.at(-1);
    if (turn !== undefined && fromMs - turn.toMs <= pauseMs) turn.toMs = Math.max(turn.toMs, toMs);
    else turns.push({ fromMs, toMs });
  }
  return turns;
}

export interface NodeTurns {
  readonly node: string;
  /** How often another gang ran than before. */
  readonly switches: number;
  /** Total time in which the turns of two gangs overlapped. */
  readonly togetherMs: number;
  /** Number of turns of each gang. */
  readonly turns: ReadonlyMap<string, number>;
}

/** How the gangs took turns on each node. */
export function turnsByNode(records: readonly TaskRecord[], pauseMs: number): readonly NodeTurns[] {
  return [...Map.groupBy(records, ({ node }) => node)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([node, onNode]) => {
      const byGang = [...Map.groupBy(onNode, ({ gang }) => gang)];
      const turns = byGang
        .flatMap(([gang, ofGang]) => turnsOf(ofGang, pauseMs).map((turn) => ({ gang, ...turn })))
        .sort((a, b) => a.fromMs - b.fromMs);
      let togetherMs = 0;
      for (const [i, { gang, toMs }] of turns.entries()) {
        for (let j = i + 1; j < turns.length && turns[j].fromMs < toMs; j++) {
          if (turns[j].gang !== gang) togetherMs += Math.min(toMs, turns[j].toMs) - turns[j].fromMs;
        }
      }
      return {
        node,
        switches: turns.filter(({ gang }, i) => i > 0 && gang !== turns[i - 1].gang).length,
        togetherMs,
        turns: new Map(byGang.map(([gang]) => [gang, turns.filter((turn) => turn.gang === gang).length])),
      };
    });
}

export interface Skews {
  /** Time from the first to the last node that continued a gang, for each time it was on all its nodes. */
  readonly skewsMs: readonly number[];
  /** How often a gang was continued on some of its nodes only. */
  readonly partial: number;
}

/**
 * How far apart the nodes continued their gangs, while all tasks of the gang were there: on a busy machine,
 * one begins a turn or two before the others, and ends before them.
 * @param windowMs continuations of a gang within this time after its first are one turn
 */
export function skewsOf(records: readonly TaskRecord[], windowMs: number): Skews {
  const skewsMs: number[] = [];
  let partial = 0;
  for (const [, ofGang] of Map.groupBy(records, ({ gang }) => gang)) {
    const nodes = new Set(ofGang.map(({ node }) => node));
    const { fromMs, toMs } = commonTime(ofGang);
    const all = ofGang
      .flatMap(({ node, continuedMs }) => continuedMs.map((atMs) => ({ node, atMs })))
      .sort((a, b) => a.atMs - b.atMs);
    for (let i = 0; i < all.length; ) {
      const firstMs = all[i].atMs;
      /** When each node continued the first of its tasks. */
      const begins = new Map<string, number>();
      for (; i < all.length && all[i].atMs - firstMs <= windowMs; i++) {
        if (!begins.has(all[i].node)) begins.set(all[i].node, all[i].atMs);
      }
      if (firstMs < fromMs || firstMs > toMs) continue;
      if (begins.size < nodes.size) partial++;
      else skewsMs.push(Math.max(...begins.values()) - firstMs);
    }
  }
  return { skewsMs, partial };
}

/** The value below which a part of the values is; the nearest of them. */
export function quantile(values: readonly number[], part: number): number {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.min(ascending.length - 1, Math.floor(part * ascending.length))] ?? Number.NaN;
}
