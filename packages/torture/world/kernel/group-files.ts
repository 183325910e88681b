/** The folders and files of control groups, of both versions. */
import type { Caller, Made, MadeFile, MadeFolder } from "../contract.ts";
import { sysError } from "../errors.ts";
import type { Controller, Group, Hierarchy } from "./groups.ts";
import { cpusOfList, listOfCpus, numberOrMax, orMax, wholeNumber } from "./lists.ts";
import { keepMemoryLimits } from "./memory.ts";
import type { KernelProcess } from "./process.ts";

const PAGE_BYTES = 4096;
/** What a limit of version 1 says if there is none. */
const UNLIMITED_BYTES = "9223372036854771712";
/** These never compete with the processes of a group itself, so both may be in it. */
const THREADED: readonly Controller[] = ["cpuset", "cpu", "pids"];

/** A file that every group has that it is for. */
interface GroupFile {
  /** Left out: all groups, in version 1 all groups of hierarchies with it. */
  readonly controller?: Controller;
  /** The root has it, too. */
  readonly isAtRoot?: boolean;
  readonly read?: (group: Group) => string;
  readonly write?: (group: Group, text: string, who: Caller, find: FindProcess) => void;
}

type FindProcess = (pid: number) => KernelProcess | undefined;

const procs: GroupFile = {
  isAtRoot: true,
  read: (group) => [...group.processes].map(({ pid }) => `${pid}\n`).join(""),
  write: join,
};

const pids: Readonly<Record<string, GroupFile>> = {
  "pids.max": {
    controller: "pids",
    read: ({ maxPids }) => orMax(maxPids),
    write(group, text) {
      group.maxPids = numberOrMax(text);
    },
  },
  "pids.current": { controller: "pids", read: (group) => `${group.pids}\n` },
  "pids.events": { controller: "pids", read: ({ pidsRefused }) => `max ${pidsRefused}\n` },
};

const V2: Readonly<Record<string, GroupFile>> = {
  "cgroup.procs": procs,
  "cgroup.threads": { isAtRoot: true, read: procs.read },
  "cgroup.controllers": {
    isAtRoot: true,
    read: (group) => `${[...(group.parent?.passedOn ?? group.hierarchy.controllers)].join(" ")}\n`,
  },
  "cgroup.subtree_control": {
    isAtRoot: true,
    read: (group) => `${[...group.passedOn].join(" ")}\n`,
    write: passOn,
  },
  "cgroup.type": { read: () => "domain\n" },
  "cgroup.events": {
    read: (group) => `populated ${Number(group.isPopulated)}\nfrozen ${Number(group.isFrozen)}\n`,
  },
  "cgroup.freeze": {
    read: ({ isFreezeAsked }) => `${Number(isFreezeAsked)}\n`,
    write(group, text) {
      const asked = wholeNumber(text);
      if (asked !== 0 && asked !== 1) throw sysError("ERANGE", "write");
      group.askFreeze(asked === 1);
    },
  },
  "cgroup.kill": {
    write(group, text) {
      if (wholeNumber(text) !== 1) throw sysError("ERANGE", "write");
      for (const process of group.all()) process.send("SIGKILL", false);
    },
  },
  "cpu.stat": {
    isAtRoot: true,
    read(group) {
      const us = Math.floor(group.usedCpuUs());
      return `usage_usec ${us}\nuser_usec ${us}\nsystem_usec 0\nnice_usec 0\n`;
    },
  },
  "cpu.weight": {
    controller: "cpu",
    read: ({ weight }) => `${weight}\n`,
    write(group, text) {
      const weight = wholeNumber(text);
      if (weight < 1 || weight > 10_000) throw sysError("ERANGE", "write");
      group.weight = weight;
    },
  },
  "cpuset.cpus": {
    controller: "cpuset",
    read: ({ cpuset = [] }) => `${listOfCpus(cpuset)}\n`,
    write(group, text) {
      const cpus = cpusOfList(text);
      if (cpus.some((cpu) => cpu >= group.hierarchy.host.cpus)) throw sysError("EINVAL", "write");
      group.setCpuset(cpus.length === 0 ? undefined : cpus);
    },
  },
  "cpuset.cpus.effective": {
    controller: "cpuset",
    isAtRoot: true,
    read: (group) => `${listOfCpus(group.cpus())}\n`,
  },
  ...pids,
  "memory.max": {
    controller: "memory",
    read: ({ maxMemoryBytes }) => orMax(maxMemoryBytes),
    write(group, text) {
      group.maxMemoryBytes = bytesIn(text, "max");
      keepMemoryLimits(group);
    },
  },
  "memory.swap.max": {
    controller: "memory",
    read: ({ maxSwapBytes }) => orMax(maxSwapBytes),
    write(group, text) {
      group.maxSwapBytes = bytesIn(text, "max");
    },
  },
  "memory.oom.group": {
    controller: "memory",
    read: ({ isKilledWhole }) => `${Number(isKilledWhole)}\n`,
    write(group, text) {
      group.isKilledWhole = wholeNumber(text) === 1;
    },
  },
  "memory.current": { controller: "memory", read: ({ memoryBytes }) => `${memoryBytes}\n` },
  "memory.peak": { controller: "memory", read: ({ peakMemoryBytes }) => `${peakMemoryBytes}\n` },
  "memory.events": {
    controller: "memory",
    read: ({ ooms, oomKills }) =>
      `low 0\nhigh 0\nmax ${ooms}\noom ${ooms}\noom_kill ${oomKills}\noom_group_kill 0\n`,
  },
  "io.stat": { controller: "io", isAtRoot: true, read: () => "" },
};

