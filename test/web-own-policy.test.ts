/**
 * A policy typed into the laboratory's page, in Chromium: it decides as on the command line, it reaches
 * nothing but the language, and it cannot keep the page busy.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { linkText } from "@tutti/web/lab/link.ts";
import { OWN_PATH } from "@tutti/web/lab/own/messages.ts";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../scripts/chromium.ts";
import { LabBrowser, type OpenLab } from "../scripts/lab-page.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const example = fileURLToPath(new URL("../examples/my-policy.ts", import.meta.url));

/** A policy whose code runs when it is loaded. */
const doing = (code: string) =>
  `import { definePolicy } from "tutti";\n${code};\nexport default definePolicy({ name: "tries", sharing: "space", make: () => ({ depart() {}, decide() {} }) });`;

describe.skipIf(!hasChromium)("in Chromium", () => {
  let browser: LabBrowser;

  beforeAll(async () => {
    browser = await LabBrowser.launch();
  });

  afterAll(() => browser?.close());

  async function withEditor(work: (page: Page, faults: readonly string[]) => Promise<void>): Promise<void> {
    const { page, faults, close } = await browser.open();
    try {
      await page.click("text=Write a policy of your own");
      await work(page, faults);
    } finally {
      await close();
    }
  }

  async function checked(page: Page, text: string): Promise<string> {
    await page.fill(".editor textarea", text);
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.waitForTimeout(100);
    await page.locator(".said p").filter({ hasNotText: /^…$/ }).first().waitFor({ timeout: 120_000 });
    return (await page.textContent(".said")) ?? "";
  }

  test("a link gets the run that it asks for, but not of this policy", async () => {
    const asked = async (policy: string) => {
      const jobs = { model: "downey:jobs=10" };
      const link = await linkText({ jobs, settings: {}, policies: [policy], own: doing("") });
      const open = await browser.open(`#/results?run=1&x=${link}`);
      await open.page.waitForSelector(".head button.primary:enabled");
      await open.page.waitForURL((url) => !url.hash.includes("run="));
      return open;
    };
    const known = await asked("easy");
    await known.page.waitForSelector("[data-hash]");
    const own = await asked(OWN_PATH);
    // A run of ten jobs would have ended.
    await own.page.waitForTimeout(1000);
    expect(await own.page.textContent("main")).toContain("There are none yet");
    expect([...known.faults, ...own.faults]).toEqual([]);
    await Promise.all([known.close(), own.close()]);
  });

  test("the example of the project gives the schedule of the command line", async () => {
    await withEditor(async (page, faults) => {
      expect(await page.inputValue(".editor textarea")).toBe(readFileSync(example, "utf8"));
      await page.selectOption(".model select", "downey");
      await page.waitForSelector("[data-workload-hash]");
      await page.click("text=Compare it");
      await page.fill(".policy input", "reserve=4");
      await page.keyboard.press("Tab");
      await page.fill("#set-first", "300");
      await page.keyboard.press("Enter");
      await page.locator("button.primary:enabled").click();
      await page.waitForSelector("[data-hash]", { timeout: 120_000 });
      const shown = await page.locator('[data-hash^="keep-some-free"]').textContent();
      const options = ["--policy", `${example}:reserve=4`, "--first", "300", "--seed", "1", "--json"];
      const printed = JSON.parse(
        execFileSync(process.execPath, [program, "simulate", "downey", ...options], { encoding: "utf8" }),
      );
      expect(JSON.stringify(printed)).toContain(`"${shown}"`);
      expect(faults).toEqual([]);
    });
  });

  test("a syntax error names line and column", async () => {
    await withEditor(async (page) => {
      expect(await checked(page, "const a = 1;\nconst b: number = ;\n")).toMatch(
        /^Cannot read policy ".\/my-policy.ts": line 2, column 19: /,
      );
    });
  });

  // Each policy has a worker of its own, so they can share a page.
  describe("a policy", () => {
    let editor: OpenLab;
    beforeAll(async () => {
      editor = await browser.open();
      await editor.page.click("text=Write a policy of your own");
    });
    afterAll(() => editor?.close());

    test.each([
      ["the clock", "Date.now()"],
      ["the clock of the page", "performance.now()"],
      ["random numbers", "Math.random()"],
      ["the network", 'fetch("https://example.invalid")'],
      ["sockets", 'new WebSocket("wss://example.invalid")'],
      ["requests", "new XMLHttpRequest()"],
      ["events of a server", 'new EventSource("https://example.invalid")'],
      ["other tabs", 'new BroadcastChannel("a")'],
      ["storage", 'indexedDB.open("a")'],
      ["caches", "caches.keys()"],
      ["scripts", 'importScripts("https://example.invalid/a.js")'],
      ["other workers", 'new Worker("a.js")'],
      ["the browser", "navigator.userAgent"],
      ["the address", "location.href"],
      ["the page", "document.title"],
      ["messages to the page", "postMessage(1)"],
      ["messages to the page by another name", "self.postMessage(1)"],
      ["messages of the page", 'addEventListener("message", () => {})'],
      ["timers", "setTimeout(() => {}, 1)"],
      ["text as code", 'Function("return 1")()'],
      ["text as code by eval", '(0, eval)("1")'],
      ["other modules", 'require("fs")'],
      ["what was inherited", 'Object.getPrototypeOf(globalThis).fetch.call(globalThis, "x")'],
      ["the built-in objects", "'use strict'; Array.prototype.push = () => 0"],
      ["the end of its function", "} globalThis.x = 1; {"],
      ["the end of its function, with a sign for comments", "let a = 1; a <!--1; {\n}"],
      ["names twice, which only the browser refuses", "let a = 1; let a = 2"],
    ])("does not reach %s", async (_what, code) => {
      expect(await checked(editor.page, doing(code))).toMatch(/^Cannot (?:load|read) policy/);
      expect(editor.faults.filter((fault) => fault.includes("request to"))).toEqual([]);
    });

    test("and the page goes on", async () => {
      expect(await checked(editor.page, doing(""))).toContain("tries: ");
    });
  });

  test("an endless loop is ended, and the page goes on", async () => {
    await withEditor(async (page) => {
      expect(await checked(page, doing("for (;;) {}"))).toContain("it made no progress for 10 s");
      expect(await checked(page, doing(""))).toContain("tries: ");
    });
  });

  test("a link has the policy, and does not run it", async () => {
    let link = "";
    await withEditor(async (page) => {
      await page.fill(".editor textarea", doing("/* mine */"));
      await page.waitForURL(/x=/);
      await page.waitForTimeout(500);
      link = new URL(page.url()).hash;
    });
    const { page, close } = await browser.open(link);
    await page.waitForSelector(".editor textarea");
    expect(await page.inputValue(".editor textarea")).toContain("/* mine */");
    expect(await page.textContent(".said")).toBe("");
    await close();
  });
});
