/**
 * Makes outcomes comparable: numbers of jobs become `<job1>`, names of nodes `<node1>`, and times, process
 * numbers and paths have names too, in texts and in the names of files.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EndOfJob, FileText, Outcome, SlurmScript } from "./list.ts";

/** A job as `scontrol -o show job` describes it. */
export interface JobRecord {
  /** `7`, or `7_2` for a task of an array, or `7_2-4` for tasks that never start. */
  readonly id: string;
  /** The number that the job or the task has of its own. */
  readonly number: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string;
  readonly exitCode: string;
  readonly restarts: number;
  readonly folder: string;
  readonly nodes: string;
}

/** Reads what `scontrol -o show job` prints. */
export function readJobs(text: string): readonly JobRecord[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("JobId="))
    .map((line) => {
      const field = (name: string) =>
        new RegExp(`(?:^| )${name}=(.*?)(?: [A-Z][A-Za-z/:]*=|$)`).exec(line)?.[1] ?? "";
      const task = field("ArrayTaskId");
      const number = field("JobId");
      return {
        id: task === "" ? number : `${field("ArrayJobId")}_${task}`,
        number,
        name: field("JobName"),
        state: field("JobState"),
        reason: field("Reason"),
        exitCode: field("ExitCode"),
        restarts: Number(field("Restarts")),
        folder: field("WorkDir"),
        nodes: field("NodeList"),
      };
    });
}

const NEVER = "DependencyNeverSatisfied";
const FINAL = /^(?:COMPLETED|FAILED|TIMEOUT|CANCELLED|NODE_FAIL|OUT_OF_MEMORY)$/;

/** Whether the job has ended, or will never start. */
export function isOver({ state, reason }: JobRecord): boolean {
  return FINAL.test(state) || isStuck({ state, reason });
}

export function isStuck({ state, reason }: Pick<JobRecord, "state" | "reason">): boolean {
  return state === "PENDING" && reason === NEVER;
}

/** What names the same thing differently at each run or site. */
export interface Names {
  readonly folder: string;
  readonly home: string;
  /** Where the site keeps the script of a job. */
  readonly script: RegExp;
  /** All nodes of the site, in its order. */
  readonly nodes: readonly string[];
}

export function outcomeOf(
  one: SlurmScript,
  names: Names,
  line: { readonly status: number | null; readonly stdout: string; readonly stderr: string },
  jobs: readonly JobRecord[],
): Outcome {
  const plain = replacerOf(one, names, jobs);
  const textOf = (name: string, text: string) => fileText(plain(text), one.unordered.includes(name));
  const files: Record<string, FileText> = {
    stdout: textOf("stdout", line.stdout),
    stderr: textOf("stderr", line.stderr),
  };
  const given = new Set([one.script, ...one.inputs]);
  for (const path of filesIn(names.folder).filter((path) => !given.has(path))) {
    const bytes = readFileSync(join(names.folder, path));
    const name = plain(path);
    files[name] = bytes.includes(0) ? { text: ["<program>"] } : textOf(name, bytes.toString("utf8"));
  }
  const ends = jobs.map(
    ({ id, name, state, reason, exitCode, restarts }): EndOfJob => ({
      job: plain(id).replace(/[<>]/g, ""),
      name,
      state: isStuck({ state, reason }) ? `${state} ${reason}` : state,
      exitCode,
      restarts,
    }),
  );
  return {
    status: line.status ?? -1,
    jobs: ends.sort((a, b) => a.job.localeCompare(b.job, "en", { numeric: true })),
    files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const SAID = /^(?:\w+: )?(?:srun|slurmstepd|sbatch|salloc|scancel|scontrol|squeue|sacct): /;
/** Slurm says these or not, as it happens. */
const BY_CHANCE =
  /DUE TO JOB REQUEUE|step creation temporarily disabled|Step created for job|has been revoked/;

function fileText(plain: string, isUnordered: boolean): FileText {
  const lines = plain.replace(/\n$/, "").split("\n");
  const text = plain === "" ? [] : lines.filter((line) => !SAID.test(line));
  // Several processes of Slurm write them, in any order.
  const said = lines.filter((line) => SAID.test(line) && !BY_CHANCE.test(line)).sort();
  if (isUnordered) text.sort();
  return said.length === 0 ? { text } : { text, said };
}

function replacerOf(one: SlurmScript, names: Names, jobs: readonly JobRecord[]): (text: string) => string {
  const ids = [...new Set(jobs.map(({ id }) => id.split("_")[0]))].sort((a, b) => Number(a) - Number(b));
  const numbers = new Map(ids.map((id, i) => [id, `<job${i + 1}>`]));
  // A task has a number of its own, too. The last one to start has that of its array.
  for (const { id, number } of jobs) {
    const [array, task] = id.split("_");
    if (!numbers.has(number)) numbers.set(number, `${numbers.get(array)}_${task}`);
  }
  const used = new Set(jobs.flatMap(({ nodes }) => expand(nodes).split(",")));
  const nodes = new Map(
    names.nodes
      .filter((node) => used.has(node))
      .map((node, i) => [node, one.nodes === 1 ? "<node>" : `<node${i + 1}>`]),
  );
  return (text) =>
    expand(text)
      .replaceAll(names.script, "<script>")
      .replaceAll(names.folder, "<folder>")
      .replaceAll(names.home, "<home>")
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, "<time>")
      .replace(/(line \d+:) +\d+ /g, "$1 <pid> ")
      .replace(/Waiting up to \d+ seconds/, "Waiting up to <n> seconds")
      .replace(/\bslurmstepd-\S+:/g, "slurmstepd:")
      .replace(/\d+/g, (number) => numbers.get(number) ?? number)
      .replace(/\b[a-zA-Z][\w-]*\b/g, (word) => nodes.get(word) ?? word);
}

/** Writes lists of nodes such as n[1-2,4] in full. */
function expand(text: string): string {
  return text.replace(/\b([a-zA-Z][\w-]*)\[([\d,-]+)\]/g, (_, prefix, ranges) =>
    String(ranges)
      .split(",")
      .flatMap((range) => {
        const [from, to = from] = range.split("-").map(Number);
        return Array.from({ length: to - from + 1 }, (_, i) => `${prefix}${from + i}`);
      })
      .join(","),
  );
}

/** Paths below a folder, sorted. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** How two outcomes differ: a line for each place. */
export function differencesOf(expected: unknown, got: unknown, place = ""): string[] {
  if (JSON.stringify(expected) === JSON.stringify(got)) return [];
  if (Array.isArray(expected) && Array.isArray(got)) {
    const texts = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one));
    const [a, b] = [texts(expected), texts(got)];
    const lacking = a.filter((text) => !b.includes(text)).map((text) => `lacks ${text}`);
    const extra = b.filter((text) => !a.includes(text)).map((text) => `has ${text}`);
    const lines = [...lacking, ...extra];
    return (lines.length > 0 ? lines : ["another order or number of lines"]).map(
      (line) => `${place}: ${line}`,
    );
  }
  const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(expected) || !isObject(got)) {
    return [`${place}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`];
  }
  const [a, b] = [expected as Record<string, unknown>, got as Record<string, unknown>];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return keys.flatMap((key) => differencesOf(a[key], b[key], place === "" ? key : `${place}: ${key}`));
}
