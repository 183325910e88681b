/** Defines what the browser page and its workers send each other, and what a program can ask of the page. */
import type { Cell, CellResult } from "@tutti/lab/experiments/kinds.ts";
import type { PageFile } from "@tutti/lab/report/markdown/paper-markdown.ts";
import type { ReproducedPaper } from "@tutti/lab/results/reproduction.ts";

/** A question to a worker: run a cell, or make the files of the pages on papers. */
export type Question = { readonly cell: Cell } | { readonly papers: readonly ReproducedPaper[] };

export type Answer =
  | { readonly result: CellResult }
  | { readonly files: readonly PageFile[] }
  | { readonly failure: string };

interface PapersRequest {
  readonly keys: readonly string[];
  readonly workers: number;
  /** Version of Tutti, which the pages name. */
  readonly version: string;
}

/** What the page offers to a program that drives it, as `globalThis.tuttiPapers`. */
export interface PapersPage {
  /** The files of the pages on these papers and of their index. */
  files(request: PapersRequest): Promise<readonly PageFile[]>;
  /** The results of cells, as JSON. */
  results(cells: readonly Cell[], workers: number): Promise<string>;
}
