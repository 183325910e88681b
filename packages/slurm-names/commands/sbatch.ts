/** `sbatch`: submits a script from a file, from standard input or from `--wrap`. */
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { interpreterOf, readJobScript, slurmWords } from "@tutti/cli/options/job-script.ts";
import { type Given, merged, optionsOfVariables } from "@tutti/cli/options/slurm-given.ts";
import { SBATCH_OPTIONS } from "@tutti/cli/options/slurm-options.ts";
import { nodeName } from "@tutti/cli/options/slurm-site.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import { MAX_SCRIPT_BYTES } from "@tutti/protocol/limits.ts";
import type { DryRunAnswer, Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { type Command, parseWords, writeOut } from "../command.ts";
import { SlurmError } from "../errors.ts";
import { exitCodeOf } from "../job/states.ts";
import { jobOf, submit, submitRefusal } from "../job/submission.ts";
import { patientClient } from "../patient-client.ts";
import { timeText } from "../text/times.ts";

export const sbatch: Command = {
  options: SBATCH_OPTIONS,
  stopsAtWord: true,
  unknownCode: 255,
  usage: "sbatch [OPTIONS] SCRIPT [ARGUMENTS], sbatch [OPTIONS] < SCRIPT, or sbatch [OPTIONS] --wrap=COMMAND",
  async run({ given, words: rest }) {
    const typed = merged(optionsOfVariables(process.env), given);
    const { content, path, name } = scriptOf(typed.get("wrap")?.value, rest);
    const inScript = slurmWords(content.toString("utf8"));
    const { given: ofScript } = parseWords("sbatch", { ...sbatch, stopsAtWord: false }, inScript);
    const options = merged(ofScript, [...typed.values()]);
    const interpreter = interpreterOf(content.toString("utf8"))!;
    const client = await patientClient();
    const job = await jobOf(client, "sbatch", options, {
      command: [...interpreter, path, ...rest.slice(1)],
      name,
      script: { base64: content.toString("base64"), word: interpreter.length },
      ownWords: readJobScript(content.toString("utf8")).words,
    });
    if (options.has("test-only")) return tryOut(client, job);
    const [first, ...others] = await submit(client, "sbatch", job);
    report(options, first);
    // Slurm's exit code is the highest of an array's jobs.
    if (options.has("wait")) {
      const codes = [];
      for (const { job: number } of [first, ...others]) codes.push(exitCodeOf(await client.ended(number)));
      process.exitCode = Math.max(...codes);
    }
  },
};

/** The script's bytes, its path for the command line, and the job's name. */
function scriptOf(wrap: string | undefined, words: readonly string[]) {
  if (wrap !== undefined) {
    if (words.length > 0) throw new SlurmError("Script arguments not permitted with --wrap option");
    const content = Buffer.from(`#!/bin/sh\n# This script was created by sbatch --wrap.\n\n${wrap}\n`);
    return { content, path: resolve("wrap"), name: "wrap" };
  }
  const [file] = words;
  const path = file === undefined ? undefined : resolve(file);
  const content = read(file);
  if (content.length > MAX_SCRIPT_BYTES)
    throw new SlurmError(`Job script exceeds size limit of ${MAX_SCRIPT_BYTES} bytes`);
  if (content.toString("utf8").trim() === "") throw new SlurmError("Batch script is empty!");
  if (content[0] !== 0x23 || content[1] !== 0x21) {
    throw new SlurmError(
      "This does not look like a batch script.  The first\nline must start with #! followed by the path to an interpreter.\nFor instance: #!/bin/sh",
    );
  }
  if (content.includes(0))
    throw new SlurmError("The SLURM controller does not allow scripts that\ncontain a NULL character '\\0'.");
  if (content.includes("\r\n"))
    throw new SlurmError(
      "Batch script contains DOS line breaks (\\r\\n)\ninstead of expected UNIX line breaks (\\n).",
    );
  if (interpreterOf(content.toString("utf8")) === undefined)
    throw new SlurmError("The first line names no interpreter, expected one such as #!/bin/sh");
  return {
    content,
    path: path ?? resolve("slurm_script"),
    name: path === undefined ? "sbatch" : basename(path),
  };
}

function read(file: string | undefined): Buffer {
  try {
    return readFileSync(file ?? 0);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (file === undefined) {
      // A terminal or a pipe that is not there.
      if (code === "EAGAIN" || code === "EOF") return Buffer.alloc(0);
      throw error;
    }
    throw new SlurmError(`Unable to open file ${file}`);
  }
}

/** The number comes last, on standard output: programs that read both streams together take the last word. */
function report(options: Given, { job, array = job }: Job): void {
  if (options.has("parsable")) writeOut(`${array}\n`);
  else if (!options.has("quiet")) writeOut(`Submitted batch job ${array}\n`);
}

async function tryOut(client: Client, job: SubmitJob): Promise<void> {
  let answer: DryRunAnswer;
  try {
    answer = await client.ask<DryRunAnswer>("/v1/dry-run", { method: "POST", body: { jobs: [job] } });
  } catch (error) {
    throw submitRefusal(error, "allocation failure: ");
  }
  if (answer.never !== undefined) throw new SlurmError(`allocation failure: ${answer.never}`);
  const cpus = (job.tasks ?? 1) * (job.threads ?? 1);
  const start = timeText(answer.forecast?.p50Ms ?? Date.now());
  process.stderr.write(
    `sbatch: Job to start at ${start} using ${cpus} processors on nodes ${nodeName()} in partition ${answer.queue}\n`,
  );
}
