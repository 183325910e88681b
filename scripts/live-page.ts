/**
 * Opens the page of the live scheduler in Chromium, for tests and measurements, with a record of everything
 * that the page must not do.
 */
import type { BrowserContext, Page } from "playwright-core";

/**
 * Records violations of the content security policy, dialogs, errors of scripts, and requests to other hosts.
 * Call it before the page is opened.
 */
export async function watchFaults(context: BrowserContext, origin: string): Promise<string[]> {
  const faults: string[] = [];
  context.on("weberror", (error) => faults.push(`error: ${error.error().stack ?? error.error().message}`));
  context.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("blob:")) faults.push(`request to ${url}`);
  });
  await context.exposeFunction("reportViolation", (text: string) => faults.push(`violation: ${text}`));
  await context.addInitScript(`addEventListener("securitypolicyviolation", (event) =>
    reportViolation(event.effectiveDirective + " " + event.blockedURI + " at " + event.sourceFile));`);
  return faults;
}

/** How far the content of the first such element reaches beyond what is shown of it, in pixels. */
export function hiddenPx(page: Page, selector: string): Promise<number> {
  const element = `document.querySelector(${JSON.stringify(selector)})`;
  return page.evaluate<number>(`${element}.scrollWidth - ${element}.clientWidth`);
}

/** Pixels by which the page is wider than its window. */
export function overflowPx(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** Waits until the page follows the scheduler and knows its jobs. */
export async function isLive(page: Page): Promise<void> {
  await page.locator(".connection", { hasText: /^Live$/ }).waitFor();
}
