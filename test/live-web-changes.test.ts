/**
 * What people do to jobs from the page, in Chromium against a real scheduler with countable resources: submit
 * with every field, change, pause, resume, run again, and what Now says about it.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, JobsAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import { source as axeSource } from "axe-core";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { isLive, overflowPx, watchFaults } from "../scripts/live-page.ts";
import { Leftovers } from "./leftovers.ts";
import { type Started, startTutti, until } from "./live-command.ts";

describe.skipIf(!hasChromium)("in Chromium", () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-web-changes-"));
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

  const config = join(folder, "tutti.toml");

  async function serve(port = "0"): Promise<void> {
    const words = ["serve", "--private", "--state", state, "--policy", "fcfs", "--port", port];
    server = startTutti(socket, [...words, "--config", config]);
    await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
    [address] = /http:\/\/127\.0\.0\.1:\d+\//.exec(server.stdout())!;
  }

  beforeAll(async () => {
    const limits =
      "[limits]\nrunningCpus = 40\n[[queues]]\nname = 'main'\nrunningJobs = 50\nwaitingJobs = 900\n";
    writeFileSync(config, `web = { submit = true }\n[resources]\ngpu = ["0", "1"]\nlicence = 3\n${limits}`);
    await serve();
    browser = await launchChromium();
  });

  afterEach(async () => {
    await context?.close();
    expect(faults).toEqual([]);
    const cancel = { action: "cancel", jobs: "1-1000000" };
    for (const states of [["held"], ["queued", "starting", "running", "paused"]])
      await client().ask("/v1/batch", { method: "POST", body: { ...cancel, states } });
  });

  afterAll(async () => {
    await browser?.close();
    await startTutti(socket, ["down", "--kill"]).result;
    await leftovers.clear();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

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
    const jobs = [{ command: ["sh", "-c", script], cwd: folder, env: {}, ...more }];
    const answer = await client().ask<JobsAnswer>("/v1/jobs", { method: "POST", body: { jobs } });
    return answer.jobs[0].job;
  }

  const job = async (number: number): Promise<Job> => (await client().job(number)).job;
  const stateOf = async (number: number) => (await job(number)).state;
  const tutti = async (...words: string[]) => {
    const { status, stderr } = await startTutti(socket, words).result;
    expect([status, stderr]).toEqual([0, ""]);
  };

  /** What the page shows now is accessible and fits: colors depend on the scheme, and layout on the width. */
  async function isSound(shown: string): Promise<void> {
    for (const [colorScheme, width] of [
      ["dark", 390],
      ["light", 1280],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(axeSource);
      const { violations } = await page.evaluate<{
        violations: { id: string; nodes: { html: string }[] }[];
      }>("axe.run()");
      expect(violations.map(({ id, nodes }) => [shown, colorScheme, id, nodes[0].html])).toEqual([]);
      expect(await overflowPx(page)).toBe(0);
    }
  }

  /** What the dialog says at the field with this label. */
  const problemAt = async (dialog: Locator, label: RegExp) => {
    const field = dialog.getByLabel(label);
    const id = await field.getAttribute("aria-describedby");
    return id === null ? "" : dialog.locator(`#${id}`).textContent();
  };

  describe("the dialog of submit", () => {
    test("has a field for retries, begin, threads and units, and shows the command line", async () => {
      await openPage("#/jobs");
      await page.getByRole("button", { name: "Submit a job" }).click();
      const dialog = page.getByRole("dialog", { name: "Submit a job" });
      await dialog.getByLabel("Command", { exact: true }).fill("exit 75");
      await dialog.getByText("Run it with a shell").click();
      await dialog.getByLabel("Working directory").fill(folder);
      await dialog.getByLabel(/^Threads/).fill("2");
      await dialog.getByLabel("Resources, of 2 gpu, 3 licence").fill("gpu:1,licence:2");
      await dialog.getByLabel(/^Begin/).fill("+2h");
      await dialog.getByLabel(/^Retries/).fill("3");
      await dialog.getByLabel(/^Retry also/).fill("75, sigbus");
      await dialog.getByLabel(/^Wait before/).fill("30s");
      expect(await dialog.locator(".command").textContent()).toBe(
        `tutti submit -c 2 --use gpu:1,licence:2 --begin +2h --retries 3 --retry-on 75,SIGBUS --retry-delay 30s -D ${folder} --env PATH=/usr/local/bin:/usr/bin:/bin -- sh -c 'exit 75'`,
      );
      await isSound("submit");
      const fromMs = Date.now();
      await dialog.getByRole("button", { name: "Submit", exact: true }).click();
      await dialog.waitFor({ state: "detached" });
      const number = Number(/jobs\/(\d+)/.exec(page.url())?.[1]);
      const submitted = await job(number);
      expect(submitted).toMatchObject({
        tasks: 1,
        threads: 2,
        use: { gpu: 1, licence: 2 },
        retries: 3,
        retryOn: ["75", "SIGBUS"],
        retryDelayMs: 30_000,
      });
      expect(submitted.beginAtMs! - 7_200_000 - fromMs).toBeLessThan(60_000);
      expect(submitted.beginAtMs! - 7_200_000).toBeGreaterThanOrEqual(fromMs - 60_000);
      await page.getByRole("button", { name: "Copy" }).click();
      expect(await dialog.getByLabel(/^Retry also/).inputValue()).toBe("75,SIGBUS");
      expect(await dialog.getByLabel(/^Begin/).inputValue()).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    });

    test("says at each field what is wrong, in the words of the API, and goes there", async () => {
      await openPage("#/jobs");
      await page.getByRole("button", { name: "Submit a job" }).click();
      const dialog = page.getByRole("dialog", { name: "Submit a job" });
      const send = dialog.getByRole("button", { name: "Submit", exact: true });
      await dialog.getByLabel("Command", { exact: true }).fill("true");
      await dialog.getByLabel("Working directory").fill(folder);
      await dialog.getByLabel(/^Limit/).fill("soon");
      await dialog.getByLabel(/^Begin/).fill("25:00");
      await send.click();
      await expect.poll(() => problemAt(dialog, /^Limit/)).toMatch(/^is "soon", expected a duration/);
      expect(await problemAt(dialog, /^Begin/)).toMatch(/^is "25:00", expected \+2h/);
      await dialog.getByLabel(/^Limit/).fill("");
      await dialog.getByLabel(/^Begin/).fill("");
      await dialog.getByLabel(/^Retries/).fill("2000");
      await dialog.getByLabel(/^Retry also/).fill("fail,often");
      await dialog.getByLabel(/^Wait before/).fill("100ms");
      await send.click();
      await expect
        .poll(() => problemAt(dialog, /^Retries/))
        .toBe("is 2000, expected a whole number from 0 to 1000");
      expect(await problemAt(dialog, /^Retry also/)).toBe(
        'is not "fail", an exit code from 1 to 255 or a signal such as SIGBUS',
      );
      expect(await problemAt(dialog, /^Wait before/)).toMatch(
        /^is 100, expected a whole number from 1000 to/,
      );
      expect(await problemAt(dialog, /^Limit/)).toBe("");
      expect(await dialog.locator(":focus").getAttribute("id")).toBe("field-retries");
      await isSound("problems");
      await dialog.getByLabel(/^Retries/).fill("2");
      await dialog.getByLabel(/^Retry also/).fill("");
      await dialog.getByLabel(/^Wait before/).fill("");
      await dialog.getByLabel(/^Resources/).fill("gpu:9");
      await send.click();
      await dialog.getByRole("alert").filter({ hasText: "gpu" }).waitFor();
      await dialog.getByLabel(/^Resources/).fill("");
      await send.click();
      await dialog.waitFor({ state: "detached" });
    });
  });

  describe("the dialog of change", () => {
    test("changes waiting jobs, and says at the field what is wrong", async () => {
      const numbers = [await submit("true", { held: true }), await submit("true", { held: true })];
      await openPage(`#/jobs?state=held`);
      for (const number of numbers) await page.locator(`#job-${number}`).getByRole("checkbox").click();
      await page.getByRole("button", { name: "Change 2" }).click();
      const dialog = page.getByRole("dialog", { name: "Change 2 jobs" });
      const send = dialog.getByRole("button", { name: "Change 2 jobs" });
      await send.click();
      await dialog.getByRole("alert").filter({ hasText: "fill in a field" }).waitFor();
      await dialog.getByLabel(/^Tasks/).fill("70000");
      await send.click();
      await expect
        .poll(() => problemAt(dialog, /^Tasks/))
        .toMatch(/^is 70000, expected a whole number from 1/);
      await isSound("change");
      await dialog.getByLabel(/^Tasks/).fill("");
      await dialog.getByLabel(/^Name/).fill("later");
      await dialog.getByLabel(/^Limit/).fill("2h");
      await dialog.getByLabel(/^Begin/).fill("+1h");
      await dialog.getByLabel(/^Resources/).fill("licence:1");
      await dialog.getByLabel(/^Retries/).fill("1");
      await send.click();
      await dialog.waitFor({ state: "detached" });
      for (const number of numbers)
        expect(await job(number)).toMatchObject({
          name: "later",
          limitMs: 7_200_000,
          use: { licence: 1 },
          retries: 1,
          beginAtMs: expect.any(Number),
        });
    });

    test("of one job, shows what it has now, and changes only what is filled in", async () => {
      const number = await submit("true", { held: true, name: "first", limitMs: 90_000, use: { gpu: 1 } });
      await openPage(`#/jobs/${number}`);
      await page.getByRole("button", { name: "Change", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Change 1 job" });
      const now = (label: RegExp) => dialog.getByLabel(label).getAttribute("placeholder");
      expect([await now(/^Name/), await now(/^Limit/), await now(/^Resources/)]).toEqual([
        "first",
        "90s",
        "gpu:1",
      ]);
      await dialog.getByLabel(/^Name/).fill("second");
      await dialog.getByRole("button", { name: "Change 1 job" }).click();
      await dialog.waitFor({ state: "detached" });
      expect(await job(number)).toMatchObject({ name: "second", limitMs: 90_000, use: { gpu: 1 } });
    });

    test("of a running job, only name and retries", async () => {
      const number = await submit("sleep 1000");
      await expect.poll(() => stateOf(number)).toBe("running");
      await openPage(`#/jobs/${number}`);
      await page.getByRole("button", { name: "Change", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Change 1 job" });
      expect(await dialog.getByLabel(/^Tasks/).count()).toBe(0);
      await dialog.getByLabel(/^Name/).fill("now");
      await dialog.getByLabel(/^Retries/).fill("2");
      await dialog.getByRole("button", { name: "Change 1 job" }).click();
      await dialog.waitFor({ state: "detached" });
      expect(await job(number)).toMatchObject({ name: "now", retries: 2, state: "running" });
    });
  });

  describe("one job", () => {
    test("is held, released, paused, resumed, changed and run again, by its buttons", async () => {
      const number = await submit("sleep 1000", { held: true });
      await openPage(`#/jobs/${number}`);
      const drawer = page.getByRole("complementary", { name: `Job ${number}` });
      const press = (name: string) => drawer.getByRole("button", { name, exact: true }).click();
      const isNow = (state: Job["state"]) => expect.poll(() => stateOf(number)).toBe(state);
      await isSound("held");
      await press("Release");
      await isNow("running");
      await press("Pause");
      const dialog = page.getByRole("dialog", { name: "Pause 1 job?" });
      await dialog.getByText("It stops, and keeps its CPUs, memory and units until it is resumed.").waitFor();
      await dialog.getByLabel("Other jobs may use its CPUs").check();
      await dialog.getByRole("button", { name: "Pause 1 job" }).click();
      await drawer.getByText("It was paused by").waitFor();
      expect(await job(number)).toMatchObject({ released: true });
      expect(await stateOf(number)).toBe("paused");
      await isSound("paused");
      await press("Resume");
      await isNow("running");
      await drawer.getByText("Runs on CPU").waitFor();
      await isSound("running");
      await press("Cancel");
      await page.getByRole("dialog").getByRole("button", { name: "Cancel 1 job" }).click();
      await isNow("cancelled");
      await press("Run again");
      await page.getByRole("heading", { name: `Job ${number + 1} · sh` }).waitFor();
      expect(await job(number + 1)).toMatchObject({ repeats: number });
    });
  });

  describe("several jobs", () => {
    test("are paused, and others may use their CPUs if a checkbox says so", async () => {
      const numbers = [
        await submit("sleep 1000", { name: "p1" }),
        await submit("sleep 1000", { name: "p2" }),
      ];
      for (const number of numbers) await expect.poll(() => stateOf(number)).toBe("running");
      const states = async () =>
        Promise.all(
          numbers.map(async (number) => {
            const { state, released = false } = await job(number);
            return [state, released];
          }),
        );
      await openPage("#/jobs?name=p*&sort=job");
      // The page selects nothing once it has its answer, which comes after the change.
      const selectAgain = async () => {
        await page.getByRole("group", { name: "Selected jobs" }).waitFor({ state: "hidden" });
        for (const number of numbers) await page.locator(`#job-${number}`).getByRole("checkbox").check();
      };
      await selectAgain();
      for (const release of [true, false]) {
        await page.getByRole("button", { name: "Pause 2" }).click();
        const dialog = page.getByRole("dialog", { name: "Pause 2 jobs?" });
        await dialog.getByText("They stop, and keep their CPUs, memory and units").waitFor();
        if (release) {
          await dialog.getByLabel("Other jobs may use their CPUs").check();
          await dialog.getByText("They stop, and keep their memory and units").waitFor();
          await isSound("pause");
        }
        await dialog.getByRole("button", { name: "Pause 2 jobs" }).click();
        await expect.poll(states).toEqual(numbers.map(() => ["paused", release]));
        await selectAgain();
        await page.getByRole("button", { name: "Resume 2" }).click();
        await page.getByRole("dialog").getByRole("button", { name: "Resume 2 jobs" }).click();
        await expect.poll(states).toEqual(numbers.map(() => ["running", false]));
        await selectAgain();
      }
    });
  });

  describe("Now", () => {
    test("names what people did, also before the page was opened", async () => {
      const [one, waiting] = [
        await submit("sleep 1000", { name: "one" }),
        await submit("true", { held: true }),
      ];
      await expect.poll(() => stateOf(one)).toBe("running");
      const by = (await job(one)).user;
      for (const words of [
        ["pause", String(one)],
        ["resume", String(one)],
        ["update", String(waiting), "--time", "2h", "--name", "later"],
        ["drain", "--reason", "new disk"],
        ["drain", "--end"],
        // Its 300 events are said in one line, and push nothing out.
        ["submit", "--begin", "+1h", "--array", "1-300", "--", "true"],
      ])
        await startTutti(socket, words).result;
      await openPage("#/now");
      const happened = page.getByRole("region", { name: "What happened last" });
      for (const text of [
        `${by} paused job ${one} (one)`,
        `${by} resumed job ${one} (one)`,
        `${by} changed job ${waiting} (later): limit 2 h, name later`,
        `${by} drained the scheduler: nothing starts: new disk`,
        `${by} undrained the scheduler: jobs start again`,
      ])
        await happened.getByText(text, { exact: true }).waitFor();
      await tutti("cancel", String(waiting));
      await startTutti(socket, ["rerun", String(waiting)]).result;
      await happened.getByText(`it runs job ${waiting} again`).waitFor();
    });

    test("no start is expected while the scheduler is drained", async () => {
      await submit("true", { beginAtMs: Date.now() + 3_600_000 });
      await openPage("#/now");
      const next = page.locator(".numbers div", { hasText: "next start" }).locator("dd");
      await expect
        .poll(() => next.textContent())
        .toMatch(/^in (?:.* to )?(?:59|60)\.?\d* min|^in (?:.* to )?1(?:\.00)? h/);
      await startTutti(socket, ["drain"]).result;
      await expect.poll(() => next.textContent()).toBe("–");
      await startTutti(socket, ["drain", "--end"]).result;
      await expect.poll(() => next.textContent()).toMatch(/^in /);
    });
  });

  test("Queues shows the limits on queues, and on your own jobs with what they use", async () => {
    const user = (await job(await submit("true", { held: true }))).user;
    await openPage("#/queues");
    await page.getByRole("row", { name: /main .*50 jobs at once, 900 waiting/ }).waitFor();
    await page
      .getByText(`Jobs of user ${user}: at most 40 CPUs at once. Yours use 0 CPUs in 0 jobs, and 1 waits.`)
      .waitFor();
    await isSound("queues");
  });

  test("a page that has lost its scheduler stands still, takes nothing, and comes back by itself", async () => {
    const number = await submit("true", { beginAtMs: Date.now() + 3_600_000, name: "later" });
    await startTutti(socket, ["drain"]).result;
    await openPage("#/jobs");
    await page.getByRole("button", { name: "Submit a job" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    server.child.kill("SIGKILL");
    await server.result;
    const head = page.locator(".connection.lost");
    await expect.poll(() => head.textContent()).toMatch(/last known at \d\d:\d\d:\d\d\./);
    const canBePressed = () => page.locator("main :is(button, input, select, textarea):enabled").count();
    await dialog.locator("button:disabled").first().waitFor();
    expect(await canBePressed()).toBe(0);
    // Another address closes a dialog; what was known can still be read, in every view.
    for (const view of ["now", `jobs/${number}`, "what-if", "queues", "health"]) {
      await goTo(`#/${view}`);
      await expect.poll(() => page.locator("main.stale :is(h1, h2)").count()).toBeGreaterThan(0);
      expect([view, await canBePressed(), await page.locator("main dialog").count()]).toEqual([view, 0, 0]);
    }
    await goTo("#/now");
    await page.getByRole("button", { name: "Undrain" }).waitFor();
    const longest = page.locator(".numbers div", { hasText: "longest wait" }).locator("dd");
    const before = await longest.textContent();
    await page.waitForTimeout(2500);
    expect(await longest.textContent()).toBe(before);
    await serve(new URL(address).port);
    await isLive(page);
    await expect.poll(() => page.locator("main.stale").count()).toBe(0);
    await expect.poll(() => longest.textContent()).not.toBe(before);
    await page.getByRole("button", { name: "Undrain" }).click();
    await page.getByRole("button", { name: "Undrain" }).waitFor({ state: "detached" });
  });

  test("Timeline shows windows", async () => {
    await startTutti(socket, ["window", "add", "disk", "--begin", "+10m", "--for", "1h"]).result;
    await openPage("#/timeline");
    await page.getByText(/^window disk: nothing starts from/).waitFor();
    await startTutti(socket, ["window", "remove", "disk"]).result;
    await page.getByText(/^window disk/).waitFor({ state: "detached" });
  });

  test("Health shows an attempt without a record, and its button ends it", async () => {
    const number = await submit("sleep 1000");
    await expect.poll(() => stateOf(number)).toBe("running");
    server.child.kill("SIGKILL");
    await server.result;
    for (const part of ["", "-wal", "-shm"]) rmSync(join(state, `tutti.db${part}`), { force: true });
    await serve();
    await openPage("#/health");
    const strays = page.getByRole("region", { name: "Attempts without a record" });
    await strays.getByText(`job ${number}, attempt 1, of `).waitFor();
    await page.getByText("needs attention").waitFor();
    await isSound("strays");
    await strays.getByRole("button", { name: `End job ${number}` }).click();
    await strays.waitFor({ state: "detached" });
    await expect.poll(() => leftovers.ofJobs()).toEqual([]);
  });
});
