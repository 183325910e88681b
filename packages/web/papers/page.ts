/**
 * Runs the page that reproduces papers in the browser: it computes the same cells, tables and files as
 * `tutti lab reproduce`, on the page's own workers.
 */

import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import type { ReproducedPaper } from "@tutti/lab/results/reproduction.ts";
import { collectPaper } from "@tutti/papers/collect.ts";
import { findPaper } from "@tutti/papers/registry.ts";
import type { PapersPage } from "./messages.ts";
import { Workers } from "./workers.ts";

declare global {
  var tuttiPapers: PapersPage;
}

globalThis.tuttiPapers = {
  files: ({ keys, workers, version }) =>
    withWorkers(workers, async (pool) => {
      const papers: ReproducedPaper[] = [];
      for (const key of keys) {
        const paper = findPaper(key);
        const cells = paper.cells(paper.defaultSeed).map(({ cell }) => cell);
        const results = await pool.run(cells, (done) => show(`${key}: ${done} of ${cells.length} cells`));
        papers.push(collectPaper(paper, undefined, results, { version }));
      }
      return pool.files(papers);
    }),
  results: (cells, workers) =>
    withWorkers(workers, async (pool) =>
      jsonDocument("tutti.cells/1", { results: await pool.run(cells, () => {}) }),
    ),
};

async function withWorkers<Made>(count: number, work: (pool: Workers) => Promise<Made>): Promise<Made> {
  const pool = new Workers("worker.js", count);
  try {
    return await work(pool);
  } finally {
    pool.end();
  }
}

function show(text: string): void {
  document.title = text;
}
