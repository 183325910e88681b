/** Reads the folders of jobs and attempts, `jobs/JOB/ATTEMPT`. Unreadable folders count as empty. */
import { HOSTS } from "@tutti/host/attempt-folder.ts";
import { readdirSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";

/**
 * The highest number of an attempt of a job whose folder has files of a shim; 0: there is none. A front end
 * that dies after it made a folder and before its commit leaves a folder with nothing but the host file.
 */
export function latestStartIn(jobFolder: string): number {
  const started = numberedIn(jobFolder).filter((attempt) =>
    namesIn(join(jobFolder, String(attempt))).some((name) => name !== HOSTS),
  );
  return Math.max(0, ...started);
}

/** Folders named by a number: jobs in the folder of all jobs, attempts in the folder of a job. */
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
