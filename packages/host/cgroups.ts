/**
 * Manages control groups: finds the machine's hierarchies and the place where Tutti may create groups, and
 * makes one group per gang in each hierarchy. The group of job 7, attempt 1:
 *
 *   v2:  MOUNT/…/tutti-NAME/7.1        v1:  MOUNT of freezer, cpuset, cpu, …/tutti-NAME/7.1
 *
 * Both versions may be mounted side by side, with each controller in one of them. A gang's first process is
 * moved in while it waits at its gate (shim.ts), so no process of the job is ever outside.
 */
import { spawnSync } from "./ports/child-process.ts";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "./ports/fs.ts";
import { writeFile } from "./ports/fs-promises.ts";
import { availableParallelism } from "./ports/os.ts";
import { join } from "./ports/path.ts";
import { isShortage, readSmall } from "./processes.ts";
import { OWN_ENVIRONMENT } from "./surroundings.ts";

/** Uses of groups. In v2, `freezer` and `kill` are not controllers, but files that every group has. */
type Control = "freezer" | "kill" | "cpuset" | "cpu" | "cpuacct" | "memory" | "pids" | "io";

/** A mounted hierarchy. */
interface Mount {
  readonly version: 1 | 2;
  readonly mountPoint: string;
  /** Controllers that the mount names; always empty in v2. */
  readonly controllers: readonly Control[];
  /** Folders that could contain our group, best first. */
  readonly parents: readonly string[];
}

/** A hierarchy in which we have a folder. */
interface Hierarchy {
  readonly version: 1 | 2;
  /** Our folder. Groups of gangs are folders in it. */
  readonly folder: string;
  readonly controls: ReadonlySet<Control>;
}

const V1_CONTROLLERS: readonly Control[] = ["freezer", "cpuset", "cpu", "cpuacct", "memory", "pids"];
const V2_CONTROLLERS: readonly Control[] = ["cpuset", "cpu", "memory", "pids", "io"];

/**
 * Mounts that we could use.
 * @param mountInfo text of /proc/self/mountinfo
 * @param ownGroups text of /proc/self/cgroup
 * @param isRoot root makes its groups at the top, where neither a log-out nor a restart of a service ends
 *   them
 */
export function findMounts(mountInfo: string, ownGroups: string, isRoot: boolean): Mount[] {
  const mounts: Mount[] = [];
  for (const line of mountInfo.split("\n")) {
    const [before = "", after] = line.split(" - ");
    if (after === undefined) continue;
    const [, , , root = "/", encoded = "", options = ""] = before.split(" ");
    const mountPoint = encoded.replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(parseInt(code, 8)));
    const [type, , superOptions = ""] = after.split(" ");
    if ((type !== "cgroup" && type !== "cgroup2") || options.split(",").includes("ro")) continue;
    const version = type === "cgroup2" ? 2 : 1;
    const words = superOptions.split(",");
    const controllers = version === 2 ? [] : V1_CONTROLLERS.filter((name) => words.includes(name));
    if (version === 1 && controllers.length === 0) continue;
    const own = ownGroup(ownGroups, version, controllers, root);
    const ownFolder = join(mountPoint, own).replace(/\/+$/, "");
    const parents = isRoot ? [mountPoint, ownFolder] : [ownFolder, join(ownFolder, "..")];
    const inside = parents.filter((parent) => parent === mountPoint || parent.startsWith(`${mountPoint}/`));
    mounts.push({ version, mountPoint, controllers, parents: [...new Set(inside)] });
  }
  return mounts;
}

/** Path of the group that this process is in, below the mount point. */
function ownGroup(ownGroups: string, version: 1 | 2, controllers: readonly Control[], root: string): string {
  for (const line of ownGroups.split("\n")) {
    const [number, names = "", ...rest] = line.split(":");
    const path = rest.join(":");
    const fits =
      version === 2 ? number === "0" : controllers.every((name) => names.split(",").includes(name));
    if (!fits || path === "") continue;
    return root !== "/" && path.startsWith(root) ? path.slice(root.length) : path;
  }
  return "/";
}

