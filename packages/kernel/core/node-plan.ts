/**
 * Decides which nodes to ask a batch system for, from what waits. The live scheduler asks so for pilots, and
 * the laboratory simulates it. Times in seconds.
 *
 * Jobs that wait are taken in order. What nodes that were asked for already will hold is not asked for
 * again. The first job that is left chooses the kind of nodes, the first that can hold it; the other jobs
 * that this kind can hold make the request wider and longer, within its limits:
 *
 *   nodes   as many as all these jobs need at once
 *   time    the longest limit, or, if there are fewer nodes than that, until all of them can have run; up to
 *           whole minutes
 *
 * A job that some present nodes could take asks for more only within `maxNodes` of all nodes. A job that none
 * can take need not count nodes that are about to end.
 */

/** A range, both ends included. */
export interface Span {
  readonly min: number;
  readonly max: number;
}

export interface NodeKind {
  readonly name: string;
  /** Nodes of a request. */
  readonly nodes: Span;
  /** CPUs of the smallest and of the largest node: which of them come is not known. */
  readonly cpus: Span;
  /** The same of their memory; default: enough. */
  readonly memoryBytes?: Span | undefined;
  /** Time limit of a request. */
  readonly timeS: Span;
}

/** A job that waits for processors, or several of the same shape. */
export interface NodeWish {
  /** How many they are; default: 1. */
  readonly jobs?: number | undefined;
  readonly tasks: number;
  /** CPUs of each task; default: 1. */
  readonly threads?: number | undefined;
  /** Of all tasks together; default: not stated. */
  readonly memoryBytes?: number | undefined;
  /** Infinity: none. */
  readonly limitS: number;
  /** Present nodes could take it, if other jobs had ended there. */
  readonly isTaken: boolean;
}

/** Nodes that were asked for. */
export interface HeldNodes {
  readonly nodes: number;
  /** They take no new jobs, or soon go back. */
  readonly isEnding: boolean;
  /** They are still to come. */
  readonly awaited?: { readonly kind: string; readonly timeS: number } | undefined;
}

/** What bounds a request for one job alone. */
interface OwnBounds {
  /** The most nodes at once. */
  readonly maxNodes: number;
  /** How long before its end a request takes no more time of jobs. */
  readonly stopBeforeS: number;
  /** How much later than its nodes a job may begin and still must end in time. */
  readonly beginS: number;
}

interface NodeBounds extends OwnBounds {
  /** The most node-seconds that may still be asked for. */
  readonly leftNodeS: number;
  /** Nodes are wanted although no job needs any: the fewest of the first kind, for as long as it can. */
  readonly wantsAny?: boolean | undefined;
}

export interface NodeRequest {
  readonly kind: NodeKind;
  readonly nodes: number;
  readonly timeS: number;
}

/**
 * The next request, if one is due.
 * @param wishes in the order in which they are served
 * @param kinds those that are tried first come first
 * @returns "exhausted": only the node-seconds are missing
 */
export function nextRequest(
  wishes: readonly NodeWish[],
  kinds: readonly NodeKind[],
  held: readonly HeldNodes[],
  bounds: NodeBounds,
): NodeRequest | "exhausted" | undefined {
  const all = held.reduce((sum, { nodes }) => sum + nodes, 0);
  const ending = held.reduce((sum, { nodes, isEnding }) => sum + (isEnding ? nodes : 0), 0);
  const roomFor = ({ isTaken }: NodeWish) => bounds.maxNodes - all + (isTaken ? 0 : ending);
  const left = unawaited(wishes, kinds, held, bounds);
  const isAwaited = ({ name }: NodeKind) => held.some(({ awaited }) => awaited?.kind === name);
  let isExhausted = false;
  for (const [i, wish] of left.entries()) {
    const room = roomFor(wish);
    const kind = kinds.find((one) => canHold(one, wish, bounds) && leastNodes(one, wish) <= room);
    if (kind === undefined || isAwaited(kind)) continue;
    const group = left.slice(i).filter((other) => canHold(kind, other, bounds) && roomFor(other) >= room);
    const request = widest(kind, wish, group, room, bounds) ?? narrowest(kind, wish, bounds);
    if (request !== undefined) return request;
    isExhausted = true;
  }
  if (isExhausted) return "exhausted";
  const isNone = held.every(({ isEnding }) => isEnding);
  return bounds.wantsAny && isNone ? plainest(kinds[0], bounds) : undefined;
}

/** Batch systems have time limits of whole minutes. */
const MINUTE_S = 60;
/** Shares of nodes are added up with small errors. */
const ROUNDING = 1e-9;

