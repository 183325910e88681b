/** The state of the laboratory's page, and what a user can do with it. */
import { computed, effect, signal } from "@preact/signals";
import { messageOf } from "@tutti/kernel/core/errors.ts";
import { cellsOf, comparisonOf } from "@tutti/lab/experiments/comparison-of.ts";
import { openJobs, prepareJobs } from "@tutti/lab/experiments/inputs.ts";
import type { Cell } from "@tutti/lab/experiments/kinds.ts";
import { type Boxes, gangBoxes } from "@tutti/lab/report/page/boxes.ts";
import { factsOf, type PageData, readPageText } from "@tutti/lab/report/page/page-data.ts";
import type { Comparison } from "@tutti/lab/results/comparison.ts";
import { address, setQuery } from "../page/navigation.ts";
import { hasPart, partText } from "../page/packed-part.ts";
import { Cancelled } from "./cancelled.ts";
import { commandLine, FIRST_EXPERIMENT, type PageExperiment, problemsOf, runnable } from "./experiment.ts";
import { LabPool, LabWorker, type SharedJobs } from "./lab-workers.ts";
import { linkText, MAX_LINK_BYTES, readExperimentText, readLink } from "./link.ts";
import type { OpenedJobs, RunResult, Scatter } from "./messages.ts";
import { isOwn } from "./own/messages.ts";
import { eraseTypes } from "./own/own-worker.ts";
import { SETTINGS, settingOf } from "./settings.ts";
import { unpack } from "./worker/packed.ts";

/** Set by scripts/build-web.ts in the bundle. */
declare const TUTTI_BUILD: Comparison["made"];

const MADE: Comparison["made"] = TUTTI_BUILD;

/** What is known of the jobs. */
type Source =
  | { readonly state: "none" }
  /** A link names a file that the user must choose again. */
  | { readonly state: "wanted" }
  | { readonly state: "reading"; readonly name: string; readonly share: number; readonly beginning?: Scatter }
  | { readonly state: "open"; readonly opened: OpenedJobs }
  | { readonly state: "failed"; readonly message: string };

type Run =
  | { readonly state: "idle" }
  | { readonly state: "running"; readonly shares: readonly number[]; readonly fromMs: number }
  | { readonly state: "failed"; readonly message: string };

/** A result; `run` is undefined if the page did not compute it, but had it when it was opened. */
export interface Finished extends PageData {
  readonly run: FinishedRun | undefined;
}

/** What a result was made from, and how. */
interface FinishedRun {
  readonly of: PageExperiment;
  readonly cells: readonly Cell<"summary">[];
  readonly jobs: SharedJobs;
  /** The policy that was typed in, without its types. */
  readonly ownCode: string;
  /** How often a summary had to be computed again, because two computations differed. */
  readonly mismatches: number;
  readonly ms: number;
  /** Of each run alone, in the worker. */
  readonly runMs: readonly number[];
}

export const experiment = signal<PageExperiment>(FIRST_EXPERIMENT);
export const source = signal<Source>({ state: "none" });
export const run = signal<Run>({ state: "idle" });
/** Whether the page has a result in its file, which takes a moment to read. */
export const hasResult = hasPart("result");
export const finished = signal<Finished | undefined>(undefined);
/** A value of a parameter that cannot be used. It is shown, and no experiment runs until it is changed. */
interface RefusedValue {
  /** The model or policy that it belongs to, as the experiment has it. */
  readonly owner: string;
  readonly parameter: string;
  readonly text: string;
  readonly message: string;
}

export const refusedValues = signal<readonly RefusedValue[]>([]);
/** Why the experiment cannot run; jobs that are missing are not among it. */
export const problems = computed(() => [
  ...refusedValues.value.map(({ message }) => message),
  ...problemsOf(experiment.value),
]);
/** Something that the user should know, such as a link that cannot be used. */
export const notice = signal("");

