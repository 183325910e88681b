/** The report of a comparison, and the page of all papers, in Chromium. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { papersIndex } from "@tutti/lab/report/html/papers-index.ts";
import { PAPERS } from "@tutti/papers/registry.ts";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { watchFaults } from "../scripts/live-page.ts";
import { requireAccessible, requireInside, stillWorks, TINY, textOf } from "./lab-driver.ts";
import { startTutti } from "./live-command.ts";

/** A line that ends its file, a name that is markup, and one that reorders text. */
const EVIL = `</script><img src=x onerror=alert(1)>"'\u202e`;
const POLICIES = "fcfs,easy,conservative,gang:rows=4:queue=easy";

describe.skipIf(!hasChromium)("the report of tutti compare --html", () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-report-"));
  const file = join(folder, "r.html");
  let browser: Browser;

  const compare = async (source: string, policies: string, words: readonly string[] = []) => {
    const all = ["compare", source, "--policy", policies, ...words];
    const [made, json] = [
      await startTutti("", [...all, "--html", file]).result,
      await startTutti("", [...all, "--json"]).result,
    ];
    expect([made.status, json.status]).toEqual([0, 0]);
    return JSON.parse(json.stdout);
  };
  /** Opens the report from the disk, and checks that the page did nothing that it must not do. */
  const withReport = async (
    context: BrowserContextOptions,
    work: (page: Page) => Promise<void>,
    fragment = "",
    shown = "[data-hash], .chart",
  ) => {
    const opened = await browser.newContext(context);
    const faults = await watchFaults(opened, "file://");
    const page = await opened.newPage();
    await page.goto(`file://${file}${fragment}`);
    await page.waitForSelector(shown);
    await work(page);
    expect(faults).toEqual([]);
    await opened.close();
  };

  beforeAll(async () => {
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true });
  });

  test("shows the numbers and hashes that the command prints, and every chart, from a file alone", async () => {
    const printed = await compare("downey:jobs=300:load=0.8", POLICIES, ["--seed", "7"]);
    await withReport({}, async (page) => {
      expect(await page.locator(".tabs a").allTextContents()).toEqual([
        ...["Comparison", "Metrics", "Distributions", "Over time", "Gantt", "Matrix", "All"],
      ]);
      const hashes = await page
        .locator("[data-hash]")
        .evaluateAll((all) => all.map((one) => [one.getAttribute("data-hash"), one.textContent]));
      expect(Object.fromEntries(hashes)).toEqual({
        workload: printed.workload.hash,
        ...Object.fromEntries(
          printed.policies.map(({ label, scheduleHash }: Shown) => [label, scheduleHash]),
        ),
      });
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.click('button:text-is("JSON")'),
      ]);
      expect(JSON.parse(await textOf(download))).toEqual(printed);
      const rows = await page.locator("table.comparison tbody th").allTextContents();
      expect([...rows].sort()).toEqual(POLICIES.split(",").sort());
      await page.click('th button:text-is("policy")');
      expect(await page.locator("table.comparison tbody th").allTextContents()).toEqual([...rows].sort());
      for (const [tab, charts] of [
        ["Metrics", 2],
        ["Distributions", 3],
        ["Over time", 3],
        ["Gantt", 1],
        ["Matrix", 1],
        ["All", 10],
      ] as const) {
        await page.click(`.tabs a:text-is("${tab}")`);
        await expect.poll(() => page.locator("figure.chart").count()).toBe(charts);
        await requireAccessible(page);
      }
    });
  });

  test("its page can run another experiment", async () => {
    await compare("downey:jobs=100", "easy");
    await withReport({}, async (page) => {
      await page.click("text=Experiment");
      await stillWorks(page);
    });
  });

  test("a damaged result is named, and the laboratory works", async () => {
    await compare("downey:jobs=100", "easy");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace(/(id="result" type="text\/plain">.{200})./, "$1*"));
    await withReport(
      {},
      async (page) => {
        await page.locator("text=Cannot read the result in this file: it is damaged").waitFor();
        await page.click("text=Experiment");
        await stillWorks(page);
      },
      "",
      ".alarm",
    );
  });

  test("names are texts, whatever they contain", async () => {
    const trace = join(folder, `${EVIL.replaceAll("/", "")}.swf`);
    writeFileSync(trace, TINY);
    await compare(trace, "fcfs,easy");
    await withReport({}, async (page) => {
      const heading = await page.locator("main strong").first().textContent();
      expect(heading).toBe(`${EVIL.replaceAll("/", "").replace("\u202e", "")}.swf`);
      expect(await page.locator("main img").count()).toBe(0);
    });
  });

  test.each([
    ["light", 1440],
    ["dark", 390],
  ] as const)("in %s colours, %i pixels wide, nothing sticks out", async (colorScheme, width) => {
    await compare("downey:jobs=300:load=0.8", POLICIES);
    await withReport(
      { colorScheme, viewport: { width, height: 800 } },
      async (page) => {
        await expect.poll(() => page.locator("figure.chart canvas").count()).toBeGreaterThan(6);
        await requireInside(page);
        await requireAccessible(page);
      },
      "#/results?tab=all",
    );
  });
});

interface Shown {
  readonly label: string;
  readonly scheduleHash: string;
}

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
