/**
 * The laboratory in Chromium: its hashes are those of the command line, its links restore experiments, and
 * damaged, hostile and enormous files leave a living page with a message. In `npm run soak` more of the same.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Download, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildLabPage, packedBytes } from "../scripts/build-web.ts";
import { hasChromium } from "../scripts/chromium.ts";
import { LabBrowser } from "../scripts/lab-page.ts";
import { DEFAULT_RULES } from "../src/core/rules.ts";
import { prepareJobs } from "../src/lab/experiments/inputs.ts";
import { generateJobs } from "../src/lab/experiments/jobs.ts";
import { openExperiment, runExperiment } from "../src/lab/experiments/run.ts";
import { explain } from "../src/lab/explain/explain.ts";
import { choosePolicy } from "../src/policies/parse-policy.ts";
import { explanationLines } from "../src/report/text/explanation-text.ts";
import { REAL_TRACES, traceFile } from "../src/workload/traces-for-tests.ts";

const SOAK = process.env.TUTTI_SOAK !== undefined;
const POLICIES = ["fcfs", "easy", "conservative", "brmms", "wlv"];
/** Long traces under gang policies take minutes. */
const RUN_MS = SOAK ? 1_800_000 : 120_000;
/** Fresh ones, two for each run. */
const WORKERS = SOAK ? 200 : 20;
const TRACES = SOAK ? REAL_TRACES : (["KTH-SP2", "NASA-iPSC"] as const);
const MODEL = "lublin:jobs=3000:load=0.8";
/** Complete laboratory, compressed. */
const BUDGET_BYTES = 250_000;
const TINY =
  "; MaxProcs: 4\n1 0 -1 100 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1\n2 5 -1 50 4 -1 -1 4 60 -1 1 1 1 -1 1 -1 -1 -1\n";

test("the laboratory is small", async () => {
  const sizes = [...(await buildLabPage()).values()].map(packedBytes);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(BUDGET_BYTES);
});

