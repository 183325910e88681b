/** A recorded life: it follows from the seed, changes nothing in the life, and opens as a page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import type { Verdict } from "@tutti/torture/run/course.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import type { Recording } from "@tutti/torture/run/recorded.ts";
import { Recorder } from "@tutti/torture/run/recorder.ts";
import { liveOnce, settingOf } from "@tutti/torture/run/torture.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { makeFolder, removeFolder, tutti } from "./command.ts";
import { requireInside } from "./lab-driver.ts";
import { firstSetting, inNode } from "./torture/in-node.ts";

/** A short life with many jobs and faults. */
const SEED = 3;
const here = inNode();

let folder: string;
beforeAll(() => {
  folder = makeFolder();
});
afterAll(() => removeFolder(folder));

async function recorded(setting = settingOf(SEED)): Promise<readonly [Verdict, Recording]> {
  let recorder: Recorder | undefined;
  const onBegin = (life: Life) => {
    here.life = life;
    recorder = new Recorder(life);
  };
  const verdict = await liveOnce(setting, { ...here, onBegin });
  return [verdict, recorder!.recording(verdict)];
}

test("a recording follows from the seed, and the life is that without a recording", async () => {
  const [verdict, recording] = await recorded();
  expect(await liveOnce(settingOf(SEED), here)).toEqual(verdict);
  const { hash, pictures, runs, faults } = recording;
  expect(hash).toBe(verdict.hash);
  expect(pictures.length).toBeGreaterThan(5);
  expect(runs.length).toBeGreaterThanOrEqual(verdict.starts / 2);
  expect(Object.values(verdict.faults).reduce((sum, count) => sum + count, 0)).toBe(faults.length);
  for (const { fromMs, toMs, nodes } of runs) {
    expect(toMs).toBeGreaterThan(fromMs);
    expect(nodes.flatMap(({ cpus }) => cpus).length).toBeGreaterThan(0);
  }
  const page = join(folder, "life.html");
  expect(tutti(folder, ["lab", "torture", "--seed", String(SEED), "--html", page])).toMatchObject({
    status: 0,
    stderr: `The life is in ${page}\n`,
  });
  const [, packed] =
    /<script id="recording" type="text\/plain">([^<]*)</.exec(readFileSync(page, "utf8")) ?? [];
  expect(JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString())).toEqual(
    JSON.parse(JSON.stringify(recording)),
  );
});

test("a recording of a life on several nodes names them", async () => {
  const setting = firstSetting(({ cluster }) => (cluster?.nodes.length ?? 0) > 1);
  expect(setting.cluster?.nodes.length).toBeGreaterThan(1);
  const [, { runs }] = await recorded(setting);
  expect(runs.flatMap(({ nodes }) => nodes.map(({ node }) => node))).toContain("n2");
});

test("only one life is written as a page", () => {
  expect(tutti(folder, ["lab", "torture", "--hours", "3", "--html", join(folder, "no.html")])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("Cannot use --html with --hours"),
  });
});

test.skipIf(!hasChromium)("the page shows timeline, matrix and faults, from a disk", async () => {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    const faults: string[] = [];
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => faults.push(message.text()));
    await page.goto(pathToFileURL(join(folder, "life.html")).href);
    await page.getByText("The jobs as a table").waitFor();
    await requireInside(page);
    await page.getByRole("link", { name: "Faults" }).click();
    await page.getByText("No problem was found.").waitFor();
    await requireInside(page);
    await page.getByRole("row").nth(2).getByRole("link").click();
    await page.getByText("Last fault before this picture").waitFor();
    await page.locator(".matrix-picture").waitFor();
    await requireInside(page);
    expect(faults).toEqual([]);
  } finally {
    await browser.close();
  }
});
