/** `node:child_process` of a simulated program, as far as the live part uses it. */
import type { OpenFile, Process, ProcessEnd } from "../world/contract.ts";
import { EventEmitter } from "./events.ts";
import { readFrom, writeTo } from "./pipes.ts";
import type { Stream } from "./streams.ts";
import type { RunningProgram } from "./world.ts";

type Stdio = "ignore" | "pipe" | "inherit" | "ipc" | number | { readonly fd?: number } | undefined | null;

interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly detached?: boolean;
  readonly uid?: number;
  readonly gid?: number;
  readonly argv0?: string;
  readonly stdio?: Stdio | readonly Stdio[];
  readonly input?: string;
}

const O_RDWR = 2;
/** Failures of a start that Node reports as an event instead of throwing them. */
const TOLD_LATER = ["EACCES", "EAGAIN", "EMFILE", "ENFILE", "ENOENT"];

export function childProcessesOf(program: RunningProgram) {
  return {
    ChildProcess,
    spawn: (file: string, args: readonly string[] = [], options: SpawnOptions = {}) =>
      new ChildProcess(program, file, args, options),
    spawnSync: (file: string, args: readonly string[] = [], options: SpawnOptions = {}) =>
      spawnSync(program, file, args, options),
    execFileSync(file: string, args: readonly string[] = [], options: SpawnOptions = {}) {
      const { status, error } = spawnSync(program, file, args, options);
      if (error !== undefined) throw error;
      if (status !== 0) throw new Error(`Command failed: ${[file, ...args].join(" ")}`);
      return "";
    },
  };
}

class ChildProcess extends EventEmitter {
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: string | null = null;
  stdin: Stream | null = null;
  stdout: Stream | null = null;
  stderr: Stream | null = null;
  connected = false;
  channel: { ref(): void; unref(): void } | undefined;
  #ipc: Stream | undefined;
  readonly #program: RunningProgram;

  constructor(program: RunningProgram, file: string, args: readonly string[], options: SpawnOptions) {
    super();
    this.#program = program;
    const started = program.step("spawn", () => start(program, file, args, options));
    if ("error" in started) {
      const { error } = started;
      if (!TOLD_LATER.includes(error.code ?? "")) throw error;
      program.soon(() => this.emit("error", error));
      return;
    }
    const { process, streams, hasIpc } = started;
    this.pid = process.pid;
    [this.stdin, this.stdout, this.stderr] = [0, 1, 2].map((i) => streams.get(i) ?? null);
    if (hasIpc) this.#join(process);
    program.machine.onChildEnd(program.process, process.pid, (end) => program.run(() => this.#ended(end)));
    program.soon(() => this.emit("spawn"));
  }

  #ended(end: ProcessEnd): void {
    this.exitCode = end.code ?? null;
    this.signalCode = end.signal ?? null;
    this.emit("exit", this.exitCode, this.signalCode);
    this.#program.soon(() => this.emit("close", this.exitCode, this.signalCode));
  }

  kill(signal: string | number = "SIGTERM"): boolean {
    if (this.pid === undefined || this.exitCode !== null || this.signalCode !== null) return false;
    try {
      return this.#program.kill(this.pid, signal);
    } catch {
      return false;
    }
  }

  ref(): void {}
  unref(): void {}

  send(message: unknown, call?: (error: Error | null) => void): boolean {
    if (this.#ipc?.writable !== true) {
      const error = Object.assign(new Error("Channel closed"), { code: "ERR_IPC_CHANNEL_CLOSED" });
      this.#program.soon(() => (call === undefined ? this.emit("error", error) : call(error)));
      return false;
    }
    return this.#ipc.write(`${JSON.stringify(message)}\n`, call as (error?: Error | null) => void);
  }

  disconnect(): void {
    this.#ipc?.end();
  }

  /** Joins the channel to the program of the child, which is there before its first turn. */
  #join(process: Process): void {
    const child = this.#program.world.programs.get(process);
    if (child === undefined) return;
    const [near, far] = this.#program.world.network.pair(this.#program, child);
    this.#ipc = near;
    this.connected = true;
    this.channel = { ref() {}, unref() {} };
    onMessages(near, this);
    near.once("end", () => this.emit("disconnect"));
    near.on("close", () => {
      this.connected = false;
    });
    const { view } = child;
    onMessages(far, view);
    view.connected = true;
    view.send = (message, call) => far.write(`${JSON.stringify(message)}\n`, call as never);
    view.disconnect = () => far.end();
    far.once("end", () => {
      view.emit("disconnect");
      // In Node, a program that has begun too late to hear of it ends when it has nothing left to do.
      view.on("newListener", (name: string) => {
        if (name === "disconnect") child.soon(() => view.emit("disconnect"));
      });
    });
    far.on("close", () => {
      view.connected = false;
    });
  }
}

