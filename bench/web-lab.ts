/**
 * Measures the laboratory in Chromium against Node, in turn and in the same run: reading a trace, simulating
 * and the time from the drop of a file to the first picture. Ratios can be compared between machines; times
 * cannot. Goals: simulation at least 0.6 of Node's speed and reading 0.4, both after one warm-up; the first
 * picture within 1 s.
 *
 *   npm run bench:web-lab                200,000 generated jobs, and HPC2N and KTH-SP2 if they are there
 *   npm run bench:web-lab -- KTH-SP2     only this one
 *   npm run bench:web-lab -- --quick     small, as in the tests
 */
import "@tutti/lab/experiments/compiler-flag.ts";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { writeSwf } from "@tutti/kernel/workload/traces/swf-writer.ts";
import { traceFile } from "@tutti/kernel/workload/traces-for-tests.ts";
import { WITHOUT_FILES } from "@tutti/lab/experiments/inputs.ts";
import { generateJobs } from "@tutti/lab/experiments/jobs.ts";
import { openExperiment } from "@tutti/lab/experiments/run.ts";
import { CellRunner } from "@tutti/lab/experiments/runner.ts";
import { readTrace } from "@tutti/lab/files/read-trace.ts";
import type { Page } from "playwright-core";
import { LabBrowser } from "../scripts/lab-page.ts";
import { printTable, summarise } from "./measure.ts";

const quick = process.argv.includes("--quick");
const HEADER = ["", "first, ms", "page, ms", "Node, ms", "page/Node speed", "hash"];
const RUNS = quick ? 1 : 5;
const GANGS = ["brmms", "wlv"];
const POLICIES = ["fcfs", "easy", "conservative", ...GANGS];
const MODEL = quick ? "downey:jobs=2000" : "downey:jobs=200000:processors=1000:load=0.8";

const folder = mkdtempSync(join(tmpdir(), "tutti-web-lab-"));
const text = [...writeSwf(generateJobs(MODEL, 1))].join("");
const generated = ["generated.swf", "generated.swf.gz"].map((name) => join(folder, name));
writeFileSync(generated[0], text);
writeFileSync(generated[1], gzipSync(text));
const asked = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const real = (quick ? [] : ["HPC2N", "KTH-SP2"]).map(traceFile).filter((file) => file !== undefined);
const files = [...generated, ...real].filter(
  (file) => asked.length === 0 || asked.some((name) => basename(file).startsWith(name)),
);

const browser = await LabBrowser.launch();
const rows: string[][] = [];
/** Rows also come one by one: the whole takes minutes. */
function add(row: readonly string[]): void {
  rows.push([...row, ...new Array(HEADER.length - row.length).fill("")]);
  console.error(row.join("  "));
}
try {
  for (const file of files) {
    const lab = await browser.open();
    const pictureMs = await firstPictureMs(lab.page, file);
    const coldMs = await readMs(lab.page);
    await readTrace(file);
    const pageMs: number[] = [];
    const nodeMs: number[] = [];
    for (let run = 0; run < RUNS; run++) {
      await choose(lab.page, file);
      pageMs.push(await readMs(lab.page));
      const fromMs = performance.now();
      await readTrace(file);
      nodeMs.push(performance.now() - fromMs);
    }
    const megabytes = statSync(file).size / 1e6;
    add(row(`read ${basename(file)}, ${megabytes.toFixed(1)} MB`, coldMs, pageMs, nodeMs));
    add([`first picture of ${basename(file)}`, pictureMs.toFixed(0)]);
    for (const policy of POLICIES)
      if (isSimulated(file, policy)) add(await simulated(lab.page, file, policy));
    if (lab.faults.length > 0) throw new Error(lab.faults.join("\n"));
    await lab.close();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
printTable(HEADER, rows);

/** The packed file has the same jobs; gangs on 200,000 jobs take minutes. */
function isSimulated(file: string, policy: string): boolean {
  if (file === generated[1]) return false;
  return statSync(file).size < 1e6 || !GANGS.includes(policy);
}

async function simulated(page: Page, file: string, policy: string): Promise<string[]> {
  await page.evaluate(`tuttiLab.setPolicies(${JSON.stringify([policy])})`);
  const experiment = {
    source: { jobs: file, seed: 1 },
    processors: undefined,
    rules: DEFAULT_RULES,
    parameters: { boundS: 10 },
    window: { warmupShare: 0, cooldownShare: 0 },
    slotS: 60,
    switchS: 0,
  };
  const runner = new CellRunner(WITHOUT_FILES, await openExperiment(experiment, 1));
  // What the page keeps of a run.
  const cell = { kind: "summary", ...experiment, policy, keep: ["schedule", "matrix"] } as const;
  // The jobs are prepared once; only the simulation and its numbers are measured.
  await runner.ready(cell);
  const inNode = async () => {
    const fromMs = performance.now();
    const { scheduleHash } = await runner.run<"summary">(cell);
    return { ms: performance.now() - fromMs, scheduleHash };
  };
  const inPage = async () => (await page.evaluate<number[]>("tuttiLab.run()"))[0];
  const coldMs = await inPage();
  const { scheduleHash } = await inNode();
  const pageMs: number[] = [];
  const nodeMs: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    pageMs.push(await inPage());
    nodeMs.push((await inNode()).ms);
  }
  const hash = await page.evaluate<string>("tuttiLab.hashes()[0]");
  if (hash !== scheduleHash) throw new Error(`${policy}: ${hash} in the page, ${scheduleHash} in Node`);
  return [...row(`${policy} on ${basename(file)}`, coldMs, pageMs, nodeMs), hash];
}

function row(title: string, coldMs: number, pageMs: number[], nodeMs: number[]): string[] {
  const [page, node] = [summarise(pageMs).medianMs, summarise(nodeMs).medianMs];
  return [title, ...[coldMs, page, node].map((ms) => ms.toFixed(0)), (node / page).toFixed(2)];
}

/** From the drop of the file to a painted picture. */
async function firstPictureMs(page: Page, file: string): Promise<number> {
  await page.evaluate(`{
    globalThis.pictureMs = new Promise((resolve) => {
      document.querySelector("input[type=file]").addEventListener("change", () => {
        const fromMs = performance.now();
        const look = () => document.querySelector("canvas.scatter") === null
          ? requestAnimationFrame(look)
          : requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - fromMs)));
        look();
      }, { once: true, capture: true });
    });
    0;
  }`);
  await choose(page, file);
  return page.evaluate<number>("pictureMs");
}

async function choose(page: Page, file: string): Promise<void> {
  await page.setInputFiles("input[type=file]", file);
  await page.evaluate(`new Promise((resolve) => {
    const look = () => (Number.isNaN(tuttiLab.readMs()) ? setTimeout(look, 20) : resolve(0));
    look();
  })`);
}

function readMs(page: Page): Promise<number> {
  return page.evaluate<number>("tuttiLab.readMs()");
}
