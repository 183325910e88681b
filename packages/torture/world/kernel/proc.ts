/** /proc: what the kernel says about processes and about itself. */
import type { Made, MadeFolder, OpenFile } from "../contract.ts";
import { sysError } from "../errors.ts";
import type { Hierarchy } from "./groups.ts";
import { listOfCpus } from "./lists.ts";
import { folderOfTree } from "./made.ts";
import type { KernelProcess } from "./process.ts";

/** What /proc needs of the machine. */
export interface ProcSource {
  readonly bootId: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly pidMax: number;
  readonly maxProcesses: number;
  /** Given last. */
  readonly newestPid: number;
  readonly processes: ReadonlyMap<number, KernelProcess>;
  readonly hierarchies: readonly Hierarchy[];
  readonly clock: { bootMs(): number; unixMs(): number };
  /** The text of /proc/locks. */
  locks(): string;
  cpusOf(process: KernelProcess): readonly number[];
  pathOfFolder(process: KernelProcess): string;
}

/** Bytes of a process that holds none of its own. */
const BASE_BYTES = 3_133_440;
const BASE_PAGES = 399;
const PAGE_BYTES = 4096;

const STATES: Readonly<Record<string, string>> = {
  R: "R (running)",
  S: "S (sleeping)",
  D: "D (disk sleep)",
  T: "T (stopped)",
  Z: "Z (zombie)",
};

export function procTree(source: ProcSource): MadeFolder {
  const fixed = new Map<string, Made>([
    ["self", { link: { target: ({ pid }) => String(pid) } }],
    ["sys", sysOfKernel(source)],
    ["mounts", { link: { target: () => "self/mounts" } }],
    ["loadavg", textFile(() => loadOf(source))],
    ["uptime", textFile(() => uptimeOf(source))],
    ["meminfo", textFile(() => memoryOf(source))],
    ["stat", textFile(() => statOfAll(source))],
    ["locks", textFile(() => source.locks())],
    ["version", textFile(() => "Linux version 6.18.0 (tutti@world) #1 SMP\n")],
  ]);
  const names = [...fixed.keys()];
  return {
    mode: 0o555,
    list: () => [...Array.from(source.processes.keys(), String), ...names],
    find(name) {
      const first = name.charCodeAt(0);
      if (first < 49 || first > 57) return fixed.get(name);
      const process = source.processes.get(Number(name));
      if (process === undefined) return undefined;
      process.made ??= folderOf(process, source);
      return process.made;
    },
  };
}

function textFile(read: () => string): Made {
  return { file: { mode: 0o444, read } };
}

function folderOf(process: KernelProcess, source: ProcSource): Made {
  const made = new Map<string, Made>();
  const names = [...Object.keys(FILES), "cwd", "exe", "fd", "fdinfo", "task"];
  const folder: MadeFolder = {
    mode: 0o555,
    get uid() {
      return process.uid;
    },
    list: () => names,
    find(name) {
      const known = made.get(name);
      if (known !== undefined) return known;
      const fresh = makeOf(process, name, source, folder);
      if (fresh !== undefined) made.set(name, fresh);
      return fresh;
    },
  };
  return { folder };
}

function makeOf(
  process: KernelProcess,
  name: string,
  source: ProcSource,
  whole: MadeFolder,
): Made | undefined {
  switch (name) {
    case "cwd":
      return {
        link: {
          target: () => living(process).cwd,
          text: () => source.pathOfFolder(living(process)),
        },
      };
    case "exe":
      return { link: { target: () => living(process).exe } };
    case "fd":
      return {
        folder: descriptorsOf(
          process,
          (file) => ({ link: { target: () => file().inode, text: () => file().path } }),
          0o500,
        ),
      };
    case "fdinfo":
      return {
        folder: descriptorsOf(
          process,
          (file) => ({ file: { mode: 0o400, uid: process.uid, read: () => infoOf(file()) } }),
          0o555,
        ),
      };
    case "task":
      return {
        folder: {
          mode: 0o555,
          list: () => [String(process.pid)],
          // Its only thread says the same as the process.
          find: (thread) => (thread === String(process.pid) ? { folder: whole } : undefined),
        },
      };
  }
  const file = FILES[name];
  if (file === undefined) return undefined;
  const { read, write, mode = 0o444 } = file;
  return {
    file: {
      mode,
      get uid() {
        return process.uid;
      },
      read() {
        // Opened before the process was gone.
        if (source.processes.get(process.pid) !== process) throw sysError("ESRCH", "read");
        return read(process, source);
      },
      ...(write !== undefined && { write: () => {} }),
    },
  };
}

