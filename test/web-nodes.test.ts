/** The page of a scheduler on a cluster: nodes, their clocks, and jobs whose command runs once per task. */

import { windowText } from "@tutti/words/windows.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { isLive, watchFaults } from "../scripts/live-page.ts";
import { FakeScheduler } from "./fake-scheduler.ts";

describe.skipIf(!hasChromium)("in Chromium", () => {
  let fake: FakeScheduler;
  let browser: Browser;

  beforeAll(async () => {
    fake = await FakeScheduler.start();
    browser = await launchChromium();
    fake.facts = {
      cpus: 4,
      tasksRunEach: true,
      web: { submit: true },
      nodes: [
        { node: "n2", state: "up", cpus: 2, offsetMs: 12, uncertaintyMs: 15, isUncertain: true },
        { node: "n1", state: "up", cpus: 2, offsetMs: 1000.5, uncertaintyMs: 0.01 },
        { node: "n3", state: "lost", cpus: 0 },
      ],
    };
  });

  afterAll(async () => {
    await browser?.close();
    fake?.close();
  });

  async function open(view: string, look: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    await context.addInitScript(fake.sessionScript);
    const faults = await watchFaults(context, fake.address);
    const page = await context.newPage();
    await page.goto(`${fake.address}#/${view}`);
    await isLive(page);
    await look(page);
    await context.close();
    expect(faults).toEqual([]);
  }

  test("Health lists the nodes and warns about uncertain clocks and lost nodes", async () => {
    await open("health", async (page) => {
      expect(await page.locator('section[aria-label="Nodes"] li').allTextContents()).toEqual([
        "n2 up, 2 CPUs, clock known to ± 15.00 ms",
        "n1 up, 2 CPUs, clock known to ± 0.01 ms",
        "n3 lost, 0 CPUs",
      ]);
      const alarms = await page.locator('main [role="alert"], [role="alert"]').allTextContents();
      expect(alarms.join(" ")).toContain("The clock of node n2 is known only within 15.0 ms");
      expect(alarms.join(" ")).toContain(
        "Node n3 is lost: its gangs are killed on their other nodes, and nothing starts on it.",
      );
      await page.getByText("needs attention").waitFor();
      await page.getByText("2 up, 1 lost").waitFor();
      expect(await page.getByRole("region", { name: "Allocations" }).count()).toBe(0);
    });
  });

  test("Health shows the allocations, and why there are no nodes", async () => {
    fake.allocations = {
      allocations: [
        { name: "71", state: "RUNNING", nodes: ["n1", "n2"], leftMs: 5_400_000 },
        { name: "72", state: "PENDING", nodes: [], askedNodes: 2, kind: "wide" },
      ],
      bill: { askedNodeMs: 36_000_000, usedNodeMs: 5_400_000, idleNodeMs: 1_800_000 },
    };
    const lines = (page: Page) => page.getByRole("region", { name: "Allocations" }).getByRole("listitem");
    await open("health", async (page) => {
      await lines(page).first().waitFor();
      expect(await lines(page).allTextContents()).toEqual([
        "71  RUNNING on n1, n2, ends in 1.50 h",
        "72 (wide)  PENDING, asks for 2 nodes",
        "10.0 node-hours asked for, 1.5 used, 0.50 of them idle",
      ]);
    });
    fake.allocations = {
      allocations: [],
      trouble: "the pilot was cancelled; tutti allocations start asks for another",
    };
    await open("health", async (page) => {
      await lines(page).first().waitFor();
      expect(await lines(page).allTextContents()).toEqual([fake.allocations?.trouble]);
    });
  });

  test("Now and Health name the windows in which the machine is kept", async () => {
    const [fromMs, untilMs] = [Date.now() + 3_600_000, Date.now() + 7_200_000];
    const window = { name: "night", fromMs, untilMs, users: ["ada"], by: "root", atMs: 1 };
    fake.facts = { ...fake.facts, windows: [window] };
    for (const view of ["now", "health"])
      await open(view, (page) => page.getByText(`window ${windowText(window)}`).waitFor());
  });

  test("a job can run its command once per task, with a type of MPI", async () => {
    await open("jobs", async (page) => {
      await page.getByRole("button", { name: /^Submit/ }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Command").first().fill("./a.out");
      await dialog.getByLabel("Working directory").fill("/home/ada");
      await dialog.getByLabel("The command runs").selectOption("each");
      await dialog.getByLabel("Type of MPI of the tasks, such as pmix").fill("pmix");
      const line = dialog.locator("pre.command");
      await expect.poll(() => line.textContent()).toContain("--tasks-run each --mpi pmix -D /home/ada");
    });
  });
});
