/** A machine with everything that a scheduler finds there, and the ways of the world to look at it. */
import { miscounts } from "@tutti/live/daemon/store/ledger.ts";
import { hasProcess, type JobState } from "@tutti/protocol/states.ts";
import { Network } from "../node/net.ts";
import { portsOf } from "../node/ports.ts";
import { NodeProgram } from "../node/program.ts";
import { instantiator, type Programs } from "../node/programs.ts";
import type { Sqlite } from "../node/sqlite.ts";
import type { Bytes, NodeWorld, RunningProgram, Served } from "../node/world.ts";
import { installShell } from "../shell/install.ts";
import { installSlurm } from "../slurm/commands.ts";
import { SimulatedSlurm } from "../slurm/slurm.ts";
import type { Caller, Machine, Process, Program } from "../world/contract.ts";
import type { Disk as FileDisk } from "../world/files/file-system.ts";
import { createFiles, createSharedSystem, type SimulatedFiles } from "../world/files/files.ts";
import { createMachine, type SimulatedMachine } from "../world/kernel/machine.ts";
import { FROZEN_V1, FROZEN_V2, STOPPED } from "../world/kernel/process.ts";
import { Lan } from "../world/lan.ts";
import { Draws } from "../world/random.ts";
import { WorldTimeline } from "../world/timeline.ts";
import type { ClusterSetting, Setting } from "./setting.ts";
import { EPOCH_MS, timeOf, trueMs } from "./witness.ts";

/** What the host of the world gives: programs and libraries, loaded once. */
export interface WorldParts {
  readonly programs: Programs;
  readonly sqlite: Sqlite;
  readonly Buffer: Bytes;
}

interface SiteHooks {
  readonly log?: ((line: string) => void) | undefined;
  serving(program: RunningProgram, served: Served): void;
  failed(program: RunningProgram, error: unknown): void;
}

export type Site = ReturnType<typeof makeSite>;

const CAPACITY_BYTES = 2 ** 30;
const MEMORY_BYTES = 2 ** 34;
/** Nodes have been up for up to a month. */
const LONGEST_UP_MS = 30 * 86_400_000;
/** Slurm's own default. */
const KILL_WAIT_MS = 30_000;
const UIDS: Readonly<Record<string, number>> = { root: 0, ada: 1001, bob: 1002, eve: 1003 };
const CONFIG = "/etc/tutti.json";
/** What the judge knows of them. */
const UNITS = { gpu: ["0", "1"], licence: ["l0", "l1", "l2"] };

