/**
 * Runs a script where sbatch, srun and the other commands of Slurm are on the PATH, a real one's or Tutti's,
 * and collects its outcome.
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CommandResult } from "../command.ts";
import type { Outcome, SlurmScript } from "./list.ts";
import { isOver, isStuck, type JobRecord, outcomeOf, readJobs } from "./outcome.ts";

/** A place where commands of Slurm work. */
export interface Site {
  /** Runs a program as `loginWords` says. */
  run(words: readonly string[], folder: string): Promise<CommandResult>;
  /** Made by `makeHome`. */
  readonly home: string;
  readonly nodes: readonly string[];
  /** Where it keeps scripts of jobs, as a script sees its own path. */
  readonly script: RegExp;
}

const here = fileURLToPath(new URL(".", import.meta.url));
/** How often the jobs of a script are asked for. */
const LOOK_MS = 1000;
/** After so long the line and its jobs are ended. On a real Slurm, a requeue takes two minutes of it. */
const LIMIT_S = 300;

/**
 * Makes a home whose login shells have the site's programs and modules.
 * @param more lines of their profile
 */
export function makeHome(home: string, more: readonly string[] = []): void {
  mkdirSync(home, { recursive: true });
  const lines = [`SITE_TOOLS=${join(here, "tools")}`, '. "$SITE_TOOLS/profile.sh"'];
  writeFileSync(join(home, ".bash_profile"), `${[...lines, ...more].join("\n")}\n`);
}

/** Words that run a program as in a new login: with nothing of the caller's environment. */
export function loginWords(home: string, words: readonly string[], ...more: readonly string[]): string[] {
  const user = [`HOME=${home}`, "USER=root", "LOGNAME=root", "LANG=C.UTF-8", "TERM=dumb"];
  return ["env", "-i", ...user, ...more, ...words];
}

/**
 * Runs scripts, a number of them at a time, but only one with GPUs. Each has a folder of its own below a new
 * one.
 */
export async function runAll(
  site: Site,
  list: readonly SlurmScript[],
  folder: string,
  atOnce: number,
): Promise<ReadonlyMap<SlurmScript, Outcome>> {
  const outcomes = new Map<SlurmScript, Outcome>();
  const waiting = [...list];
  let gpusTaken = false;
  const work = async () => {
    for (;;) {
      const next = waiting.findIndex(({ hasGpus }) => !(hasGpus && gpusTaken));
      if (next < 0) return;
      const [one] = waiting.splice(next, 1);
      gpusTaken ||= one.hasGpus;
      const own = join(folder, one.script.replace(/\.sh$/, ""));
      mkdirSync(own, { recursive: true });
      outcomes.set(one, await runCase(site, one, own));
      if (one.hasGpus) gpusTaken = false;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}

/** Runs a script in a new folder and waits for the ends of all its jobs. */
async function runCase(site: Site, one: SlurmScript, folder: string): Promise<Outcome> {
  mkdirSync(join(folder, "logs"), { recursive: true });
  mkdirSync(join(folder, "job_outs"));
  copyFileSync(join(here, "scripts", one.script), join(folder, one.script));
  for (const name of one.inputs) copyFileSync(join(here, "inputs", name), join(folder, name));
  const untilMs = performance.now() + LIMIT_S * 1000;
  const line = await site.run(["timeout", `${LIMIT_S}`, "bash", "-l", "-c", one.line], folder);
  const jobs = await whenOver(site, folder, untilMs);
  const rest = jobs.filter((job) => isStuck(job) || !isOver(job)).map(({ number }) => number);
  if (rest.length > 0) await site.run(["bash", "-l", "-c", `scancel ${rest.join(" ")}`], folder);
  return outcomeOf(one, { folder, home: site.home, script: site.script, nodes: site.nodes }, line, jobs);
}

/** Waits until all jobs that work in a folder have ended or will never start, or until a time. */
async function whenOver(site: Site, folder: string, untilMs: number): Promise<readonly JobRecord[]> {
  for (;;) {
    const { status, stdout, stderr } = await site.run(["bash", "-l", "-c", "scontrol -o show job"], folder);
    if (status !== 0) throw new Error(`scontrol ended with ${status}: ${stderr}`);
    const jobs = readJobs(stdout).filter((job) => `${job.folder}/`.startsWith(`${folder}/`));
    if (jobs.every(isOver) || performance.now() > untilMs) return jobs;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
