/** Ranks that have been started, by srun itself or by the launcher of an MPI library. */
import { constants } from "node:os";

export interface RankEnd {
  readonly rank: number;
  readonly code: number;
  /** Such as `Exited with exit code 3`; undefined: it succeeded. */
  readonly trouble: string | undefined;
}

/** Our ends of a rank's streams; null: it has the stream from us, or writes to a file. */
export interface RankStreams {
  readonly stdin: NodeJS.WritableStream | null;
  readonly stdout: NodeJS.ReadableStream | null;
  readonly stderr: NodeJS.ReadableStream | null;
}

export interface StartedRanks {
  /** By rank. */
  readonly streams: readonly RankStreams[];
  /** How the ranks ended, when all have ended and all output has arrived. */
  readonly ends: Promise<readonly RankEnd[]>;
  /** The step's exit code. */
  code(ends: readonly RankEnd[]): number;
  signal(name: NodeJS.Signals): void;
}

const ENDED_BY: Readonly<Record<string, string>> = {
  SIGABRT: "Aborted",
  SIGBUS: "Bus error",
  SIGFPE: "Floating point exception",
  SIGHUP: "Hangup",
  SIGILL: "Illegal instruction",
  SIGINT: "Interrupt",
  SIGKILL: "Killed",
  SIGSEGV: "Segmentation fault",
  SIGTERM: "Terminated",
};

export function endBySignal(rank: number, signal: NodeJS.Signals): RankEnd {
  return { rank, code: 128 + constants.signals[signal], trouble: ENDED_BY[signal] ?? signal };
}

export function endByCode(rank: number, code: number): RankEnd {
  return { rank, code, trouble: code === 0 ? undefined : `Exited with exit code ${code}` };
}

/** Says why a program cannot be started, as Slurm does for each rank. */
export function endOfMissing(rank: number, program: string, error: NodeJS.ErrnoException): RankEnd {
  const why =
    { ENOENT: "No such file or directory", EACCES: "Permission denied" }[error.code ?? ""] ?? error.message;
  process.stderr.write(`slurmstepd: error: execve(): ${program}: ${why}\n`);
  // The numbers of the two errors, which Slurm has as exit codes.
  return endByCode(rank, error.code === "EACCES" ? 13 : 2);
}