/** The wishes without those that awaited nodes will hold. */
function unawaited(
  wishes: readonly NodeWish[],
  kinds: readonly NodeKind[],
  held: readonly HeldNodes[],
  bounds: NodeBounds,
): NodeWish[] {
  const coming = held.flatMap(({ nodes, awaited }) => {
    const kind = kinds.find(({ name }) => name === awaited?.kind);
    if (awaited === undefined || kind === undefined) return [];
    const leftS = awaited.timeS - bounds.stopBeforeS - bounds.beginS;
    return [{ kind, nodes, left: nodes, leftS }];
  });
  return wishes.flatMap((wish) => {
    let { jobs = 1 } = wish;
    for (const taker of coming) {
      const { kind, nodes, left, leftS } = taker;
      // A limit longer than the time that is left is cut off at the end; no other nodes would be better.
      const isInTime = wish.limitS <= leftS || wish.limitS === Number.POSITIVE_INFINITY;
      if (!isInTime || leastNodes(kind, wish) > nodes) continue;
      const each = share(kind, wish);
      const taken = Math.min(jobs, Math.floor(left / each + ROUNDING));
      taker.left -= taken * each;
      jobs -= taken;
    }
    return jobs > 0 ? [{ ...wish, jobs }] : [];
  });
}

/**
 * Nodes that the job fills, by its whole tasks or by its memory, if all nodes are small; the most that there
 * can be if it fits only on larger ones.
 */
function share({ cpus, memoryBytes, nodes }: NodeKind, wish: NodeWish): number {
  const small = shareOf(cpus.min, memoryBytes?.min, wish);
  const some = small === Number.POSITIVE_INFINITY ? shareOf(cpus.max, memoryBytes?.min, wish) : small;
  return some === Number.POSITIVE_INFINITY ? some : Math.min(nodes.max, some);
}

function shareOf(
  cpus: number,
  has = Number.POSITIVE_INFINITY,
  { tasks, threads = 1, memoryBytes = 0 }: NodeWish,
): number {
  const each = Math.floor(cpus / threads);
  return each === 0 ? Number.POSITIVE_INFINITY : Math.max(tasks / each, memoryBytes / has);
}

/** Nodes of a request that hold the job; Infinity: none. */
function leastNodes(kind: NodeKind, wish: NodeWish): number {
  const { min, max } = kind.nodes;
  if (Math.ceil(shareOf(kind.cpus.max, kind.memoryBytes?.max, wish)) > max) return Number.POSITIVE_INFINITY;
  return Math.max(min, Math.ceil(share(kind, wish)));
}

function canHold(kind: NodeKind, wish: NodeWish, bounds: OwnBounds): boolean {
  return lackOf(kind, wish, bounds) === undefined;
}

/** What keeps nodes of this kind from holding the job, even if it were alone; undefined: nothing. */
export function lackOf(
  kind: NodeKind,
  wish: NodeWish,
  { maxNodes, stopBeforeS, beginS }: OwnBounds,
): "size" | "time" | undefined {
  if (leastNodes(kind, wish) > Math.min(kind.nodes.max, maxNodes)) return "size";
  const isInTime =
    wish.limitS <= kind.timeS.max - stopBeforeS - beginS || wish.limitS === Number.POSITIVE_INFINITY;
  return isInTime ? undefined : "time";
}

/** For all jobs of the group; undefined: too many node-seconds. */
function widest(
  kind: NodeKind,
  first: NodeWish,
  group: readonly NodeWish[],
  room: number,
  bounds: NodeBounds,
): NodeRequest | undefined {
  const sharesOf = (wish: NodeWish) => share(kind, wish) * (wish.jobs ?? 1);
  const shares = group.reduce((sum, wish) => sum + sharesOf(wish), 0);
  const most = Math.min(kind.nodes.max, room);
  const nodes = Math.min(most, Math.max(leastNodes(kind, first), Math.ceil(shares - ROUNDING)));
  const fitting = group.filter((wish) => leastNodes(kind, wish) <= nodes);
  const longestS = Math.max(...fitting.map(({ limitS }) => limitS));
  const allS = fitting.reduce((sum, wish) => sum + sharesOf(wish) * wish.limitS, 0) / nodes;
  return affordable({ kind, nodes, timeS: timeFor(kind, Math.max(longestS, allS), bounds) }, bounds);
}

/** For one job alone. */
function narrowest(kind: NodeKind, wish: NodeWish, bounds: NodeBounds): NodeRequest | undefined {
  const timeS = timeFor(kind, wish.limitS, bounds);
  return affordable({ kind, nodes: leastNodes(kind, wish), timeS }, bounds);
}

/** For no job. */
function plainest(kind: NodeKind, bounds: NodeBounds): NodeRequest | "exhausted" {
  return affordable({ kind, nodes: kind.nodes.min, timeS: kind.timeS.max }, bounds) ?? "exhausted";
}

function timeFor({ timeS }: NodeKind, jobsS: number, { stopBeforeS, beginS }: NodeBounds): number {
  const minutes = Math.ceil((jobsS + stopBeforeS + beginS) / MINUTE_S);
  return Math.min(timeS.max, Math.max(timeS.min, MINUTE_S * minutes));
}

function affordable(request: NodeRequest, { leftNodeS }: NodeBounds): NodeRequest | undefined {
  return request.nodes * request.timeS <= leftNodeS ? request : undefined;
}