const V1: Readonly<Record<string, GroupFile>> = {
  "cgroup.procs": procs,
  tasks: procs,
  "freezer.state": {
    controller: "freezer",
    read: (group) => (!group.isFreezing ? "THAWED\n" : group.isFrozen ? "FROZEN\n" : "FREEZING\n"),
    write(group, text) {
      const state = text.trim();
      if (state !== "FROZEN" && state !== "THAWED") throw sysError("EINVAL", "write");
      group.askFreeze(state === "FROZEN");
    },
  },
  "freezer.self_freezing": { controller: "freezer", read: (group) => `${Number(group.isFreezeAsked)}\n` },
  "freezer.parent_freezing": {
    controller: "freezer",
    read: (group) => `${Number(group.parent?.isFreezing === true)}\n`,
  },
  "cpuset.cpus": {
    controller: "cpuset",
    isAtRoot: true,
    read: ({ cpuset = [] }) => `${listOfCpus(cpuset)}\n`,
    write(group, text) {
      const cpus = cpusOfList(text);
      const above = group.parent?.cpuset ?? [];
      if (group.parent === undefined || cpus.some((cpu) => !above.includes(cpu)))
        throw sysError("EACCES", "write");
      for (const { cpuset = [] } of group.children.values())
        if (cpuset.some((cpu) => !cpus.includes(cpu))) throw sysError("EBUSY", "write");
      if (cpus.length === 0 && group.processes.size > 0) throw sysError("ENOSPC", "write");
      group.setCpuset(cpus);
    },
  },
  "cpuset.mems": {
    controller: "cpuset",
    isAtRoot: true,
    read: (group) => `${group.parent === undefined ? "0" : group.mems}\n`,
    write(group, text) {
      const mems = cpusOfList(text);
      if (mems.some((node) => node !== 0)) throw sysError("EINVAL", "write");
      group.mems = listOfCpus(mems);
    },
  },
  "cpu.shares": {
    controller: "cpu",
    isAtRoot: true,
    read: ({ shares }) => `${shares}\n`,
    write(group, text) {
      group.shares = Math.min(262_144, Math.max(2, wholeNumber(text)));
    },
  },
  "cpuacct.usage": {
    controller: "cpuacct",
    isAtRoot: true,
    read: (group) => `${Math.floor(group.usedCpuUs()) * 1000}\n`,
  },
  ...pids,
  "memory.limit_in_bytes": {
    controller: "memory",
    read: ({ maxMemoryBytes }) => orUnlimited(maxMemoryBytes),
    write(group, text) {
      const bytes = bytesIn(text, "-1");
      if (bytes > group.maxSwapBytes) throw sysError("EINVAL", "write");
      if (bytes < group.memoryBytes) throw sysError("EBUSY", "write");
      group.maxMemoryBytes = bytes;
    },
  },
  "memory.memsw.limit_in_bytes": {
    controller: "memory",
    read: ({ maxSwapBytes }) => orUnlimited(maxSwapBytes),
    write(group, text) {
      const bytes = bytesIn(text, "-1");
      if (bytes < group.maxMemoryBytes) throw sysError("EINVAL", "write");
      group.maxSwapBytes = bytes;
    },
  },
  "memory.usage_in_bytes": {
    controller: "memory",
    isAtRoot: true,
    read: ({ memoryBytes }) => `${memoryBytes}\n`,
  },
  "memory.max_usage_in_bytes": {
    controller: "memory",
    isAtRoot: true,
    read: ({ peakMemoryBytes }) => `${peakMemoryBytes}\n`,
  },
  "memory.oom_control": {
    controller: "memory",
    isAtRoot: true,
    read: ({ oomKills }) => `oom_kill_disable 0\nunder_oom 0\noom_kill ${oomKills}\n`,
  },
};

/** The folder where a hierarchy is mounted. */
export function folderOfGroups(hierarchy: Hierarchy, find: FindProcess): Made {
  return folderOf(hierarchy.root, hierarchy.version === 2 ? V2 : V1, find);
}

