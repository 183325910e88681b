/**
 * `npm run screenshots [-- FOLDER]`: makes pictures of every view of the live page and of the laboratory,
 * light and dark, 1,440 and 390 pixels wide (default folder: out/screenshots). The live page shows a real
 * scheduler with real jobs on this machine.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { explainError } from "@tutti/cli/errors.ts";
import { sleep } from "@tutti/host/sleep.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { StatusAnswer, WebLinkAnswer } from "@tutti/protocol/schema.ts";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium } from "./chromium.ts";
import { LabBrowser } from "./lab-page.ts";
import { isLive } from "./live-page.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const folder = process.argv[2] ?? fileURLToPath(new URL("../out/screenshots/", import.meta.url));
const LOOKS: readonly (readonly [name: string, options: BrowserContextOptions])[] = (
  ["light", "dark"] as const
).flatMap((colorScheme) =>
  [1440, 390].map(
    (width) =>
      [
        `${colorScheme}-${width}`,
        { colorScheme, viewport: { width, height: width === 390 ? 844 : 900 } },
      ] as const,
  ),
);
/** Views whose picture needs a choice; what to add to their address. */
const CHOICES: Readonly<Record<string, string>> = { "what-if": "?tasks=2&limit=10m", timeline: "?span=240" };
/** Time for charts to draw and for motion to end. */
const SETTLE_MS = 1500;
const START_MS = 20_000;

/** A scheduler with jobs that run, wait, have ended and have failed. */
class Scene {
  readonly #folder = mkdtempSync(join(tmpdir(), "tutti-screenshots-"));
  readonly #server: ChildProcess;
  readonly client: Promise<Client>;

  constructor() {
    const env = { ...process.env, TUTTI_SOCKET: join(this.#folder, "run", "tutti.sock") };
    const words = [
      "serve",
      "--private",
      "--port",
      "0",
      "--state",
      join(this.#folder, "state"),
      "--slot",
      "0.5s",
    ];
    this.#server = spawn(process.execPath, [program, ...words, "--policy", "gang:rows=3"], {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    this.client = this.#populate(env);
  }

  async #populate(env: NodeJS.ProcessEnv): Promise<Client> {
    const deadlineMs = performance.now() + START_MS;
    let client: Client | undefined;
    while (client === undefined) {
      try {
        client = new Client(env);
        await client.ask("/v1/status");
      } catch (error) {
        client = undefined;
        if (performance.now() > deadlineMs) throw error;
        await sleep(100);
      }
    }
    const { cpus } = await client.ask<StatusAnswer>("/v1/status");
    const half = Math.max(1, Math.floor(cpus / 2));
    const submit = (name: string, tasks: number, limit: string, script: string) =>
      execFileSync(
        process.execPath,
        [program, "submit", "-n", String(tasks), "--name", name, "--time", limit, "--", "sh", "-c", script],
        { env, stdio: "ignore" },
      );
    for (const [i, name] of ["mesh", "check", "plot"].entries()) submit(name, half, "1m", `sleep 0.${i + 2}`);
    submit("broken", 1, "1m", "echo 'no such input: a.dat' >&2; exit 3");
    await sleep(2000);
    for (const [name, tasks] of [
      ["climate", cpus],
      ["genome", half],
      ["fluid", half],
      ["lattice", cpus],
    ] as const)
      submit(name, tasks, "10m", "i=0; while :; do i=$((i+1)); echo step $i; sleep 1; done");
    for (let i = 1; i <= 12; i++) submit(`sweep-${i}`, 1 + (i % cpus), `${5 + i}m`, "sleep 300");
    await sleep(3000);
    return client;
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.#server.once("exit", resolve));
    const client = await this.client.catch(() => undefined);
    try {
      await client?.ask("/v1/shutdown", { method: "POST", body: { killJobs: true } });
    } catch {
      // Ended below.
    }
    if (client === undefined) this.#server.kill();
    await gone;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

async function shoot(page: Page, name: string): Promise<void> {
  await sleep(SETTLE_MS);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  console.log(`${name}.png`);
}

async function live(browser: Browser, client: Client): Promise<void> {
  for (const [look, options] of LOOKS) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const { url } = await client.ask<WebLinkAnswer>("/v1/web/links", { method: "POST" });
    await page.goto(new URL("/", url).href);
    await shoot(page, `live-welcome-${look}`);
    await page.goto(url);
    await page.reload();
    await isLive(page);
    const links = await page
      .locator("nav.rail a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    for (const link of links) {
      const view = link?.replace("#/", "") ?? "";
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}${CHOICES[view] ?? ""}`)}`);
      await shoot(page, `live-${view}-${look}`);
    }
    await page.evaluate('location.hash = "#/jobs/5"');
    await shoot(page, `live-job-${look}`);
    await page.keyboard.press("?");
    await shoot(page, `live-keys-${look}`);
    await context.close();
  }
}

async function laboratory(): Promise<void> {
  const browser = await LabBrowser.launch();
  try {
    for (const [look, options] of LOOKS) {
      const { page, close } = await browser.open("", options);
      await page.selectOption("select >> nth=0", "lublin");
      await page.waitForSelector("[data-workload-hash]");
      for (const policy of ["gang", "brmms"]) {
        await page.selectOption(".add select", policy);
        await page.click(".add button");
      }
      await shoot(page, `lab-experiment-${look}`);
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.waitForSelector("text=The hashes are those that", { timeout: 120_000 });
      const tabs = await page.locator(".tabs a").allTextContents();
      for (const [i, tab] of tabs.entries()) {
        await page.keyboard.press(String(i + 1));
        await shoot(page, `lab-${tab.toLowerCase().replaceAll(" ", "-")}-${look}`);
      }
      const others = await page
        .locator("nav.rail a")
        .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
      for (const link of others.filter((address) => !/experiment|results/.test(address))) {
        await page.evaluate(`location.hash = ${JSON.stringify(link)}`);
        await shoot(page, `lab-${link.replace(/\W+/g, "")}-${look}`);
      }
      await close();
    }
  } finally {
    await browser.close();
  }
}

mkdirSync(folder, { recursive: true });
const scene = new Scene();
try {
  const client = await scene.client;
  const browser = await launchChromium();
  await live(browser, client).finally(() => browser.close());
  await laboratory();
} catch (error) {
  const { message, exitCode } = explainError(error);
  console.error(`screenshots: ${message}`);
  process.exitCode = exitCode;
} finally {
  await scene.end();
}
