/**
 * Runs Slurm's commands. No shell is between: every argument arrives as it is. A command gets 20 s; Slurm's
 * own time-outs are shorter, but a slow file system can block a command.
 */
import { spawn } from "@tutti/host/ports/child-process.ts";
import { once } from "@tutti/host/ports/events.ts";
import { ProviderError } from "@tutti/live/daemon/executor/provider.ts";

const TIMEOUT_MS = 20_000;
/** A list of all jobs of a large site has some MB. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20;

interface CommandOutcome {
  readonly stdout: string;
  readonly stderr: string;
  /** Undefined: a signal ended it. */
  readonly code: number | undefined;
  readonly isTimeout: boolean;
}

/** Runs a program with arguments, and text on its standard input. Rejects if it cannot be started. */
export type RunCommand = (
  program: string,
  args: readonly string[],
  input?: string,
) => Promise<CommandOutcome>;

/** A command of Slurm failed. */
export class SlurmError extends ProviderError {
  override name = "SlurmError";
}

/** What the commands print when the controller does not answer, or answers before it is ready. */
const AWAY =
  /unable to contact slurm|controller|timed out|connection (?:refused|timed|reset)|communication|zero bytes|standby|network is unreachable|unable to confirm|expired or invalid job|protocol authentication|munge/i;

export const runCommand: RunCommand = async (program, args, input = "") => {
  const child = spawn(program, args, { cwd: "/", env: commandEnvironment(process.env) });
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  let isTimeout = false;
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) child.kill("SIGKILL");
      else chunks[stream].push(chunk);
    });
  }
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const timer = setTimeout(() => {
    isTimeout = true;
    child.kill("SIGKILL");
  }, TIMEOUT_MS);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    const text = (parts: readonly Buffer[]) => Buffer.concat(parts).toString("utf8");
    return { stdout: text(chunks.stdout), stderr: text(chunks.stderr), code: code ?? undefined, isTimeout };
  } finally {
    clearTimeout(timer);
  }
};

/** Of the variables for sbatch: those that stand for options that sbatch-options.ts refuses. */
const DROPPED =
  /^(?:(?:SLURM|SQUEUE|SINFO|SCONTROL|SCANCEL|SRUN|SACCT|PMI|PMIX)_|SBATCH_(?:ARRAY_INX|CLUSTERS|WAIT)$)/;

/**
 * The environment of Slurm's commands: that of the scheduler, without what an allocation of Slurm, or a
 * user's preferred form of output, has put there. A scheduler may be started inside a job. Times are Unix
 * times.
 */
export function commandEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(own).filter(([name]) => name === "SLURM_CONF" || !DROPPED.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C", SLURM_TIME_FORMAT: "%s" };
}

/**
 * Standard output of a command that succeeds.
 * @throws SlurmError
 */
export async function outputOf(
  run: RunCommand,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<string> {
  let outcome: CommandOutcome;
  try {
    outcome = await run(program, args, input);
  } catch (error) {
    throw new SlurmError(
      `Cannot run ${program}: ${(error as Error).message}; expected Slurm's commands in the PATH of this machine`,
      false,
    );
  }
  const { stdout, stderr, code, isTimeout } = outcome;
  if (code === 0 && !isTimeout) return stdout;
  if (isTimeout) throw new SlurmError(`Cannot use ${program}: no answer for ${TIMEOUT_MS / 1000} s`, true);
  const said = lastWords(stderr);
  throw new SlurmError(
    `Cannot use ${program}: ${said === "" ? `exit status ${code}` : said}`,
    AWAY.test(said),
  );
}

/** What a command of Slurm said last, for people: without its name and without mere warnings. */
export function lastWords(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !isWarning(line));
  return (lines.at(-1) ?? "").replace(/^(?:[a-z]+: )?(?:error: )?/, "").slice(0, 300);
}

/**
 * Clusters without a plugin for binding say so at every step. That a program failed says less than what the
 * program itself said, and a hint at --help less than which option is wrong.
 */
function isWarning(line: string): boolean {
  return /lacks support for cpu binding|task \d+: Exited with exit code|^Try ".* --help"/.test(line);
}
