/** A machine with its timeline, for tests: files as texts, and programs without names. */
import type { Caller, Process, Program, StartOptions } from "../contract.ts";
import { createFiles } from "../files/files.ts";
import { Draws } from "../random.ts";
import { WorldTimeline } from "../timeline.ts";
import { createMachine, type MachineOptions, type SimulatedMachine } from "./machine.ts";
import type { KernelProcess } from "./process.ts";

const O_RDWR = 2;
const ANN = 1000;

export class Bench {
  readonly timeline: WorldTimeline;
  readonly machine: SimulatedMachine;
  #programs = 0;

  constructor(options: Partial<MachineOptions> & { readonly seed?: number } = {}) {
    this.timeline = new WorldTimeline(new Draws(options.seed ?? 1));
    this.machine = createMachine({
      name: "alpha",
      timeline: this.timeline,
      random: this.timeline.random.fork("alpha"),
      cpus: 4,
      memoryBytes: 2 ** 33,
      users: [
        { name: "ann", uid: ANN },
        { name: "ben", uid: ANN + 1 },
      ],
      groups: "v2",
      unixMsAtZero: 1_700_000_000_000,
      makeFiles: (options) => createFiles({ ...options, capacityBytes: 1e9 }),
      ...options,
    });
    // What a program of a test expects.
    this.machine.onCrash = (_, error) => {
      throw error;
    };
  }

  /** Lets time pass. */
  run(ms: number): void {
    const untilUs = this.timeline.nowUs + ms * 1000;
    while (this.timeline.step(untilUs));
    this.timeline.nowUs = untilUs;
  }

  read(path: string, who: Caller = this.machine.root): string {
    const { files } = this.machine;
    const descriptor = files.open(who, path, 0);
    try {
      const bytes = new Uint8Array(65_536);
      return new TextDecoder().decode(bytes.subarray(0, files.read(who, descriptor, bytes)));
    } finally {
      files.close(who, descriptor);
    }
  }

  write(path: string, text: string | number, who: Caller = this.machine.root): void {
    const { files } = this.machine;
    const descriptor = files.open(who, path, O_RDWR);
    try {
      files.write(who, descriptor, new TextEncoder().encode(String(text)));
    } finally {
      files.close(who, descriptor);
    }
  }

  /** A child of init, or of another process. */
  start(program: Program, options: Partial<StartOptions> = {}, parent?: Process): KernelProcess {
    const path = `/bin/program${++this.#programs}`;
    this.machine.install(path, program);
    return this.machine.start(parent, { argv: [path], environment: {}, ...options });
  }

  /** The letter that /proc shows; "" if there is no such process. */
  state({ pid }: Process): string {
    return this.machine.processes.has(pid) ? this.read(`/proc/${pid}/stat`).split(") ")[1].charAt(0) : "";
  }

  /** Makes a control group, with these processes in it. */
  group(path: string, ...processes: readonly Process[]): string {
    const mount = path.startsWith("/") ? path : `/sys/fs/cgroup/${path}`;
    this.machine.files.makeFolder(this.machine.root, mount);
    for (const { pid } of processes) this.write(`${mount}/cgroup.procs`, pid);
    return mount;
  }
}

/** Computes for ever. */
export const burn: Program = function* () {
  for (;;) yield { for: "work", us: 10_000 };
};

/** Sleeps for ever. */
export const sleepOn: Program = function* () {
  for (;;) yield { for: "time", us: 10_000 };
};

/** The code of the error that a call throws; undefined: it throws none. */
export function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error);
  }
}
