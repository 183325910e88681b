/**
 * Computes fair-share factors with the classic algorithm of Slurm
 * (https://slurm.schedmd.com/classic_fair_share.html): F = 2^(−U/S). S is a user's share of the machine,
 * and U is the effective usage, as a fraction of all usage. Usage is in CPU seconds that were given to
 * jobs. It decays continuously: after a half-life, it counts half.
 *
 * Users are in groups or directly below the root. Usage and shares of a user without a group count
 * directly. A user in a group also bears the group's usage, in proportion to the user's share of the group.
 */
import { exp, ln } from "./elementary.ts";

/** Who has which share. A user who is not named has one share, without a group. */
export interface ShareSettings {
  readonly halfLifeS: number;
  /** Shares of users without a group. */
  readonly users: Readonly<Record<string, number>>;
  readonly groups: Readonly<Record<string, ShareGroup>>;
}

interface ShareGroup {
  readonly shares: number;
  /** Shares of the group's users, relative to each other. */
  readonly users: Readonly<Record<string, number>>;
}

/** Equal shares, and the half-life that Slurm has by default. */
export const EQUAL_SHARES: ShareSettings = { halfLifeS: 7 * 86_400, users: {}, groups: {} };

/** Number of a user or group in a FairShare. */
export type ShareIndex = number;

/** CPU seconds of a user's running job, as if spread evenly over the time since `ageS` seconds ago. */
export interface RunningUsage {
  readonly user: ShareIndex;
  readonly cpuS: number;
  readonly ageS: number;
}

/** Values of a user or group at one instant. */
interface ShareNode {
  readonly parent: ShareIndex;
  /** Relative to the other children of the parent. */
  readonly shares: number;
  usageCpuS: number;
  /** Share of the whole machine, 0 … 1. */
  share: number;
  /** Usage ÷ all usage. */
  usage: number;
  effectiveUsage: number;
}

/** What a source of jobs says about shares. */
export interface WorkloadShares extends ShareSettings {
  /** CPU seconds of each user that count at time 0; left out: none. */
  readonly usedCpuS?: Readonly<Record<string, number>> | undefined;
}

const ROOT: ShareIndex = 0;
/** Levels are rounded, so that the order of additions does not decide between users with equal usage. */
const LEVELS_PER_ONE = 1e9;

/** Adds a node below a parent that exists. */
export function shareNode(parent: ShareIndex, shares: number): ShareNode {
  return { parent, shares, usageCpuS: 0, share: 1, usage: 0, effectiveUsage: 0 };
}

/**
 * Fills in shares and usage of all nodes from the usage of the leaves. The first node is the root, and
 * parents come before their children.
 */
export function computeShares(nodes: readonly ShareNode[]): void {
  const siblingShares = new Float64Array(nodes.length);
  for (let i = nodes.length - 1; i > ROOT; i--) {
    const { parent, usageCpuS, shares } = nodes[i];
    nodes[parent].usageCpuS += usageCpuS;
    siblingShares[parent] += shares;
  }
  const totalCpuS = nodes[ROOT].usageCpuS;
  for (let i = ROOT + 1; i < nodes.length; i++) {
    const node = nodes[i];
    const parent = nodes[node.parent];
    const ofParent = node.shares / siblingShares[node.parent];
    node.share = parent.share * ofParent;
    node.usage = totalCpuS > 0 ? node.usageCpuS / totalCpuS : 0;
    node.effectiveUsage =
      node.parent === ROOT ? node.usage : node.usage + (parent.effectiveUsage - node.usage) * ofParent;
  }
}

/** Usage ÷ share, rounded. */
export function shareLevel({ effectiveUsage, share }: ShareNode): number {
  return Math.round((effectiveUsage / share) * LEVELS_PER_ONE) / LEVELS_PER_ONE;
}

/** The fair-share factor, 0 … 1: 1 without usage, ½ with exactly the share. */
export function shareFactor(level: number): number {
  return exp(-level * Math.LN2);
}

/** How much of some usage still counts after a time. */
function decay(ageS: number, halfLifeS: number): number {
  return exp((-Math.max(0, ageS) * Math.LN2) / halfLifeS);
}