interface ProcessFile {
  readonly mode?: number;
  readonly read: (process: KernelProcess, source: ProcSource) => string;
  /** What is written is taken without effect. */
  readonly write?: true;
}

const FILES: Readonly<Record<string, ProcessFile>> = {
  stat: { read: statOf },
  status: { read: statusOf },
  comm: { read: ({ name }) => `${name}\n` },
  cmdline: { read: ({ end, argv }) => (end === undefined ? endedByZeros(argv) : "") },
  environ: {
    mode: 0o400,
    read: ({ end, environment }) =>
      end === undefined
        ? endedByZeros(Object.entries(environment).map(([name, value]) => `${name}=${value}`))
        : "",
  },
  cgroup: { read: (process, { hierarchies }) => groupsOf(process, hierarchies) },
  mountinfo: { read: (_, { hierarchies }) => mountsOf(hierarchies) },
  schedstat: { read: ({ cpuUs }) => `${Math.floor(cpuUs * 1000)} 0 1\n` },
  autogroup: { mode: 0o644, read: ({ session }) => `/autogroup-${session} nice 0\n`, write: true },
  oom_score_adj: { mode: 0o644, read: () => "0\n", write: true },
  limits: { read: (_, { maxProcesses }) => limitsOf(maxProcesses) },
};

/** @throws ENOENT */
function living(process: KernelProcess): KernelProcess {
  if (process.end !== undefined) throw sysError("ENOENT", "readlink");
  return process;
}

function endedByZeros(words: readonly string[]): string {
  return words.length === 0 ? "" : `${words.join("\0")}\0`;
}

function descriptorsOf(
  process: KernelProcess,
  make: (file: () => OpenFile) => Made,
  mode: number,
): MadeFolder {
  const made = new Map<OpenFile, Map<number, Made>>();
  return {
    mode,
    get uid() {
      return process.uid;
    },
    list: () => Array.from(process.files.keys(), String),
    find(name) {
      const descriptor = Number(name);
      const open = process.files.get(descriptor);
      if (open === undefined) return undefined;
      let ofFile = made.get(open);
      if (ofFile === undefined) {
        // Those of closed files are in nobody's way, but there must not be ever more of them.
        if (made.size > 64) made.clear();
        ofFile = new Map();
        made.set(open, ofFile);
      }
      let link = ofFile.get(descriptor);
      if (link === undefined) {
        link = make(() => open);
        ofFile.set(descriptor, link);
      }
      return link;
    },
  };
}

function infoOf({ position, flags, inode }: OpenFile): string {
  return `pos:\t${position}\nflags:\t0${flags.toString(8)}\nmnt_id:\t26\nino:\t${inode.ino}\n`;
}

/** Fields 10 to 13: page faults. */
const FAULTS = "101 0 0 0";
/** Fields 16 to 19: CPU time of children; priority and nice. Field 20: one thread. */
const BEFORE_START = "0 0 20 0 1 0";
/** Fields 25 to 38. */
const ADDRESSES = "18446744073709551615 94846439583744 94846439603625 140737031819744 0 0 0 0 0 0 0 0 0 17";
/** Fields 42 to 52. */
const END =
  "0 0 0 94846439619632 94846439621248 94847109345280 140737031821840 140737031821860 140737031821860 140737031823339 0\n";

function statOf(process: KernelProcess): string {
  const { pid, parent, session, policy, memoryBytes } = process;
  const ticks = Math.floor(process.cpuUs / 10_000);
  const pages = BASE_PAGES + Math.ceil(memoryBytes / PAGE_BYTES);
  const realTime = policy === 1 || policy === 2 ? 10 : 0;
  return `${pid} (${process.name}) ${process.state} ${parent} ${session} ${session} 0 -1 4194304 ${FAULTS} ${ticks} 0 ${BEFORE_START} ${process.startTicks} ${BASE_BYTES + memoryBytes} ${pages} ${ADDRESSES} 0 ${realTime} ${policy} ${END}`;
}

