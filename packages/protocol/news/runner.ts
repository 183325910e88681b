/** Defines what the front end and the runner of hooks send each other. */

/** A hook to run: a command, the webhook at `url`, or a mail. */
export interface HookTask {
  readonly id: string;
  /** Variables that it gets in addition to those of a clean environment. */
  readonly data: Readonly<Record<string, string>>;
  /** Left out: the account of the scheduler. */
  readonly account?: { readonly uid: number; readonly gid: number; readonly user: string };
  readonly command?: readonly string[];
  readonly url?: string;
  /** Sent by the program `sendmail`, which is a full path. */
  readonly mail?: { readonly message: string; readonly sendmail: string };
  /** Folder of the job, in which only the scheduler's account makes files; it may be missing. */
  readonly folder: string;
  /** Name of the file in it for the output. */
  readonly output: string;
}

export interface HookResult {
  readonly id: string;
  readonly state: "done" | "failed";
  /** How it ended, for people. */
  readonly text: string;
  /** Another try would end the same way. */
  readonly isFinal?: boolean;
  /** The file for the output was written. */
  readonly hasOutput?: boolean;
}

/** ready: the runner of an earlier front end has ended, and this one takes tasks. */
export type FromRunner =
  | { readonly type: "ready" }
  | { readonly type: "result"; readonly result: HookResult };