function onMessages(stream: Stream, receiver: EventEmitter): void {
  let text = "";
  const decoder = new TextDecoder();
  stream.on("data", (chunk: Uint8Array) => {
    const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) receiver.emit("message", JSON.parse(line));
  });
  stream.on("error", () => {});
}

interface Started {
  readonly process: Process;
  readonly streams: ReadonlyMap<number, Stream>;
  readonly hasIpc: boolean;
}

function start(
  program: RunningProgram,
  file: string,
  args: readonly string[],
  { cwd, env, detached, uid, gid, argv0, stdio = "pipe" }: SpawnOptions,
): Started | { readonly error: Error & { code?: string } } {
  const { process: parent, machine } = program;
  const { files } = machine;
  const list = Array.isArray(stdio)
    ? (stdio as readonly Stdio[])
    : [stdio, stdio, stdio].map((one) => one as Stdio);
  const given = new Map<number, OpenFile>();
  /** Our ends of pipes, and descriptors that only the child needs. */
  const ours: [index: number, descriptor: number][] = [];
  const theirs: number[] = [];
  let hasIpc = false;
  const give = (index: number, descriptor: number | undefined) => {
    const file = descriptor === undefined ? undefined : parent.files.get(descriptor);
    if (file !== undefined) given.set(index, file);
  };
  try {
    for (const [index, one] of list.entries()) {
      if (one === "ipc") hasIpc = true;
      else if (one === "inherit") give(index, index);
      else if (typeof one === "number") give(index, one);
      else if (typeof one === "object" && one !== null) give(index, one.fd);
      else if (one === "ignore" || (one !== "pipe" && index > 2)) {
        const descriptor = files.open(parent, "/dev/null", O_RDWR);
        theirs.push(descriptor);
        give(index, descriptor);
      } else {
        const [read, write] = files.pipe(parent);
        ours.push([index, index === 0 ? write : read]);
        theirs.push(index === 0 ? read : write);
        give(index, index === 0 ? read : write);
      }
    }
    const process = machine.start(parent, {
      argv: [argv0 ?? file, ...args],
      environment: definedOf(env ?? parent.environment),
      ...(cwd !== undefined && { cwd }),
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
      isDetached: detached === true,
      files: given,
    });
    const streams = new Map(
      ours.map(([index, own]) => [index, index === 0 ? writeTo(program, own) : readFrom(program, own)]),
    );
    return { process, streams, hasIpc };
  } catch (error) {
    for (const [, own] of ours) files.close(parent, own);
    return { error: spawnError(error as Error & { code?: string }, file, args) };
  } finally {
    for (const descriptor of theirs) files.close(parent, descriptor);
  }
}

function spawnError(
  error: Error & { code?: string },
  file: string,
  args: readonly string[],
): Error & { code?: string } {
  const { code } = error;
  if (code === undefined) return error;
  const syscall = `spawn ${file}`;
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall, path: file, spawnargs: args });
}

/** The child runs to its end at this instant: only short helper programs are waited for in this way. */
function spawnSync(program: RunningProgram, file: string, args: readonly string[], options: SpawnOptions) {
  const started = start(program, file, args, { ...options, stdio: "ignore" });
  if ("error" in started) return { status: null, signal: null, error: started.error, stdout: "", stderr: "" };
  const end = program.machine.runToEnd(started.process);
  return {
    pid: started.process.pid,
    status: end.code ?? null,
    signal: end.signal ?? null,
    stdout: "",
    stderr: "",
  };
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) defined[name] = value;
  return defined;
}