export function makeSite(setting: Setting, { programs, sqlite, Buffer }: WorldParts, hooks: SiteHooks) {
  const random = new Draws(setting.seed).fork("site");
  const timeline = new WorldTimeline(random.fork("timeline"));
  const hash = new TraceHash();
  const trace = (line: string): void => {
    const whole = `${timeOf(timeline.nowUs)} ${line}`;
    hash.add(whole);
    hooks.log?.(whole);
  };
  const { cluster } = setting;
  const serverMs = () => trueMs(timeline.nowUs);
  const home = cluster && createSharedSystem(serverMs, CAPACITY_BYTES);
  const options = {
    timeline,
    unixMsAtZero: EPOCH_MS,
    memoryBytes: MEMORY_BYTES,
    pidMax: setting.pidMax,
    users: Object.entries(UIDS).map(([name, uid]) => ({ name, uid })),
    makeFiles(given: Pick<Parameters<typeof createFiles>[0], "random" | "unixMs">) {
      const made = createFiles({ ...given, capacityBytes: CAPACITY_BYTES, isLax: setting.isLaxDisk });
      if (home !== undefined) made.mountShared("/home", home);
      return made;
    },
  };
  const machine = createMachine({
    ...options,
    name: cluster === undefined ? "home" : "login",
    random: random.fork("machine"),
    cpus: setting.cpus,
    groups: setting.groups,
  });
  const nodes = (cluster?.nodes ?? []).map((cpus, i) => {
    const own = random.fork(`n${i + 1}`);
    return createMachine({
      ...{ ...options, name: `n${i + 1}`, random: own, cpus, upMsAtZero: own.below(LONGEST_UP_MS) },
      groups: cluster!.tracksByGroups ? own.pick(["v2", "v1"] as const) : "none",
    });
  });
  const machines = [machine, ...nodes];
  const lan = new Lan(timeline, random.fork("lan"));
  const files = machine.files as SimulatedFiles;
  const root = files.asRoot();
  for (const each of machines) installShell(each);
  sqlite.begin(random.fork("sqlite"));
  const instantiate = instantiator(programs, Buffer);
  const world: NodeWorld = {
    timeline,
    network: new Network(timeline, random.fork("network")),
    Buffer,
    sqlite,
    programs: new Map(),
    running: undefined,
    isTouched: false,
    instantiate: (name, env) => instantiate(name, env),
    portsFor: portsOf,
    doors: (program) => ({
      serving: (served: Served) => hooks.serving(program, served),
    }),
    onFailure: (program, error) => hooks.failed(program, error),
  };
  for (const each of machines)
    each.installBody("/usr/bin/node", (process: Process) => new NodeProgram(world, process));
  const slurm =
    cluster &&
    new SimulatedSlurm({
      ...{ timeline, lan, nodes, trace, random: random.fork("slurm") },
      ...{ slurmdTimeoutMs: cluster.slurmdTimeoutMs, killWaitMs: KILL_WAIT_MS },
    });
  if (slurm !== undefined) for (const each of machines) installSlurm(slurm, each, serverMs);
  const openDatabase = (path: string) => {
    const { DatabaseSync } = sqlite.forProcess({ files, who: root, unixMs: () => EPOCH_MS, soon() {} });
    return new DatabaseSync(path);
  };
  const namesIn = (path: string, on: Machine = machine): string[] => {
    try {
      return on.files.readFolder(root, path).map(({ name }) => name);
    } catch {
      return [];
    }
  };
  const state = cluster === undefined ? "/var/lib/tutti" : `/home/${setting.users[0]}/tutti`;
  const startTutti = (...words: readonly string[]) =>
    machine.start(undefined, {
      argv: ["/usr/bin/node", ...words],
      environment: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
      isDetached: true,
      ...(cluster !== undefined && { uid: UIDS[setting.users[0]], gid: UIDS[setting.users[0]] }),
    });
  const jobs = `${state}/jobs`;
  machine.makeFolder("/var");
  machine.makeFolder("/var/lib");
  machine.writeFile(CONFIG, JSON.stringify(configOf(setting)), cluster === undefined ? 0o600 : 0o644);

  return {
    timeline,
    machine,
    /** Of the cluster. */
    nodes,
    machines,
    lan,
    slurm,
    files,
    root,
    state,
    trace,
    disk: diskOf(home ?? files.disk),
    world,
    hash: () => hash.text,
    stores: programs.stores,
    read: (path: string, on: SimulatedMachine = machine) => readText(on, root, path),
    readBytes: (path: string) => readBytes(machine, root, path),
    uidOf: (user: string) => UIDS[user] ?? 0,
    install(path: string, program: Program) {
      for (const each of machines) each.install(path, program);
    },
    boot: () => machine.boot(),
    startServe: () => startTutti("/tutti/serve.js", state, CONFIG, ...pilotWords(cluster)),
    startBackup: (file: string) => startTutti("/tutti/backup.js", state, file),
    programOf: (process: Process): RunningProgram => world.programs.get(process)!,
    /** What shims have claimed, by the links in their folders. */
    claims: () =>
      namesIn(jobs).flatMap((job) =>
        namesIn(`${jobs}/${job}`).flatMap((attempt) => {
          const folder = `${jobs}/${job}/${attempt}`;
          const tasks =
            cluster === undefined ? [] : namesIn(`${folder}/tasks`).map((rank) => `tasks/${rank}/`);
          return ["", ...tasks].flatMap((task) => {
            try {
              const [boot, pid, ticks] = files.readLink(root, `${folder}/${task}claim`).split(":");
              const on = machines.find(({ bootId }) => bootId === boot);
              const process = on?.processes.get(Number(pid));
              const isIt = process?.startTicks === Number(ticks);
              return isIt ? [{ process, job: Number(job), attempt: Number(attempt) }] : [];
            } catch {
              return [];
            }
          });
        }),
      ),
    /**
     * Gangs with processes that nothing holds, and the CPUs that these may use.
     * @param leastMs processes that are younger do not count
     */
    *runningGangs(
      on: SimulatedMachine = machine,
      leastMs = 0,
    ): Generator<{ readonly name: string; readonly cpus: ReadonlySet<number> }> {
      const gangs = new Map<string, Set<number>>();
      const youngUs = (on.clock.bootMs() - leastMs) * 1000;
      for (const process of on.processes.values()) {
        const name = gangOf(process);
        // It only waits, and is never stopped (conductor/freezers/signals.ts).
        if (process.name === "srun" || (leastMs > 0 && process.startUs > youngUs)) continue;
        if (name === undefined || process.end !== undefined || process.held !== 0 || process.isKilled)
          continue;
        const cpus = gangs.get(name) ?? new Set();
        gangs.set(name, cpus);
        for (const cpu of on.cpusOf(process)) cpus.add(cpu);
      }
      for (const [name, cpus] of gangs) yield { name, cpus };
    },
    /** Gangs with processes that were stopped or frozen. */
    stoppedGangs(): Set<string> {
      const stopped = new Set<string>();
      for (const process of machine.processes.values()) {
        const name = gangOf(process);
        if (name !== undefined && process.end === undefined && (process.held & STANDS) !== 0)
          stopped.add(name);
      }
      return stopped;
    },
    /** Groups of gangs that are left. */
    gangGroups: () =>
      ["/sys/fs/cgroup", "/sys/fs/cgroup/freezer"].flatMap((base) =>
        namesIn(base)
          .filter((name) => name.startsWith("tutti-"))
          .flatMap((own) =>
            namesIn(`${base}/${own}`)
              .filter((gang) => /^\d+\.\d+$/.test(gang))
              .map((gang) => `${own}/${gang}`),
          ),
      ),
    /** Attempts that have processes as far as the store on the disk knows. */
    attemptsInStore(): { readonly job: number; readonly attempt: number; readonly state: JobState }[] {
      // In a copy: the first who opens it after a power cut would make it whole again.
      const copy = "/root-store.db";
      machine.writeFile(copy, readBytes(machine, root, `${state}/tutti.db`), 0o600);
      const log = files.statIfThere(root, `${state}/tutti.db-wal`, true);
      const bytes = log === undefined ? new Uint8Array(0) : readBytes(machine, root, `${state}/tutti.db-wal`);
      machine.writeFile(`${copy}-wal`, bytes, 0o600);
      const database = openDatabase(copy);
      try {
        return database
          .prepare("SELECT job, attempt, state FROM jobs")
          .all()
          .map(({ job, attempt, state }) => ({
            ...{ job: Number(job), attempt: Number(attempt), state: String(state) as JobState },
          }))
          .filter(({ state }) => hasProcess(state));
      } finally {
        database.close();
      }
    },
    openStore: () => openDatabase(`${state}/tutti.db`),
    /** Problems of the store as it is on the disk. */
    checkStore: (): string[] => {
      const database = openDatabase(`${state}/tutti.db`);
      try {
        const rows = [
          ...database.prepare("PRAGMA integrity_check").all(),
          ...database.prepare("PRAGMA foreign_key_check").all(),
        ];
        const texts = rows.map((row) => String(Object.values(row)[0]));
        const damages = texts.filter((text) => text !== "ok").map((text) => `the store is damaged: ${text}`);
        return damages.length > 0 ? damages : miscounts(database);
      } finally {
        database.close();
      }
    },
    close() {
      for (const each of machines) each.cutPower();
    },
  };
}

