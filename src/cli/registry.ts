/** The one list of verbs. A verb's file is loaded when it is used, so that `tutti --help` starts fast. */
import type { Command } from "commander";

interface Verb {
  readonly name: string;
  /** Heading of the help under which it stands. */
  readonly group: VerbGroup;
  readonly summary: string;
  load(): Promise<VerbModule>;
}

type VerbGroup = "Scheduler" | "Jobs" | "Insight" | "Laboratory" | "Command line";

interface VerbModule {
  /** Adds the verb's arguments, options and action. `wholeProgram` gives the command line with all options of all verbs. */
  configure(command: Command, wholeProgram: () => Promise<Command>): void;
}

export const VERBS: readonly Verb[] = [
  {
    name: "serve",
    group: "Scheduler",
    summary: "start the scheduler of this machine",
    load: () => import("./verbs/serve.ts"),
  },
  {
    name: "status",
    group: "Scheduler",
    summary: "the scheduler at a glance; so does tutti alone",
    load: () => import("./verbs/status.ts"),
  },
  {
    name: "demo",
    group: "Scheduler",
    summary: "run six toy gangs and watch the matrix turn",
    load: () => import("./verbs/demo.ts"),
  },
  {
    name: "config",
    group: "Scheduler",
    summary: "check a configuration file, or print its schema",
    load: () => import("./verbs/config.ts"),
  },
  {
    name: "doctor",
    group: "Scheduler",
    summary: "what this machine can do with gangs, and how fast",
    load: () => import("./verbs/doctor.ts"),
  },
  {
    name: "backup",
    group: "Scheduler",
    summary: "write the store to a file, while the scheduler runs or not",
    load: () => import("./verbs/backup.ts"),
  },
  {
    name: "check",
    group: "Scheduler",
    summary: "say whether the store, or a backup, is sound",
    load: () => import("./verbs/check.ts"),
  },
  {
    name: "down",
    group: "Scheduler",
    summary: "end the scheduler",
    load: () => import("./verbs/down.ts"),
  },
  {
    name: "submit",
    group: "Jobs",
    summary: "submit a job, or an array of jobs",
    load: () => import("./verbs/submit.ts"),
  },
  {
    name: "run",
    group: "Jobs",
    summary: "submit a job, show its output, end as it ends",
    load: () => import("./verbs/run.ts"),
  },
  {
    name: "jobs",
    group: "Jobs",
    summary: "list the jobs that wait and run",
    load: () => import("./verbs/jobs.ts"),
  },
  {
    name: "show",
    group: "Jobs",
    summary: "show all that is known of a job",
    load: () => import("./verbs/show.ts"),
  },
  {
    name: "logs",
    group: "Jobs",
    summary: "show what a job has written",
    load: () => import("./verbs/logs.ts"),
  },
  {
    name: "wait",
    group: "Jobs",
    summary: "wait until jobs have ended",
    load: () => import("./verbs/wait.ts"),
  },
  {
    name: "cancel",
    group: "Jobs",
    summary: "cancel jobs",
    load: () => import("./verbs/cancel.ts"),
  },
  {
    name: "hold",
    group: "Jobs",
    summary: "keep waiting jobs from starting",
    load: () => import("./verbs/hold.ts"),
  },
  {
    name: "release",
    group: "Jobs",
    summary: "let held jobs start",
    load: () => import("./verbs/release.ts"),
  },
  {
    name: "requeue",
    group: "Jobs",
    summary: "end running jobs and queue them anew",
    load: () => import("./verbs/requeue.ts"),
  },
  {
    name: "priority",
    group: "Jobs",
    summary: "change the priority of jobs",
    load: () => import("./verbs/priority.ts"),
  },
  {
    name: "why",
    group: "Insight",
    summary: "say why a job waits and when it is expected to start",
    load: () => import("./verbs/why.ts"),
  },
  {
    name: "eta",
    group: "Insight",
    summary: "say when waiting jobs are expected to start",
    load: () => import("./verbs/eta.ts"),
  },
  {
    name: "matrix",
    group: "Insight",
    summary: "show the matrix of rows and CPUs as it turns",
    load: () => import("./verbs/matrix.ts"),
  },
  {
    name: "queues",
    group: "Insight",
    summary: "show the queues and their limits",
    load: () => import("./verbs/queues.ts"),
  },
  {
    name: "policy",
    group: "Insight",
    summary: "show the policy in force, or change it",
    load: () => import("./verbs/policy.ts"),
  },
  {
    name: "whatif",
    group: "Insight",
    summary: "forecast the starts of waiting jobs under other policies",
    load: () => import("./verbs/whatif.ts"),
  },
  {
    name: "history",
    group: "Insight",
    summary: "list the jobs that have ended",
    load: () => import("./verbs/history.ts"),
  },
  {
    name: "export",
    group: "Insight",
    summary: "write what ran as SWF or CSV",
    load: () => import("./verbs/export.ts"),
  },
  {
    name: "events",
    group: "Insight",
    summary: "show what was decided and what happened",
    load: () => import("./verbs/events.ts"),
  },
  {
    name: "simulate",
    group: "Laboratory",
    summary: "run one policy over a trace or a model",
    load: () => import("./verbs/simulate.ts"),
  },
  {
    name: "compare",
    group: "Laboratory",
    summary: "run several policies over the same jobs",
    load: () => import("./verbs/compare.ts"),
  },
  {
    name: "reproduce",
    group: "Laboratory",
    summary: "print a paper's tables beside our own numbers",
    load: () => import("./verbs/reproduce.ts"),
  },
  {
    name: "policies",
    group: "Laboratory",
    summary: "list the policies, or state one's exact rules",
    load: () => import("./verbs/policies.ts"),
  },
  {
    name: "models",
    group: "Laboratory",
    summary: "list the models, or state one's rules and parameters",
    load: () => import("./verbs/models.ts"),
  },
  {
    name: "workload",
    group: "Laboratory",
    summary: "describe, convert and scale traces, or generate one from a model",
    load: () => import("./verbs/workload.ts"),
  },
  {
    name: "completions",
    group: "Command line",
    summary: "print the completion script of a shell",
    load: () => import("./verbs/completions.ts"),
  },
];
