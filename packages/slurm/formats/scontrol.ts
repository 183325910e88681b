/**
 * Reads what `scontrol show` prints. Its texts are the oldest of Slurm's forms: words NAME=VALUE, of which
 * later versions have more. A value can contain anything on the lines of free texts, so these are known by
 * name.
 */
import { SlurmFormatError } from "./format-error.ts";

/** What Slurm knows of a job. Times are Unix times in seconds. */
export interface ShownJob {
  readonly id: string;
  /** In capitals, such as FAILED. */
  readonly state: string;
  readonly reason: string;
  readonly exitCode: number;
  /** Number of the signal that ended it; 0: none. */
  readonly signal: number;
  readonly restarts: number;
  readonly startS: number | undefined;
  readonly endS: number | undefined;
  readonly eligibleS: number | undefined;
  readonly nodes: string;
  readonly comment: string;
}

/** A line that begins with one of these names contains nothing else. */
const FREE_TEXT =
  /^(JobName|Command|WorkDir|Comment|AdminComment|SystemComment|Extra|StdErr|StdIn|StdOut|SubmitLine)=/;

/** @param text standard output of `scontrol show job`, times in Unix seconds */
export function parseShownJobs(text: string, version?: string): ShownJob[] {
  if (/^No jobs in the system\n?$/.test(text)) return [];
  if (!/^JobId=/.test(text) || !text.endsWith("\n\n"))
    throw new SlurmFormatError("scontrol show job", text.slice(-80), "JobId= to an empty line", version);
  const blocks = text.split(/\n(?=JobId=\d+ )/);
  return blocks.map((block) => {
    const fields = fieldsOf(block);
    const job = shownJobOf(fields);
    if (job !== undefined) return job;
    throw new SlurmFormatError("scontrol show job", block, "JobState=, ExitCode= and StartTime=", version);
  });
}

function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>();
  // The first line has the numbers of the job, then its name, which may contain anything.
  const [first, ...lines] = block.split("\n").map((line) => line.trim());
  const [, numbers, name] = /^(.*?) JobName=(.*)$/.exec(first) ?? [];
  for (const line of [numbers ?? first, `JobName=${name ?? ""}`, ...lines]) {
    const words = FREE_TEXT.test(line) ? [line] : line.split(" ");
    for (const word of words) {
      const at = word.indexOf("=");
      if (at > 0 && !fields.has(word.slice(0, at))) fields.set(word.slice(0, at), word.slice(at + 1));
    }
  }
  return fields;
}

function shownJobOf(fields: ReadonlyMap<string, string>): ShownJob | undefined {
  const [, code, signal] = /^(\d+):(\d+)$/.exec(fields.get("ExitCode") ?? "") ?? [];
  const state = fields.get("JobState");
  const times = ["StartTime", "EndTime", "EligibleTime"].map((name) => fields.get(name));
  if (code === undefined || state === undefined || times.some((time) => !isTime(time))) return undefined;
  const [startS, endS, eligibleS] = times.map((time) => (/^\d+$/.test(time!) ? Number(time) : undefined));
  return {
    id: fields.get("JobId") ?? "",
    state,
    reason: fields.get("Reason") ?? "None",
    exitCode: Number(code),
    signal: Number(signal),
    restarts: Number(fields.get("Restarts") ?? 0),
    startS,
    endS,
    eligibleS,
    nodes: fields.get("NodeList") ?? "",
    comment: (fields.get("Comment") ?? "").trimEnd(),
  };
}

function isTime(text: string | undefined): boolean {
  return text === "Unknown" || text === "N/A" || text === "None" || /^\d{1,11}$/.test(text ?? "");
}

interface ShownNode {
  readonly node: string;
  readonly cpus: number;
  readonly memoryMib: number;
  /** In capitals, perhaps with flags, such as IDLE+DRAIN or DOWN*. */
  readonly state: string;
  /** Version of its slurmd; undefined while it has not registered. */
  readonly version: string | undefined;
}

/** @param text standard output of `scontrol --oneliner show node` */
export function parseShownNodes(text: string, version?: string): ShownNode[] {
  const lines = text.split("\n");
  const rest = lines.pop();
  if (rest !== "") throw new SlurmFormatError("scontrol show node", rest!, "a complete last line", version);
  return lines.map((line) => {
    const value = (name: string) => new RegExp(`(?:^| )${name}=(\\S+)`).exec(line)?.[1];
    const node = value("NodeName");
    const [cpus, memoryMib] = [Number(value("CPUTot")), Number(value("RealMemory"))];
    const state = value("State");
    if (node === undefined || state === undefined || !(cpus > 0) || !(memoryMib >= 0))
      throw new SlurmFormatError(
        "scontrol show node",
        line,
        "NodeName=, CPUTot=, RealMemory= and State=",
        version,
      );
    return { node, cpus, memoryMib, state, version: value("Version") };
  });
}

/**
 * Partitions whose CPUs Slurm gives to several jobs whatever these ask for, with the setting, such as
 * FORCE:4. FORCE:1 is one job.
 * @param text standard output of `scontrol --oneliner show partition`
 */
export function forcedSharing(text: string): string[] {
  return [...text.matchAll(/^PartitionName=(\S+).* OverSubscribe=(FORCE(?!:1\b)\S*)/gm)].map(
    ([, partition, setting]) => `${partition} (${setting})`,
  );
}

/** Settings of the site by name, as text. @param text standard output of `scontrol show config` */
export function parseConfig(text: string): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  for (const [, name, value] of text.matchAll(/^(\w+)\s*=[ ]?(.*)$/gm)) settings.set(name, value.trim());
  // The last part says which controller answers.
  if (settings.has("SLURM_VERSION") && /^Slurmctld\(.*\) at .* is \w+$/m.test(text)) return settings;
  throw new SlurmFormatError(
    "scontrol show config",
    text.slice(-80),
    "settings with SLURM_VERSION, then the controllers",
    settings.get("SLURM_VERSION"),
  );
}
