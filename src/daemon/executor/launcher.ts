/** What an attempt needs before it can be launched: its folder, its environment, its host file. */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { makeFolders } from "../../host/make-folders.ts";
import { removeFolder } from "../../host/remove-folder.ts";
import type { JobNumber, LaunchSpec } from "../../protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import { HOSTS, latestStartIn, numberedIn } from "../state/job-folders.ts";
import type { Account, Accounts } from "./accounts.ts";

interface LauncherOptions {
  /** Folder that holds a folder per job. */
  readonly jobsFolder: string;
  readonly graceMs: number;
  readonly accounts: Accounts;
}

const OUTPUTS = ["stdout", "stderr"];
const IN_THE_WAY: ReadonlySet<string> = new Set(["EEXIST", "EISDIR", "ELOOP", "ENOTDIR", "ERR_FS_EISDIR"]);
const SCRIPTS = "script";
const MAX_NAME_BYTES = 255;

export class Launcher {
  readonly #options: LauncherOptions;

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  folderOf(job: JobNumber): string {
    return join(this.#options.jobsFolder, String(job));
  }

  attemptFolderOf(job: JobNumber, attempt: number): string {
    return join(this.folderOf(job), String(attempt));
  }

  /** Numbers of all jobs that have a folder. */
  jobsWithFolders(): JobNumber[] {
    return numberedIn(this.#options.jobsFolder);
  }

  /** The highest number of an attempt of this job that was started; 0: none. */
  latestStart(job: JobNumber): number {
    return latestStartIn(this.folderOf(job));
  }

  /** Whether the folder of the record's attempt is there. Once its attempt is on disk, only someone else can have removed it. */
  isPrepared({ job, attempt }: JobRecord): boolean {
    return existsSync(this.attemptFolderOf(job, attempt));
  }

  /** Why this job cannot be launched, in words for its user; undefined when it can. */
  refusal(record: JobRecord): string | undefined {
    const account = this.#options.accounts(record);
    return "refused" in account ? account.refused : undefined;
  }

  /**
   * Makes the folder of the record's attempt.
   * @param script content of the job's script, written anew for every attempt: the job may have changed its copy
   * @throws Error when the disk refuses, which concerns all jobs; never for what a user has asked for or has put in the way
   */
  prepare(record: JobRecord, script?: Uint8Array): void {
    const folder = this.attemptFolderOf(record.job, record.attempt);
    const account = this.#accountOf(record);
    if (account.uid !== process.getuid!()) {
      this.#prepareFor(record, folder, account, script);
      return;
    }
    const jobFolder = this.folderOf(record.job);
    const hosts = join(folder, HOSTS);
    try {
      makeFolders(jobFolder, 0o700);
      // An earlier attempt may have taken the rights from what is there.
      for (const own of [jobFolder, folder]) makeFolder(own, 0o700);
      if (script !== undefined) this.#writeScript(record, script, undefined);
      rmSync(hosts, { force: true });
      writeFileSync(hosts, hostsOf(record), { mode: 0o600 });
    } catch (error) {
      // Another job has put something in the way. The conductor cannot start this one there, and says so; the others go on.
      if (!IN_THE_WAY.has(String((error as NodeJS.ErrnoException).code))) throw error;
    }
    for (const path of [record.stdout, record.stderr]) this.#makeOutputFolder(path, record.umask);
  }

  /**
   * As root for a user: the job's folder stays root's, so that the user cannot put links where root writes next, and no name in it is
   * the user's choice; only the user's group may enter it, lest others see how much was written. The attempt's folder is given away last.
   */
  #prepareFor(
    record: JobRecord,
    folder: string,
    { uid, gid }: Account,
    script: Uint8Array | undefined,
  ): void {
    const jobFolder = this.folderOf(record.job);
    makeFolder(jobFolder, 0o710);
    chownSync(jobFolder, process.getuid!(), gid);
    if (script !== undefined) this.#writeScript(record, script, gid);
    for (const path of OUTPUTS.map((name) => join(jobFolder, name))) {
      if (path === record.stdout || path === record.stderr) makeFileFor(path, uid, gid);
    }
    makeFolder(folder, 0o700);
    // Given away already: prepared before a crash, and launched again.
    if (lstatSync(folder).uid !== process.getuid?.()) return;
    const hosts = join(folder, HOSTS);
    writeFileSync(hosts, hostsOf(record), { mode: 0o600 });
    chownSync(hosts, uid, gid);
    chownSync(folder, uid, gid);
  }

  #accountOf(record: JobRecord): Account {
    const account = this.#options.accounts(record);
    if ("refused" in account)
      throw new Error(`Broken invariant: job ${record.job} is launched: ${account.refused}`);
    return account;
  }

  /** Removes all that the scheduler keeps of a job on disk, also what is another user's. Says whether it is gone. */
  remove(job: JobNumber): Promise<boolean> {
    return removeFolder(this.folderOf(job));
  }