/** How much counts of usage that was spread evenly over a time until now: the mean of `decay`. */
function meanDecay(ageS: number, halfLifeS: number): number {
  const x = (Math.max(0, ageS) * Math.LN2) / halfLifeS;
  return x < 1e-4 ? 1 - x / 2 + (x * x) / 6 : (1 - exp(-x)) / x;
}

/**
 * Seconds until usage counts a certain amount, while jobs use `cpus` CPUs without a break: usage of `cpuS`
 * now tends to what they use in halfLifeS ÷ ln 2.
 * @returns Infinity if it never counts this amount
 */
export function timeToUsage(cpuS: number, amountCpuS: number, cpus: number, halfLifeS: number): number {
  const finalCpuS = (cpus * halfLifeS) / Math.LN2;
  const ratio = (cpuS - finalCpuS) / (amountCpuS - finalCpuS);
  return ratio >= 1 && Number.isFinite(ratio) ? (ln(ratio) * halfLifeS) / Math.LN2 : Number.POSITIVE_INFINITY;
}

/** The usage of all users. Times are seconds on a clock of the owner. */
export class FairShare {
  readonly settings: ShareSettings;
  /** As of the last call of `compute`. */
  readonly nodes: ShareNode[] = [shareNode(ROOT, 1)];
  readonly #index = new Map<string, ShareIndex>();
  readonly groups: readonly (readonly [name: string, group: ShareIndex])[];
  /** Usage of ended jobs: an amount, as it counted at an instant. */
  readonly #ended = new Map<ShareIndex, { cpuS: number; atS: number }>();

  constructor(settings: ShareSettings) {
    this.settings = settings;
    for (const [user, shares] of Object.entries(settings.users)) this.#add(user, ROOT, shares);
    this.groups = Object.entries(settings.groups).map(([name, { shares, users }]) => {
      const group = this.nodes.push(shareNode(ROOT, shares)) - 1;
      for (const [user, own] of Object.entries(users)) this.#add(user, group, own);
      return [name, group];
    });
  }

  #add(user: string, parent: ShareIndex, shares: number): ShareIndex {
    const index = this.nodes.push(shareNode(parent, shares)) - 1;
    this.#index.set(user, index);
    return index;
  }

  /** All users that have a share or have been asked for. */
  users(): IterableIterator<[user: string, index: ShareIndex]> {
    return this.#index.entries();
  }

  /** A user who is not known yet gets one share. */
  userOf(name: string): ShareIndex {
    return this.#index.get(name) ?? this.#add(name, ROOT, 1);
  }

  /** A job used `cpuS` CPU seconds, spread evenly over the `tookS` seconds before it ended at `endS`. */
  charge(user: ShareIndex, cpuS: number, tookS: number, endS: number): void {
    this.add(user, cpuS * meanDecay(tookS, this.settings.halfLifeS), endS);
  }

  /** Usage that counts `cpuS` at an instant. */
  add(user: ShareIndex, cpuS: number, atS: number): void {
    const before = this.#ended.get(user);
    const lastS = Math.max(atS, before?.atS ?? atS);
    const { halfLifeS } = this.settings;
    const kept = before === undefined ? 0 : before.cpuS * decay(lastS - before.atS, halfLifeS);
    this.#ended.set(user, { cpuS: kept + cpuS * decay(lastS - atS, halfLifeS), atS: lastS });
  }

  /** Usage of ended jobs: an amount, as it counts at an instant. */
  endedOf(user: ShareIndex): { readonly cpuS: number; readonly atS: number } {
    return this.#ended.get(user) ?? { cpuS: 0, atS: 0 };
  }

  /** Computes the values of all nodes at an instant. */
  compute(nowS: number, running: Iterable<RunningUsage>): void {
    const { nodes } = this;
    const { halfLifeS } = this.settings;
    for (const node of nodes) node.usageCpuS = 0;
    for (const [user, { cpuS, atS }] of this.#ended)
      nodes[user].usageCpuS = cpuS * decay(nowS - atS, halfLifeS);
    for (const { user, cpuS, ageS } of running) nodes[user].usageCpuS += cpuS * meanDecay(ageS, halfLifeS);
    computeShares(nodes);
  }

  /** Level of a user at the last call of `compute`; 0 for one who was not known then. */
  levelOf(user: ShareIndex): number {
    return shareLevel(this.nodes[user]);
  }
}