function folderOf(group: Group, files: Readonly<Record<string, GroupFile>>, find: FindProcess): Made {
  if (group.made !== undefined) return group.made;
  const made = new Map<string, Made>();
  const hasFile = (file: GroupFile | undefined): file is GroupFile =>
    file !== undefined &&
    (group.parent !== undefined || file.isAtRoot === true) &&
    (file.controller === undefined || group.has(file.controller));
  const folder: MadeFolder = {
    mode: 0o755,
    uid: group.uid,
    list: () => [...group.children.keys(), ...Object.keys(files).filter((name) => hasFile(files[name]))],
    find(name) {
      const child = group.children.get(name);
      if (child !== undefined) return folderOf(child, files, find);
      const known = made.get(name);
      const file = files[name];
      if (!hasFile(file)) return undefined;
      if (known !== undefined) return known;
      const fresh: Made = { file: fileOf(group, file, find) };
      made.set(name, fresh);
      return fresh;
    },
    makeFolder(name, who) {
      if (files[name] !== undefined) throw sysError("EEXIST", "mkdir", name);
      group.make(name, who.uid);
    },
    removeFolder: (name) => group.remove(name),
  };
  group.made = { folder };
  return group.made;
}

function fileOf(group: Group, { read, write }: GroupFile, find: FindProcess): MadeFile {
  const check = () => {
    if (group.isRemoved) throw sysError("ENODEV", "read");
  };
  return {
    mode: (read === undefined ? 0 : 0o444) | (write === undefined ? 0 : 0o200),
    uid: group.uid,
    ...(read !== undefined && {
      read() {
        check();
        return read(group);
      },
    }),
    ...(write !== undefined && {
      write(text: string, who: Caller) {
        check();
        write(group, text, who, find);
      },
    }),
  };
}

function join(group: Group, text: string, who: Caller, find: FindProcess): void {
  const pid = wholeNumber(text);
  const process = find(pid === 0 ? who.pid : pid);
  if (pid < 0) throw sysError("EINVAL", "write");
  if (process === undefined) throw sysError("ESRCH", "write");
  const { version, root } = group.hierarchy;
  if (version === 1) {
    if (who.uid !== 0 && who.uid !== process.uid) throw sysError("EACCES", "write");
    const isEmptySet = group.has("cpuset") && (group.cpuset?.length ?? 0) === 0;
    if (isEmptySet || (group.has("cpuset") && group.parent !== undefined && group.mems === ""))
      throw sysError("ENOSPC", "write");
  } else {
    if (who.uid !== 0 && commonGroup(group, group.hierarchy.groupOf(process)).uid !== who.uid)
      throw sysError("EACCES", "write");
    if (group !== root && group.passedOn.size > 0 && !canMix(group)) throw sysError("EBUSY", "write");
  }
  group.take(process);
}

function commonGroup(one: Group, other: Group): Group {
  const above = new Set<Group>();
  for (let group: Group | undefined = one; group !== undefined; group = group.parent) above.add(group);
  let group = other;
  while (!above.has(group)) group = group.parent!;
  return group;
}

/** Whether a group of version 2 may have processes and pass on what it passes on. */
function canMix(group: Group): boolean {
  for (const controller of group.passedOn) if (!THREADED.includes(controller)) return false;
  for (const child of group.children.values()) if (child.isPopulated) return false;
  return true;
}

function passOn(group: Group, text: string): void {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const enable: Controller[] = [];
  const disable: Controller[] = [];
  for (const word of words) {
    const controller = word.slice(1) as Controller;
    const isOn = word.startsWith("+");
    if (!isOn && !word.startsWith("-")) throw sysError("EINVAL", "write");
    if (!group.hierarchy.controllers.includes(controller)) throw sysError("EINVAL", "write");
    if (isOn && !group.has(controller)) throw sysError("ENOENT", "write");
    if (isOn) enable.push(controller);
    else disable.push(controller);
  }
  const added = enable.filter((controller) => !group.passedOn.has(controller));
  const isDomain = added.some((controller) => !THREADED.includes(controller));
  const isRefused = group.parent !== undefined && group.processes.size > 0 && added.length > 0;
  if (isRefused && (isDomain || !canMix(group))) throw sysError("EBUSY", "write");
  for (const controller of disable)
    for (const child of group.children.values())
      if (child.passedOn.has(controller)) throw sysError("EBUSY", "write");
  for (const controller of enable) group.passedOn.add(controller);
  for (const controller of disable) group.passedOn.delete(controller);
}

/** Whole pages; `none` is the word for no limit. */
function bytesIn(text: string, none: string): number {
  const trimmed = text.trim();
  if (trimmed === none) return Number.POSITIVE_INFINITY;
  const at = "KMG".indexOf(trimmed.slice(-1).toUpperCase());
  const isPlain = trimmed === "" || at < 0;
  const bytes = isPlain ? wholeNumber(trimmed) : wholeNumber(trimmed.slice(0, -1)) * 1024 ** (at + 1);
  if (bytes < 0) throw sysError("EINVAL", "write");
  return Math.floor(bytes / PAGE_BYTES) * PAGE_BYTES;
}

function orUnlimited(bytes: number): string {
  return `${bytes === Number.POSITIVE_INFINITY ? UNLIMITED_BYTES : bytes}\n`;
}
