/** What the folders of jobs and attempts tell by themselves: `jobs/JOB/ATTEMPT`. What cannot be read tells nothing. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The file with the CPUs of an attempt, which the front end writes before anything is started. */
export const HOSTS = "hosts";

/**
 * The highest number of an attempt of a job whose folder shows that a shim was there; 0: none. A front end that dies between making
 * a folder and its commit leaves one in which there is nothing but the host file.
 */
export function latestStartIn(jobFolder: string): number {
  const started = numberedIn(jobFolder).filter((attempt) =>
    namesIn(join(jobFolder, String(attempt))).some((name) => name !== HOSTS),
  );
  return Math.max(0, ...started);
}

/** Numbers that have a folder: of jobs in the folder of all jobs, of attempts in that of a job. */
export function numberedIn(folder: string): number[] {
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
