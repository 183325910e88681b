/**
 * Finds out how this machine can contain gangs: the best kind of freezer that works, and its control
 * groups.
 */

import { GangGroups, mountsHere, openHierarchies } from "@tutti/host/cgroups.ts";
import { createHash } from "@tutti/host/ports/crypto.ts";
import { join } from "@tutti/host/ports/path.ts";
import type { FreezerKind } from "@tutti/protocol/attempts.ts";
import { Cgroup1Freezer, Cgroup2Freezer, SWITCHES } from "./cgroup.ts";
import type { Freezer } from "./freezer.ts";
import { PausedGangs } from "./paused-gangs.ts";
import { SignalsFreezer } from "./signals.ts";

/** Best first. */
export const FREEZER_KINDS: readonly FreezerKind[] = ["cgroup2", "cgroup1", "signals"];
const PROBE = "probe";

export interface Containment {
  readonly freezer: Freezer;
  /** No groups if the freezer uses signals. */
  readonly groups: GangGroups;
  /** Prefix of the environment mark of each gang. */
  readonly marks: string;
  /** Whether this is a node of a cluster, which may kill processes of gangs itself. */
  readonly isOfCluster: boolean;
  /** Gangs that nobody continues when the conductor has died. */
  readonly paused: PausedGangs;
  /** File in which the signals freezer lists the processes that it may have stopped. */
  readonly membersFile: string;
}

/**
 * @param home folder of the conductor; groups are named after it, so two conductors have different groups
 * @param wanted try only this kind; undefined: use the best kind that works
 * @param cluster name of the cluster; its conductors have the same marks, so that each finds the processes
 *   that a gang of another node starts on its own node
 * @returns undefined if the wanted kind does not work here; signals always work
 */
export function openContainment(
  home: string,
  wanted?: FreezerKind,
  cluster?: string,
): Containment | undefined {
  const name = `tutti-${createHash("sha256").update(home).digest("hex").slice(0, 12)}`;
  const membersFile = join(home, "members");
  const paused = new PausedGangs(join(home, "paused"));
  const isOfCluster = cluster !== undefined;
  const marks = `${cluster === undefined ? name : `tutti-${cluster}`}/`;
  for (const kind of wanted === undefined ? FREEZER_KINDS : [wanted]) {
    if (kind === "signals") {
      const freezer = new SignalsFreezer(marks, membersFile, paused, isOfCluster);
      return { freezer, groups: new GangGroups([]), marks, isOfCluster, membersFile, paused };
    }
    const groups = openGroups(name, kind);
    if (groups === undefined) continue;
    const freezer =
      kind === "cgroup2" ? new Cgroup2Freezer(groups, paused) : new Cgroup1Freezer(groups, paused);
    return { freezer, groups, marks, isOfCluster, membersFile, paused };
  }
  return undefined;
}

/** The groups that accept our processes, if one of them can freeze in this way. */
function openGroups(name: string, kind: "cgroup2" | "cgroup1"): GangGroups | undefined {
  const mounts = mountsHere().filter(({ version, controllers }) =>
    kind === "cgroup2" ? version === 2 || !controllers.includes("freezer") : version === 1,
  );
  if (kind === "cgroup2" && !mounts.some(({ version }) => version === 2)) return undefined;
  const all = new GangGroups(openHierarchies(name, mounts));
  let groups: GangGroups | undefined;
  try {
    const { file, stop, go } = SWITCHES[kind];
    all.make(PROBE);
    // A conductor that was killed during this test may have left the group frozen, with its shell in it.
    // Continue it.
    all.write("freezer", PROBE, file, go);
    groups = all.withoutRefusing(PROBE);
    const works = groups.write("freezer", PROBE, file, stop) && groups.write("freezer", PROBE, file, go);
    if (!works) groups = undefined;
  } catch {
    groups = undefined;
  }
  all.remove(PROBE);
  if (groups === undefined) all.close();
  return groups;
}
