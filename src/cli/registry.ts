/** The one list of verbs. A verb's file is loaded when it is used, so that `tutti --help` starts fast. */
import type { Command } from "commander";

export interface Verb {
  readonly name: string;
  readonly summary: string;
  load(): Promise<VerbModule>;
}

export interface VerbModule {
  /** Adds the verb's arguments, options and action. */
  configure(command: Command): void;
}

export const VERBS: readonly Verb[] = [
  {
    name: "simulate",
    summary: "run one policy over a trace or a model",
    load: () => import("./simulate.ts"),
  },
  {
    name: "compare",
    summary: "run several policies over the same jobs",
    load: () => import("./compare.ts"),
  },
  {
    name: "reproduce",
    summary: "print a paper's tables beside our own numbers",
    load: () => import("./reproduce.ts"),
  },
  {
    name: "policies",
    summary: "list the policies, or state one's exact rules",
    load: () => import("./policies.ts"),
  },
  {
    name: "workload",
    summary: "describe, convert and scale traces, or generate one from a model",
    load: () => import("./workload.ts"),
  },
  {
    name: "completions",
    summary: "print the completion script of a shell",
    load: () => import("./completions.ts"),
  },
];