const pool = new LabPool();
let reader: LabWorker | undefined;
/** The file that is open, to read it again when the place of sizes changes. */
let file: File | undefined;
let writtenLink = "";

/** Changes the experiment, and the link of the page with it. */
export function change(changes: Partial<PageExperiment>): void {
  setExperiment({ ...experiment.peek(), ...changes });
  void writeLink();
}

/** Values that were refused go with the model or the policy that they belong to. */
function setExperiment(next: PageExperiment): void {
  experiment.value = next;
  const { jobs, policies } = next;
  const owners: readonly string[] =
    jobs !== undefined && "model" in jobs ? [jobs.model, ...policies] : policies;
  const kept = refusedValues.peek().filter(({ owner }) => owners.includes(owner));
  if (kept.length < refusedValues.peek().length) refusedValues.value = kept;
}

/** Keeps a value that cannot be used, in the place of an earlier one. */
export function refuseValue(value: RefusedValue): void {
  refusedValues.value = [...withoutValue(value), value];
}

/** The parameter has a value again; with it, its owner's text is another one. */
export function acceptValue(value: Pick<RefusedValue, "owner" | "parameter">, newOwner: string): void {
  refusedValues.value = withoutValue(value).map((each) =>
    each.owner === value.owner ? { ...each, owner: newOwner } : each,
  );
}

function withoutValue({ owner, parameter }: Pick<RefusedValue, "owner" | "parameter">) {
  return refusedValues.peek().filter((each) => each.owner !== owner || each.parameter !== parameter);
}

/** An empty text sets a setting back to its default. */
export function changeSetting(name: string, value: string): void {
  const settings: Record<string, string> = { ...experiment.peek().settings, [name]: value };
  if (value === settingOf({}, name)) delete settings[name];
  change({ settings });
  const isUsable = SETTINGS.find((setting) => setting.name === name)?.expected(value) === undefined;
  if (name === "size-from" && isUsable && file !== undefined) void openFile(file);
  if (name === "seed") openModelOf(experiment.peek());
}

/** Reads a file: a trace, or an experiment that was saved. */
export async function openFile(chosen: File): Promise<void> {
  notice.value = "";
  if (await isExperiment(chosen)) return openExperimentFile(chosen);
  const wanted = wantedFile();
  file = chosen;
  const opened = await readIn("read", chosen.name, { file: chosen, sizeFrom: settingNow("size-from") });
  if (opened === undefined) return;
  const { sha256 } = opened;
  const named = { name: chosen.name, bytes: chosen.size, sha256 };
  if (wanted !== undefined && !isSameFile(wanted, named)) {
    notice.value = `This is another file than that of the link: "${chosen.name}" with ${chosen.size} bytes, expected "${wanted.name}" with ${wanted.bytes} bytes${wanted.sha256 === undefined ? "" : ` and SHA-256 ${wanted.sha256.slice(0, 12)}…`}. Its results will differ.`;
  }
  change({ jobs: { file: named } });
  source.value = { state: "open", opened };
}

/** Generates the jobs of a model, such as `downey:jobs=1000`. */
export function openModel(model: string): void {
  file = undefined;
  change({ jobs: { model } });
  openModelOf(experiment.peek());
}

function openModelOf({ jobs }: PageExperiment): void {
  if (jobs === undefined || !("model" in jobs)) return;
  const { model } = jobs;
  const seed = Number(settingNow("seed"));
  if (!Number.isSafeInteger(seed) || seed < 0) return;
  void readIn("generate", model, { model, seed }).then((opened) => {
    if (opened !== undefined) source.value = { state: "open", opened };
  });
}

export function stopReading(): void {
  reader?.end();
  reader = undefined;
  source.value = { state: "none" };
}

