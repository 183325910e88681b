/**
 * The static site and the laboratory in one file: every link leads somewhere, both work in Chromium without
 * help from a server, and nothing asks another host for anything.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildSite } from "../scripts/build-site.ts";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { oneFile } from "../scripts/one-file.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const example = fileURLToPath(new URL("../examples/my-policy.ts", import.meta.url));
const MAX_FILE_BYTES = 900_000;
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
  png: "image/png",
};
/** Four jobs on four processors. */
const TRACE = [
  "; MaxProcs: 4",
  "1 0 -1 100 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1",
  "2 5 -1 50 4 -1 -1 4 60 -1 1 1 1 -1 1 -1 -1 -1",
  "3 6 -1 10 2 -1 -1 2 20 -1 1 1 1 -1 1 -1 -1 -1",
  "4 7 -1 10 1 -1 -1 1 20 -1 1 1 1 -1 1 -1 -1 -1",
].join("\n");

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-site-"));
  await buildSite(join(folder, "site"));
  writeFileSync(join(folder, "four.swf"), `${TRACE}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The files of the site, by path from its root. */
function siteFiles(): string[] {
  return readdirSync(join(folder, "site"), { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, "site", name)).isFile(),
  );
}

describe("the site", () => {
  test("has no link that leads nowhere, and none that begins at the root of the server", () => {
    const names = new Set(siteFiles());
    const pages = [...names].filter((name) => name.endsWith(".html"));
    expect(pages.length).toBeGreaterThan(25);
    const lost: string[] = [];
    for (const page of pages) {
      const text = readFileSync(join(folder, "site", page), "utf8");
      for (const [, address] of text.matchAll(/<[^>]* (?:href|src)="([^"]*)"/g)) {
        if (/^(?:https?:|mailto:|data:)/.test(address)) continue;
        const [path, anchor] = address.replaceAll("&amp;", "&").split("#");
        const target = path === "" ? page : posix.join(posix.dirname(page), decodeURIComponent(path));
        if (path.startsWith("/") || !names.has(target)) lost.push(`${page}: ${address}`);
        else if (anchor && target.endsWith(".html") && !anchor.startsWith("/")) {
          const there = readFileSync(join(folder, "site", target), "utf8");
          if (!there.includes(`id="${decodeURIComponent(anchor)}"`)) lost.push(`${page}: ${address}`);
        }
      }
    }
    expect(lost).toEqual([]);
  });

  test("replaces an earlier site, and no other folder", async () => {
    await buildSite(join(folder, "site"));
    await expect(buildSite(folder)).rejects.toThrow("the folder contains other files");
    expect(readFileSync(join(folder, "four.swf"), "utf8")).toContain("MaxProcs");
  });
});

describe("one file", () => {
  const parts = { html: "a.html", script: "a.js", style: "a.css", icon: "i.svg", parts: {} };
  const files = (script: string, style: string) =>
    new Map([
      [
        "a.html",
        '<meta http-equiv="Content-Security-Policy" content="x"><link rel="icon" href="i.svg"><link rel="stylesheet" href="a.css"><script src="a.js" defer></script><body></body>',
      ],
      ["a.js", script],
      ["a.css", style],
      ["i.svg", "<svg/>"],
    ]);

  test("contains scripts exactly, with every sign that replacing knows", () => {
    const script = "const a = '$&$1$`';";
    const page = oneFile(files(script, "p{}"), parts);
    expect(page).toContain(`<script>${script}</script>`);
    // echo -n "p{}" | openssl dgst -sha256 -binary | base64
    expect(page).toContain(`style-src 'sha256-gG2yISYereRMiG2lMXrbiUgi0Ubw9p7QCeWcroOvy9Y='`);
  });

  test("refuses a script that HTML would cut", () => {
    expect(() => oneFile(files('"</script>"', ""), parts)).toThrow('a.js contains "</script"');
    expect(() => oneFile(files("", '"<!--"'), parts)).toThrow('a.css contains "<!--"');
  });
});

