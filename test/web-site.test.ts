/**
 * The static site and the laboratory in one file: every link leads somewhere, both work in Chromium from a
 * disk and from any path of a server, and nothing asks another host for anything.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { VERBS } from "@tutti/cli/registry.ts";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { ROUTES } from "@tutti/live/api/contract/routes.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildSite } from "../scripts/build-site.ts";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { oneFile } from "../scripts/one-file.ts";
import { documentPage } from "../scripts/site/document.ts";
import { checkLinks, linksIn } from "../scripts/site/page.ts";
import { requireAccessible, requireInside } from "./lab-driver.ts";

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
      const text = readFileSync(join(folder, "site", page), "utf8").replace(/<script>.*?<\/script>/gs, "");
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

  test("is not made with a link that leads nowhere: file and line are named", () => {
    const documents = [
      documentPage(
        "docs/a.md",
        "# A\n\n[b](b.md#b-c), [no page](c.md)\n\n[no heading](b.md#c),\n[out](../e.md)\n",
      ),
      documentPage(
        "docs/b.md",
        "# B\n\n## `B` c\n\n[own](#b) [own](#d) ![no file](images/no.png) [source](../package.json)\n",
      ),
    ];
    const html = '<p>\n<a href="docs/a.html#a">a</a> <img src="no.svg">';
    const first = { path: "index.html", title: "", html, links: linksIn(html, "index.html", "first.html") };
    expect(() => checkLinks([...documents, first], new Set())).toThrow(
      [
        "Cannot make the site: links lead nowhere",
        'docs/a.md:3: there is no page or file "docs/c.html"',
        'docs/a.md:5: "docs/b.html" has no heading "c"',
        'docs/a.md:6: there is no page or file "e.html"',
        'docs/b.md:5: "docs/b.html" has no heading "d"',
        'docs/b.md:5: there is no page or file "docs/images/no.png"',
        'first.html:2: there is no page or file "no.svg"',
      ].join("\n"),
    );
    expect(documents[1].html).toContain("source</p>");
  });

  test("has every command and every route of the API", () => {
    const page = (name: string) => readFileSync(join(folder, "site/reference", name), "utf8");
    const help = execFileSync(process.execPath, [program, "submit", "--help"], { encoding: "utf8" });
    const options = help.match(/^ +(?:-\w, )?--[a-z-]+/gm) ?? [];
    expect(options.length).toBeGreaterThan(20);
    const [, submit] = /<h2 id="submit">(.*?)<h2/s.exec(page("commands.html")) ?? [];
    for (const option of options) expect(submit).toContain(`<code>${option.trim()}`);
    for (const { name } of VERBS) expect(page("commands.html")).toContain(`<h2 id="${name}">`);
    expect(page("commands.html")).not.toContain('<h2 id="pilot">');
    for (const { method, path } of ROUTES)
      expect(page("api.html")).toContain(`<code>${method.toUpperCase()} ${path}</code></h2>`);
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

  test("`tutti lab page` opens from a disk and gives the hashes of the command line", async () => {
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

  /** A page of the site from the disk. */
  const onDisk = (name: string) => pathToFileURL(join(folder, "site", name)).href;

  test("the first page plays a recorded run, and runs experiments, from a disk", async () => {
    const { page, faults } = await opened(onDisk("index.html"));
    const picture = page.locator(".matrix-picture");
    const sequence = () => picture.getAttribute("data-sequence");
    const before = await sequence();
    await expect.poll(sequence).not.toBe(before);
    await page.getByRole("button", { name: "Pause" }).click();
    expect(await picture.getAttribute("data-row")).toBe(null);
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ]) {
      await page.setViewportSize({ width, height });
      await requireInside(page);
      const below = await page.evaluate(
        "['h1', '.button', '.matrix-picture'].map((part) => document.querySelector(part).getBoundingClientRect().bottom)",
      );
      // In one screen.
      expect(Math.max(...(below as number[]))).toBeLessThanOrEqual(height);
    }
    await page.emulateMedia({ reducedMotion: "reduce" });
    await page.reload();
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.click("text=Compare three policies here");
    await page.waitForSelector("text=1,000 jobs on 128 processors");
    await page.waitForSelector("text=The hashes are those that");
    expect(page.url()).not.toContain("run=1");
    expect(faults).toEqual([]);
    await page.close();
  });

  test("a visitor breaks the scheduler, and its jobs come through, from a disk", async () => {
    const { page, faults } = await opened(`${onDisk("break.html")}#/?seed=7`);
    await page.getByLabel("Speed").selectOption("120 times");
    await page.getByRole("button", { name: "Start" }).click();
    const picture = page.locator(".matrix-picture");
    const status = page.locator(".machine [role=status]");
    const isRunning = () => status.filter({ hasText: /^[1-9]\d* jobs? running/ }).waitFor();
    await isRunning();
    for (const [name, back] of [
      ["Kill the conductor"],
      ["Kill the front end"],
      ["Stop the conductor", "Let the conductor go on"],
      ["Fill the disk", "Make room on the disk"],
      ["Set the clock ahead", "Set the clock right"],
      ["Cut the power", "Turn the power on"],
    ]) {
      await page.getByRole("button", { name }).click();
      if (back !== undefined) await page.getByRole("button", { name: back }).click();
      await isRunning();
      await picture.waitFor();
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await requireInside(page);
    await page.getByRole("button", { name: "Stop and judge" }).click();
    const verdict = page.locator(".verdict");
    await verdict.waitFor();
    expect(await verdict.textContent(), page.url()).toContain("The judge found no problem.");
    expect(await page.locator(".said .deed").count()).toBe(10);
    await requireInside(page);
    const hash = await verdict.locator("code").textContent();
    const again = await opened(page.url());
    await again.page.getByLabel("Speed").selectOption("as fast as it can");
    await again.page.getByRole("button", { name: "Watch this life again" }).click();
    expect(await again.page.locator(".verdict code").textContent({ timeout: 120_000 })).toBe(hash);
    expect([...faults, ...again.faults]).toEqual([]);
    // It reads style sheets again, which the page's policy refuses on a disk.
    await requireAccessible(page);
    await Promise.all([page.close(), again.page.close()]);
  });

  test("a visitor loses a node of five, and the judge finds that nothing was lost that may not be", async () => {
    const { page, faults } = await opened(`${onDisk("break.html")}#/?seed=3`);
    await page.getByLabel("Jobs run on").selectOption("five nodes of a Slurm");
    await page.getByLabel("Speed").selectOption("120 times");
    await page.getByRole("button", { name: "Start" }).click();
    const status = page.locator(".machine [role=status]");
    const isRunning = () => status.filter({ hasText: /^[1-9]\d* jobs? running/ }).waitFor();
    await isRunning();
    await page.getByRole("button", { name: "Lose a node" }).click();
    await page.locator(".said", { hasText: /Node n\d is off\./ }).waitFor();
    await page.getByRole("button", { name: "Give the node power again" }).click();
    await page.locator(".said", { hasText: /Node n\d boots\./ }).waitFor();
    await isRunning();
    await requireInside(page);
    await page.getByRole("button", { name: "Stop and judge" }).click();
    const verdict = page.locator(".verdict");
    await verdict.waitFor({ timeout: 120_000 });
    expect(await verdict.textContent(), page.url()).toContain("The judge found no problem.");
    expect(new URLSearchParams(page.url().split("?")[1]).get("on")).toBe("nodes");
    expect(faults).toEqual([]);
    await page.close();
  });

  test("the search finds headings with keys alone, from a disk", async () => {
    const { page, faults } = await opened(onDisk("docs/papers/index.html"));
    await page.keyboard.press("/");
    await page.keyboard.type("tutti cancel");
    await page.waitForSelector(".found mark");
    await requireInside(page);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${onDisk("reference/commands.html")}#cancel`);
    await page.keyboard.press("/");
    await page.keyboard.type("zebra");
    await page.waitForSelector("text=No section has all these words.");
    await page.keyboard.press("Escape");
    expect(await page.locator(".found").isVisible()).toBe(false);
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
      await page.locator("main").getByText("Guide: the laboratory").click();
      await page.waitForSelector("main h1");
      for (const name of siteFiles().filter((path) => path.endsWith(".html"))) {
        await page.goto(`${origin}${name}`);
        const isWide = await page.evaluate(
          "document.documentElement.scrollWidth > document.documentElement.clientWidth + 1",
        );
        if (isWide) faults.push(`${name} is wider than the window`);
      }
      const looks = [
        ["index.html", "light"],
        ["docs/glossary.html", "dark"],
        ["break.html", "dark"],
        ["reference/commands.html", "dark"],
        ["reference/api.html", "light"],
      ] as const;
      // The references are long.
      for (const [name, colorScheme] of SOAK ? looks : looks.slice(0, 2)) {
        await page.goto(`${origin}${name}`);
        await page.emulateMedia({ colorScheme });
        await page.fill("search input", "job");
        await page.waitForSelector(".found mark");
        await requireAccessible(page);
      }
      expect(faults).toEqual([]);
      await page.close();
    } finally {
      server.close();
    }
  });
});