/** Makes our folder in each writable hierarchy that adds a controller. */
export function openHierarchies(name: string, mounts: readonly Mount[]): Hierarchy[] {
  const opened: Hierarchy[] = [];
  for (const mount of [...mounts].sort((a, b) => b.version - a.version)) {
    const offered = new Set(opened.flatMap(({ controls }) => [...controls]));
    if (mount.version === 1 && mount.controllers.every((control) => offered.has(control))) continue;
    // There is only one hierarchy of v2. A second mount of it, such as a chroot's, may go at any time.
    if (mount.version === 2 && opened.some(({ version }) => version === 2)) continue;
    for (const parent of mount.parents) {
      const hierarchy = openIn(mount, parent, name);
      if (hierarchy === undefined) continue;
      opened.push(hierarchy);
      break;
    }
  }
  return opened;
}

/** The hierarchies of this machine. */
export function mountsHere(): Mount[] {
  try {
    return findMounts(
      readFileSync("/proc/self/mountinfo", "utf8"),
      readFileSync("/proc/self/cgroup", "utf8"),
      process.getuid?.() === 0,
    );
  } catch {
    return [];
  }
}

function openIn(mount: Mount, parent: string, name: string): Hierarchy | undefined {
  const folder = join(parent, name);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    accessSync(join(folder, "cgroup.procs"), constants.W_OK);
  } catch {
    return undefined;
  }
  if (mount.version === 1) return openV1(mount, parent, folder);
  const controls = new Set<Control>();
  for (const controller of V2_CONTROLLERS) {
    // A parent that is not the root and contains processes refuses; then we do without this controller.
    tryWrite(join(parent, "cgroup.subtree_control"), `+${controller}`);
    if (tryWrite(join(folder, "cgroup.subtree_control"), `+${controller}`)) controls.add(controller);
  }
  if (existsSync(join(folder, "cgroup.freeze"))) controls.add("freezer");
  if (existsSync(join(folder, "cgroup.kill"))) controls.add("kill");
  if (existsSync(join(folder, "cpu.stat"))) controls.add("cpuacct");
  // All gangs together weigh as much as one process per CPU, compared with the rest of the machine.
  if (controls.has("cpu")) {
    tryWrite(join(folder, "cpu.weight"), String(Math.min(10_000, 100 * availableParallelism())));
  }
  return { version: 2, folder, controls };
}

function openV1(mount: Mount, parent: string, folder: string): Hierarchy {
  if (mount.controllers.includes("cpuset")) {
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      const text = tryRead(join(parent, file));
      if (text !== undefined) tryWrite(join(folder, file), text.trim());
    }
  }
  if (mount.controllers.includes("cpu")) {
    tryWrite(join(folder, "cpu.shares"), String(1024 * availableParallelism()));
  }
  return { version: 1, folder, controls: new Set(mount.controllers) };
}

/** The groups of the gangs: one folder per gang and hierarchy. */
export class GangGroups {
  readonly #hierarchies: readonly Hierarchy[];

  constructor(hierarchies: readonly Hierarchy[]) {
    this.#hierarchies = hierarchies;
  }

  /** The first hierarchy with that control. */
  of(control: Control): Hierarchy | undefined {
    return this.#hierarchies.find(({ controls }) => controls.has(control));
  }

  /** Makes the gang's groups, unless they exist. */
  make(gang: string): void {
    for (const { version, folder, controls } of this.#hierarchies) {
      const group = join(folder, gang);
      mkdirSync(group, { recursive: true, mode: 0o755 });
      // A v1 cpuset accepts no process until both files are set.
      if (version === 1 && controls.has("cpuset") && tryRead(join(group, "cpuset.mems"))?.trim() === "") {
        for (const file of ["cpuset.mems", "cpuset.cpus"]) {
          writeFileSync(join(group, file), readFileSync(join(folder, file), "latin1").trim());
        }
      }
    }
  }