describe.skipIf(!hasChromium)("in Chromium", () => {
  let browser: LabBrowser;

  beforeAll(async () => {
    browser = await LabBrowser.launch();
  });

  afterAll(() => browser?.close());

  /** Opens the page, and afterwards checks that it did nothing that it must not do. */
  async function withLab(work: (page: Page) => Promise<void>, fragment = ""): Promise<void> {
    const { page, faults, close } = await browser.open(fragment);
    try {
      await work(page);
      expect(faults).toEqual([]);
    } finally {
      await close();
    }
  }

  test.each(TRACES.map((name) => [name, traceFile(name)] as const).filter(([, file]) => file !== undefined))(
    "%s has the hashes of the command line",
    async (_name, file) => {
      await withLab(async (page) => {
        await choose(page, file as string);
        await choosePolicies(page, POLICIES);
        expect(await runAll(page)).toEqual(await hashesInNode(file as string, POLICIES));
      });
    },
    2 * RUN_MS,
  );

  test("a model has the hashes of the command line, which its copied command prints", async () => {
    await withLab(async (page) => {
      await page.selectOption("select >> nth=0", "lublin");
      await page.waitForSelector("[data-workload-hash]");
      await choosePolicies(page, ["easy", "wlv"]);
      await setting(page, "seed", "7");
      await setting(page, "replications", "3");
      await setting(page, "bound", "60");
      await setting(page, "first", "2000");
      await setting(page, "load", "0.6");
      await setting(page, "processors", "300");
      const hashes = await runAll(page);
      const command = await copied(page, "Copy the command line");
      expect(command).toBe(
        "tutti compare lublin --policy easy,wlv --processors 300 --first 2000 --load 0.6 --bound 60 --seed 7 --replications 3",
      );
      const [, ...words] = command.split(" ");
      const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.click('button:text-is("JSON")'),
      ]);
      const printed = JSON.parse(
        execFileSync(process.execPath, [program, ...words, "--json"], { encoding: "utf8" }),
      );
      const { made: _, ...saved } = JSON.parse(await textOf(download));
      const { made: __, ...whole } = printed;
      expect(saved).toEqual(whole);
      expect(hashes).toEqual({
        workload: printed.workload.hash,
        ...Object.fromEntries(
          printed.policies.map(({ label, scheduleHash }: Record<string, string>) => [label, scheduleHash]),
        ),
      });
    });
  });

  test("a link restores the experiment and its results", async () => {
    let link = "";
    let hashes: Record<string, string> = {};
    await withLab(async (page) => {
      await openModel(page, MODEL);
      await choosePolicies(page, ["easy:order=shortest", "gang"]);
      await setting(page, "overrun", "kill");
      hashes = await runAll(page);
      link = new URL(page.url()).hash;
    });
    await withLab(async (page) => {
      await page.waitForSelector("h1");
      expect(await runAll(page)).toEqual(hashes);
    }, link);
  });

  test("a link to a file asks for the file, and says when it gets another one", async () => {
    let link = "";
    const trace = { name: "tiny.swf", mimeType: "text/plain", buffer: Buffer.from(TINY) };
    await withLab(async (page) => {
      await choose(page, trace);
      link = new URL(page.url()).hash;
    });
    await withLab(async (page) => {
      await expectText(page, "tiny.swf");
      await choose(page, trace);
      expect(await page.locator(".setup >> .alarm").count()).toBe(0);
      expect(await page.locator("text=This is another file").count()).toBe(0);
    }, link);
    await withLab(async (page) => {
      await expectText(page, "tiny.swf");
      await choose(page, { ...trace, buffer: Buffer.from(TINY.replace("100", "101")) });
      await expectText(page, "This is another file than that of the link");
    }, link);
  });

  test("every part of the results is drawn, saved and free of axe's findings", async () => {
    await withLab(async (page) => {
      await openModel(page, "downey:jobs=300");
      await choosePolicies(page, ["easy", "brmms"]);
      await requireAccessible(page);
      await runAll(page);
      const tabs = await page.locator(".tabs a").allTextContents();
      expect(tabs).toEqual(["Comparison", "Distributions", "Over time", "Gantt", "Matrix", "Longest wait"]);
      for (const [i] of tabs.entries()) {
        await page.keyboard.press(String(i + 1));
        await page.locator(".tabs a[aria-current]", { hasText: tabs[i] }).waitFor();
        for (const kind of ["CSV", "SVG"])
          for (const button of await page.locator(`.chart button:text-is("${kind}")`).all()) {
            const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
            const text = await textOf(download);
            if (kind === "SVG") expect(text).toMatch(/^<svg .*<\/svg>\n$/s);
            else expect(text.split("\n").length).toBeGreaterThan(40);
          }
        await requireAccessible(page);
      }
    });
  });

  test("a run can be cancelled, and the page goes on", async () => {
    await withLab(async (page) => {
      await openModel(page, "downey:jobs=200000:load=0.95");
      await choosePolicies(page, ["brmms", "easy"]);
      await page.click("button.primary");
      await page.waitForSelector("progress");
      await page.click("text=Cancel");
      await page.locator("button.primary:enabled").waitFor({ timeout: 5000 });
      expect(await page.locator("[data-hash]").count()).toBe(0);
      await stillWorks(page);
    });
  });

  test("the story of the longest wait is that of --explain", async () => {
    await withLab(async (page) => {
      await openModel(page, "downey:jobs=300");
      await choosePolicies(page, ["easy"]);
      await runAll(page);
      await page.click("text=Longest wait");
      await page.waitForSelector(".story");
      const lines = await page.locator(".story p").allTextContents();
      const job = /^job (\d+) /.exec(lines[0])?.[1] ?? "";
      const instance = prepareJobs(generateJobs("downey:jobs=300", 1), undefined, DEFAULT_RULES);
      expect(lines).toEqual(
        explanationLines(explain(instance, choosePolicy("easy"), Number(job), { slotS: 60, switchS: 0 })),
      );
    });
  });

  test.each([
    ["light", 1440],
    ["dark", 1440],
    ["light", 390],
    ["dark", 390],
  ] as const)(
    "in %s colours, %i pixels wide, nothing sticks out and axe finds nothing",
    async (scheme, width) => {
      const context = { colorScheme: scheme, viewport: { width, height: 800 } };
      const { page, faults, close } = await browser.open("", context);
      await openModel(page, "downey:jobs=300");
      await requireAccessible(page);
      await requireInside(page);
      await runAll(page);
      for (const tab of await page.locator(".tabs a").all()) {
        await tab.click();
        await page.waitForTimeout(200);
        await requireInside(page);
        await requireAccessible(page);
      }
      await page.keyboard.press("?");
      await requireAccessible(page);
      expect(faults).toEqual([]);
      await close();
    },
  );

  test(
    `${WORKERS} fresh workers give the same numbers`,
    async () => {
      await withLab(async (page) => {
        await openModel(page, "downey:jobs=2000:load=0.9");
        await choosePolicies(page, ["easy", "brmms"]);
        const seen = new Set<string>();
        for (let run = 0; run < WORKERS; run += 2) {
          await runAll(page);
          seen.add((await page.locator("table.comparison").first().textContent()) ?? "");
          expect(await page.locator("text=came out differently").count()).toBe(0);
          // Ends the workers: the next run has new ones.
          await page.evaluate("tuttiLab.endWorkers()");
        }
        expect(seen.size).toBe(1);
      });
    },
    RUN_MS,
  );

  describe("a file that cannot be used gives one message, and the page goes on", () => {
    const large = Buffer.from("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n".repeat(200_000));
    const packed = gzipSync(large);
    const faulty: readonly (readonly [string, string, Buffer, string])[] = [
      ["a gzip file that is cut", "cut.swf.gz", packed.subarray(0, packed.length / 2), "end too early"],
      ["a damaged gzip file", "bad.swf.gz", damaged(packed), "damaged"],
      ["an empty file", "empty.swf", Buffer.alloc(0), "it is empty"],
      ["random bytes", "noise.bin", Buffer.from(noise(500_000)), "none of its"],
      [
        "a page of HTML",
        "<img src=x onerror=alert(1)>.swf",
        Buffer.from("<script>alert(1)</script>\n<img src=x onerror=alert(1)>"),
        "line 1",
      ],
      ["JSON without jobs", "x.json", Buffer.from('{"a":1}'), "list of jobs"],
      ["a header of sacct without fields", "x.txt", Buffer.from("JobID|State\n1|COMPLETED\n"), "line 1"],
      ["a trace in UTF-16", "x.swf", Buffer.from(TINY, "utf16le"), "none of its"],
      [
        "zeros that unpack to 600 MB",
        "zeros.gz",
        gzipSync(Buffer.alloc(600 * 2 ** 20, 32)),
        "more than 512 MiB",
      ],
    ];
    test.each(faulty)("%s", async (_title, name, buffer, expected) => {
      await withLab(async (page) => {
        await page.setInputFiles("input[type=file]", { name, mimeType: "text/plain", buffer });
        const message = await page.locator(".setup [role=alert]").textContent({ timeout: 60_000 });
        expect(message).toMatch(/^Cannot (read|use) /);
        expect(message).toContain(expected);
        await stillWorks(page);
      });
    });

    test("a file of 3 GB", async () => {
      await withLab(async (page) => {
        await page.evaluate(`{
          const part = new Blob([new Uint8Array(2 ** 20)]);
          const data = new DataTransfer();
          data.items.add(new File(new Array(3000).fill(part), "enormous.swf"));
          dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
        }`);
        await expectText(page, "it has 3000 MiB, which is more than 512 MiB");
        await stillWorks(page);
      });
    });

    test("a link that was damaged", async () => {
      for (const x of ["AAAA", "%%%", "q1ZKzs9Nz0tVslIqTi0qSy1SsgIA", "A".repeat(39_000)])
        await withLab(async (page) => {
          await expectText(page, "Cannot use the experiment of this link");
          await stillWorks(page);
        }, `#/experiment?x=${x}`);
    });
  });
});

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function requireAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate(
    `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" ")))`,
  );
  expect(found).toEqual([]);
}