/** Asks a worker for jobs; a later request ends an earlier one. */
async function readIn<T extends "read" | "generate">(
  topic: T,
  name: string,
  asks: Parameters<typeof LabWorker.prototype.ask<T>>[1],
): Promise<OpenedJobs | undefined> {
  // A reader that has ended its work is kept: code that has run once is faster.
  if (source.peek().state === "reading") reader?.end();
  if (source.peek().state === "reading" || reader === undefined) reader = new LabWorker();
  const mine = reader;
  source.value = { state: "reading", name, share: 0 };
  try {
    const opened = (await mine.ask(topic, asks, (progress) => {
      const now = source.peek();
      if (now.state === "reading") source.value = { ...now, ...(progress as object) };
    })) as OpenedJobs;
    return mine === reader ? opened : undefined;
  } catch (error) {
    if (error instanceof Cancelled || mine !== reader) return undefined;
    source.value = { state: "failed", message: messageOf(error) };
    return undefined;
  }
}

/** Runs every policy on every seed. */
export async function start(): Promise<void> {
  const of = experiment.peek();
  const now = source.peek();
  if (now.state !== "open" || run.peek().state === "running" || problems.peek().length > 0) return;
  const { experiment: asked, replications } = runnable(of);
  const jobs = { name: asked.source.jobs, seed: asked.source.seed, workload: now.opened.workload };
  const fromMs = performance.now();
  try {
    const list = { policies: of.policies, replications, recordMatrix: true };
    const cells = cellsOf(asked, list);
    let shares: readonly number[] = cells.map(() => 0);
    run.value = { state: "running", shares, fromMs };
    const opened = await openJobs(asked.source, { open: () => now.opened.workload });
    const instance = prepareJobs(opened.workload, asked.processors, asked.rules);
    const ownCode = of.policies.some(isOwn) ? await eraseTypes(of.own) : "";
    const progress = (cell: number, share: number) => {
      shares = shares.with(cell, share);
      run.value = { state: "running", shares, fromMs };
    };
    const answers = await pool.run(jobs, cells, progress, ownCode);
    const results = answers.map(
      ({ result, schedule }): RunResult => ({
        ...unpack<RunResult>(result.packed),
        schedule: unpack(schedule),
      }),
    );
    const isModel = of.jobs !== undefined && "model" in of.jobs;
    const making = { command: commandLine(of), made: MADE, isModel };
    const comparison = comparisonOf(asked, { ...list, ...making }, instance, results);
    finished.value = {
      comparison,
      // Of the first seed.
      curves: answers.slice(0, of.policies.length).map(({ curves }) => curves),
      boxes: comparison.policies.map(({ matrix, schedule }) => matrix && gangBoxes(matrix, schedule)),
      facts: factsOf(instance),
      drawn: undefined,
      run: {
        ...{ of, cells, jobs, ownCode },
        mismatches: answers.reduce((sum, { result }) => sum + result.mismatches, 0),
        ms: performance.now() - fromMs,
        runMs: answers.map(({ ms }) => ms),
      },
    };
    run.value = { state: "idle" };
  } catch (error) {
    run.value =
      error instanceof Cancelled ? { state: "idle" } : { state: "failed", message: messageOf(error) };
  }
}

/** What the page offers to a program that drives it, as `globalThis.tuttiLab`. */
export const labForPrograms = {
  /** The next run has fresh workers. */
  endWorkers: () => pool.cancel(),
  /** Runs the experiment. @returns for each run, the time of the simulation and of its numbers in ms */
  run: async () => {
    await start();
    return finished.peek()?.run?.runMs ?? [];
  },
  setPolicies: (policies: readonly string[]) => change({ policies }),
  /** Of the schedules of the last run. */
  hashes: () => finished.peek()?.comparison.policies.map(({ scheduleHash }) => scheduleHash) ?? [],
  /** How long the jobs took to read or generate, in ms. */
  readMs: () => {
    const now = source.peek();
    return now.state === "open" ? now.opened.ms : Number.NaN;
  },
};