  /** These groups without hierarchies that accept no processes; tested with a shell that joins and ends. */
  withoutRefusing(gang: string): GangGroups {
    return new GangGroups(
      this.#hierarchies.filter(({ folder }) => {
        const file = join(folder, gang, "cgroup.procs");
        const options = { env: OWN_ENVIRONMENT, stdio: "ignore" } as const;
        return spawnSync("/bin/sh", ["-c", 'echo $$ > "$1"', "sh", file], options).status === 0;
      }),
    );
  }

  /**
   * Moves a process into the gang's groups, the freezer's last. It does not block, because the kernel may
   * take 20 ms for each.
   * @param unneeded controls for which the gang needs no group
   * @returns false if a group refused the process
   */
  async join(gang: string, pid: number, unneeded: readonly Control[] = []): Promise<boolean> {
    const freezerLast = this.#hierarchies
      .filter(({ controls }) => ![...controls].every((control) => unneeded.includes(control)))
      .sort((a, b) => Number(a.controls.has("freezer")) - Number(b.controls.has("freezer")));
    try {
      for (const { folder } of freezerLast) {
        await writeFile(join(folder, gang, "cgroup.procs"), String(pid), { flag: "r+" });
      }
      return true;
    } catch {
      return false;
    }
  }

  /** Removes the gang's groups. Returns false if one still has processes. */
  remove(gang: string): boolean {
    const gone = this.#hierarchies.map(({ folder }) => removeGroup(join(folder, gang)));
    return gone.every(Boolean);
  }

  /** Names of all gangs that have a group, including those of an earlier conductor. */
  gangs(): string[] {
    return [...new Set(this.#hierarchies.flatMap(({ folder }) => groupsIn(folder)))];
  }

  /** Removes our folders, except those that still contain a group. */
  close(): void {
    for (const { folder } of this.#hierarchies) removeGroup(folder);
  }

  read(control: Control, gang: string, file: string): string | undefined {
    const hierarchy = this.of(control);
    return hierarchy && readSmall(join(hierarchy.folder, gang, file));
  }

  write(control: Control, gang: string, file: string, text: string): boolean {
    const hierarchy = this.of(control);
    return hierarchy !== undefined && tryWrite(join(hierarchy.folder, gang, file), text);
  }

  /**
   * Sets the gang's CPUs; returns false if it cannot have them. In v1, a CPU that was once off line is
   * missing from the set of our folder from then on, so that set is renewed and the call repeated.
   */
  setCpus(gang: string, list: string): boolean {
    if (this.write("cpuset", gang, "cpuset.cpus", list)) return true;
    const hierarchy = this.of("cpuset");
    if (hierarchy?.version !== 1) return false;
    const cpus = tryRead(join(hierarchy.folder, "..", "cpuset.cpus"))?.trim() ?? "";
    tryWrite(join(hierarchy.folder, "cpuset.cpus"), cpus);
    return this.write("cpuset", gang, "cpuset.cpus", list);
  }

  /** Pids in the gang's group and in groups that the job made below it. */
  pids(gang: string): number[] {
    const hierarchy = this.of("freezer");
    return hierarchy === undefined ? [] : pidsBelow(join(hierarchy.folder, gang));
  }
}

function pidsBelow(group: string): number[] {
  const text = tryRead(join(group, "cgroup.procs"));
  if (text === undefined) return [];
  const below = groupsIn(group).flatMap((entry) => pidsBelow(join(group, entry)));
  return [...text.split("\n").filter(Boolean).map(Number), ...below];
}

function groupsIn(group: string): string[] {
  try {
    return readdirSync(group, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function removeGroup(group: string): boolean {
  for (const entry of groupsIn(group)) removeGroup(join(group, entry));
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined;
  }
}

function tryWrite(path: string, text: string): boolean {
  try {
    // Never creates the file: otherwise a folder on an ordinary file system would look like a group.
    writeFileSync(path, text, { flag: "r+" });
    return true;
  } catch (error) {
    if (isShortage(error)) throw error;
    return false;
  }
}
