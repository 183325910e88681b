/** What all programs of Tutti in a world share. */
import type { Caller, Process, Timeline } from "../world/contract.ts";
import type { Network } from "./net.ts";
import type { NodeProgram, ProgramEnv } from "./program.ts";
import type { NodeSqlite, ProcessOfDatabases } from "./sqlite.ts";

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
  readonly programs: Map<Process, NodeProgram>;
  /** The program that ran last: a promise that nobody handles is its own. */
  running: NodeProgram | undefined;
  /** A program has run since this was last set to false, and may have promises left. */
  isTouched: boolean;
  /** Evaluates a program; resolves when its first turn is over. */
  instantiate(name: string, env: ProgramEnv): Promise<void>;
  /** Built-in modules whose work depends on nothing but the machine and the process. */
  portsFor(program: NodeProgram): Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** What a program gives to the world: the front end its service. */
  doors(program: NodeProgram): Readonly<Record<string, unknown>>;
  /** A program has failed. */
  onFailure(program: NodeProgram, error: unknown): void;
}