/** The page must not scroll sideways. */
async function requireInside(page: Page): Promise<void> {
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
}

async function textOf(download: Download): Promise<string> {
  const path = await download.path();
  return readFileSync(path, "utf8");
}

async function stillWorks(page: Page): Promise<void> {
  await choose(page, { name: "tiny.swf", mimeType: "text/plain", buffer: Buffer.from(TINY) });
  await choosePolicies(page, ["easy"]);
  // By hand: job 1 runs at once, and job 2 needs all four processors when job 1 has ended.
  await runAll(page);
  await expectText(page, "2 jobs on 4 processors");
}

async function choose(page: Page, file: Parameters<Page["setInputFiles"]>[1]): Promise<void> {
  await page.setInputFiles("input[type=file]", file);
  await page.waitForSelector("[data-workload-hash]", { timeout: 60_000 });
}

/** As a link does, since the form offers the parameters one by one. */
async function openModel(page: Page, model: string): Promise<void> {
  const [name, ...parameters] = model.split(":");
  await page.selectOption(".model select", name);
  for (const parameter of parameters) {
    const [key, value] = parameter.split("=");
    await page.locator(".model summary").first().click();
    await page
      .locator(".model .field", { hasText: new RegExp(`^${key}`) })
      .locator("input")
      .fill(value);
    await page.keyboard.press("Enter");
    await page.locator(".model summary").first().click();
  }
  await page.waitForSelector("[data-workload-hash]", { timeout: 60_000 });
}

