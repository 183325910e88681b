/**
 * The matrix on the page, with a real scheduler and real jobs, in Chromium: what the page draws is what
 * `tutti matrix --json` prints at the same instant. The cells are read from the pixels of the picture and
 * from the table, which is made of the drawn cells; the row is read from the light that the page draws over
 * it.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { JobsAnswer, MatrixAnswer, WebLinkAnswer } from "@tutti/protocol/schema.ts";
import { slotAt } from "@tutti/protocol/turns.ts";
import { gangColour, gangRgb } from "@tutti/web/page/gang-colours.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { Leftovers } from "./leftovers.ts";
import { type Started, startTutti, until } from "./live-command.ts";

const INSTANTS = SIZES.matrixInstants;
/** Longer than two answers and a picture take on a busy machine. */
const SLOT_MS = 2000;
/**
 * The page's clock is late by what its last answer took to arrive, on a busy machine by more than a frame;
 * instants this near to a switch are not compared.
 */
const MARGIN_MS = 150;
const LONG_MS = 600_000;

/** What the page shows at one moment. */
interface Shown {
  readonly sequence: number;
  readonly epochMs: number;
  readonly slot: number;
  readonly row: number;
  readonly rows: number;
  /** Row over which the light is. */
  readonly litRow: number;
  /** Lines of the table: row, first CPU, last CPU, job. */
  readonly lines: readonly (readonly string[])[];
  /** Colour of each cell, row by row. */
  readonly colours: readonly (readonly string[])[];
}

describe.skipIf(!hasChromium)("the matrix on the page", () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-web-matrix-"));
  const socket = join(folder, "run", "tutti.sock");
  const state = join(folder, "state");
  let client: Client;
  let server: Started;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  const tutti = (...words: string[]) => startTutti(socket, words).result;

  beforeAll(async () => {
    const words = [
      "--private",
      "--state",
      state,
      "--slot",
      `${SLOT_MS}ms`,
      "--port",
      "0",
      "--policy",
      "brmms",
    ];
    server = startTutti(socket, ["serve", ...words]);
    await until(() => server.stdout().includes("help:") || server.child.exitCode !== null);
    client = new Client({ TUTTI_SOCKET: socket });
    const { url } = await client.ask<WebLinkAnswer>("/v1/web/links", { method: "POST" });
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(String(error)));
    await page.goto(url);
  });
  afterAll(async () => {
    await browser?.close();
    await tutti("down", "--kill");
    await new Leftovers(folder, state).clear();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  /** Submits a job whose size and length differ from those of the job before, unless the length is given. */
  const submit = (number: number, lengthS = 2 + ((number * 7) % 9)) =>
    client.ask<JobsAnswer>("/v1/jobs", {
      method: "POST",
      body: {
        jobs: [
          {
            command: ["sleep", String(lengthS)],
            tasks: 1 + (number % 3 === 0 ? 1 : 0),
            cwd: folder,
            env: { PATH: process.env.PATH ?? "" },
          },
        ],
      },
    });

  test(
    `equals that of tutti matrix --json at ${INSTANTS} instants`,
    async () => {
      for (let number = 0; number < 6; number++) await submit(number);
      // Not by a click: a second try finds it open.
      await page.locator(".matrix-twin").evaluate((details) => details.setAttribute("open", ""));
      let compared = 0;
      let submitted = 6;
      const sequences = new Set<number>();
      const rows = new Set<number>();
      // The comparison is worth something only if the matrix changes and its rows take turns.
      while (compared < INSTANTS || sequences.size <= 5 || rows.size <= 2) {
        const { queued, running } = (await client.ask<{ counts: Record<string, number> }>("/v1/status"))
          .counts;
        if (queued + running < 6) await submit(submitted++);
        // The command prints what the API answers; starting it for each instant would take minutes.
        const before: MatrixAnswer =
          compared % 10 === 0
            ? JSON.parse((await tutti("matrix", "--json")).stdout)
            : await client.ask<MatrixAnswer>("/v1/matrix");
        const shown = await shownNow(page);
        const after = await client.ask<MatrixAnswer>("/v1/matrix");
        if (shown === undefined || !isOneInstant(before, after, shown)) continue;
        expect(shown).toEqual(expected(before, shown));
        sequences.add(shown.sequence);
        rows.add(shown.row);
        compared++;
        await sleep(100);
      }
      expect(problems).toEqual([]);
    },
    LONG_MS,
  );

  test("the address keeps the pinned gang, also over a reload, and never the code of the link", async () => {
    // A gang that stays until the end, unlike those of the test before.
    const [{ job }] = (await submit(0, 3600)).jobs;
    await expect
      .poll(async () => {
        await page.keyboard.press(".");
        return page.url();
      })
      .toMatch(new RegExp(`/#/\\?gang=${job}$`));
    await page.reload();
    await expect.poll(() => page.locator(".matrix output").textContent()).toMatch(/^pinned: row \d+, CPU/);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).toMatch(/\/#\/$/);
  });

  test("axe finds nothing", async () => {
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
    const { violations } = (await page.evaluate("axe.run()")) as {
      readonly violations: readonly { readonly id: string; readonly nodes: readonly { html: string }[] }[];
    };
    expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
  });
});