  /** In a folder that stays ours, for the user alone to read. An attempt that still reads an older copy keeps that one. */
  #writeScript(record: JobRecord, script: Uint8Array, gid: number | undefined): void {
    const path = this.#scriptPath(record);
    makeFolder(dirname(path), gid === undefined ? 0o700 : 0o711);
    rmSync(path, { force: true });
    const file = openSync(path, "wx", 0o500);
    try {
      writeFileSync(file, script);
      if (gid !== undefined) fchownSync(file, record.uid, gid);
    } finally {
      closeSync(file);
    }
  }

  /** Has the name of the user's own file, which interpreters put into their messages. */
  #scriptPath({ job, command, scriptWord = 0 }: JobRecord): string {
    const name = basename(command[scriptWord]);
    const isName = name !== "" && name !== "." && name !== ".." && Buffer.byteLength(name) <= MAX_NAME_BYTES;
    return join(this.folderOf(job), SCRIPTS, isName ? name : "script");
  }

  /** Only for a user whose rights are ours: with more, a link could lead us anywhere. */
  #makeOutputFolder(path: string, umask = 0): void {
    if (!relative(this.#options.jobsFolder, path).startsWith("..")) return;
    try {
      makeFolders(dirname(path), 0o777 & ~umask);
    } catch {
      // The shim will say why the file cannot be opened.
    }
  }

  spec(record: JobRecord, environment: Readonly<Record<string, string>>): LaunchSpec {
    const folder = this.attemptFolderOf(record.job, record.attempt);
    return {
      job: record.job,
      attempt: record.attempt,
      ...(record.identity !== undefined && { identity: record.identity }),
      folder,
      command:
        record.script === undefined
          ? record.command
          : record.command.with(record.scriptWord ?? 0, this.#scriptPath(record)),
      cwd: record.cwd,
      env: {
        OMP_NUM_THREADS: "1",
        ...environment,
        TUTTI_JOB_ID: String(record.job),
        TUTTI_JOB_NAME: record.name,
        TUTTI_ATTEMPT: String(record.attempt),
        TUTTI_NTASKS: String(record.tasks),
        TUTTI_CPUS: record.nodes.flatMap(({ cpus }) => cpus).join(","),
        TUTTI_HOSTFILE: join(folder, HOSTS),
        ...(record.script !== undefined && { TUTTI_SCRIPT: record.command[record.scriptWord ?? 0] }),
        ...(record.array !== undefined && { TUTTI_ARRAY_JOB_ID: String(record.array) }),
        ...(record.arrayIndex !== undefined && { TUTTI_ARRAY_INDEX: String(record.arrayIndex) }),
        ...slurmNames(record, environment),
      },
      stdout: record.stdout,
      stderr: record.stderr,
      ...this.#accountOf(record),
      ...(record.umask !== undefined && { umask: record.umask }),
      ...(record.memoryBytes !== undefined && { memoryBytes: record.memoryBytes }),
      ...(record.limitMs !== undefined && { limitMs: record.limitMs }),
      graceMs: this.#options.graceMs,
    };
  }

  /**
   * Path of an output file: %j job, %A array (the job where there is none), %a array index, %x name, %u user, %N machine, %% a percent
   * sign; %4j has four digits, with zeros before.
   */
  outputPath(pattern: string | undefined, fallback: string, record: OutputNames): string {
    const { job, array = job, arrayIndex = "", name, user, cwd } = record;
    if (pattern === undefined) return join(this.folderOf(job), fallback);
    const inPath = (text: string): string => text.replaceAll("/", "_");
    const values: Readonly<Record<string, string>> = {
      j: String(job),
      J: String(job),
      A: String(array),
      a: String(arrayIndex),
      x: inPath(name),
      u: inPath(user),
      N: inPath(hostname()),
    };
    const path = pattern.replace(/%%|%(\d{0,2})([jJAaxuN])/g, (all, width: string, letter: string) => {
      const value = values[letter];
      if (value === undefined) return all === "%%" ? "%" : all;
      return /^\d/.test(value) ? value.padStart(Number(width), "0") : value;
    });
    return isAbsolute(path) ? path : join(cwd, path);
  }
}

type OutputNames = Pick<JobRecord, "job" | "array" | "arrayIndex" | "name" | "user" | "cwd">;

/**
 * Slurm's names for what the job is, where its script was written for Slurm and submitted so. Those by which MPI libraries recognise Slurm
 * (SLURM_JOBID, SLURM_NODELIST) are left out: they would look for srun.
 */
function slurmNames(
  record: JobRecord,
  { SLURM_SUBMIT_DIR, SLURM_CPUS_PER_TASK = "1" }: Readonly<Record<string, string>>,
): Record<string, string> {
  if (record.script === undefined || SLURM_SUBMIT_DIR === undefined) return {};
  return {
    SLURM_JOB_ID: String(record.job),
    SLURM_JOB_NAME: record.name,
    SLURM_NTASKS: String(Math.max(1, Math.floor(record.tasks / (Number(SLURM_CPUS_PER_TASK) || 1)))),
    ...(record.array !== undefined && { SLURM_ARRAY_JOB_ID: String(record.array) }),
    ...(record.arrayIndex !== undefined && { SLURM_ARRAY_TASK_ID: String(record.arrayIndex) }),
  };
}

/** A host file for mpirun: each task on a CPU of its own. */
function hostsOf({ tasks, nodes }: JobRecord): string {
  let left = tasks;
  const lines = nodes.map(({ node, cpus }) => {
    const slots = Math.min(left, cpus.length);
    left -= slots;
    return slots === 0 ? "" : `${node} slots=${slots}\n`;
  });
  return lines.join("");
}

/** A folder of ours in a folder of ours; one that is there may stay. */
function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !lstatSync(path).isDirectory()) throw error;
  }
  // The umask may have taken something away; a folder that was given away keeps its mode.
  if (lstatSync(path).uid === process.getuid?.()) chmodSync(path, mode);
}

/** An empty file that belongs to a user; one that is there may stay. */
function makeFileFor(path: string, uid: number, gid: number): void {
  let file: number;
  try {
    file = openSync(path, "ax", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  try {
    fchownSync(file, uid, gid);
  } finally {
    closeSync(file);
  }
}
