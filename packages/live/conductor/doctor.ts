/**
 * Measures what the conductor can do on this machine, and how fast, with a gang of busy loops: one per CPU,
 * up to four.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { readText } from "@tutti/host/files.ts";
import { allowedCpus } from "@tutti/host/machine.ts";
import { type ChildProcess, spawn } from "@tutti/host/ports/child-process.ts";
import { once } from "@tutti/host/ports/events.ts";
import { existsSync, mkdtempSync, rmSync } from "@tutti/host/ports/fs.ts";
import { availableParallelism, loadavg, tmpdir } from "@tutti/host/ports/os.ts";
import { join } from "@tutti/host/ports/path.ts";
import { identityOf } from "@tutti/host/processes.ts";
import { OWN_ENVIRONMENT, SYSTEM_PATH } from "@tutti/host/surroundings.ts";
import { countOf, placesOf } from "@tutti/host/topology.ts";
import type { FreezerKind } from "@tutti/protocol/attempts.ts";
import { quantile, SlotClock, SwitchRecord } from "./clock.ts";
import { type Containment, FREEZER_KINDS, openContainment } from "./freezers/open-containment.ts";
import { MARK_VARIABLE } from "./freezers/signals.ts";
import { type ClockPriority, leavePriority, takePriority } from "./priority.ts";
import { type ConcurrentMeans, concurrentMeans } from "./shares.ts";

const GANG = "1.1";
const MAX_BURNERS = 4;
const REPETITIONS = 25;
const JITTER_SLOT_MS = 50;
const JITTER_SLOTS = 40;
/** An effect that is not seen within this time counts as missed. */
const PATIENCE_MS = 200;

export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

export interface Diagnosis {
  readonly freezers: readonly FreezerKind[];
  /** The freezer that will be used. */
  readonly freezer: FreezerKind;
  readonly cpus: number;
  /** The CPUs that this process may use. */
  readonly cores: { readonly sockets: number; readonly cores: number; readonly cpus: number };
  readonly pinning: "cpuset" | "taskset" | "none";
  readonly memoryLimit: boolean;
  readonly processLimit: boolean;
  /** How gangs of other rows can run at low priority. */
  readonly concurrentMode: ConcurrentMeans;
  readonly users: "all" | "own";
  readonly priority: ClockPriority;
  /** Times in µs since the call. */
  readonly switching: {
    readonly processes: number;
    readonly stopCallUs: Spread;
    readonly stoppedUs: Spread;
    readonly continueCallUs: Spread;
    readonly runsUs: Spread;
    /** How often the effect was not seen within 200 ms because the machine was busy. */
    readonly missed: number;
  };
  /** Lateness of the boundaries of 50 ms slots while the gang runs, in ms. */
  readonly clock: { readonly lateP50Ms: number; readonly lateP99Ms: number; readonly lateMaxMs: number };
  /** Load average of the last minute before the measurement. */
  readonly load: number;
}

