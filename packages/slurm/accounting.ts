/** Asks Slurm's accounting for the jobs of a site. */
import { spawn } from "@tutti/host/ports/child-process.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { commandEnvironment, lastWords, outputOf, runCommand } from "./commands.ts";
import { parseShownNodes } from "./formats/scontrol.ts";

export interface AccountingQuery {
  /** As sacct reads times, such as 2026-01-31 or now-7days. */
  readonly since: string;
  /** Left out: now. */
  readonly until?: string | undefined;
  /** Left out: all users whose jobs Slurm shows to this one. */
  readonly user?: string | undefined;
}

/** What the reader of traces needs. Every run of a job that was queued again has a line of its own. */
const FIELDS = [
  "JobID",
  "JobIDRaw",
  "Submit",
  "Eligible",
  "Start",
  "End",
  "ElapsedRaw",
  "TimelimitRaw",
  "AllocCPUS",
  "ReqCPUS",
  "State",
  "UID",
  "GID",
  "QOS",
  "Partition",
  "Suspended",
];

/**
 * What sacct prints, with a first line of field names and Unix times. A long history takes long, so there
 * is no time limit.
 * @throws InputError if sacct fails or its output is cut off
 */
export async function* accountingOf({ since, until, user }: AccountingQuery): AsyncGenerator<Uint8Array> {
  const args = [
    "--parsable2",
    "--duplicates",
    `--starttime=${since}`,
    ...(until === undefined ? [] : [`--endtime=${until}`]),
    ...(user === undefined ? ["--allusers"] : [`--user=${user}`]),
    `--format=${FIELDS.join(",")}`,
  ];
  const sacct = spawn("sacct", args, {
    env: commandEnvironment(process.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<{ readonly code: number | null; readonly signal: string | null }>(
    (resolve, reject) => {
      sacct.on("close", (code, signal) => resolve({ code, signal }));
      sacct.on("error", ({ message }) =>
        reject(
          new InputError(
            `Cannot ask Slurm's accounting: ${message}; expected the command sacct in the PATH of this machine`,
          ),
        ),
      );
    },
  );
  // Its failure is thrown below, after the output.
  ended.catch(() => {});
  let said = "";
  sacct.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4000);
  });
  let last: number | undefined;
  try {
    for await (const chunk of sacct.stdout as AsyncIterable<Buffer>) {
      last = chunk.at(-1) ?? last;
      yield chunk;
    }
    const { code, signal } = await ended;
    const words = lastWords(said);
    if (code !== 0) {
      const why = words === "" ? (signal ?? `exit status ${code}`) : words;
      throw new InputError(`Cannot ask Slurm's accounting from ${since} on: sacct says: ${why}`);
    }
    if (last !== 0x0a)
      throw new InputError("Cannot read the output of sacct: it ends in the middle of a line");
  } finally {
    sacct.kill();
  }
}

/** Processors of all nodes of the cluster, as it is now. @throws SlurmError, SlurmFormatError */
export async function processorsOfCluster(): Promise<number> {
  const text = await outputOf(runCommand, "scontrol", ["--oneliner", "show", "node"]);
  return parseShownNodes(text).reduce((sum, { cpus }) => sum + cpus, 0);
}