async function choosePolicies(page: Page, policies: readonly string[]): Promise<void> {
  for (;;) {
    const remove = page.locator(".policy button").first();
    if ((await page.locator(".policy").count()) === 0) break;
    await remove.click();
  }
  for (const policy of policies) {
    const [name, ...parameters] = policy.split(":");
    await page.selectOption(".add select", name);
    await page.click(".add button");
    for (const parameter of parameters) {
      const [key, value] = parameter.split("=");
      const card = page.locator(".policy").last();
      await card.locator("summary").first().click();
      await card
        .locator(".field", { hasText: new RegExp(`^${key}`) })
        .locator("select")
        .selectOption(value);
    }
  }
}

async function setting(page: Page, name: string, value: string): Promise<void> {
  const field = page.locator(`#set-${name}`);
  if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value);
  else {
    await field.fill(value);
    await field.press("Enter");
  }
}

/** The hashes that the page shows, by `workload` and policy. */
async function runAll(page: Page): Promise<Record<string, string>> {
  await page.locator("button.primary:enabled").click({ timeout: 60_000 });
  await page.waitForSelector("[data-hash]", { timeout: RUN_MS });
  return page.$$eval("[data-hash]", (elements) =>
    Object.fromEntries(elements.map((element) => [element.getAttribute("data-hash"), element.textContent])),
  );
}

async function hashesInNode(jobs: string, policies: readonly string[]): Promise<Record<string, string>> {
  const experiment = {
    source: { jobs, seed: 1 },
    rules: DEFAULT_RULES,
    parameters: { boundS: 10 },
    window: { warmupShare: 0, cooldownShare: 0 },
    slotS: 60,
    switchS: 0,
  };
  const opened = await openExperiment(experiment, 1);
  const result = await runExperiment(experiment, { policies, replications: 1, workers: 1, opened });
  return {
    workload: result.workloadHash,
    ...Object.fromEntries(result.policies.map(({ label, scheduleHash }) => [label, scheduleHash])),
  };
}

async function copied(page: Page, button: string): Promise<string> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click(`text=${button}`);
  return page.evaluate("navigator.clipboard.readText()");
}

async function expectText(page: Page, text: string): Promise<void> {
  await page.locator(`text=${text}`).first().waitFor({ timeout: 60_000 });
}

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.fill(0xa5, 5000, 5200);
  return copy;
}

/** Bytes of a linear congruential generator: the same in every run. */
function noise(length: number): Uint8Array {
  let state = 12345;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 16;
  });
}
