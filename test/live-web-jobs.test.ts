/**
 * The page's jobs in Chromium, against a real scheduler: what the command line submits appears, jobs are
 * changed from the page, logs follow, restarts pass without a reload, hostile texts stay texts, and many tabs
 * share one stream.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SIZES, SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, JobsAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { whySentences } from "@tutti/words/why.ts";
import { source as axeSource } from "axe-core";
import fc from "fast-check";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildLivePage, packedBytes } from "../scripts/build-web.ts";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { hiddenPx, isLive, overflowPx, watchFaults } from "../scripts/live-page.ts";
import { Leftovers } from "./leftovers.ts";
import { type Started, startTutti, until } from "./live-command.ts";

/** First page, compressed. */
const BUDGET_BYTES = 120_000;
/** Colors depend on the scheme, and layout on the width. */
const LOOKS = [
  ["light", 1440],
  ["dark", 390],
] as const;
const ALL_LOOKS = [...LOOKS, ["light", 390], ["dark", 1440]] as const;
/** As many as the page shows of one log. */
const TEXTS_PER_LOG = 250;

test("the first page is small", async () => {
  const sizes = [...(await buildLivePage()).values()].map(packedBytes);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(BUDGET_BYTES);
});

describe.skipIf(!hasChromium)("in Chromium", () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-web-jobs-"));
  const socket = join(folder, "run", "tutti.sock");
  const state = join(folder, "state");
  const leftovers = new Leftovers(folder, state);
  let server: Started;
  let address: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let faults: string[];
  const client = () => new Client({ TUTTI_SOCKET: socket });

  async function serve(port: string, ...more: readonly string[]): Promise<void> {
    const words = ["serve", "--private", "--state", state, "--slot", "50ms", "--port", port, ...more];
    server = startTutti(socket, words);
    await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
    [address] = /http:\/\/127\.0\.0\.1:\d+\//.exec(server.stdout())!;
  }

  /** A page with a session of its own, at this view. */
  async function openPage(view: string): Promise<void> {
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    faults = await watchFaults(context, address);
    page = await context.newPage();
    const { stdout } = await startTutti(socket, ["web", "--json"]).result;
    await page.goto(JSON.parse(stdout).url);
    await isLive(page);
    await goTo(view);
  }

  const goTo = (view: string) => page.evaluate<void>(`location.hash = ${JSON.stringify(view)}`);

  async function submit(script: string, more: Partial<SubmitJob> = {}): Promise<number> {
    return (await submitAll([{ command: ["sh", "-c", script], cwd: folder, env: {}, ...more }]))[0];
  }

  async function submitAll(jobs: readonly SubmitJob[]): Promise<number[]> {
    const answer = await client().ask<JobsAnswer>("/v1/jobs", { method: "POST", body: { jobs } });
    return answer.jobs.map(({ job }) => job);
  }

  const job = async (number: number): Promise<Job> => (await client().job(number)).job;
  const row = (number: number) => page.locator(`#job-${number}`);
  const stateCell = (number: number) => row(number).locator(".cell-state");
  const cancelAll = async () => {
    for (const states of [["held"], ["queued", "starting", "running"]]) {
      const body = { action: "cancel", jobs: "1-1000000", states };
      await client().ask("/v1/batch", { method: "POST", body });
    }
  };

  beforeAll(async () => {
    await serve("0");
    browser = await launchChromium();
  });

  afterEach(async () => {
    await context?.close();
    expect(faults).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    await startTutti(socket, ["down", "--kill"]).result;
    await leftovers.clear();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  test("a submitted job appears; hold, release, priority and cancel by keyboard", async () => {
    await openPage("#/jobs");
    const submitted = await startTutti(socket, ["submit", "--hold", "-J", "held", "--", "sleep", "1000"])
      .result;
    const number = Number(/\d+/.exec(submitted.stdout)?.[0]);
    await expect.poll(() => stateCell(number).textContent()).toContain("held");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    const drawer = page.getByRole("complementary", { name: `Job ${number}` });
    await drawer.getByText("tutti release lets it start").waitFor();
    expect(page.url()).toBe(`${address}#/jobs/${number}`);

    await drawer.getByRole("button", { name: "Priority" }).click();
    await page.getByLabel(/^Priority/).fill("-7");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await job(number)).priority).toBe(-7);

    await drawer.getByRole("button", { name: "Release" }).click();
    await expect.poll(() => stateCell(number).textContent()).toContain("running");
    await drawer.getByText("Runs on CPU").waitFor();

    await drawer.getByRole("button", { name: "Pause" }).click();
    await expect.poll(() => stateCell(number).textContent()).toContain("paused");
    await drawer.getByText("It keeps its memory, and under space sharing its CPUs").waitFor();
    await drawer.getByRole("button", { name: "Resume" }).click();
    await expect.poll(() => stateCell(number).textContent()).toContain("running");

    await drawer.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Leave as is" }).click();
    expect((await job(number)).state).toBe("running");
    await drawer.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel 1 job" }).click();
    await expect.poll(() => stateCell(number).textContent()).toContain("cancelled");
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
  });

  test("an administrator drains the scheduler, and lets jobs start again", async () => {
    await openPage("#/health");
    await page.getByRole("button", { name: "Drain" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason, which all users see").fill("new disk");
    await dialog.getByRole("button", { name: "Drain the scheduler" }).click();
    const banner = page.getByRole("alert").filter({ hasText: "Nothing starts until tutti drain --end" });
    await banner.getByText(": new disk").waitFor();
    const number = await submit("true");
    expect((await job(number)).state).toBe("queued");
    await goTo(`#/jobs/${number}`);
    await page.getByRole("region", { name: "Why" }).getByText("new disk").waitFor();
    await goTo("#/now");
    await banner.getByRole("button", { name: "Undrain" }).click();
    await banner.waitFor({ state: "detached" });
    await expect.poll(async () => (await job(number)).state).toBe("done");
  });

  test("why is in the words of tutti why", async () => {
    const blockers = [await submit("sleep 1000"), await submit("sleep 1000")];
    const waiting = await submit("true", { after: [{ job: blockers[0], ok: true }] });
    await openPage(`#/jobs/${waiting}`);
    const why = await client().ask<Parameters<typeof whySentences>[0]>(`/v1/jobs/${waiting}/why`);
    const [, ...sentences] = whySentences(why, await job(waiting));
    const shown = page.getByRole("region", { name: "Why" });
    await shown.waitFor();
    expect(sentences.length).toBeGreaterThan(0);
    for (const sentence of sentences) expect(await shown.textContent()).toContain(sentence);
    const { stdout } = await startTutti(socket, ["why", String(waiting)]).result;
    for (const sentence of sentences) expect(stdout.replace(/\s+/g, " ")).toContain(sentence);
    await cancelAll();
  });

  test("many jobs at once, with a confirmation that names them, and refusals one by one", async () => {
    const held = await submitAll(
      Array.from({ length: 6 }, (_, i) => ({
        command: ["true"],
        cwd: folder,
        env: {},
        name: `b${i}`,
        held: true,
      })),
    );
    await openPage("#/jobs?name=b*&state=held&sort=job");
    await row(held[5]).waitFor();
    await row(held[0]).getByRole("checkbox").click();
    await row(held[3]).click({ modifiers: ["Shift"] });
    await page.getByRole("status").filter({ hasText: "4 selected" }).waitFor();
    await page.getByRole("button", { name: "Cancel 4" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`Jobs ${held[0]}-${held[3]}`).waitFor();
    // In the meantime, somebody else cancels one of them.
    await client().ask(`/v1/jobs/${held[1]}/cancel`, { method: "POST" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page
      .getByRole("dialog", { name: "Not everything was changed" })
      .getByText(`job ${held[1]}`)
      .waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    const states = async () => Promise.all(held.map(async (number) => (await job(number)).state));
    await expect.poll(states).toEqual([...Array(4).fill("cancelled"), "held", "held"]);
    await cancelAll();
  });

  test("the output follows, control characters are visible, and a hidden page asks for nothing", async () => {
    const number = await submit(
      "printf 'one\\033[31m <script>alert(1)</script>\\n'; until [ -e go ]; do sleep 0.05; done; rm go; echo two; sleep 1000",
    );
    await openPage(`#/jobs/${number}`);
    const log = page.getByRole("log");
    await log.getByText("one\\x1b[31m <script>alert(1)</script>").waitFor();
    await submit("touch go");
    await log.getByText("two").waitFor();
    await hide(true);
    await page.waitForTimeout(500);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.waitForTimeout(2500);
    expect(asked).toEqual([]);
    await hide(false);
    await log.getByText("two").waitFor();
    await isLive(page);
    await cancelAll();
    await page.getByText("The output has ended.").waitFor();
  });

  test("kill -9 and restart of front end and conductor, without a reload", async () => {
    await openPage("#/jobs");
    await page.evaluate("window.isSame = true");
    const before = await submit("sleep 1000");
    await row(before).waitFor();
    server.child.kill("SIGKILL");
    await server.result;
    for (const pid of leftovers.conductors()) process.kill(pid, "SIGKILL");
    await page.locator(".connection.lost").waitFor();
    await serve(new URL(address).port);
    await isLive(page);
    const after = await submit("sleep 1000");
    await row(after).waitFor();
    for (const number of [before, after])
      await expect
        .poll(async () => (await stateCell(number).textContent())?.endsWith((await job(number)).state))
        .toBe(true);
    expect(await page.evaluate("window.isSame")).toBe(true);
    await cancelAll();
  });

  test("ten tabs of a browser are all live, with one stream", async () => {
    await openPage("#/jobs");
    const tabs = [page];
    for (let i = 1; i < 10; i++) {
      const tab = await context.newPage();
      await tab.goto(`${address}#/jobs`);
      await isLive(tab);
      tabs.push(tab);
    }
    const number = await submit("sleep 1000");
    for (const tab of tabs) await tab.locator(`#job-${number}`).waitFor();
    await cancelAll();
  });

  test("a filter without a job and an address without a page say so, and show the way back", async () => {
    const number = await submit("true");
    await openPage("#/jobs?name=nowhere&state=held");
    await page.getByText("No job matches state “held” and name “nowhere”.").waitFor();
    await page.getByRole("button", { name: /^Show all \d+ jobs?$/ }).click();
    await row(number).waitFor();
    await goTo(`#/${"<b>no\u202ewhere".padEnd(100, "x")}`);
    await page.getByRole("heading", { name: "There is no page “<b>no\\u202ewherex" }).waitFor();
    expect(await overflowPx(page)).toBe(0);
    await page.getByRole("main").getByRole("link", { name: "Queues" }).click();
    await page.getByRole("heading", { name: "Queues", exact: true }).waitFor();
  });

  test("ended jobs that the page does not keep are counted, and found by number and name", async () => {
    // They never start. The page keeps the 1,000 that ended last.
    const first = await submit("true", { held: true, array: "1-1100", name: "old" });
    await cancelAll();
    await openPage("#/jobs");
    await page.getByText(/^1,000 jobs shown; \d+ older in History$/).waitFor();
    for (const filter of [`number=${first}`, `name=ol&number=${first}`]) {
      await goTo(`#/jobs?${filter}`);
      await row(first).waitFor();
    }
    await goTo("#/jobs?name=nowhere");
    await page.getByText("No job matches name “nowhere”.").waitFor();
    await goTo("#/jobs?queue=nowhere");
    await page.getByText("No job here matches queue “nowhere”.").waitFor();
  });

  test("the submit dialog is not offered unless the administrator allows it", async () => {
    await openPage("#/jobs");
    expect(await page.getByRole("button", { name: "Submit a job" }).count()).toBe(0);
    await page.getByText("web.submit").waitFor();
  });

  test("a job is submitted in the page, if the administrator allows it", async () => {
    const config = join(folder, "submit.toml");
    writeFileSync(config, "web = { submit = true }\n");
    await startTutti(socket, ["down", "--kill"]).result;
    await serve("0", "--config", config);
    await openPage("#/jobs");
    await page.getByRole("button", { name: "Submit a job" }).waitFor();
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog", { name: "Submit a job" });
    await dialog.getByLabel("Command", { exact: true }).fill("echo 'open");
    await dialog.getByLabel("Working directory").fill(folder);
    await dialog.getByRole("button", { name: "Submit", exact: true }).click();
    await dialog.getByRole("alert").filter({ hasText: "open quote" }).waitFor();
    await dialog.getByLabel("Command", { exact: true }).fill("echo 'from the page'; pwd");
    await dialog.getByText("Run it with a shell").click();
    await dialog.getByLabel(/^Limit/).fill("10m");
    await dialog.getByLabel("Name").fill("by hand");
    const line = await dialog.locator(".command").textContent();
    expect(line).toBe(
      `tutti submit -J 'by hand' -t 10m -D ${folder} --env PATH=/usr/local/bin:/usr/bin:/bin -- sh -c 'echo '\\''from the page'\\''; pwd'`,
    );
    expect(await overflowPx(page)).toBe(0);
    await page.evaluate(axeSource);
    expect(await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))")).toEqual(
      [],
    );
    await dialog.getByRole("button", { name: "Submit", exact: true }).click();
    await page.getByRole("log").getByText(`from the page\n${folder}`).waitFor();
    const number = Number(/jobs\/(\d+)/.exec(page.url())?.[1]);
    expect(await job(number)).toMatchObject({ name: "by hand", limitMs: 600_000, tasks: 1 });
    await page.getByRole("button", { name: "Run again" }).click();
    await page.getByRole("heading", { name: `Job ${number + 1} · by hand` }).waitFor();
    await page.getByRole("log").getByText(`from the page\n${folder}`).waitFor();
    expect(await job(number + 1)).toMatchObject({ repeats: number, limitMs: 600_000 });
    await page.getByRole("button", { name: "Copy" }).click();
    expect(await page.getByLabel("Command", { exact: true }).inputValue()).toBe("echo 'from the page'; pwd");
    await startTutti(socket, ["down", "--kill"]).result;
    await serve("0");
  });

  test.each(["#/jobs", "#/queues", "#/history", "#/health"])(
    "axe finds nothing at %s, wide or narrow",
    async (view) => {
      const number = await submit("echo hello; sleep 1000");
      await openPage(view === "#/jobs" ? `${view}/${number}` : view);
      for (const [scheme, width] of SOAK ? ALL_LOOKS : LOOKS) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height: 844 });
        await page.waitForTimeout(300);
        await page.evaluate(axeSource);
        const { violations } = await page.evaluate<{
          violations: { id: string; nodes: { html: string }[] }[];
        }>("axe.run()");
        expect(violations.map(({ id, nodes }) => [scheme, width, id, nodes[0].html])).toEqual([]);
        expect(await overflowPx(page)).toBe(0);
        expect(await hiddenPx(page, "nav.rail ul")).toBe(0);
      }
      await cancelAll();
    },
  );

  test(`${SIZES.hostileNames} hostile names and ${SIZES.hostileAddresses} hostile addresses`, {
    timeout: 1_200_000,
  }, async () => {
    const names = fc.sample(hostileText(256), { numRuns: SIZES.hostileNames, seed: 11 });
    await submitAll(
      names.map((name) => ({ command: [name.slice(0, 50), name], cwd: folder, env: {}, name, held: true })),
    );
    await openPage("#/jobs?state=held");
    const drawn = await page.evaluate<number>(SCROLL_THROUGH);
    expect(drawn).toBe(SIZES.hostileNames);
    expect(await overflowPx(page)).toBe(0);
    expect(
      await page.locator("main script, main img, main iframe, main [onclick], main [onerror]").count(),
    ).toBe(0);
    const odd = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
    expect(await page.locator("main").textContent()).not.toMatch(odd);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.getByRole("complementary").waitFor();
      await page.waitForTimeout(300);
      expect(await overflowPx(page)).toBe(0);
      await page.keyboard.press("Escape");
    }
    const urls = fc.sample(hostileText(400), { numRuns: SIZES.hostileAddresses, seed: 12 });
    for (const [i, url] of urls.entries()) {
      const view =
        i % 3 === 0
          ? url
          : `#/${["jobs", "queues", "health", "now"][i % 4]}?${["name", "state", "sort", "user", "number"][i % 5]}=${encodeURIComponent(url)}`;
      await goTo(view);
      if (i % 20 === 0) {
        const unknown = page.getByRole("heading", { name: "There is no page" });
        expect((await page.locator("nav.rail a[aria-current]").count()) + (await unknown.count())).toBe(1);
        expect(await overflowPx(page)).toBe(0);
      }
    }
    await goTo("#/jobs");
    await page.locator('.jobs-grid [role="row"]').nth(5).waitFor();
    await cancelAll();
  });

  test(`${SIZES.hostileLogs} hostile texts in logs`, async () => {
    const texts = fc.sample(hostileText(200), { numRuns: SIZES.hostileLogs, seed: 13 });
    const numbers: number[] = [];
    for (let from = 0; from < texts.length; from += TEXTS_PER_LOG) {
      const file = join(folder, `log-${from}`);
      const part = texts.slice(from, from + TEXTS_PER_LOG);
      writeFileSync(file, part.map((text, i) => `${text}\n[${i}]\n`).join(""));
      numbers.push(await submit(`cat ${file}; printf '\\377\\200\\ncut off: \\303'`));
    }
    await openPage("#/jobs");
    const log = page.getByRole("log");
    const odd = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\u2028\u2029]/u;
    for (const [k, number] of numbers.entries()) {
      await page.setViewportSize({ width: k % 2 === 0 ? 390 : 1280, height: 800 });
      await goTo(`#/jobs/${number}`);
      await page.getByRole("complementary", { name: `Job ${number}` }).waitFor();
      await page.getByText("The output has ended.").waitFor();
      const text = (await log.textContent()) ?? "";
      for (let i = 0; i < TEXTS_PER_LOG; i++) expect(text).toContain(`[${i}]`);
      expect(text).not.toMatch(odd);
      expect(text).toContain("cut off: ");
      expect(await log.locator("*").count()).toBe(0);
      expect(await overflowPx(page)).toBe(0);
    }
  });

  /** As a browser does when the user looks at another tab. */
  async function hide(isHidden: boolean): Promise<void> {
    await page.evaluate<void>(
      `Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true }); dispatchEvent(new Event("visibilitychange"));`,
    );
  }
});

