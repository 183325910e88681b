/**
 * The timeline and the question of what would happen, on the page, in Chromium, with a real scheduler and
 * real jobs. Times are read back from the table and from the pixels of the picture.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TRIES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, JobsAnswer, SubmitJob, WebLinkAnswer, WhatIfAnswer } from "@tutti/protocol/schema.ts";
import { gangColour, gangRgb } from "@tutti/web/page/gang-colours.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { Leftovers } from "./leftovers.ts";
import { type Started, startTutti, until } from "./live-command.ts";

/** Width of the names of rows, as the picture draws them. */
const GUTTER_PX = 150;
const GUTTER_PX_OF_WHAT_IF = 76;
const AXIS_PX = 34;
const ROW_PX = 20;

describe.skipIf(!hasChromium)("timeline and what-if on the page", () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-web-timeline-"));
  const socket = join(folder, "run", "tutti.sock");
  const state = join(folder, "state");
  const config = join(folder, "tutti.toml");
  let client: Client;
  let server: Started;
  let browser: Browser;
  let page: Page;
  let cpus = 0;
  const problems: string[] = [];

  const submit = async (script: string, more: Partial<SubmitJob> = {}): Promise<number> => {
    const env = { PATH: process.env.PATH ?? "" };
    const job = { command: ["sh", "-c", script], cwd: folder, env, ...more };
    const { jobs } = await client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body: { jobs: [job] } });
    return jobs[0].job;
  };
  const jobOf = async (job: number): Promise<Job> => (await client.job(job)).job;
  const reaches = async (job: number, wanted: Job["state"]): Promise<Job> => {
    for (;;) {
      const found = await jobOf(job);
      if (found.state === wanted) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const show = (fragment: string) => page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");
  const findings = async (): Promise<string[]> => {
    await page.evaluate(axe);
    return page.evaluate(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))",
    );
  };
  /** Cells of the table that is the twin of the picture, by the number of the job. */
  const twinRow = async (job: number): Promise<string[]> => {
    const twin = page.locator("details.timeline-twin");
    if ((await twin.getAttribute("open")) === null) await twin.locator("summary").click();
    const row = twin.locator("tbody tr").filter({ has: page.locator(`a[href="#/jobs/${job}"]`) });
    return (await row.locator("td").allInnerTexts()).map(withoutDates);
  };
  /** Waits until a row of the table says this. */
  const untilRow = async (job: number, holds: (cells: readonly string[]) => boolean): Promise<string[]> => {
    for (;;) {
      const cells = await twinRow(job);
      if (cells.length > 0 && holds(cells)) return cells;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  beforeAll(async () => {
    writeFileSync(config, "web = { submit = true }\n");
    const words = ["--private", "--state", state, "--port", "0", "--policy", "fcfs", "--config", config];
    server = startTutti(socket, ["serve", ...words]);
    await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
    client = new Client({ TUTTI_SOCKET: socket });
    cpus = (await client.ask<{ readonly cpus: number }>("/v1/status")).cpus;
    const { url } = await client.ask<WebLinkAnswer>("/v1/web/links", { method: "POST" });
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("request", (request) => {
      if (!/^(http:\/\/127\.0\.0\.1:|blob:)/.test(request.url())) problems.push(request.url());
    });
    await page.goto(url);
    await page.getByText("Sign out").waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await startTutti(socket, ["down", "--kill"]).result;
    await new Leftovers(folder, state).clear();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  test("a job that is not submitted has the interval of the API, and starts then", TRIES, async () => {
    // Exact limits under fcfs: the first job ends at its limit.
    const first = await submit("sleep 60", { tasks: cpus, limitMs: 12_000, name: "first" });
    const { startedAtMs = 0 } = await reaches(first, "running");
    const answered = page.waitForResponse((response) => response.url().endsWith("/v1/whatif"));
    await show(`#/what-if?tasks=${cpus}&limit=20s`);
    const answer = (await (await answered).json()) as WhatIfAnswer;
    const { p10Ms = 0, p50Ms = 0, p90Ms = 0 } = answer.policies[0].hypothetical![0];
    expect(Math.abs(p50Ms - (startedAtMs + 12_000))).toBeLessThan(1000);
    await page.locator(".what-if .lead").waitFor();
    const text = withoutDates((await page.locator(".what-if").textContent()) ?? "");
    expect(text).toContain(`A job with -n ${cpus} --time 20s (queue default, limit 20 s) would start in `);
    // No job has ended, so it is a range.
    expect(text).toContain(`between ${timeOf(p10Ms)} and ${timeOf(p90Ms)}`);
    expect(text).toContain(`tutti whatif --job '-n ${cpus} --time 20s'`);
    expect(text).toContain("No waiting job starts more than a second earlier or later.");
    expect(await findings()).toEqual([]);
    // Submitted from the page, with the fields filled in.
    await page.getByRole("button", { name: "Submit it" }).click();
    await page.getByLabel("Command", { exact: true }).fill("sleep 60");
    await page.getByLabel("Working directory").fill(folder);
    await page.getByRole("button", { name: "Submit", exact: true }).click();
    await page.waitForURL(/#\/jobs\/\d+/);
    const number = Number(/#\/jobs\/(\d+)/.exec(page.url())![1]);
    expect(await jobOf(number)).toMatchObject({ tasks: cpus, limitMs: 20_000 });
    const { startedAtMs: began = 0 } = await reaches(number, "running");
    // TERM, the end of the first job and the next start take a moment on a busy machine.
    expect(began).toBeGreaterThanOrEqual(p10Ms - 1000);
    expect(began).toBeLessThanOrEqual(p90Ms + 3000);
    await client.ask(`/v1/jobs/${number}/cancel`, { method: "POST" });
    await reaches(number, "cancelled");
  });

  test("an ended job is where the API says, in the table and in the pixels", async () => {
    const name = `<img src=x onerror="document.title='hacked'">`;
    const number = await submit("sleep 1.5", { name, limitMs: 10_000 });
    const { startedAtMs = 0, endedAtMs = 0, cpus: own } = await reaches(number, "done");
    const from = Math.floor(startedAtMs / 1000) - 2;
    await show(`#/timeline?rows=jobs&range=${from}:${from + 8}`);
    const cells = await untilRow(number, (row) => row[3] === "done");
    expect(cells.slice(0, 4)).toEqual([`${number} ${name}`, expect.any(String), "default", "done"]);
    expect(cells.slice(5)).toEqual([String(own[0]), timeOf(startedAtMs), timeOf(endedAtMs)]);
    expect(await page.title()).toBe("Timeline · Tutti");
    const colour = gangRgb(gangColour(number)).join(" ");
    // Jobs that overlap this time are in their own rows; the colours of neighbours in number differ.
    const spans = await page.evaluate(`(() => {
      const canvas = document.querySelector(".timeline-rows canvas");
      const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const rows = Math.floor((canvas.height - ${AXIS_PX}) / ${ROW_PX});
      return Array.from({ length: rows }, (_, row) => {
        const y = ${AXIS_PX} + row * ${ROW_PX} + 10;
        const hit = [];
        for (let x = ${GUTTER_PX}; x < width; x++) {
          const i = (y * width + x) * 4;
          if ([data[i], data[i + 1], data[i + 2]].join(" ") === "${colour}") hit.push(x);
        }
        return hit.length === 0 ? undefined : [hit[0], hit.at(-1) + 1, hit.length, width, row];
      }).filter((span) => span !== undefined);
    })()`);
    const [[fromPx, toPx, filled, width, spanRow]] = spans as [[number, number, number, number, number]];
    const pxPerMs = (width - GUTTER_PX) / 8000;
    const expectedFrom = GUTTER_PX + (startedAtMs - from * 1000) * pxPerMs;
    const expectedTo = GUTTER_PX + (endedAtMs - from * 1000) * pxPerMs;
    // The first pixel is the darker edge of the bar.
    expect(Math.abs(fromPx - 1 - expectedFrom)).toBeLessThanOrEqual(1);
    expect(Math.abs(toPx - expectedTo)).toBeLessThanOrEqual(1);
    expect(filled).toBe(toPx - fromPx);
    // Its CPU time, in an area that the mouse selects; the pointer says what is below it.
    const { x, y, width: boxPx, height } = (await page.locator(".timeline-rows").boundingBox())!;
    await page.mouse.move(x + GUTTER_PX + 5, y + AXIS_PX + 2);
    await page.mouse.down();
    await page.mouse.move(x + boxPx - 20, y + height - 4, { steps: 4 });
    await page.mouse.up();
    const { ranMs } = await jobOf(number);
    const line = page.locator(".timeline-area tbody tr").filter({ hasText: name });
    expect(await line.locator("td").nth(2).textContent()).toBe(`${(ranMs / 1000).toPrecision(3)} s`);
    await page.mouse.move(x + (fromPx + toPx) / 2, y + AXIS_PX + ROW_PX * spanRow + 10);
    await page.locator(".timeline-tip").waitFor();
    expect(await page.locator(".timeline-tip div").first().textContent()).toBe(`${number} ${name}`);
  });

  test("a click on a bar of what-if selects its job in both pictures and in the table", async () => {
    const first = await submit("sleep 600", { tasks: cpus, limitMs: 600_000, name: "long" });
    const { startedAtMs = 0 } = await reaches(first, "running");
    const second = await submit("sleep 600", { tasks: cpus, limitMs: 300_000, name: "next" });
    const from = Math.floor(startedAtMs / 1000) - 60;
    await show(`#/what-if?tasks=1&limit=60s&range=${from}:${from + 1200}`);
    const marked = page.locator(".what-if-table tr[aria-current]");
    // In the middle of its expected run, which begins at the limit of the first.
    const share = (60 + 600 + 150) / 1200;
    for (const [canvas, top, isPinned] of [
      [0, AXIS_PX, true],
      [1, 0, false],
    ] as const) {
      const place = page.locator(".what-if-picture canvas").nth(canvas);
      await place.waitFor();
      const { width, height } = (await place.boundingBox())!;
      const x = GUTTER_PX_OF_WHAT_IF + share * (width - GUTTER_PX_OF_WHAT_IF);
      for (let y = top + 5; y < height && page.url().includes(`pin=${second}`) !== isPinned; y += 10)
        await place.click({ position: { x, y } });
      await expect.poll(() => marked.count()).toBe(isPinned ? 1 : 0);
      if (isPinned) expect(await marked.textContent()).toContain(`${second} next`);
      expect(page.url().includes(`pin=${second}`)).toBe(isPinned);
    }
    expect(await findings()).toEqual([]);
    for (const job of [second, first]) await client.ask(`/v1/jobs/${job}/cancel`, { method: "POST" });
    await reaches(first, "cancelled");
  });

  test("expected starts move when a job ends early, without a reload", async () => {
    const first = await submit("sleep 600", { tasks: cpus, limitMs: 600_000, name: "long" });
    const { startedAtMs = 0 } = await reaches(first, "running");
    const second = await submit("sleep 600", { tasks: cpus, limitMs: 300_000, name: "next" });
    const third = await submit("sleep 600", { tasks: cpus, limitMs: 300_000, name: "last" });
    await show("#/timeline?span=3600");
    await page.evaluate("window.wasLoaded = true");
    const waiting = await untilRow(second, ([, , , kind, , , start]) => kind === "queued" && start !== "–");
    // If this test runs alone, too few jobs have ended for more than a range.
    expect(waiting[6]).toMatch(/^(?:about )?\d\d:\d\d:\d\d/);
    expect((await untilRow(first, () => true))[6]).toBe(timeOf(startedAtMs));
    const [, , , , , , before] = await untilRow(third, ([, , , , , , start]) => start.includes(" to "));
    await client.ask(`/v1/jobs/${first}/cancel`, { method: "POST" });
    const { startedAtMs: began = 0 } = await reaches(second, "running");
    const running = await untilRow(second, ([, , , kind]) => kind === "running");
    expect(running[6]).toBe(timeOf(began));
    const [, , , , , , after] = await untilRow(third, ([, , , , , , start]) => start !== before);
    expect(after).toMatch(/\d to \d/);
    expect(secondsBetween(after, before)).toBeGreaterThan(0);
    expect(await page.evaluate("window.wasLoaded")).toBe(true);
    // What is selected by keys: all that is shown.
    await page.locator(".timeline-rows").focus();
    await page.keyboard.press("e");
    await page.locator(".timeline-area strong").waitFor();
    expect(await page.locator(".timeline-area strong").textContent()).toMatch(
      /^\d+ jobs in 60 min: .* of CPU time used and .* expected, \d+\.\d % of the CPUs$/,
    );
    expect(page.url()).toContain("area=");
    await page.keyboard.press("Escape");
    await page.locator(".timeline-area").waitFor({ state: "detached" });
    await page.keyboard.press(",");
    await page.locator(".timeline-pinned a").waitFor();
    expect(page.url()).toMatch(/[?&]pin=\d+/);
    await page.keyboard.press("w");
    expect(page.url()).toContain("span=2520");
    await page.reload();
    await page.locator(".timeline-pinned a").waitFor();
    expect(await findings()).toEqual([]);
    for (const job of [third, second]) await client.ask(`/v1/jobs/${job}/cancel`, { method: "POST" });
  });

  test("both views pass in the dark on a narrow screen, and do not overflow", async () => {
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await page.setViewportSize({ width: 390, height: 800 });
    for (const view of ["#/what-if?tasks=1", "#/timeline?rows=queues&idle=short&clock=relative"]) {
      await show(view);
      await page.locator(".what-if-picture, .timeline-rows").waitFor();
      expect(await findings()).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    }
  });

  test("addresses far from any job, or without sense, leave a page that works", async () => {
    for (const query of [
      "range=-9999999999999:9999999999999",
      "range=0:899999999999",
      "span=9999999999&rows=jobs&idle=short",
      "range=5:5&area=1:2:0:99999999&pin=1e9&rows=%3Cb%3E",
    ]) {
      await show(`#/timeline?${query}`);
      await page.locator(".timeline-rows").waitFor();
      await page.keyboard.press("s");
      await page.keyboard.press("e");
      await page.keyboard.press("Escape");
    }
    await page.getByRole("button", { name: "Around now" }).click();
    await page.locator(".timeline-rows").waitFor();
  });

  test("nothing was refused by the page's rules, and nothing was asked from another place", () => {
    expect(problems).toEqual([]);
  });
});

/** Local time of day. */
function timeOf(unixMs: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const date = new Date(unixMs);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Times that are not today have a date, which is right near midnight. */
function withoutDates(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\d (?=\d\d:)/g, "");
}

/** From the first time of day in a text to that in another one, less than half a day away. */
/** Between the last times in two texts. */
function secondsBetween(from: string, to: string): number {
  const [first, second] = [from, to].map((text) => {
    const [, hours, minutes, seconds] = /.*(\d\d):(\d\d):(\d\d)/.exec(text)!.map(Number);
    return hours * 3600 + minutes * 60 + seconds;
  });
  const halfDayS = 43_200;
  return ((second - first + 3 * halfDayS) % (2 * halfDayS)) - halfDayS;
}