/** Ends the workers at once, in the middle of their work. */
export function cancel(): void {
  pool.cancel();
}

/** The explanation of a job of the finished run, in sentences. */
export function explain(
  { cells, jobs, ownCode }: FinishedRun,
  policy: number,
  job: number,
): Promise<readonly string[]> {
  return pool.explain(jobs, cells[policy], job, ownCode);
}

/** Where the jobs of a space-sharing policy ran. */
export function deal({ comparison, run }: Finished, policy: number): Promise<Boxes> {
  if (run === undefined) throw new Error("Broken invariant: the page had the boxes when it was opened");
  return pool.deal(run.jobs, run.cells[policy], comparison.policies[policy].schedule);
}

/** Shows the result that is in the page's file, if there is one. */
export async function openResult(): Promise<void> {
  if (!hasResult) return;
  try {
    finished.value = { ...readPageText(await partText("result")), run: undefined };
  } catch (error) {
    const message = `Cannot read the result in this file: it is damaged (${messageOf(error)}), expected the file as Tutti wrote it`;
    run.value = { state: "failed", message };
  }
}

/** Whether a file begins as a saved experiment does, whatever its name is. */
async function isExperiment(chosen: File): Promise<boolean> {
  return /^\s*\{\s*"tutti": *1\b/.test(await chosen.slice(0, 100).text());
}

async function openExperimentFile(chosen: File): Promise<void> {
  try {
    restore(readExperimentText(await chosen.text()));
    await writeLink();
  } catch (error) {
    notice.value = messageOf(error);
  }
}

/**
 * Takes over an experiment of a link or a file. Its jobs stay open if they are open, as after the back
 * button; otherwise the user must choose the trace again.
 */
function restore(restored: PageExperiment): void {
  const { jobs } = restored;
  const before = experiment.peek();
  setExperiment(restored);
  if (jobs === undefined) return;
  const isOpen = source.peek().state === "open" && jobsText(before) === jobsText(restored);
  if (isOpen) return;
  if ("model" in jobs) openModelOf(restored);
  else if (file?.name === jobs.file.name && file.size === jobs.file.bytes) void openFile(file);
  else source.value = { state: "wanted" };
}

/** What decides the jobs of an experiment. */
function jobsText({ jobs, settings }: PageExperiment): string {
  return JSON.stringify([jobs, settingOf(settings, "size-from"), settingOf(settings, "seed")]);
}

function wantedFile() {
  const { jobs } = experiment.peek();
  return source.peek().state === "wanted" && jobs !== undefined && "file" in jobs ? jobs.file : undefined;
}

function isSameFile(
  wanted: { readonly name: string; readonly bytes: number; readonly sha256: string | undefined },
  named: typeof wanted,
): boolean {
  if (wanted.sha256 !== undefined && named.sha256 !== undefined) return wanted.sha256 === named.sha256;
  return wanted.name === named.name && wanted.bytes === named.bytes;
}

async function writeLink(): Promise<void> {
  const of = experiment.peek();
  const text = await linkText(of);
  if (of !== experiment.peek()) return;
  const fits = text.length <= MAX_LINK_BYTES;
  if (!fits) notice.value = "This experiment is too long for a link. Save it as a file instead.";
  writtenLink = fits ? text : "";
  setQuery({ x: writtenLink });
}

async function readLinkOf(text: string): Promise<void> {
  try {
    restore(await readLink(text));
  } catch (error) {
    notice.value = messageOf(error);
  }
}

/** Keeps the link in the address when the user goes to another view, and restores a link that is opened. */
export function followAddress(): void {
  effect(() => {
    const { x = "" } = address.value.query;
    if (x === writtenLink) return;
    if (x === "") {
      setQuery({ x: writtenLink });
      return;
    }
    writtenLink = x;
    void readLinkOf(x);
  });
}

function settingNow(name: string): string {
  return settingOf(experiment.peek().settings, name);
}
