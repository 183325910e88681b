/**
 * A program of Tutti in a simulated process: its own instance of the code, whose `process`, timers, `Date`,
 * `console` and built-in modules are those of the world. Everything that happens to it passes through `run`,
 * which the machine lets happen only while the process may run.
 */
import type { Body, Machine, Process, Random } from "../world/contract.ts";
import { childProcessesOf } from "./child-process.ts";
import { EventEmitter } from "./events.ts";
import { openStandard } from "./pipes.ts";
import { nameOf } from "./programs.ts";
import type { Step, Stepper } from "./steps.ts";
import type { Stream } from "./streams.ts";
import { timersOf } from "./timers.ts";
import { workersOf } from "./worker-threads.ts";
import type { NodeWorld, ProgramEnv, RunningProgram } from "./world.ts";

/** Thrown by `process.exit`, which never returns, and where the process is killed in the middle of a call. */
const EXIT = Symbol("exit");

/** Node's exit code if a listener to exceptions throws one. */
const LISTENER_FAILED = 7;
/** Node itself needs this long before the program begins. */
const LEAST_BOOT_MS = 25;
const USUAL_BOOT_MS = 40;

export class NodeProgram implements Body, RunningProgram {
  readonly process: Process;
  readonly machine: Machine;
  readonly world: NodeWorld;
  readonly random: Random;
  /** What the program sees as `process`. */
  readonly view: ProcessView;
  onStep: ((step: Step) => void) | undefined;
  readonly steps = new Set<Step>();
  readonly #ends: (() => void)[] = [];
  #isOver = false;
  /** It is listening to a failure of its own. */
  #isFailing = false;

