/** Runs a worker thread that answers questions, one at a time. */
import { parentPort, Worker, type WorkerOptions } from "./ports/worker-threads.ts";

/** The thread ended before it answered: by itself, or because it was terminated. */
export class ThreadEnded extends Error {
  override name = "ThreadEnded";
}

export class Thread<Question, Answer> {
  readonly #worker: Worker;
  /** Set when the thread has ended. */
  #end: Error | undefined;
  #reject: ((end: Error) => void) | undefined;

  /** @param file the thread's program, which calls `answerQuestions` */
  constructor(file: URL, options?: WorkerOptions) {
    this.#worker = new Worker(file, options);
    const ended = (end: Error) => {
      this.#end ??= end;
      this.#reject?.(this.#end);
    };
    this.#worker.on("error", ended).on("exit", () => ended(new ThreadEnded("The thread has ended")));
  }

  /** @throws ThreadEnded, or an error that the thread threw outside of an answer */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end);
      this.#reject = reject;
      this.#worker.once("message", resolve);
      this.#worker.postMessage(question);
    });
  }

  /** Lets the process end while the thread runs. */
  unref(): this {
    this.#worker.unref();
    return this;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Called by the program of a thread. @param answer must never reject */
export function answerQuestions<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
): void {
  parentPort?.on("message", async (question: Question) => parentPort?.postMessage(await answer(question)));
}