/** Scrolls from the first row to the last, and resolves with the number of different rows. */
const SCROLL_THROUGH = `new Promise((resolve) => {
  const grid = document.querySelector(".jobs-grid");
  const seen = new Set();
  let idle = 0;
  const step = () => {
    const before = seen.size;
    for (const row of grid.querySelectorAll(".jobs-rows [role=row]")) seen.add(row.id);
    idle = seen.size === before ? idle + 1 : 0;
    grid.scrollTop += 300;
    if (idle > 60) resolve(seen.size);
    else requestAnimationFrame(step);
  };
  step();
})`;

/** Texts that have harmed pages: markup, control characters, directions, long words, and ordinary ones. */
function hostileText(maxLength: number): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(
      "<script>alert(1)</script>",
      '<img src=x onerror="alert(1)">',
      '"><svg onload=alert(1)>',
      "javascript:alert(1)",
      "{{constructor.constructor('alert(1)')()}}",
      "$" + "{alert(1)}",
      "__proto__",
      "\u202e\u2066gnp.exe",
      "\u001b[2J\u001b]0;title\u0007",
      "\r\n\t",
      "../../../etc/passwd",
      "%00%0d%0a<b>",
      "]]>--></title></style>",
      "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢L̠ͨͧͩ͘G̴̻͈͍͔̹̑͗̎̅͛́Ǫ̵̹̻̝̳͂̌̌͘!͖̬̰̙̗̿̋ͥͥ̂ͣ̐́́͜͞",
      "https://example.com/x.js",
      "﷽",
      "👩‍👩‍👧‍👦",
    ),
    fc.string({ unit: "grapheme", maxLength: 30 }),
    fc.string({ unit: "binary", maxLength: 30 }).map((text) => text.replaceAll("\0", "")),
    fc.integer({ min: 100, max: 1000 }).map((length) => "W".repeat(length)),
  );
  return fc.array(piece, { minLength: 1, maxLength: 5 }).map(
    (parts) =>
      [...parts.join("")]
        .slice(0, maxLength / 2)
        .join("")
        .slice(0, maxLength)
        .toWellFormed() || "x",
  );
}