/** Whether no slot and no matrix began between the two answers, nor shortly before the first. */
function isOneInstant(before: MatrixAnswer, after: MatrixAnswer, { sequence }: Shown): boolean {
  const intoSlotMs = before.nowMs - before.epochMs - slotAt(before, before.nowMs) * before.slotMs;
  return (
    before.rows.length > 0 &&
    before.sequence === after.sequence &&
    before.sequence === sequence &&
    before.epochMs === after.epochMs &&
    JSON.stringify(before.rows) === JSON.stringify(after.rows) &&
    intoSlotMs > MARGIN_MS &&
    slotAt(before, before.nowMs) === slotAt(after, after.nowMs + MARGIN_MS)
  );
}

/** What the page must show, by the answer alone. */
function expected(answer: MatrixAnswer, shown: Shown): Shown {
  const { sequence, epochMs, slotMs, nowMs, rows, cpus } = answer;
  // Another epoch may be a whole number of slots away: the same slot then has another number.
  const slot = Math.floor((nowMs - epochMs) / slotMs);
  const row = ((slot % rows.length) + rows.length) % rows.length;
  const owns = (job: number, at: number) =>
    rows.findIndex((gangs) => gangs.some((gang) => gang.job === job)) === at;
  const cells = rows.map((gangs) => cpus.map((cpu) => gangs.find((gang) => gang.cpus.includes(cpu))?.job));
  const lines = cells.flatMap((jobs, at) =>
    jobs.flatMap((job, i) => {
      if (job === undefined || jobs[i - 1] === job) return [];
      let end = i;
      while (jobs[end + 1] === job) end++;
      return [[String(at + 1), String(cpus[i]), String(cpus[end]), String(job)]];
    }),
  );
  const colours = cells.map((jobs, at) =>
    jobs.map((job) => {
      // --idle of style.css in a light page; an extra slot keeps 62 % of its colour on white.
      if (job === undefined) return "233 237 241";
      const share = owns(job, at) ? 1 : 0.62;
      return gangRgb(gangColour(job))
        .map((value) => Math.round(share * value + (1 - share) * 255))
        .join(" ");
    }),
  );
  return {
    ...shown,
    sequence,
    epochMs,
    slot,
    row,
    litRow: rows.length === 1 ? -1 : row,
    rows: rows.length,
    lines,
    colours,
  };
}

/**
 * Reads the page right after it has drawn a frame, so that a late frame is not taken for a wrong one;
 * undefined while gangs move or nothing is drawn.
 */
function shownNow(page: Page): Promise<Shown | undefined> {
  // As text: the code runs in the page, whose types this project's tests do not have.
  return page.evaluate(`new Promise(requestAnimationFrame).then(() => {
    const picture = document.querySelector(".matrix-picture");
    const table = document.querySelector(".matrix-twin table");
    if (picture === null || table === null || picture.dataset.moving !== undefined) return undefined;
    const { sequence, slot, row } = picture.dataset;
    if (slot === undefined || table.dataset.sequence !== sequence) return undefined;
    const [image, marks] = picture.querySelectorAll("canvas");
    const light = picture.querySelector(".matrix-light");
    const topPx = image.offsetTop;
    const lightTop = Number(/translateY\\(([\\d.]+)px\\)/.exec(light.style.transform)?.[1]);
    const rowPx = light.offsetHeight || image.offsetHeight;
    const rows = Math.round(image.offsetHeight / rowPx);
    const lines = [...table.querySelectorAll("tbody tr")].map((line) => {
      const texts = [...line.cells].map((cell) => cell.textContent);
      return [texts[0], texts[1], texts[2], texts[4]];
    });
    const cpus = Number(/, (\\d+) CPUs/.exec(picture.getAttribute("aria-label"))[1]);
    const context = image.getContext("2d");
    const colours = Array.from({ length: rows }, (_, r) =>
      Array.from({ length: cpus }, (_, c) => {
        const x = ((c + 0.5) * image.width) / cpus;
        const y = ((r + 0.5) * image.height) / rows;
        return [...context.getImageData(x, y, 1, 1).data.slice(0, 3)].join(" ");
      }));
    return {
      sequence: Number(sequence),
      epochMs: Number(document.querySelector("[data-epoch-ms]").dataset.epochMs),
      slot: Number(slot),
      row: Number(row),
      rows,
      litRow: light.hidden ? -1 : Math.round((lightTop - topPx) / rowPx),
      lines,
      colours,
    };
  })`);
}
