/**
 * The laboratory in Chromium: its hashes are those of the command line, its links restore experiments, and it
 * works light and dark, wide and narrow. In `npm run soak` all traces, every width in both colours, and 200
 * workers.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { SIZES, SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { confidenceInterval } from "@tutti/kernel/metrics/statistics.ts";
import { chooseAmong, choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { hashWorkload } from "@tutti/kernel/workload/hash.ts";
import { detectFormat } from "@tutti/kernel/workload/traces/formats.ts";
import { REAL_TRACES, traceFile } from "@tutti/kernel/workload/traces-for-tests.ts";
import { prepareJobs } from "@tutti/lab/experiments/inputs.ts";
import { generateJobs } from "@tutti/lab/experiments/jobs.ts";
import { openExperiment, runExperiment } from "@tutti/lab/experiments/run.ts";
import { explain } from "@tutti/lab/explain/explain.ts";
import { explanationLines } from "@tutti/lab/report/text/explanation-text.ts";
import { parseWing } from "@tutti/papers/wings/wings.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildLabPage, packedBytes } from "../scripts/build-web.ts";
import { hasChromium } from "../scripts/chromium.ts";
import { LabBrowser } from "../scripts/lab-page.ts";
import { hiddenPx } from "../scripts/live-page.ts";
import {
  choose,
  choosePolicies,
  copied,
  expectText,
  openModel,
  RUN_MS,
  requireAccessible,
  requireInside,
  runAll,
  setting,
  stillWorks,
  TINY,
  textOf,
  withLab,
} from "./lab-driver.ts";

const POLICIES = ["fcfs", "easy", "conservative", "brmms", "wlv"];
const TRACES = SOAK ? REAL_TRACES : (["KTH-SP2"] as const);
const MODEL = "lublin:jobs=3000:load=0.8";
/** Complete laboratory, compressed; it is also the report, and has the timeline of the live page. */
const BUDGET_BYTES = 255_000;

test("the laboratory is small", async () => {
  const files = new Map(await buildLabPage());
  const parts = ["erase-types.js", "papers.js", "turns-worker.js"];
  const [eraser, papers, turns] = parts.map((name) => packedBytes(files.get(name)!));
  for (const name of parts) files.delete(name);
  const sizes = [...files.values()].map(packedBytes);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(BUDGET_BYTES);
  // Loaded only for a policy that somebody types in.
  expect(eraser).toBeLessThanOrEqual(50_000);
  // Loaded only when somebody looks at the papers.
  expect(papers).toBeLessThanOrEqual(30_000);
  // Loaded only when somebody compares turns.
  expect(turns).toBeLessThanOrEqual(50_000);
});