/** Starts no job. */
const IDLE_POLICY =
  'import { definePolicy } from "tutti";\nexport default definePolicy({ name: "idle", sharing: "space", make: () => ({ depart() {}, decide() {} }) });';

describe.skipIf(!hasChromium)("in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  /** A page that counts what it must not do: errors, violations of its policy, requests to other hosts. */
  async function opened(url: string): Promise<{ readonly page: Page; readonly faults: string[] }> {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(message.text());
    });
    page.on("request", (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(url.slice(0, 12)))
        faults.push(request.url());
    });
    await page.goto(url);
    return { page, faults };
  }

  test("`tutti lab --one-file` opens from a disk and gives the hashes of the command line", async () => {
    const file = join(folder, "lab.html");
    execFileSync(process.execPath, [program, "lab", "--one-file", file], { stdio: "pipe" });
    expect(statSync(file).size).toBeLessThanOrEqual(MAX_FILE_BYTES);
    const { page, faults } = await opened(pathToFileURL(file).href);
    await page.setInputFiles('input[type="file"]', join(folder, "four.swf"));
    await page.waitForSelector("[data-workload-hash]");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForSelector("text=The hashes are those that");
    const shown = await page.textContent("main");
    const printed = JSON.parse(
      execFileSync(
        process.execPath,
        [program, "compare", join(folder, "four.swf"), "--policy", "fcfs,easy,conservative", "--json"],
        { encoding: "utf8", stdio: "pipe" },
      ),
    );
    expect(printed.policies).toHaveLength(3);
    for (const { scheduleHash } of printed.policies) expect(shown).toContain(scheduleHash);
    await page.evaluate('location.hash = "#/papers/silva1999"');
    await page.click('[data-table="table-1"] >> text=Run here');
    await page.waitForSelector("text=Same digits as the published page: 10 of 10");
    await page.click("nav >> text=Experiment");
    await page.click("text=Write a policy of your own");
    const audited = async () => {
      await page.click("text=Audit with these jobs");
      const said = page.locator(".said p").filter({ hasNotText: /^…$/ });
      await said.first().waitFor({ timeout: 120_000 });
      return said.allTextContents();
    };
    const words = ["simulate", join(folder, "four.swf"), "--policy", example, "--audit"];
    const { stderr: printedAudit } = spawnSync(process.execPath, [program, ...words], { encoding: "utf8" });
    const lines = await audited();
    expect(lines[0]).toBe("audit of keep-some-free: no rule is broken");
    for (const line of lines) expect(printedAudit.split("\n")).toContain(line);
    await page.fill(".editor textarea", IDLE_POLICY);
    // The last job is submitted at 7 s, and nothing happens afterwards.
    expect(await audited()).toEqual([
      'audit of idle: rule "never-started" is broken (job 1, 7 s)',
      "  the rule: every job is started eventually",
      "  Job 1 is never started",
    ]);
    expect(faults).toEqual([]);
    await page.close();
  });

  test("the site works from any path of a plain file server, in every page", async () => {
    const server = createServer(({ url = "" }, answer) => {
      const path = decodeURIComponent(url.split(/[?#]/)[0]).replace(/^\/some\/path\//, "");
      const file = join(folder, "site", path === "" ? "index.html" : path);
      try {
        const content = readFileSync(file);
        answer.writeHead(200, { "content-type": TYPES[path.split(".").pop() || "html"] ?? "text/html" });
        answer.end(content);
      } catch {
        answer.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/some/path/`;
    try {
      const { page, faults } = await opened(origin);
      await page.click("text=Laboratory guide");
      await page.waitForSelector("main h1");
      for (const name of siteFiles().filter((path) => path.endsWith(".html"))) {
        await page.goto(`${origin}${name}`);
        const isWide = await page.evaluate(
          "document.documentElement.scrollWidth > document.documentElement.clientWidth + 1",
        );
        if (isWide) faults.push(`${name} is wider than the window`);
      }
      expect(faults).toEqual([]);
      await page.close();
    } finally {
      server.close();
    }
  });
});
