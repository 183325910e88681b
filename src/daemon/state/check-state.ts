/** Whether a state folder agrees with itself: the store, the file with the highest numbers, and the folders of the jobs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkStore, type StoreReport } from "../store/check.ts";
import { openReadOnly } from "../store/read-only.ts";
import { latestStartIn, numberedIn } from "./job-folders.ts";
import { parseNumbers } from "./numbers.ts";

export interface StateReport extends StoreReport {
  readonly path: string;
  /** Left out: only a file was looked at. */
  readonly numbers?: { readonly job: number; readonly event: number } | "missing" | "damaged";
  /** Highest number of a job that has a folder; 0: none has one. */
  readonly lastFolder?: number;
}

export function checkFile(path: string): StateReport {
  const database = openReadOnly(path);
  try {
    return { path, ...checkStore(path, database) };
  } finally {
    database.close();
  }
}

/** Also beside a front end that uses the folder. */
export function checkState(folder: string): StateReport {
  // Before the store: it may go on meanwhile, and then knows more than this, never less.
  const numbers = numbersIn(join(folder, "numbers"));
  const jobsFolder = join(folder, "jobs");
  const folders = numberedIn(jobsFolder);
  const report = checkFile(join(folder, "tutti.db"));
  const { findings, problems } = report;
  const lastJob = findings?.lastJob ?? Number.POSITIVE_INFINITY;
  const lastEvent = findings?.lastEvent ?? Number.POSITIVE_INFINITY;
  const older: string[] = [];
  if (typeof numbers === "object" && (numbers.job > lastJob || numbers.event > lastEvent)) {
    older.push(
      `older than what was confirmed: it ends with job ${lastJob} and event ${lastEvent}, confirmed were job ${numbers.job} and event ${numbers.event}; a backup was put back, or files were lost`,
    );
  }
  if (numbers === "damaged") older.push('the file "numbers" is damaged; the next start makes it again');
  const started = folders.find((job) => job > lastJob && latestStartIn(join(jobsFolder, String(job))) > 0);
  if (started !== undefined) {
    older.push(`older than the folders: it ends with job ${lastJob}, and job ${started} was started`);
  }
  return {
    ...report,
    problems: [...problems, ...older],
    numbers,
    lastFolder: folders.reduce((last, job) => Math.max(last, job), 0),
  };
}

function numbersIn(path: string): NonNullable<StateReport["numbers"]> {
  try {
    const numbers = parseNumbers(readFileSync(path, "latin1"));
    return numbers === undefined ? "damaged" : { job: numbers.job, event: numbers.event };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : "damaged";
  }
}