describe.skipIf(!hasChromium)("in Chromium", () => {
  let browser: LabBrowser;

  beforeAll(async () => {
    browser = await LabBrowser.launch();
  });

  afterAll(() => browser?.close());

  test("papers are loaded when somebody looks at them", async () => {
    await withLab(browser, async (page) => {
      await page.evaluate('location.hash = "#/papers/silva1999"');
      await page.waitForSelector('[data-table="table-1"]');
    });
  });

  test.each(TRACES.map((name) => [name, traceFile(name)] as const).filter(([, file]) => file !== undefined))(
    "%s has the hashes of the command line",
    async (_name, file) => {
      await withLab(browser, async (page) => {
        await choose(page, file as string);
        await choosePolicies(page, POLICIES);
        expect(await runAll(page)).toEqual(await hashesInNode(file as string, POLICIES));
      });
    },
    2 * RUN_MS,
  );

  test("a model has the hashes of the command line, which its copied command prints", async () => {
    await withLab(browser, async (page) => {
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
    await withLab(browser, async (page) => {
      await openModel(page, MODEL);
      await choosePolicies(page, ["easy:order=shortest", "gang"]);
      await setting(page, "overrun", "kill");
      hashes = await runAll(page);
      link = new URL(page.url()).hash;
    });
    await withLab(
      browser,
      async (page) => {
        await page.waitForSelector("h1");
        expect(await runAll(page)).toEqual(hashes);
      },
      link,
    );
  });

  test("a link to a file asks for the file, and says when it gets another one", async () => {
    let link = "";
    const trace = { name: "tiny.swf", mimeType: "text/plain", buffer: Buffer.from(TINY) };
    await withLab(browser, async (page) => {
      await choose(page, trace);
      link = new URL(page.url()).hash;
    });
    await withLab(
      browser,
      async (page) => {
        await expectText(page, "tiny.swf");
        await choose(page, trace);
        expect(await page.locator(".setup >> .alarm").count()).toBe(0);
        expect(await page.locator("text=This is another file").count()).toBe(0);
      },
      link,
    );
    await withLab(
      browser,
      async (page) => {
        await expectText(page, "tiny.swf");
        await choose(page, { ...trace, buffer: Buffer.from(TINY.replace("100", "101")) });
        await expectText(page, "This is another file than that of the link");
      },
      link,
    );
  });

  // Chromium starts only about ten downloads of a page, so each page saves the charts of one or two tabs.
  test.each([[[0, 1]], [[2]], [[3]], [[4, 5]], [[6, 7]]])(
    "tabs %j of the results are drawn and saved",
    async (part) => {
      await withLab(browser, async (page) => {
        await openModel(page, "downey:jobs=300");
        await choosePolicies(page, ["easy", "brmms"]);
        await runAll(page);
        const tabs = await page.locator(".tabs a").allTextContents();
        expect(tabs).toEqual([
          ...[
            "Comparison",
            "Metrics",
            "Distributions",
            "Over time",
            "Gantt",
            "Matrix",
            "Longest wait",
            "All",
          ],
        ]);
        for (const i of part) {
          await page.keyboard.press(String(i + 1));
          await page.locator(".tabs a[aria-current]", { hasText: tabs[i] }).waitFor();
          // The same charts as before.
          if (tabs[i] === "All") continue;
          for (const kind of ["CSV", "SVG"])
            for (const button of await page.locator(`.chart button:text-is("${kind}")`).all()) {
              const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
              const text = await textOf(download);
              if (kind === "SVG") expect(text).toMatch(/^<svg .*<\/svg>\n$/s);
              // Two policies with their statistics, or two classes with their means.
              else expect(text.split("\n").length).toBeGreaterThan(/^(?:policy|class),/.test(text) ? 3 : 40);
            }
        }
      });
    },
  );

  test("a job of the Gantt chart leads to its story, and the time that is shown is that of all charts", async () => {
    await withLab(browser, async (page) => {
      await openModel(page, "downey:jobs=300");
      await choosePolicies(page, ["easy"]);
      await runAll(page);
      await page.click('.tabs a:text-is("Gantt")');
      await page.waitForSelector(".timeline-rows canvas");
      await page.keyboard.press("w");
      await expect.poll(() => page.url()).toMatch(/from=.*to=/);
      await page.keyboard.press(".");
      const job = (await page.locator(".timeline-pinned a").textContent()) ?? "";
      expect(await page.locator(".timeline-pinned").textContent()).toMatch(/ · waited \d/);
      await page.click('.tabs a:text-is("Over time")');
      await page.locator("text=Show the whole run").first().waitFor();
      await page.click('.tabs a:text-is("Gantt")');
      await page.click(".timeline-pinned a");
      await page.locator("h2", { hasText: new RegExp(`^(?:Job ${job}|The longest wait)$`) }).waitFor();
      await page.waitForSelector(".story");
      expect(await page.locator(".story p").first().textContent()).toContain(`job ${job} `);
    });
  });

  test("a run can be cancelled, and the page goes on", async () => {
    await withLab(browser, async (page) => {
      await openModel(page, "downey:jobs=200000:load=0.95");
      await choosePolicies(page, ["brmms", "easy"]);
      await page.click("button.primary");
      await page.waitForSelector("progress");
      await page.click("text=Cancel");
      await page.locator("button.primary:enabled").waitFor({ timeout: 120_000 });
      expect(await page.locator("[data-hash]").count()).toBe(0);
      await stillWorks(page);
    });
  });

  test("the story of the longest wait is that of --explain", async () => {
    await withLab(browser, async (page) => {
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

  const looks = [
    ["light", 1440],
    ["dark", 390],
    ["dark", 1440],
    ["light", 390],
  ] as const;
  test.each(SOAK ? looks : looks.slice(0, 2))(
    "in %s colours, %i pixels wide, nothing sticks out and axe finds nothing",
    async (scheme, width) => {
      const context = { colorScheme: scheme, viewport: { width, height: 800 } };
      const { page, faults, close } = await browser.open("", context);
      await openModel(page, "downey:jobs=300");
      await choosePolicies(page, ["easy", "brmms"]);
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

  test("turns of gangs with phases have the numbers of the command line, a film, and say what cannot be", async () => {
    const { wing, parameters } = parseWing("phases:gangs=12")!;
    const ratios = (policy: string) =>
      [1, 2, 3, 4, 5].map((seed) => {
        const { measures } = wing.simulate(parameters, chooseAmong(wing.policies, policy), seed, false);
        return measures.find(({ name }) => name === "ratio")!.value;
      });
    const context = { colorScheme: "dark" as const, viewport: { width: 390, height: 844 } };
    const { page, faults, close } = await browser.open("#/turns", context);
    const gangs = page.locator(".field", { hasText: /^gangs/ }).locator("input");
    await gangs.fill("12");
    await gangs.press("Enter");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("button", { name: "Play" }).click();
    for (const policy of ["phases-lock:groups=8", "phases-rows"]) {
      const { mean, half } = confidenceInterval(ratios(policy));
      const row = page.locator("tr", { has: page.locator(`th[title="${policy}"]`) });
      expect(await row.textContent()).toContain(`${mean.toFixed(2)} ± ${half.toFixed(2)}`);
    }
    // It plays by itself.
    const time = page.locator(".film input");
    const begun = Number(await time.inputValue());
    await expect
      .poll(async () => Number(await time.inputValue()), { timeout: 30_000 })
      .toBeGreaterThan(begun);
    await page.getByRole("button", { name: "Pause" }).click();
    await time.fill(String(3 * begun));
    const drawn = await page.evaluate(`(() => {
      const canvas = document.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    })()`);
    expect(drawn).toBeGreaterThan(12);
    await requireInside(page);
    await requireAccessible(page);
    expect(await page.evaluate("location.hash")).toContain("turns=gangs%3D12");
    // More turns than a page runs: what is shown stays, and says what it is about.
    await gangs.fill("100000");
    await gangs.press("Enter");
    await expectText(page, "These are for phases:gangs=12.");
    await page.selectOption(".turns select", "phases-pool");
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.getByRole("button", { name: "Compare" }).click();
    await expectText(page, "Cannot run 1200000 turns in a page");
    const sizes = page.locator(".field", { hasText: /^sizes/ }).locator("input");
    await gangs.fill("12");
    await gangs.press("Enter");
    await sizes.fill("32");
    await sizes.press("Enter");
    await page.getByRole("button", { name: "Compare" }).click();
    await expectText(page, "expected sizes of at most 16");
    expect(await page.locator(".film").count()).toBe(0);
    expect(faults).toEqual([]);
    await close();
  });

  test(
    `${SIZES.labWorkers} fresh workers give the same numbers`,
    async () => {
      await withLab(browser, async (page) => {
        await openModel(page, "downey:jobs=2000:load=0.9");
        await choosePolicies(page, ["easy", "brmms"]);
        const seen = new Set<string>();
        for (let run = 0; run < SIZES.labWorkers; run += 2) {
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

  test.each([1280, 1440, 390])(
    "at %i pixels, no number of the jobs and no view is cut off",
    async (width) => {
      const { page, faults, close } = await browser.open("", { viewport: { width, height: 844 } });
      await openModel(page, "lublin");
      for (const part of [".known div.scroll", "nav.rail ul", ".model"])
        expect(await hiddenPx(page, part), part).toBe(0);
      expect(faults).toEqual([]);
      await close();
    },
  );

  test("values that cannot be used stay in their fields, are explained, and nothing runs", async () => {
    await withLab(browser, async (page) => {
      const says = page.locator("header.head [role=status]").first();
      const run = page.locator("button.primary");
      await openModel(page, "downey:jobs=5");
      await choosePolicies(page, ["gang"]);
      await run.and(page.locator(":enabled")).waitFor();

      const jobs = page.locator(".model .field", { hasText: /^jobs/ });
      await page.locator(".model summary").first().click();
      await jobs.locator("input").fill("2000001");
      await jobs.locator("input").press("Enter");
      const message =
        'Cannot set parameter "jobs" of model "downey" to "2000001": expected an integer from 1 to 2000000';
      expect(await says.textContent()).toBe(message);
      expect(await jobs.locator("small").textContent()).toBe(`${message}.`);
      expect(await jobs.locator("input").inputValue()).toBe("2000001");
      expect(await run.isDisabled()).toBe(true);
      await page.locator("h2").first().click();
      await page.keyboard.press("x");
      // Another parameter does not make the first one usable.
      const load = page.locator(".model .field", { hasText: /^load/ }).locator("input");
      await load.fill("0.5");
      await load.press("Enter");
      expect(await says.textContent()).toBe(message);
      await jobs.locator("input").fill("6");
      await jobs.locator("input").press("Enter");
      await run.and(page.locator(":enabled")).waitFor();

      const card = page.locator(".policy").last();
      await card.locator("summary").first().click();
      const rows = card.locator("input").first();
      await rows.fill("-1");
      await rows.press("Enter");
      expect(await says.textContent()).toMatch(/of policy "gang" to "-1": expected an integer from/);
      expect(await run.isDisabled()).toBe(true);
      await card.getByRole("button", { name: "Remove" }).click();
      await choosePolicies(page, ["easy"]);
      await run.and(page.locator(":enabled")).waitFor();

      await choose(page, { name: "tiny.swf", mimeType: "text/plain", buffer: Buffer.from(TINY) });
      await setting(page, "size-from", "-5");
      expect(await says.textContent()).toBe(
        'Size of a job cannot be "-5": expected allocated, requested, frontier, or field=N with the number of a field from 1 to 1000',
      );
      expect(await run.isDisabled()).toBe(true);
      await setting(page, "size-from", "field=5");
      await run.and(page.locator(":enabled")).waitFor();
      await page.click("nav >> text=Papers");
      await page.waitForSelector("h1:has-text('Papers')");
      expect(await page.locator("header.head").textContent()).toBe("Copy the link");
    });
  });

  test("the back button restores the experiment without asking for the file again", async () => {
    await withLab(browser, async (page) => {
      await choose(page, { name: "tiny.swf", mimeType: "text/plain", buffer: Buffer.from(TINY) });
      await choosePolicies(page, ["easy"]);
      await page.click("text=Results");
      await page.click("nav >> text=Experiment");
      await setting(page, "overrun", "kill");
      await expectText(page, "default: raise");
      await page.goBack();
      await page.goBack();
      await page.locator("[data-workload-hash]").waitFor();
      expect(await page.locator("#set-overrun").inputValue()).toBe("raise");
      await runAll(page);
    });
  });

  test.each([
    [
      "sacct",
      "JobIDRaw|Submit|Start|Elapsed|AllocCPUS|Timelimit|State\n1|2024-01-01T00:00:00|2024-01-01T00:00:05|00:01:00|4|00:02:00|COMPLETED\n",
    ],
    [
      "Batsim",
      '{"nb_res":8,"jobs":[{"id":1,"subtime":1,"res":4,"walltime":20,"profile":"a"}],"profiles":{"a":{"type":"delay","delay":9}}}',
    ],
  ])(
    "a file in the format of %s, plain or packed, gives the jobs of the command line",
    async (_name, text) => {
      const bytes = Buffer.from(text);
      const reader = detectFormat(bytes).open("x", bytes.length);
      reader.push(bytes);
      const hash = hashWorkload(reader.end());
      await withLab(browser, async (page) => {
        for (const buffer of [bytes, gzipSync(bytes)]) {
          await choose(page, { name: "x", mimeType: "text/plain", buffer });
          expect(await page.locator("[data-workload-hash]").textContent()).toBe(hash);
        }
      });
    },
  );
});

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
