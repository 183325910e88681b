/**
 * The papers in the laboratory's page, in Chromium: tables that the page computes have the digits of
 * docs/papers. In `npm run soak` all tables, otherwise one of each paper.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { PrintedPaper } from "@tutti/lab/report/printed-table.ts";
import { PAPERS } from "@tutti/papers/registry.ts";
import { PAPER_TABLES } from "@tutti/papers/table-registry.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../scripts/chromium.ts";
import { LabBrowser } from "../scripts/lab-page.ts";

const printed: readonly PrintedPaper[] = JSON.parse(
  readFileSync(new URL("../docs/papers/values.json", import.meta.url), "utf8"),
);
/** The table of each paper that takes least time, but some. */
const CHEAPEST: Readonly<Record<string, number>> = {
  zhou2000: 0,
  zhou1999: 0,
  kawanami2008: 0,
  silva1999: 0,
  dimitriadou2009: 0,
};
const TABLES = printed.flatMap(({ paper: { key }, tables }) =>
  tables
    .map((table, at) => ({ key, at, table, title: `${key}, ${table.id} (${table.anchor})` }))
    .filter(({ at }) => SOAK || at === CHEAPEST[key]),
);
/** For one table, also on a busy machine. */
const MAX_MS = SOAK ? 1_800_000 : 400_000;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

test("every paper has its tables in the page, in the order of the papers", () => {
  expect(PAPER_TABLES.map(({ key }) => key)).toEqual(PAPERS.map(({ key }) => key));
  expect(printed.map(({ paper }) => paper.key)).toEqual(PAPERS.map(({ key }) => key));
  for (const [i, { tables }] of PAPER_TABLES.entries()) expect(printed[i].tables).toHaveLength(tables.length);
});

describe.skipIf(!hasChromium)("in Chromium", () => {
  let browser: LabBrowser;

  beforeAll(async () => {
    browser = await LabBrowser.launch();
  });

  afterAll(() => browser?.close());

  test.each(TABLES.map((one) => [one.title, one] as const))(
    "%s has the digits of the published page",
    async (_title, { key, table }) => {
      const { page, faults, close } = await browser.open(`#/papers/${key}`);
      const section = page.locator(`[data-table="${table.anchor}"]`);
      await section.locator("text=Run here").click();
      const said = section.locator("[role=status]");
      await said.filter({ hasText: "Same digits" }).waitFor({ timeout: MAX_MS });
      const count = table.rows.reduce((sum, { values }) => sum + values.length, 0).toLocaleString("en");
      expect(await said.textContent()).toContain(
        `Same digits as the published page: ${count} of ${count}, computed here in `,
      );
      expect(await section.locator(".different").count()).toBe(0);
      // What is on the screen, not only what the page says about it.
      expect(await section.locator("tbody td b").allTextContents()).toEqual(
        table.rows.flatMap(({ values }) => values.map(([ours]) => ours)),
      );
      expect(faults).toEqual([]);
      await close();
    },
    MAX_MS + 30_000,
  );

  test("a run is cancelled at once, and the table can be run again", async () => {
    const { page, faults, close } = await browser.open("#/papers/zhou2000");
    const section = page.locator("[data-table=table-2]");
    await section.locator("text=Run here").click();
    await section.locator("progress").waitFor();
    await section.locator("text=Cancel").click();
    await section.locator("text=Run here").waitFor();
    expect(await section.locator("[role=status]").textContent()).toBe("");
    expect(faults).toEqual([]);
    await close();
  });

  test.each([
    ["light", 1440],
    ["dark", 390],
  ] as const)(
    "in %s colours, %i pixels wide, nothing sticks out and axe finds nothing",
    async (colorScheme, width) => {
      const { page, faults, close } = await browser.open("#/papers", {
        colorScheme,
        viewport: { width, height: 800 },
      });
      for (const key of ["", ...PAPERS.map((paper) => paper.key), "no-such-paper"]) {
        await page.evaluate(`location.hash = "#/papers/${key}"`);
        await page.locator("h1").first().waitFor();
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(
          0,
        );
        await page.evaluate(axe);
        const found = await page.evaluate(
          `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
            violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" ")))`,
        );
        expect(found).toEqual([]);
      }
      expect(faults).toEqual([]);
      await close();
    },
  );
});
