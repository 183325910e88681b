/**
 * The page of the live scheduler over a long time, with Playwright's clock and a scheduler that only answers:
 * it does not grow, and asks for nothing while it is hidden. Ten minutes in `npm test`, a day and 100,000
 * events in `npm run soak`.
 */

import { SIZES, SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { isLive, watchFaults } from "../scripts/live-page.ts";
import { FakeScheduler } from "./fake-scheduler.ts";

const STEP_MS = 10_000;
/** Visible before and after the page is hidden. */
const STEPS = SIZES.pageSteps;
const HIDDEN_MS = SOAK ? 12 * 3_600_000 : 300_000;
const EVENTS_PER_STEP = SOAK ? 24 : 40;
const ACTIVE_JOBS = 200;
const ENDED_JOBS = 1200;
const START_MS = 1_790_000_000_000;

describe.skipIf(!hasChromium)("in Chromium", () => {
  let fake: FakeScheduler;
  let browser: Browser;

  beforeAll(async () => {
    fake = await FakeScheduler.start();
    browser = await launchChromium(["--js-flags=--expose-gc"]);
  });

  afterAll(async () => {
    await browser?.close();
    fake?.close();
  });

  async function newContext(): Promise<{ context: BrowserContext; faults: string[] }> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.addInitScript(fake.sessionScript);
    return { context, faults: await watchFaults(context, fake.address) };
  }

  test("ten tabs have one stream, and hidden ones have none", async () => {
    const { context, faults } = await newContext();
    const tabs: Page[] = [];
    for (let i = 0; i < 10; i++) {
      const tab = await context.newPage();
      await tab.goto(`${fake.address}#/jobs`);
      await isLive(tab);
      tabs.push(tab);
    }
    expect(fake.followers).toBe(1);
    fake.put({ job: 1, name: "for all" });
    fake.emit("submitted", 1);
    for (const tab of tabs) await tab.locator("#job-1").waitFor();
    for (const tab of tabs) await hide(tab, true);
    await expect.poll(() => fake.followers).toBe(0);
    await hide(tabs[3], false);
    await expect.poll(() => fake.followers).toBe(1);
    await context.close();
    expect(faults).toEqual([]);
  });

  test("memory and nodes stay, and a hidden page asks for nothing", { timeout: 3_600_000 }, async () => {
    const { context, faults } = await newContext();
    // A shared worker would have a clock of its own.
    await context.addInitScript("delete window.SharedWorker;");
    const page = await context.newPage();
    await page.clock.install({ time: START_MS });
    const world = new Changes(fake);
    await page.goto(`${fake.address}#/jobs`);
    await expect
      .poll(async () => {
        await page.clock.runFor(500);
        return page.locator(".connection").textContent();
      })
      .toBe("Live");
    const tools = await context.newCDPSession(page);
    const run = async (steps: number) => {
      for (let step = 0; step < steps; step++) {
        world.change(EVENTS_PER_STEP, START_MS + step * STEP_MS);
        await quiet(30);
        await page.clock.runFor(1000);
        await quiet(15);
        await page.clock.runFor(STEP_MS - 1000);
        await quiet(5);
      }
    };
    await run(STEPS / 2);
    const before = await sizeOf(page, tools);
    await run(STEPS / 2);
    await hide(page, true);
    await quiet(200);
    const { requests } = fake;
    for (let passedMs = 0; passedMs < HIDDEN_MS; passedMs += 3_600_000)
      await page.clock.fastForward(Math.min(3_600_000, HIDDEN_MS));
    world.change(500, START_MS);
    await quiet(500);
    expect(fake.requests).toBe(requests);
    expect(fake.followers).toBe(0);
    await hide(page, false);
    await run(STEPS);
    const after = await sizeOf(page, tools);
    expect(world.events).toBe(2 * STEPS * EVENTS_PER_STEP + 500);
    expect(await page.locator(`#job-${world.latest}`).count()).toBe(0);
    await page.evaluate(`location.hash = "#/jobs?number=${world.latest}"`);
    await page.clock.runFor(1000);
    expect(await page.locator(`#job-${world.latest}`).count()).toBe(1);
    console.log(
      `heap ${before.heapBytes} → ${after.heapBytes} bytes, ${before.elements} → ${after.elements} elements`,
    );
    expect(after.heapBytes).toBeLessThan(1.1 * before.heapBytes);
    expect(after.elements).toBe(before.elements);
    await context.close();
    expect(faults).toEqual([]);
  });
});

/** Jobs come and end, so that the number of each kind stays the same. */
class Changes {
  events = 0;
  latest = 0;
  readonly #fake: FakeScheduler;
  #oldest = 1;

  constructor(fake: FakeScheduler) {
    this.#fake = fake;
    fake.jobs.clear();
    for (let i = 0; i < ENDED_JOBS + ACTIVE_JOBS; i++) this.#submit();
    for (let i = 0; i < ENDED_JOBS; i++) this.#end(START_MS);
  }

  change(events: number, atMs: number): void {
    for (let i = 0; i < events / 2; i++) {
      this.#submit();
      this.#fake.emit("submitted", this.latest);
      const ended = this.#end(atMs);
      this.#fake.emit("ended", ended);
      this.#fake.jobs.delete(ended - ENDED_JOBS);
      this.events += 2;
    }
  }

  #submit(): void {
    const job = ++this.latest;
    this.#fake.put({ job, name: `sim-${job % 100}`, submittedAtMs: START_MS });
  }

  #end(atMs: number): number {
    const job = this.#oldest++;
    this.#fake.put({ job, state: "done", startedAtMs: START_MS, endedAtMs: atMs });
    return job;
  }
}

async function sizeOf(page: Page, tools: CDPSession): Promise<{ heapBytes: number; elements: number }> {
  await page.evaluate("gc(); gc();");
  await tools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await tools.send("Runtime.getHeapUsage");
  return { heapBytes: usedSize, elements: await page.locator("*").count() };
}

/** As a browser does when the user looks at another tab. */
async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true }); dispatchEvent(new Event("visibilitychange"));`,
  );
}

/** The page's clock stands, but its requests are answered. */
function quiet(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