  constructor(world: NodeWorld, process: Process) {
    this.world = world;
    this.process = process;
    this.machine = process.machine;
    this.random = this.machine.random;
    this.view = new ProcessView(this);
    world.programs.set(process, this);
    const bootMs = LEAST_BOOT_MS + this.random.unit() * USUAL_BOOT_MS;
    this.machine.clock.at(this.machine.clock.monotonicMs() + bootMs, () =>
      this.run(() => void this.#main(nameOf(process.argv[1] ?? ""))),
    );
  }

  get clock() {
    return this.machine.clock;
  }

  /** Runs one of the world's programs in this process. @param parentPort of a thread */
  async #main(name: string, parentPort?: EventEmitter): Promise<void> {
    try {
      await this.world.instantiate(name, this.#env(parentPort));
    } catch (error) {
      this.failed(error);
    }
  }

  /** Runs a program as a thread of this process. */
  startThread(name: string, parentPort: EventEmitter): void {
    this.run(() => void this.#main(name, parentPort));
  }

  run(call: () => void): void {
    if (this.#isOver) return;
    this.machine.deliver(this.process, () => {
      this.world.running = this;
      this.world.isTouched = true;
      try {
        call();
      } catch (error) {
        this.failed(error);
      }
    });
  }

  soon = (call: () => void): void => {
    this.world.timeline.at(this.world.timeline.nowUs, () => this.run(call));
  };

  toBytes = (chunk: string | Uint8Array): Uint8Array =>
    typeof chunk === "string" ? this.world.Buffer.from(chunk) : chunk;

  step: Stepper = (step, call) => {
    if (!this.#isEnding) this.onStep?.(step);
    if (this.#isEnding) throw EXIT;
    this.steps.add(step);
    const result = call();
    this.onStep?.(step);
    if (this.#isEnding) throw EXIT;
    return result;
  };

  /** It does nothing more: also a killed process takes a moment to end. */
  get #isEnding(): boolean {
    return this.#isOver || this.process.isKilled;
  }

  /** What `process.kill` does. */
  kill(pid: number, signal: string | number): true {
    const name = signal === 0 ? "0" : String(signal);
    if (name === "0") this.machine.kill(pid, name, this.process);
    else this.step("signal", () => this.machine.kill(pid, name, this.process));
    return true;
  }

  onEnd(call: () => void): void {
    if (this.#isOver) call();
    else this.#ends.push(call);
  }

  signal(name: string): boolean {
    if (this.view.listenerCount(name) === 0) return false;
    this.run(() => this.view.emit(name, name));
    return true;
  }

  ended(): void {
    this.#isOver = true;
    this.world.programs.delete(this.process);
    for (const call of this.#ends.splice(0)) call();
    this.world.sqlite.processEnded(this.process);
  }

  exit(code: number): never {
    if (!this.#isOver) {
      this.view.emit("exit", code);
      this.machine.exit(this.process, code);
    }
    throw EXIT;
  }

  /** An exception, or a promise that nobody handles. */
  failed(error: unknown, kind: "uncaughtException" | "unhandledRejection" = "uncaughtException"): void {
    if (error === EXIT || this.#isOver) return;
    this.world.onFailure(this, error);
    if (this.#isFailing || this.view.listenerCount(kind) === 0) {
      this.print(2, [error]);
      this.machine.exit(this.process, this.#isFailing ? LISTENER_FAILED : 1);
      return;
    }
    this.run(() => {
      this.#isFailing = true;
      this.view.emit(kind, error);
      this.#isFailing = false;
    });
  }

  /** Writes a line as `console` does. Errors have no stack: it would differ between engines. */
  print(descriptor: number, values: readonly unknown[]): void {
    if (this.#isOver) return;
    try {
      const text = `${values.map(textOf).join(" ")}\n`;
      this.machine.files.write(this.process, descriptor, this.toBytes(text));
    } catch {
      // As Node's console, which ignores errors of its stream.
    }
  }

  #env(parentPort?: EventEmitter): ProgramEnv {
    const { world, machine, process } = this;
    const { clock } = machine;
    const log =
      (descriptor: number) =>
      (...values: unknown[]) =>
        this.print(descriptor, values);
    return {
      process: this.view,
      ...timersOf(this),
      Date: dateOf(() => clock.unixMs()),
      console: { log: log(1), info: log(1), debug: log(1), error: log(2), warn: log(2) },
      Buffer: world.Buffer,
      performance: { now: () => clock.monotonicMs(), timeOrigin: 0 },
      world: world.doors(this),
      ports: {
        ...world.portsFor(this),
        net: world.network.portFor(this),
        sqlite: {
          ...world.sqlite.forProcess({
            ...{ files: machine.files, who: process, soon: this.soon, step: this.step },
            unixMs: () => machine.clock.unixMs(),
          }),
        },
        "child-process": childProcessesOf(this),
        "worker-threads": workersOf(this, parentPort),
      },
    };
  }
}

/** `process` of a program. */
class ProcessView extends EventEmitter {
  readonly #program: NodeProgram;
  exitCode: number | undefined;
  readonly execPath = "/usr/bin/node";
  readonly execArgv: readonly string[] = [];
  readonly platform = "linux";
  readonly arch = "x64";
  readonly version = "v26.0.0";
  readonly versions = { node: "26.0.0" };
  /** Set if the process has a channel to its parent. */
  send: ((message: unknown, call?: (error: Error | null) => void) => boolean) | undefined;
  disconnect: (() => void) | undefined;
  connected = false;
  #stdin: Stream | undefined;
  #stdout: Stream | undefined;
  #stderr: Stream | undefined;
  #title = "node";

  constructor(program: NodeProgram) {
    super();
    this.#program = program;
  }

  get #process(): Process {
    return this.#program.process;
  }

  get pid(): number {
    return this.#process.pid;
  }
  get ppid(): number {
    return this.#process.parent;
  }
  get argv(): readonly string[] {
    return [this.execPath, ...this.#process.argv.slice(1)];
  }
  get env(): Readonly<Record<string, string>> {
    return this.#process.environment;
  }
  get title(): string {
    return this.#title;
  }
  set title(title: string) {
    this.#title = title;
    this.#process.argv = [title];
    this.#process.name = title.slice(0, 15);
  }

  get stdin(): Stream {
    this.#stdin ??= openStandard(this.#program, 0);
    return this.#stdin;
  }
  get stdout(): Stream {
    this.#stdout ??= openStandard(this.#program, 1);
    return this.#stdout;
  }
  get stderr(): Stream {
    this.#stderr ??= openStandard(this.#program, 2);
    return this.#stderr;
  }

  exit = (code: number | undefined = this.exitCode): never => this.#program.exit(code ?? 0);
  getuid = (): number => this.#process.uid;
  geteuid = (): number => this.#process.uid;
  getgid = (): number => this.#process.gid;
  getegid = (): number => this.#process.gid;
  cwd = (): string => this.#program.machine.files.pathOf(this.#process.cwd);
  chdir = (path: string): void => {
    this.#process.cwd = this.#program.machine.files.find(this.#process, path);
  };
  umask = (mask?: number): number => {
    const before = this.#process.umask;
    if (mask !== undefined) this.#process.umask = mask;
    return before;
  };
  kill = (pid: number, signal: string | number = "SIGTERM"): true => this.#program.kill(pid, signal);
  hrtime = Object.assign(() => [0, 0], {
    bigint: (): bigint => BigInt(Math.round(this.#program.clock.monotonicMs() * 1e6)),
  });
  uptime = (): number => this.#program.clock.monotonicMs() / 1000;
  constrainedMemory = (): number => 0;
  memoryUsage = Object.assign(() => ({ rss: 1e8, heapUsed: 5e7, heapTotal: 8e7, external: 0 }), {
    rss: () => 1e8,
  });
  resourceUsage = () => ({ userCPUTime: this.#process.cpuUs, systemCPUTime: 0 });
  cpuUsage = () => ({ user: this.#process.cpuUs, system: 0 });
  emitWarning = (): void => {};
  nextTick = (call: (...args: unknown[]) => void, ...args: unknown[]): void =>
    this.#program.soon(() => call(...args));
}

/** `Date` on the machine's clock. */
function dateOf(nowMs: () => number): DateConstructor {
  return class extends Date {
    constructor(...args: []) {
      if (args.length === 0) super(nowMs());
      else super(...args);
    }
    static override now(): number {
      return Math.floor(nowMs());
    }
  } as DateConstructor;
}

function textOf(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
