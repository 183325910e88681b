/** /sys: control groups, and where the CPUs are. */
import type { Made, MadeFolder } from "../contract.ts";
import { sysError } from "../errors.ts";
import { folderOfGroups } from "./group-files.ts";
import type { Hierarchy } from "./groups.ts";
import { listOfCpus } from "./lists.ts";
import { folderOfTree, type Tree } from "./made.ts";
import type { KernelProcess } from "./process.ts";

/** Where CPUs are: threads of one core are next to each other, cores of one socket, too. */
interface Topology {
  readonly cpus: number;
  readonly sockets: number;
  readonly threadsPerCore: number;
}

export function sysTree(
  topology: Topology,
  hierarchies: () => readonly Hierarchy[],
  find: (pid: number) => KernelProcess | undefined,
): MadeFolder {
  const { cpus } = topology;
  const all = listOfCpus(Array.from({ length: cpus }, (_, cpu) => cpu));
  const cpu: Record<string, Tree | string> = {
    online: `${all}\n`,
    possible: `${all}\n`,
    present: `${all}\n`,
  };
  for (let number = 0; number < cpus; number++) cpu[`cpu${number}`] = { topology: placeOf(number, topology) };
  const folder = (
    folderOfTree({
      fs: { cgroup: { folder: groupsFolder(hierarchies, find) } },
      devices: { system: { cpu } },
      dev: { block: {} },
    }) as { readonly folder: MadeFolder }
  ).folder;
  return folder;
}

function placeOf(cpu: number, { cpus, sockets, threadsPerCore }: Topology): Tree {
  const core = cpu - (cpu % threadsPerCore);
  const threads = Array.from({ length: threadsPerCore }, (_, i) => core + i).filter((other) => other < cpus);
  return {
    physical_package_id: `${Math.floor((cpu * sockets) / cpus)}\n`,
    core_id: `${Math.floor(cpu / threadsPerCore)}\n`,
    core_cpus_list: `${listOfCpus(threads)}\n`,
    thread_siblings_list: `${listOfCpus(threads)}\n`,
  };
}

/** They are new after each boot. */
function groupsFolder(
  hierarchies: () => readonly Hierarchy[],
  find: (pid: number) => KernelProcess | undefined,
): MadeFolder {
  const top = (): MadeFolder | undefined => {
    const only = hierarchies().find(({ mountPoint }) => mountPoint === MOUNT);
    return only && (folderOfGroups(only, find) as { readonly folder: MadeFolder }).folder;
  };
  return {
    mode: 0o755,
    list: (who) =>
      top()?.list(who) ?? hierarchies().map(({ mountPoint }) => mountPoint.slice(MOUNT.length + 1)),
    find(name, who) {
      const folder = top();
      if (folder !== undefined) return folder.find(name, who);
      const mounted = hierarchies().find(({ mountPoint }) => mountPoint === `${MOUNT}/${name}`);
      return mounted && (folderOfGroups(mounted, find) as Made);
    },
    makeFolder(name, who) {
      const folder = top();
      if (folder === undefined) throw sysError("EPERM", "mkdir", name);
      folder.makeFolder!(name, who);
    },
    removeFolder(name, who) {
      const folder = top();
      if (folder === undefined) throw sysError("EPERM", "rmdir", name);
      folder.removeFolder!(name, who);
    },
  };
}

export const MOUNT = "/sys/fs/cgroup";
