/** What this machine lets us do with gangs: the best kind of freezer that works, and the groups beside it. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { GangGroups, mountsHere, openHierarchies } from "../../host/cgroups.ts";
import type { FreezerKind } from "../../protocol/attempts.ts";
import { Cgroup1Freezer, Cgroup2Freezer, SWITCHES } from "./cgroup.ts";
import type { Freezer } from "./freezer.ts";
import { SignalsFreezer } from "./signals.ts";

/** Best first. */
export const FREEZER_KINDS: readonly FreezerKind[] = ["cgroup2", "cgroup1", "signals"];
const PROBE = "probe";

export interface Containment {
  readonly freezer: Freezer;
  /** Empty with signals. */
  readonly groups: GangGroups;
  /** What the environment mark of a gang begins with. */
  readonly marks: string;
  /** Where the signals freezer writes down whom it may have stopped. */
  readonly membersFile: string;
}

/**
 * @param home folder of the conductor: two conductors of one machine have groups of different names
 * @param wanted only that kind; undefined: the best that works
 * @returns undefined when the wanted kind does not work here; signals always do
 */
export function openContainment(home: string, wanted?: FreezerKind): Containment | undefined {
  const name = `tutti-${createHash("sha256").update(home).digest("hex").slice(0, 12)}`;
  const membersFile = join(home, "members");
  const marks = `${name}/`;
  for (const kind of wanted === undefined ? FREEZER_KINDS : [wanted]) {
    if (kind === "signals") {
      const freezer = new SignalsFreezer(marks, membersFile);
      return { freezer, groups: new GangGroups([]), marks, membersFile };
    }
    const groups = openGroups(name, kind);
    if (groups === undefined) continue;
    const freezer = kind === "cgroup2" ? new Cgroup2Freezer(groups) : new Cgroup1Freezer(groups);
    return { freezer, groups, marks, membersFile };
  }
  return undefined;
}

/** The groups that take in a process of ours, if one of them can freeze in that way. */
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
    // A conductor that was killed in the middle of this left it frozen, perhaps with its shell: that goes on now, and ends.
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
