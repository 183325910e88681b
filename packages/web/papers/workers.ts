/**
 * Runs cells on the page's workers. Cells start in order, and results are returned in the order of the cells.
 */
import type { Cell, CellResult } from "@tutti/lab/experiments/kinds.ts";
import type { PageFile } from "@tutti/lab/report/markdown/paper-markdown.ts";
import type { ReproducedPaper } from "@tutti/lab/results/reproduction.ts";
import type { Answer, Question } from "./messages.ts";

export class Workers {
  readonly #workers: readonly Worker[];

  /** @param url of the bundle of worker.ts */
  constructor(url: string, count: number) {
    this.#workers = Array.from({ length: count }, () => new Worker(url));
  }

  /** @throws Error for the first cell that failed */
  async run(cells: readonly Cell[], onDone: (done: number) => void): Promise<CellResult[]> {
    const results = new Array<CellResult>(cells.length);
    let next = 0;
    let done = 0;
    await Promise.all(
      this.#workers.map(async (worker) => {
        while (next < cells.length) {
          const at = next++;
          const answer = await ask(worker, { cell: cells[at] });
          if ("result" in answer) results[at] = answer.result;
          onDone(++done);
        }
      }),
    );
    return results;
  }

  /** The files of the pages on these papers, made in one of the workers. */
  async files(papers: readonly ReproducedPaper[]): Promise<readonly PageFile[]> {
    const answer = await ask(this.#workers[0], { papers });
    return "files" in answer ? answer.files : [];
  }

  end(): void {
    for (const worker of this.#workers) worker.terminate();
  }
}

function ask(worker: Worker, question: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.onmessage = ({ data }: MessageEvent<Answer>) =>
      "failure" in data ? reject(new Error(data.failure)) : resolve(data);
    worker.postMessage(question);
  });
}
