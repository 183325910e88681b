/**
 * Counts and names the units of countable resources, such as GPUs and licences (protocol/resources.ts).
 *
 *   use      what a job asks for: {"gpu": 2}
 *   units    what it holds from its start to its end: {"gpu": ["0", "3"]}
 *
 * Policies only count (core/resources.ts). The dispatcher names the units when a job starts, before the
 * attempt is written to disk. A job keeps its units as long as it has a process, also while it is stopped.
 *
 * The configuration may have changed since a job started. A unit that it no longer names stays with the job,
 * is not counted, and is given to nobody else. A unit that two jobs hold, because it was shared until now,
 * counts once.
 */
import type { ResourceKind } from "@tutti/kernel/core/resources.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { ofKind, type Resource, type Units } from "@tutti/protocol/resources.ts";
import type { JobRecord } from "../contract/record.ts";

type Needs = Pick<JobRecord, "use">;
type Holder = Pick<JobRecord, "job" | "use" | "units" | "nodes">;

/** The kinds that policies count. Any number of jobs may hold a shared unit. */
export function countedKinds(resources: readonly Resource[]): readonly Resource[] {
  return resources.filter(({ isShared }) => !isShared);
}

export function asKinds(resources: readonly Resource[]): readonly ResourceKind[] {
  return resources.map(({ name, units }) => ({ name, amount: units.length }));
}

/** How many units of each kind the job asks for. */
export function demandOf({ use }: Needs, kinds: readonly Resource[]): readonly number[] {
  return kinds.map(({ name }) => ofKind(use, name) ?? 0);
}

/** The first kind of which the job asks for more units than there are. */
export function missingUnits({ use = {} }: Needs, resources: readonly Resource[]) {
  for (const [resource, needed] of Object.entries(use)) {
    const present = resources.find(({ name }) => name === resource)?.units.length ?? 0;
    if (needed > present) return { resource, needed, present };
  }
  return undefined;
}

/** Units of the kind that no job holds, in the order of the configuration. */
export function freeUnits({ name, units }: Resource, holders: Iterable<Holder>): string[] {
  const held = new Set<string>();
  for (const holder of holders) for (const unit of ofKind(holder.units, name) ?? []) held.add(unit);
  return units.filter((unit) => !held.has(unit));
}

/**
 * How many units of each kind the jobs with processes hold, by job.
 * @returns also whether some job holds other units than those that it asks for and that are counted. When
 *   that job ends, more or fewer units become free than a policy that counts would expect
 */
export function countHeld(
  holders: readonly Holder[],
  kinds: readonly Resource[],
): { readonly held: ReadonlyMap<JobNumber, readonly number[]>; readonly isOdd: boolean } {
  const free = kinds.map(({ units }) => new Set(units));
  const held = new Map<JobNumber, readonly number[]>();
  let isOdd = false;
  for (const holder of [...holders].sort((a, b) => a.job - b.job)) {
    const counts = kinds.map(
      ({ name }, k) => (ofKind(holder.units, name) ?? []).filter((unit) => free[k].delete(unit)).length,
    );
    held.set(holder.job, counts);
    isOdd ||= demandOf(holder, kinds).some((wanted, k) => wanted !== counts[k]);
  }
  return { held, isOdd };
}

/**
 * Chooses the units of a job that starts: the first free ones in the order of the configuration. Of a shared
 * kind, those that the fewest jobs hold, on its nodes if each has these units. Undefined: it asks for none.
 */
export function chooseUnits(
  { job, use, nodes }: Holder,
  resources: readonly Resource[],
  holders: readonly Holder[],
): Units | undefined {
  if (use === undefined) return undefined;
  const others = holders.filter((holder) => holder.job !== job);
  const chosen = Object.entries(use).map(([kind, amount]): [string, readonly string[]] => {
    const resource = resources.find(({ name }) => name === kind);
    if (resource === undefined) throw new Error(`Broken invariant: job ${job} starts without any ${kind}`);
    const near = resource.isPerNode ? others.filter((other) => isOnSameNode(nodes, other.nodes)) : others;
    const free = resource.isShared ? leastHeld(resource, near) : freeUnits(resource, near);
    if (free.length < amount) {
      throw new Error(
        `Broken invariant: job ${job} starts with ${amount} units of ${kind}, but ${free.length} are free`,
      );
    }
    return [kind, free.slice(0, amount)];
  });
  return Object.fromEntries(chosen);
}

function isOnSameNode(some: JobRecord["nodes"], others: JobRecord["nodes"]): boolean {
  return some.some(({ node }) => others.some((other) => other.node === node));
}

/** Units by the number of jobs that hold them; ties: in the order of the configuration. */
function leastHeld({ name, units }: Resource, holders: readonly Holder[]): string[] {
  const counts = new Map<string, number>();
  for (const holder of holders)
    for (const unit of ofKind(holder.units, name) ?? []) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  return [...units].sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0));
}
