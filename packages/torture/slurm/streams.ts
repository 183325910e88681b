/** Descriptors of programs that are no generators: srun and slurmstepd copy between them and a connection. */
import type { Process } from "../world/contract.ts";

/** What is read is copied before anything else reads. */
const scratch = new Uint8Array(65_536);

/** Reads a pipe to its end, and takes over the descriptor. @returns ends it */
export function readAll(
  process: Process,
  descriptor: number,
  onBytes: (bytes: Uint8Array) => void,
  onEnd: () => void,
): () => void {
  const { machine } = process;
  const { files } = machine;
  let isOpen = true;
  let cancel = () => {};
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    cancel();
    if (process.files.has(descriptor)) files.close(process, descriptor);
  };
  const take = () => {
    if (!isOpen) return;
    const count = files.read(process, descriptor, scratch);
    if (count === 0) {
      close();
      onEnd();
      return;
    }
    onBytes(scratch.slice(0, count));
    wait();
  };
  const wait = () => {
    // The process that writes runs just now.
    if (isOpen) cancel = files.whenReadable(process, descriptor, () => soon(process, () => take()));
  };
  if (process.files.get(descriptor)?.inode.kind === "pipe") wait();
  else soon(process, onEnd);
  return close;
}

/** Writes to a pipe or a file, and waits while it is full. */
export class Writer {
  readonly #process: Process;
  readonly #descriptor: number;
  readonly #queue: Uint8Array[] = [];
  #isFinished = false;
  #waits = false;

  constructor(process: Process, descriptor: number) {
    this.#process = process;
    this.#descriptor = descriptor;
  }

  write(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    if (!this.#waits) this.#flush();
  }

  /** Closes the descriptor after what waits. */
  finish(): void {
    this.#isFinished = true;
    if (!this.#waits) this.#flush();
  }

  #flush(): void {
    const process = this.#process;
    const { files } = process.machine;
    while (this.#queue.length > 0 && process.files.has(this.#descriptor)) {
      const [bytes] = this.#queue;
      try {
        const count = files.write(process, this.#descriptor, bytes);
        if (count === bytes.length) this.#queue.shift();
        else this.#queue[0] = bytes.subarray(count);
      } catch (error) {
        if ((error as { readonly code?: string }).code === "EAGAIN") {
          this.#waits = true;
          files.whenWritable(process, this.#descriptor, () =>
            soon(process, () => {
              this.#waits = false;
              this.#flush();
            }),
          );
          return;
        }
        // Nobody reads any longer, or the disk refuses: what is written is lost without an error.
        this.#queue.length = 0;
      }
    }
    if (this.#isFinished && process.files.has(this.#descriptor)) files.close(process, this.#descriptor);
  }
}

/** Calls in the process a moment later. */
export function soon(process: Process, call: () => void, afterMs = 0.01): void {
  const { machine } = process;
  machine.clock.at(machine.clock.monotonicMs() + afterMs, () => machine.deliver(process, call));
}