/** Takes about three seconds. */
export async function diagnose(): Promise<Diagnosis> {
  const home = mkdtempSync(join(tmpdir(), "tutti-doctor-"));
  const load = loadavg()[0] ?? 0;
  try {
    const freezers = FREEZER_KINDS.filter((kind) => {
      const containment = openContainment(home, kind);
      containment?.groups.close();
      return containment !== undefined;
    });
    const containment = openContainment(home);
    if (containment === undefined) throw new Error("Signals always work");
    const { freezer, groups } = containment;
    const concurrentMode = concurrentMeans(groups);
    const priority = takePriority();
    const burners = await startBurners(containment);
    try {
      const clock = await measureClock();
      const places = placesOf(allowedCpus());
      const switching = measureSwitching(containment, burners);
      return {
        freezers,
        freezer: freezer.kind,
        cpus: availableParallelism(),
        cores: {
          sockets: countOf(places, "socket"),
          cores: countOf(places, "core"),
          cpus: places.length,
        },
        pinning: groups.of("cpuset") !== undefined ? "cpuset" : hasTaskset() ? "taskset" : "none",
        memoryLimit: groups.of("memory") !== undefined,
        processLimit: groups.of("pids") !== undefined,
        concurrentMode,
        users: process.getuid?.() === 0 ? "all" : "own",
        priority,
        switching,
        clock,
        load,
      };
    } finally {
      leavePriority();
      await endBurners(containment, burners);
    }
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** How gangs could run at low priority with that freezer, or with the best one. Takes up to half a second. */
export function concurrentMeansHere(freezer?: FreezerKind): ConcurrentMeans {
  const home = mkdtempSync(join(tmpdir(), "tutti-means-"));
  const containment = openContainment(home, freezer);
  try {
    return containment === undefined ? "none" : concurrentMeans(containment.groups);
  } finally {
    containment?.groups.close();
    rmSync(home, { recursive: true });
  }
}

/** Starts busy loops. The kernel ends them after 20 s of CPU time, in case this process is killed. */
async function startBurners({ freezer, groups, marks }: Containment): Promise<ChildProcess[]> {
  const shim = identityOf(process.pid);
  const burners: ChildProcess[] = [];
  groups.make(GANG);
  while (burners.length < Math.min(MAX_BURNERS, availableParallelism())) {
    const child = spawn("/bin/sh", ["-c", "ulimit -t 20; while :; do :; done"], {
      stdio: "ignore",
      env: { ...OWN_ENVIRONMENT, [MARK_VARIABLE]: `${marks}${GANG}` },
    });
    burners.push(child);
    const job = identityOf(child.pid ?? 0);
    if (shim === undefined || job === undefined) continue;
    freezer.enter(GANG, shim, job);
    await groups.join(GANG, job.pid);
  }
  return burners;
}

async function endBurners({ freezer, groups }: Containment, burners: readonly ChildProcess[]): Promise<void> {
  freezer.thaw(GANG);
  const running = burners.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  const ends = running.map((burner) => once(burner, "exit"));
  for (const burner of burners) burner.kill("SIGKILL");
  await Promise.all(ends);
  groups.remove(GANG);
  groups.close();
}

async function measureClock(): Promise<Diagnosis["clock"]> {
  const record = new SwitchRecord();
  let slots = 0;
  await new Promise<void>((resolve) => {
    const clock = new SlotClock(monotonicMs(), JITTER_SLOT_MS, (slot, lateMs, skipped) => {
      record.record(slot, lateMs, 0, skipped);
      slots += 1 + skipped;
      if (slots < JITTER_SLOTS) return;
      clock.stop();
      resolve();
    });
    clock.start();
  });
  const { lateP50Ms = 0, lateP99Ms = 0, lateMaxMs = 0 } = record.take() ?? {};
  return { lateP50Ms, lateP99Ms, lateMaxMs };
}

function measureSwitching(
  { freezer }: Containment,
  burners: readonly ChildProcess[],
): Diagnosis["switching"] {
  const stopCall: number[] = [];
  const stopped: number[] = [];
  const continueCall: number[] = [];
  const runs: number[] = [];
  const pids = burners.map(({ pid }) => pid ?? 0);
  let missed = 0;
  const see = (from: number, into: number[], condition: () => boolean) => {
    while (!condition()) {
      if (monotonicMs() - from > PATIENCE_MS) {
        missed++;
        return;
      }
      // Sleep for a moment: at real-time priority, polling would prevent the process that we wait for from
      // running.
      Atomics.wait(cell, 0, 0, 0.02);
    }
    into.push((monotonicMs() - from) * 1000);
  };
  for (let i = 0; i < REPETITIONS; i++) {
    let from = monotonicMs();
    freezer.freeze(GANG);
    stopCall.push((monotonicMs() - from) * 1000);
    see(from, stopped, () => freezer.isFrozen(GANG));
    const before = pids.map(cpuNs);
    from = monotonicMs();
    freezer.thaw(GANG);
    continueCall.push((monotonicMs() - from) * 1000);
    see(from, runs, () => pids.some((pid, index) => cpuNs(pid) !== before[index]));
    Atomics.wait(cell, 0, 0, 10);
  }
  return {
    processes: burners.length,
    stopCallUs: spread(stopCall),
    stoppedUs: spread(stopped),
    continueCallUs: spread(continueCall),
    runsUs: spread(runs),
    missed,
  };
}

const cell = new Int32Array(new SharedArrayBuffer(4));

/** CPU time so far in ns; exact whenever the kernel switches. */
function cpuNs(pid: number): string {
  return readText(`/proc/${pid}/schedstat`, "latin1")?.split(" ", 1)[0] ?? "";
}

function spread(values: number[]): Spread {
  const ascending = values.sort((a, b) => a - b);
  return { p50: quantile(ascending, 0.5), p95: quantile(ascending, 0.95), max: ascending.at(-1) ?? 0 };
}

function hasTaskset(): boolean {
  return SYSTEM_PATH.split(":").some((folder) => existsSync(join(folder, "taskset")));
}