/** The words of the front end that ask for pilots. */
function pilotWords(cluster: ClusterSetting | undefined): string[] {
  return cluster === undefined ? [] : [JSON.stringify(cluster.pilots)];
}

function readText(machine: Machine, root: Caller, path: string): string | undefined {
  try {
    return new TextDecoder().decode(readBytes(machine, root, path));
  } catch {
    return undefined;
  }
}

/** @throws SysError */
function readBytes({ files }: Machine, root: Caller, path: string): Uint8Array {
  const descriptor = files.open(root, path, 0);
  const bytes = new Uint8Array(files.fstat(root, descriptor).size);
  const count = files.read(root, descriptor, bytes);
  files.close(root, descriptor);
  return bytes.subarray(0, count);
}

const STANDS = STOPPED | FROZEN_V1 | FROZEN_V2;

/** Name of the gang that a process belongs to, by its mark. */
function gangOf({ environment }: Process): string | undefined {
  return environment.TUTTI_GANG?.split("/")[1];
}

/** How the disk can be spoilt, and made right again. */
export type Disk = ReturnType<typeof diskOf>;

function diskOf(disk: FileDisk) {
  return {
    breakAfter: (count: number, onBreak: () => void) => disk.breakAfter(count, onBreak),
    mend: () => disk.mend(),
    spoil(how: "full" | "read-only" | "broken") {
      if (how === "full") disk.setCapacity(0);
      else if (how === "read-only") disk.setReadOnly(true);
      else {
        disk.failNext("write", 3);
        disk.failNext("sync", 2);
      }
    },
    repair() {
      disk.setCapacity(CAPACITY_BYTES);
      disk.setReadOnly(false);
      disk.failNext("write", 0);
      disk.failNext("sync", 0);
    },
  };
}

function configOf({ policy, mode, slotMs, maxRows, graceMs, runningJobs, cluster }: Setting) {
  return {
    ...{ policy, mode, slotMs, maxRows, graceMs },
    ...(cluster === undefined && { resources: UNITS }),
    ...(runningJobs !== undefined && { limits: { runningJobs } }),
  };
}

/** FNV-1a of 64 bits in two halves, over all lines: fast, and the same everywhere. */
class TraceHash {
  #a = 0x811c9dc5;
  #b = 0x1b873593;

  add(line: string): void {
    for (let i = 0; i <= line.length; i++) {
      const code = i < line.length ? line.charCodeAt(i) : 10;
      this.#a = Math.imul(this.#a ^ code, 0x01000193);
      this.#b = Math.imul(this.#b ^ (code + i), 0x85ebca6b) ^ (this.#b >>> 13);
    }
  }

  get text(): string {
    return [this.#a, this.#b].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  }
}
