/** Tests that the index of a paper names exactly the parts of the paper's page. */

import type { CellResult, Kind } from "@tutti/lab/experiments/kinds.ts";
import { indexLines, notInIndex } from "@tutti/lab/report/paper-index.ts";
import { expect, test } from "vitest";
import { collectPaper } from "./collect.ts";
import { PAPERS } from "./registry.ts";
import { runCells } from "./run-cells.ts";

test.each(PAPERS.map((paper) => [paper.key, paper] as const))(
  "%s: the index names every table, figure and statement of the page, and nothing else",
  async (_, paper) => {
    // One result of each kind stands for all: numbers do not matter here. The last cells are the shortest.
    const cells = paper.cells(paper.defaultSeed).map(({ cell }) => cell);
    const ofKind = new Map<Kind, CellResult>();
    for (const cell of cells.toReversed())
      if (!ofKind.has(cell.kind)) ofKind.set(cell.kind, (await runCells([cell], { workers: 1 }))[0]);
    const results = cells.map(({ kind }) => ofKind.get(kind)!);
    const page = collectPaper(paper, undefined, results, { version: "" });
    expect(notInIndex(page)).toEqual([]);

    const { entries, added } = paper.index;
    expect(indexLines(page)).toHaveLength(entries.length);
    const additions = [{ at: "", says: "", ...added }];
    expect(() => indexLines({ ...page, index: { entries: additions, added } })).not.toThrow();
    for (const { says, shown = [], statements = [], notClaimed } of entries)
      expect((notClaimed === undefined) !== (shown.length + statements.length === 0), says).toBe(true);
  },
);