function statusOf(process: KernelProcess, source: ProcSource): string {
  const { pid, parent, uid, gid, name, state } = process;
  const cpus = source.cpusOf(process);
  const kB = Math.ceil((BASE_PAGES * PAGE_BYTES + process.memoryBytes) / 1024);
  return `Name:\t${name}
Umask:\t${process.umask.toString(8).padStart(4, "0")}
State:\t${STATES[state]}
Tgid:\t${pid}
Ngid:\t0
Pid:\t${pid}
PPid:\t${parent}
TracerPid:\t0
Uid:\t${uid}\t${uid}\t${uid}\t${uid}
Gid:\t${gid}\t${gid}\t${gid}\t${gid}
FDSize:\t256
Groups:\t${process.groups.join(" ")} 
NStgid:\t${pid}
NSpid:\t${pid}
NSpgid:\t${process.session}
NSsid:\t${process.session}
Kthread:\t0
VmRSS:\t${kB} kB
Threads:\t1
Cpus_allowed_list:\t${listOfCpus(cpus)}
Mems_allowed_list:\t0
`;
}

function groupsOf(process: KernelProcess, hierarchies: readonly Hierarchy[]): string {
  let text = "";
  for (let i = hierarchies.length - 1; i >= 0; i--) {
    const { version, controllers, index } = hierarchies[i];
    const names = version === 2 ? "" : controllers.join(",");
    text += `${version === 2 ? 0 : index + 1}:${names}:/${process.groupIn[index].path}\n`;
  }
  return text;
}

function mountsOf(hierarchies: readonly Hierarchy[]): string {
  let text = `21 26 0:20 / /proc rw,relatime - proc proc rw
22 26 0:21 / /sys rw,relatime - sysfs sysfs rw
26 1 254:0 / / rw,relatime - ext4 /dev/vda rw
`;
  if (hierarchies.some(({ mountPoint }) => mountPoint !== "/sys/fs/cgroup"))
    text += "30 22 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n";
  for (const { version, mountPoint, controllers, index } of hierarchies) {
    const type = version === 2 ? "cgroup2" : "cgroup";
    const options = version === 2 ? "rw,nsdelegate" : `rw,${controllers.join(",")}`;
    text += `${31 + index} 30 0:${28 + index} / ${mountPoint} rw,relatime - ${type} ${type} ${options}\n`;
  }
  return text;
}

function limitsOf(maxProcesses: number): string {
  return `Limit                     Soft Limit           Hard Limit           Units     
Max processes             ${String(maxProcesses).padEnd(21)}${String(maxProcesses).padEnd(21)}processes 
Max open files            1048576              1048576              files     
`;
}

function loadOf({ processes, newestPid }: ProcSource): string {
  let running = 0;
  for (const { state } of processes.values()) if (state === "R") running++;
  return `0.00 0.00 0.00 ${running}/${processes.size} ${newestPid}\n`;
}

function uptimeOf({ clock }: ProcSource): string {
  const seconds = (Math.floor(clock.bootMs() / 10) / 100).toFixed(2);
  return `${seconds} ${seconds}\n`;
}

function memoryOf({ memoryBytes, processes }: ProcSource): string {
  let usedBytes = 0;
  for (const process of processes.values()) usedBytes += process.memoryBytes;
  const line = (name: string, bytes: number) =>
    `${`${name}:`.padEnd(16)}${String(Math.floor(bytes / 1024)).padStart(8)} kB\n`;
  const free = Math.max(0, memoryBytes - usedBytes);
  return line("MemTotal", memoryBytes) + line("MemFree", free) + line("MemAvailable", free);
}

function statOfAll({ cpus, clock }: ProcSource): string {
  const lines = ["cpu  0 0 0 0 0 0 0 0 0 0"];
  for (let cpu = 0; cpu < cpus; cpu++) lines.push(`cpu${cpu} 0 0 0 0 0 0 0 0 0 0`);
  lines.push(`btime ${Math.floor((clock.unixMs() - clock.bootMs()) / 1000)}`);
  return `${lines.join("\n")}\n`;
}

function sysOfKernel(source: ProcSource): Made {
  return folderOfTree({
    kernel: {
      pid_max: () => `${source.pidMax}\n`,
      "threads-max": () => `${source.maxProcesses}\n`,
      osrelease: "6.18.0\n",
      random: { boot_id: () => `${source.bootId}\n` },
    },
  });
}
