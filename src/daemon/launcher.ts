/** What an attempt needs before it can be launched: its folder, its environment, its host file. */
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import type { JobNumber, LaunchSpec } from "./protocol.ts";
import type { JobRecord } from "./record.ts";

export interface LauncherOptions {
  /** Folder that holds a folder per job. */
  readonly jobsFolder: string;
  readonly graceMs: number;
  /** Accounts that jobs run as, undefined for our own; left out: everything runs as the user of the front end. */
  readonly accountOf: ((uid: number) => { readonly gid: number } | undefined) | undefined;
  /** Whether folders are made; a test with a fake conductor has no use for them. */
  readonly makesFolders: boolean;
}

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

  /** Makes the folder of the record's attempt. @throws Error when the disk refuses */
  prepare(record: JobRecord): void {
    if (!this.#options.makesFolders) return;
    const folder = this.attemptFolderOf(record.job, record.attempt);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, "hosts"), `localhost slots=${record.tasks}\n`, { mode: 0o600 });
    const account = this.#options.accountOf?.(record.uid);
    if (account !== undefined) {
      for (const path of [this.folderOf(record.job), folder, join(folder, "hosts")]) {
        chownSync(path, record.uid, account.gid);
      }
      return;
    }
    // Only where the front end has no more rights than the user: else a link could lead it anywhere.
    if (this.#options.accountOf !== undefined) return;
    for (const path of [record.stdout, record.stderr]) {
      if (relative(this.#options.jobsFolder, path).startsWith("..")) {
        try {
          mkdirSync(dirname(path), { recursive: true });
        } catch {
          // The shim will say why the file cannot be opened.
        }
      }
    }
  }

  spec(record: JobRecord, environment: Readonly<Record<string, string>>): LaunchSpec {
    const folder = this.attemptFolderOf(record.job, record.attempt);
    const account = this.#options.accountOf?.(record.uid);
    return {
      job: record.job,
      attempt: record.attempt,
      folder,
      command: record.command,
      cwd: record.cwd,
      env: {
        OMP_NUM_THREADS: "1",
        ...environment,
        TUTTI_JOB_ID: String(record.job),
        TUTTI_JOB_NAME: record.name,
        TUTTI_ATTEMPT: String(record.attempt),
        TUTTI_NTASKS: String(record.tasks),
        TUTTI_CPUS: record.cpus.join(","),
        TUTTI_HOSTFILE: join(folder, "hosts"),
        ...(record.array !== undefined && { TUTTI_ARRAY_JOB_ID: String(record.array) }),
        ...(record.arrayIndex !== undefined && { TUTTI_ARRAY_INDEX: String(record.arrayIndex) }),
      },
      stdout: record.stdout,
      stderr: record.stderr,
      ...(account !== undefined && { uid: record.uid, gid: account.gid }),
      ...(record.memoryBytes !== undefined && { memoryBytes: record.memoryBytes }),
      ...(record.limitMs !== undefined && { limitMs: record.limitMs }),
      graceMs: this.#options.graceMs,
    };
  }

  /** Path of an output file: %j job, %a array index, %x name, %% a percent sign. */
  outputPath(pattern: string | undefined, fallback: string, record: OutputNames): string {
    if (pattern === undefined) return join(this.folderOf(record.job), fallback);
    const path = pattern.replace(/%([jax%])/g, (_, letter: string) => {
      if (letter === "j") return String(record.job);
      if (letter === "a") return record.arrayIndex === undefined ? "" : String(record.arrayIndex);
      return letter === "x" ? record.name.replaceAll("/", "_") : "%";
    });
    return isAbsolute(path) ? path : join(record.cwd, path);
  }
}

export interface OutputNames {
  readonly job: JobNumber;
  readonly arrayIndex?: number | undefined;
  readonly name: string;
  readonly cwd: string;
}
