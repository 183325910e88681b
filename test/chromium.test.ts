/**
 * The laboratory in a browser: what `packages/web` computes in Chromium is the same, byte by byte, as in
 * Node. `npm run papers:chromium` compares all pages on papers in the same way.
 */
import { readFileSync } from "node:fs";
import { ownVersion } from "@tutti/host/version.ts";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import { PAPERS } from "@tutti/papers/registry.ts";
import { runCells } from "@tutti/papers/run-cells.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, openPapersPage } from "../scripts/chromium.ts";

/** A paper that takes only seconds. */
const CHEAP = "kawanami2008";
/** Cells of each paper, spread evenly over its list. */
const SAMPLE = SIZES.cellsInChromium;

describe.skipIf(!hasChromium)("in Chromium", () => {
  let page: Awaited<ReturnType<typeof openPapersPage>>;

  beforeAll(async () => {
    page = await openPapersPage();
  });

  afterAll(() => page?.close());

  test(`the pages and figures of ${CHEAP} are those in docs/papers`, async () => {
    const files = await page.files([CHEAP], ownVersion());
    const own = files.filter(([name]) => name.includes(CHEAP));
    expect(own.map(([name]) => name.slice(name.lastIndexOf(".")))).toEqual([".html", ".md", ".svg", ".svg"]);
    for (const [name, content] of own) {
      // docs/papers has no HTML.
      if (name.endsWith(".html")) continue;
      const committed = readFileSync(new URL(`../docs/papers/${name}`, import.meta.url), "utf8");
      expect(content === committed, `${name}: npm run papers writes it again`).toBe(true);
    }
  });

  test.each(PAPERS.map((paper) => [paper.key, paper] as const))(
    "cells of %s give the numbers that they give in Node",
    async (_, paper) => {
      const all = paper.cells(paper.defaultSeed).map(({ cell }) => cell);
      const cells = Array.from({ length: SAMPLE }, (_, i) => all[Math.floor((i * all.length) / SAMPLE)]);
      const results = await runCells(cells, { workers: 1 });
      expect(await page.results(cells)).toBe(jsonDocument("tutti.cells/1", { results }));
    },
  );

  test("a cell that cannot run is refused with the message of Node", async () => {
    const [{ cell }] = PAPERS[0].cells(1);
    await expect(page.results([{ ...cell, policy: "no-such-policy" } as typeof cell])).rejects.toThrow(
      'Cannot find policy "no-such-policy"',
    );
  });
});
