/** Does in the laboratory's page what a user does, for the tests that open it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { Download, Page } from "playwright-core";
import { expect } from "vitest";
import type { LabBrowser } from "../scripts/lab-page.ts";

/** Long traces under gang policies take minutes. */
export const RUN_MS = SOAK ? 1_800_000 : 120_000;
/** Two jobs. */
export const TINY =
  "; MaxProcs: 4\n1 0 -1 100 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1\n2 5 -1 50 4 -1 -1 4 60 -1 1 1 1 -1 1 -1 -1 -1\n";

/** Opens the page, and afterwards checks that it did nothing that it must not do. */
export async function withLab(
  browser: LabBrowser,
  work: (page: Page) => Promise<void>,
  fragment = "",
): Promise<void> {
  const { page, faults, close } = await browser.open(fragment);
  try {
    await work(page);
    expect(faults).toEqual([]);
  } finally {
    await close();
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function requireAccessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate(
    `axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" ")))`,
  );
  expect(found).toEqual([]);
}

/** The page must not scroll sideways. */
export async function requireInside(page: Page): Promise<void> {
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
}

export async function textOf(download: Download): Promise<string> {
  const path = await download.path();
  return readFileSync(path, "utf8");
}

export async function stillWorks(page: Page): Promise<void> {
  await choose(page, { name: "tiny.swf", mimeType: "text/plain", buffer: Buffer.from(TINY) });
  await choosePolicies(page, ["easy"]);
  // By hand: job 1 runs at once, and job 2 needs all four processors when job 1 has ended.
  await runAll(page);
  await expectText(page, "2 jobs on 4 processors");
}

export async function choose(page: Page, file: Parameters<Page["setInputFiles"]>[1]): Promise<void> {
  await page.setInputFiles("input[type=file]", file);
  await page.waitForSelector("[data-workload-hash]", { timeout: 120_000 });
}

/** As a link does, since the form offers the parameters one by one. */
export async function openModel(page: Page, model: string): Promise<void> {
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
  await page.waitForSelector("[data-workload-hash]", { timeout: 120_000 });
}

export async function choosePolicies(page: Page, policies: readonly string[]): Promise<void> {
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

export async function setting(page: Page, name: string, value: string): Promise<void> {
  const field = page.locator(`#set-${name}`);
  if ((await field.evaluate((element) => element.tagName)) === "SELECT") await field.selectOption(value);
  else {
    await field.fill(value);
    await field.press("Enter");
  }
}

/** The hashes that the page shows, by `workload` and policy. */
export async function runAll(page: Page): Promise<Record<string, string>> {
  await page.locator("button.primary:enabled").click({ timeout: 120_000 });
  await page.waitForSelector("[data-hash]", { timeout: RUN_MS });
  return page.$$eval("[data-hash]", (elements) =>
    Object.fromEntries(elements.map((element) => [element.getAttribute("data-hash"), element.textContent])),
  );
}

export async function copied(page: Page, button: string): Promise<string> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.click(`text=${button}`);
  return page.evaluate("navigator.clipboard.readText()");
}

export async function expectText(page: Page, text: string): Promise<void> {
  await page.locator(`text=${text}`).first().waitFor({ timeout: 120_000 });
}
