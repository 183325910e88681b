/** Lists all commands. To save time, the file of a command is loaded only when the command is used. */
import type { Command } from "commander";

interface VerbModule {
  /**
   * Adds the command's arguments, options and action. `wholeProgram` returns the command line with all
   * options of all commands.
   */
  configure(command: Command, wholeProgram: () => Promise<Command>): void;
}

type Verbs = Readonly<Record<string, readonly [summary: string, load: () => Promise<VerbModule>]>>;

/**
 * Commands by their heading in the help. Each has one line there, so its summary has at most 64 characters.
 */
const GROUPS: Readonly<Record<string, Verbs>> = {
  Scheduler: {
    serve: ["start the scheduler, here, on Slurm or over ssh", () => import("./verbs/serve.ts")],
    status: ["show the scheduler's state; tutti alone does the same", () => import("./verbs/status.ts")],
    web: ["print a link to the scheduler's page in a browser", () => import("./verbs/web.ts")],
    demo: ["run six toy gangs and watch them take turns", () => import("./verbs/demo.ts")],
    doctor: ["show how this machine can run gangs", () => import("./verbs/doctor.ts")],
    config: ["check a configuration; print its schema, or completions", () => import("./verbs/config.ts")],
    store: ["copy the store to a file, or check it for damage", () => import("./verbs/store.ts")],
    allocations: ["show the nodes of the scheduler, or ask for some", () => import("./verbs/allocations.ts")],
    drain: ["start no more jobs, or end that; running ones continue", () => import("./verbs/drain.ts")],
    window: ["keep the machine for some jobs, or for none, for a time", () => import("./verbs/window.ts")],
    down: ["stop the scheduler", () => import("./verbs/down.ts")],
  },
  Jobs: {
    submit: ["submit a job, or an array of jobs", () => import("./verbs/submit.ts")],
    run: ["submit a job, show its output, exit with its code", () => import("./verbs/run.ts")],
    "slurm-names": ["make a folder with sbatch, squeue and srun", () => import("./verbs/slurm-names.ts")],
    top: ["watch jobs, matrix and output on the whole terminal", () => import("./verbs/top.ts")],
    attach: ["connect your terminal with that of a running job", () => import("./verbs/attach.ts")],
    jobs: ["list jobs that wait or run, or that have ended", () => import("./verbs/jobs.ts")],
    show: ["show everything about a job", () => import("./verbs/show.ts")],
    logs: ["show the output of a job", () => import("./verbs/logs.ts")],
    wait: ["wait until jobs have ended", () => import("./verbs/wait.ts")],
    cancel: ["cancel jobs", () => import("./verbs/change.ts")],
    hold: ["hold waiting jobs until you release them", () => import("./verbs/change.ts")],
    release: ["release held jobs, so they can start", () => import("./verbs/change.ts")],
    requeue: ["end running jobs and queue them again", () => import("./verbs/change.ts")],
    rerun: ["run ended jobs again, as new jobs", () => import("./verbs/rerun.ts")],
    pause: ["stop running jobs until you resume them", () => import("./verbs/change.ts")],
    resume: ["continue paused jobs", () => import("./verbs/change.ts")],
    update: ["change what jobs ask for, or their priority", () => import("./verbs/change.ts")],
  },
  Insight: {
    why: ["explain why jobs wait, and when they should start", () => import("./verbs/why.ts")],
    whatif: ["forecast starts under other policies or with another job", () => import("./verbs/whatif.ts")],
    matrix: ["show the matrix of rows and CPUs, as the rows take turns", () => import("./verbs/matrix.ts")],
    policy: ["show the current policy, or change it", () => import("./verbs/policy.ts")],
    usage: ["say what jobs had and used, and your share", () => import("./verbs/usage.ts")],
    events: ["show decisions and changes, one line each", () => import("./verbs/events.ts")],
    export: ["export the jobs that ran, as SWF or CSV", () => import("./verbs/export.ts")],
    list: ["list queues, policies or models", () => import("./verbs/list.ts")],
  },
  Laboratory: {
    simulate: ["run one policy on a trace or a model", () => import("./verbs/simulate.ts")],
    compare: ["run several policies on the same jobs", () => import("./verbs/compare.ts")],
    workload: ["describe, convert, scale or generate a workload", () => import("./verbs/workload.ts")],
    lab: ["reproduce papers, torture the scheduler, import traces", () => import("./verbs/lab.ts")],
  },
};

export const VERBS = Object.entries(GROUPS).flatMap(([group, verbs]) =>
  Object.entries(verbs).map(([name, [summary, load]]) => ({ name, group, summary, load })),
);

/**
 * Names of commands that other commands have taken over, with the words that do the same. They still work,
 * but help does not show them. An option that ends in "=" takes the next argument as its value.
 */
export const OLDER_NAMES: Readonly<Record<string, string>> = {
  backup: "store backup",
  check: "store check",
  completions: "config completions",
  efficiency: "usage",
  eta: "why --starts",
  history: "jobs --ended",
  import: "lab import",
  models: "list models",
  pilot: "allocations --as-pilots",
  policies: "list policies",
  priority: "update --priority=",
  queues: "list queues",
  reproduce: "lab reproduce",
  reserve: "window add",
  shares: "usage --shares",
  torture: "lab torture",
  undrain: "drain --end",
  unreserve: "window remove",
  windows: "window list",
};
