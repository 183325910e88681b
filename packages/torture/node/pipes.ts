/** Streams of a program over descriptors: pipes to its children, and what it was started with. */
import { Stream } from "./streams.ts";
import type { RunningProgram } from "./world.ts";

/** What is read is copied before anything else reads. */
const scratch = new Uint8Array(65_536);
/** When a full pipe is tried again. */
const FULL_MS = 50;

class OneWay extends Stream {
  protected override get isOneWay(): boolean {
    return true;
  }
}

/** Reads a pipe until its writers are gone. Takes over the descriptor. */
export function readFrom(program: RunningProgram, descriptor: number): Stream {
  const { process, machine } = program;
  const { files } = machine;
  const stream = new OneWay(program.soon, program.toBytes);
  let cancel: (() => void) | undefined;
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    cancel?.();
    if (process.files.has(descriptor)) files.close(process, descriptor);
  };
  const wait = () => {
    cancel = files.whenReadable(process, descriptor, () => program.run(take));
  };
  const take = () => {
    if (!isOpen) return;
    const count = files.read(process, descriptor, scratch);
    if (count === 0) {
      stream.receiveEnd();
      return;
    }
    stream.receive(program.world.Buffer.from(scratch.subarray(0, count)));
    if (isOpen) wait();
  };
  stream.attach({ write() {}, waiting: 0, finish() {}, close });
  program.soon(() => isOpen && wait());
  return stream;
}

/** Writes into a pipe or a file. Takes over the descriptor unless it is a standard one. */
export function writeTo(program: RunningProgram, descriptor: number): Stream {
  const { process, machine } = program;
  const { files } = machine;
  const stream = new OneWay(program.soon, program.toBytes);
  const queue: Uint8Array[] = [];
  let waiting = 0;
  let isOpen = true;
  let isFinished = false;
  let isRetried = false;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    queue.length = 0;
    waiting = 0;
    if (descriptor > 2 && process.files.has(descriptor)) files.close(process, descriptor);
  };
  const flush = () => {
    isRetried = false;
    while (isOpen && queue.length > 0) {
      try {
        const count = files.write(process, descriptor, queue[0]);
        waiting -= count;
        if (count === queue[0].length) queue.shift();
        else queue[0] = queue[0].subarray(count);
      } catch (error) {
        if ((error as { code?: string }).code !== "EAGAIN") {
          stream.fail(error as Error);
          return;
        }
        if (!isRetried) machine.clock.at(machine.clock.monotonicMs() + FULL_MS, () => program.run(flush));
        isRetried = true;
        return;
      }
    }
    if (isFinished) close();
  };
  stream.attach({
    write(bytes) {
      queue.push(bytes);
      waiting += bytes.length;
      flush();
    },
    get waiting() {
      return waiting;
    },
    finish() {
      isFinished = true;
      if (queue.length === 0) close();
    },
    close,
  });
  return stream;
}

/** Standard input, output or error. */
export function openStandard(program: RunningProgram, descriptor: 0 | 1 | 2): Stream {
  const stream = descriptor === 0 ? readFrom(program, 0) : writeTo(program, descriptor);
  stream.fd = descriptor;
  return stream;
}
