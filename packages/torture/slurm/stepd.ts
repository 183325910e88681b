/**
 * slurmstepd: starts the tasks of a step on its node, carries their standard streams, and reports how they
 * end. If it is killed, its tasks go on, and nobody hears of it.
 */
import type { Body, OpenFile, Process, ProcessEnd } from "../world/contract.ts";
import type { LanEnd, Peer } from "../world/lan.ts";
import type { Containers } from "./containers.ts";
import type { StepMessage, StepPart } from "./steps.ts";
import { readAll, soon, Writer } from "./streams.ts";

const O_RDWR = 2;
const O_APPEND_CREATE = 0o2101;
const NEW_LINE = 10;
/** What its tasks have left is killed and has written its last within this time. */
const LEFT_MS = 200;

export class Stepd implements Body, Peer<StepMessage> {
  readonly process: Process;
  readonly part: StepPart;
  readonly #containers: Containers;
  readonly #onEnd: (isDone: boolean) => void;
  #wire: LanEnd<StepMessage> | undefined;
  readonly #inputs: Writer[] = [];
  #early: StepMessage[] = [];
  #left = 0;
  #hasBegun = false;
  #isDone = false;

  /** @param onEnd called with whether all its tasks have ended */
  constructor(process: Process, part: StepPart, containers: Containers, onEnd: (isDone: boolean) => void) {
    this.process = process;
    this.part = part;
    this.#containers = containers;
    this.#onEnd = onEnd;
    soon(process, () => this.#begin(), 3 + 15 * process.machine.random.unit());
  }

  /** Connects it with its srun. */
  join(wire: LanEnd<StepMessage>): void {
    this.#wire = wire;
  }

  signal(): boolean {
    // Slurm ends it by other ways.
    return true;
  }

  ended(): void {
    this.#wire?.close();
    this.#onEnd(this.#isDone);
  }

  receive(message: StepMessage): void {
    if (!this.#hasBegun) this.#early.push(message);
    else if (message.type === "input") for (const input of this.#inputs) input.write(message.bytes);
    else if (message.type === "end of input") for (const input of this.#inputs) input.finish();
  }

  /** Its tasks go on; what they write is lost. */
  closed(): void {
    this.#wire = undefined;
    for (const input of this.#inputs) input.finish();
  }

  broken(): void {
    this.closed();
  }

  #begin(): void {
    this.#left = this.part.tasks.size;
    for (const [rank, variables] of this.part.tasks) this.#start(rank, variables);
    this.#hasBegun = true;
    for (const message of this.#early.splice(0)) this.receive(message);
  }

  #start(rank: number, environment: Readonly<Record<string, string>>): void {
    const { process, part } = this;
    const { machine } = process;
    const { files } = machine;
    const given = new Map<number, OpenFile>();
    const theirs: number[] = [];
    const give = (descriptor: number, own: number) => {
      theirs.push(own);
      given.set(descriptor, process.files.get(own)!);
    };
    const outputs: [descriptor: 1 | 2, own: number][] = [];
    let input: Writer | undefined;
    try {
      for (const descriptor of [0, 1, 2] as const) {
        if (descriptor > 0 && part.output !== undefined)
          give(
            descriptor,
            files.open({ ...callerOf(process, part), files: process.files }, part.output, O_APPEND_CREATE),
          );
        else if (!part.carries.includes(descriptor))
          give(descriptor, files.open(process, "/dev/null", O_RDWR));
        else {
          const [read, write] = files.pipe(process);
          give(descriptor, descriptor === 0 ? read : write);
          if (descriptor === 0) input = new Writer(process, write);
          else outputs.push([descriptor, read]);
        }
      }
      const { argv, cwd, uid, gid } = part;
      const task = machine.start(process, { argv, environment, cwd, uid, gid, files: given });
      this.#containers.enter(part, task);
      machine.onChildEnd(process, task.pid, (end) => this.#ended(rank, end));
      if (input !== undefined) this.#inputs.push(input);
      for (const [descriptor, own] of outputs) this.#carry(descriptor, own);
    } catch (error) {
      for (const [, own] of outputs) files.close(process, own);
      input?.finish();
      const bytes = new TextEncoder().encode(
        `slurmstepd: error: execve(): ${part.argv[0]}: ${(error as Error).message}\n`,
      );
      this.#wire?.send({ type: "output", descriptor: 2, bytes });
      soon(process, () => this.#ended(rank, { code: 2 }));
    } finally {
      for (const own of theirs) files.close(process, own);
    }
  }

  /** A part of a line waits until its end comes. */
  #carry(descriptor: 1 | 2, own: number): void {
    let begun: Uint8Array[] = [];
    const send = (bytes: Uint8Array) => this.#wire?.send({ type: "output", descriptor, bytes });
    readAll(
      this.process,
      own,
      (bytes) => {
        const end = bytes.lastIndexOf(NEW_LINE) + 1;
        if (end > 0) {
          for (const piece of begun) send(piece);
          send(bytes.subarray(0, end));
          begun = [];
        }
        if (end < bytes.length) begun.push(bytes.subarray(end));
      },
      () => {
        for (const piece of begun) send(piece);
      },
    );
  }

  #ended(rank: number, end: ProcessEnd): void {
    this.#wire?.send({ type: "ended", rank, end });
    if (--this.#left > 0) return;
    this.#containers.leave(this.part);
    soon(
      this.process,
      () => {
        this.#wire?.send({ type: "done" });
        this.#isDone = true;
        this.process.machine.exit(this.process, 0);
      },
      LEFT_MS,
    );
  }
}

function callerOf({ pid, umask, cwd }: Process, { uid, gid }: StepPart) {
  return { pid, uid, gid, groups: [], umask, cwd };
}
