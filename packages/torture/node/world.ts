/** What all programs of Tutti in a world share, and what the modules of Node need of one. */
import type { Service } from "@tutti/live/daemon/contract/service.ts";
import type { Caller, Machine, MachineClock, Process, Random, Timeline } from "../world/contract.ts";
import type { Decision } from "./decisions.ts";
import type { EventEmitter } from "./events.ts";
import type { NetUser, Network } from "./net.ts";
import type { NodeSqlite, ProcessOfDatabases } from "./sqlite.ts";
import type { Step } from "./steps.ts";

/** The host's Buffer, or one like it in a browser. */
export interface Bytes {
  from(data: string | Uint8Array, encoding?: string): Uint8Array & { toString(encoding?: string): string };
  allocUnsafe(size: number): Uint8Array;
}

export interface NodeWorld {
  readonly timeline: Timeline;
  readonly network: Network;
  readonly Buffer: Bytes;
  readonly sqlite: {
    forProcess(process: ProcessOfDatabases): NodeSqlite;
    processEnded(who: Caller): void;
  };
  readonly programs: Map<Process, RunningProgram>;
  /** The program that ran last: a promise that nobody handles is its own. */
  running: RunningProgram | undefined;
  /** A program has run since this was last set to false, and may have promises left. */
  isTouched: boolean;
  /** Evaluates a program; resolves when its first turn is over. */
  instantiate(name: string, env: ProgramEnv): Promise<void>;
  /** Built-in modules whose work depends on nothing but the machine and the process. */
  portsFor(program: RunningProgram): Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** What a program gives to the world: the front end its service. */
  doors(program: RunningProgram): Readonly<Record<string, unknown>>;
  /** A program has failed. */
  onFailure(program: RunningProgram, error: unknown): void;
}

/** Everything that a program finds besides its own modules. */
export type ProgramEnv = Readonly<Record<string, unknown>> & {
  readonly ports: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** What a front end gives to the world. */
export interface Served {
  readonly service: Service;
  /** Of its policy since its start. */
  readonly decisions: readonly Decision[];
  /** How the world in its memory differs from that of its record; must be called between two cycles. */
  readonly differences: () => readonly string[];
}

export interface RunningProgram extends NetUser {
  readonly machine: Machine;
  readonly clock: MachineClock;
  readonly random: Random;
  readonly world: NodeWorld;
  readonly view: ProcessView;
  /** Kinds of steps that it has made. */
  readonly steps: ReadonlySet<Step>;
  /** Called before and after each step. It may kill the process. */
  onStep: ((step: Step) => void) | undefined;
  kill(pid: number, signal: string | number): true;
  /** Runs another program as a thread of this process. */
  startThread(name: string, parentPort: EventEmitter): void;
  /** An exception, or a promise that nobody handles. */
  failed(error: unknown, kind: "uncaughtException" | "unhandledRejection"): void;
}

/** What a program sees as `process`, as far as its parent and its modules use it. */
interface ProcessView extends EventEmitter {
  readonly cwd: () => string;
  /** The channel to its parent. */
  connected: boolean;
  send: ((message: unknown, call?: (error: Error | null) => void) => boolean) | undefined;
  disconnect: (() => void) | undefined;
}
