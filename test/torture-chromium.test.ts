/** The same seed gives the same life in Node and in Chromium, to the last byte of its trace. */
import type { Verdict } from "@tutti/torture/run/course.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import type { Setting } from "@tutti/torture/run/setting.ts";
import { liveOnce, settingOf } from "@tutti/torture/run/torture.ts";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundled, withWorld } from "../scripts/build-web.ts";
import { hasChromium, launchChromium, serveFiles } from "../scripts/chromium.ts";
import { inNode } from "./torture/in-node.ts";

interface InPage {
  live(setting: Setting): Promise<Verdict>;
}

/** With other control groups, policies, users and faults each. */
const SEEDS = [4, 16, 23];
const HOURS = 0.2;

const inThis = inNode();

describe.skipIf(!hasChromium)("in Chromium", () => {
  let page: Page;
  beforeAll(async () => {
    const browser = await launchChromium();
    page = await browser.newPage();
    const script = { lives: "test/torture/lives-in-page.ts" };
    await serveFiles(
      page,
      new Map([
        ["", '<!doctype html><script src="lives.js"></script>'],
        ...(await bundled(script, await withWorld())),
      ]),
    );
  });
  afterAll(() => page?.context().browser()?.close());

  test.each(SEEDS)("the life of seed %i is that of Node", async (seed) => {
    const setting = { ...settingOf(seed), hours: HOURS };
    const onBegin = (life: Life) => {
      inThis.life = life;
    };
    const here = await liveOnce(setting, { ...inThis, onBegin });
    expect(here.problems).toEqual([]);
    expect(here.starts).toBeGreaterThan(0);
    expect(await page.evaluate((own) => (globalThis as unknown as InPage).live(own), setting)).toEqual(here);
  });
});
