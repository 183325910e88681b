import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildReportPage } from "../scripts/build-report-page.ts";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { PAPERS } from "../src/lab/papers/registry.ts";
import { papersIndex } from "../src/report/html/papers-index.ts";
import { scriptSource } from "../src/report/text/escape.ts";
import { startTutti } from "./live-command.ts";

test("buildReportPage() gives one script that may be part of a page, names its licence and stays small", async () => {
  const script = await buildReportPage();
  expect(scriptSource(script)).toBe(script);
  expect(script).toContain("Apache ECharts (Apache-2.0)");
  expect(script.length).toBeLessThan(800_000);
  expect(() => new Function(script)).not.toThrow();
});

test.skipIf(!hasChromium)(
  "on a telephone, names of policies are whole, and charts stay in their cards",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tutti-report-"));
    const file = join(folder, "r.html");
    const policies = "fcfs,easy,conservative,gang:rows=4:queue=easy";
    const words = ["compare", "downey:jobs=300:load=0.8", "--policy", policies, "--html", file];
    expect((await startTutti("", words).result).status).toBe(0);
    const browser = await launchChromium();
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    await page.goto(`file://${file}`);
    await expect.poll(() => page.locator("figure svg, figure canvas").count()).toBeGreaterThan(0);
    // Each name with the number of its lines; names may break after a colon only.
    const names = await page.locator(".sortable .named span:last-child").evaluateAll((spans) =>
      spans.map((span) => {
        const range = span.ownerDocument.createRange();
        range.selectNodeContents(span);
        const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
        return [span.textContent, new Set(tops).size] as const;
      }),
    );
    expect(names.map(([name]) => name).sort()).toEqual(policies.split(",").sort());
    for (const [name, lines] of names) expect(lines, name!).toBeLessThanOrEqual(name!.split(":").length);
    const wider = await page
      .locator("figure")
      .evaluateAll((figures) =>
        figures.filter((figure) =>
          [...figure.querySelectorAll("svg, canvas")].some(
            (chart) => chart.getBoundingClientRect().right > figure.getBoundingClientRect().right,
          ),
        ),
      );
    expect(wider).toEqual([]);
    await browser.close();
    rmSync(folder, { recursive: true });
  },
);

test.skipIf(!hasChromium)(
  "on a telephone, texts in the tables of the papers are columns of words",
  async () => {
    const browser = await launchChromium();
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    // The index of every paper, without what must be simulated.
    const none = { shown: [], statements: [] };
    const papers = PAPERS.map(({ key, title, authors, published, defaultSeed: seed, index }) => ({
      paper: { key, title, authors, published },
      index: { entries: index.entries.filter((entry) => "notClaimed" in entry), added: none },
      tutti: { version: "0" },
      seed,
      tables: [],
      figures: [],
      statements: [],
      notes: [],
    }));
    await page.setContent(papersIndex(papers));
    const narrowest = await page
      .locator(".words")
      .evaluateAll((cells) => Math.min(...cells.map((cell) => cell.getBoundingClientRect().width)));
    // A title such as "Performance Evaluation" needs about 170 px; with less, words are cut into pieces.
    expect(narrowest).toBeGreaterThanOrEqual(170);
    await browser.close();
  },
);
