/** What the folders of jobs and attempts tell by themselves: `jobs/JOB/ATTEMPT`. What cannot be read tells nothing. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { JobNumber } from "../../protocol/attempts.ts";

/** The file with the CPUs of an attempt, which the front end writes before anything is started. */
export const HOSTS = "hosts";

/** Numbers of all jobs that have a folder. */
export function jobsIn(jobsFolder: string): JobNumber[] {
  return numbersIn(jobsFolder);
}

/**
 * The highest number of an attempt of a job whose folder shows that a shim was there; 0: none. A front end that dies between making
 * a folder and its commit leaves one in which there is nothing but the host file.
 */
export function latestStartIn(jobFolder: string): number {
  const started = numbersIn(jobFolder).filter((attempt) =>
    namesIn(join(jobFolder, String(attempt))).some((name) => name !== HOSTS),
  );
  return Math.max(0, ...started);
}

function numbersIn(folder: string): number[] {
  return namesIn(folder)
    .filter((name) => /^[1-9]\d{0,14}$/.test(name))
    .map(Number);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
