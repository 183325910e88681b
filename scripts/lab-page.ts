/**
 * Opens the laboratory's page in Chromium, for tests and measurements: without a network, with the headers
 * that a careful server sends, and with a record of everything that such a page must not do.
 */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { buildLabPage } from "./build-web.ts";
import { launchChromium } from "./chromium.ts";

/** No such host: a page that is secure, as pages of a server are, with an origin for its workers. */
export const LAB_ORIGIN = "https://tutti.invalid/";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
};

/** Of `page.html`; a server sends the same as a header. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'none'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types tutti";

export interface OpenLab {
  readonly page: Page;
  /** Violations of the content security policy, errors and warnings, requests to other hosts. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

export class LabBrowser {
  readonly #browser: Browser;
  readonly #files: ReadonlyMap<string, string>;

  private constructor(browser: Browser, files: ReadonlyMap<string, string>) {
    this.#browser = browser;
    this.#files = files;
  }

  static async launch(): Promise<LabBrowser> {
    return new LabBrowser(await launchChromium(), await buildLabPage());
  }

  /** @param fragment of the address, such as `#/results` */
  async open(fragment = "", context: BrowserContextOptions = {}): Promise<OpenLab> {
    const page = await this.#browser.newPage({ viewport: { width: 1440, height: 900 }, ...context });
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") faults.push(message.text());
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(LAB_ORIGIN) && !url.startsWith("blob:")) faults.push(`request to ${url}`);
    });
    await page.exposeFunction("reportViolation", (text: string) => faults.push(`violation: ${text}`));
    await page.addInitScript(`addEventListener("securitypolicyviolation", (event) =>
      reportViolation(event.effectiveDirective + " at " + event.sourceFile + ":" + event.lineNumber));`);
    await page.route("**/*", (route) => {
      const name = route.request().url().slice(LAB_ORIGIN.length).split(/[?#]/)[0];
      const body = this.#files.get(name);
      const contentType = TYPES[name.slice(name.lastIndexOf(".") + 1)];
      if (body === undefined || contentType === undefined) return route.fulfill({ status: 404 });
      return route.fulfill({ body, contentType, headers: { "Content-Security-Policy": POLICY } });
    });
    await page.goto(`${LAB_ORIGIN}lab.html${fragment}`);
    return { page, faults, close: () => page.close() };
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}
