/** Checks that a state folder is consistent: the store, the file with the numbers, the folders of jobs. */
import { readFileSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { checkStore, type StoreReport } from "../store/check.ts";
import { miscounts } from "../store/ledger.ts";
import { LATEST_VERSION } from "../store/migrations.ts";
import { openReadOnly } from "../store/read-only.ts";
import { latestStartIn, numberedIn } from "./job-folders.ts";
import { parseNumbers } from "./numbers.ts";

export interface StateReport extends StoreReport {
  readonly path: string;
  /** Left out: only a database file was checked, not a folder. */
  readonly numbers?: { readonly job: number; readonly event: number } | "missing" | "damaged";
  /** Highest job number with a folder; 0: no job has a folder. */
  readonly lastFolder?: number;
}

export function checkFile(path: string): StateReport {
  const database = openReadOnly(path);
  try {
    const report = checkStore(path, database);
    const { findings, problems } = report;
    // An older store is counted again when it is migrated.
    const isCounted = problems.length === 0 && findings?.version === LATEST_VERSION;
    return { path, ...report, problems: isCounted ? miscounts(database) : problems };
  } finally {
    database.close();
  }
}

/** Also works while a front end uses the folder. */
export function checkState(folder: string): StateReport {
  // Read before the store. If the front end continues in between, the store knows more than these numbers,
  // never less.
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
      `the store is out of date: its last job is ${lastJob} and its last event ${lastEvent}, but job ${numbers.job} and event ${numbers.event} were confirmed; a backup was restored, or files were lost`,
    );
  }
  if (numbers === "damaged") older.push('the file "numbers" is damaged; the next start makes it again');
  const started = folders.find((job) => job > lastJob && latestStartIn(join(jobsFolder, String(job))) > 0);
  if (started !== undefined) {
    older.push(
      `the store is older than the job folders: its last job is ${lastJob}, but job ${started} was started`,
    );
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
