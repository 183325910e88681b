/** The same seed gives the same life in Node and in Chromium, to the last byte of its trace. */
import type { Verdict } from "@tutti/torture/run/course.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import type { Setting } from "@tutti/torture/run/setting.ts";
import { liveOnce } from "@tutti/torture/run/torture.ts";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundled, withWorld } from "../scripts/build-web.ts";
import { hasChromium, launchChromium, serveFiles } from "../scripts/chromium.ts";
import { firstSetting, inNode } from "./torture/in-node.ts";

interface InPage {
  live(setting: Setting): Promise<Verdict>;
}

/** The page has no recorded stores. */
const isNew = ({ olderStore, faults }: Setting) => olderStore === undefined && Object.keys(faults).length > 1;
const SETTINGS = [
  ["on four nodes", firstSetting(({ cluster }) => cluster?.nodes.length === 4)],
  [
    "without control groups",
    firstSetting((one) => isNew(one) && one.cluster === undefined && one.groups === "none"),
  ],
  ["of several users", firstSetting((one) => isNew(one) && one.groups === "v2" && one.users.length > 1)],
] as const;
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

  test.each(SETTINGS)("a life %s is that of Node", async (_, drawn) => {
    const setting = { ...drawn, hours: HOURS };
    const onBegin = (life: Life) => {
      inThis.life = life;
    };
    const here = await liveOnce(setting, { ...inThis, onBegin });
    expect(here.problems).toEqual([]);
    expect(here.starts).toBeGreaterThan(0);
    expect(await page.evaluate((own) => (globalThis as unknown as InPage).live(own), setting)).toEqual(here);
  });
});
