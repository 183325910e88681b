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

/** Heading of commands that were renamed. The older name still works, but help does not show it. */
export const OLDER = "Older names";

/** Commands by their heading in the help. */
const GROUPS: Readonly<Record<string, Verbs>> = {
  Scheduler: {
    serve: ["start the scheduler, here, on Slurm or over ssh", () => import("./verbs/serve.ts")],
    status: ["show the scheduler's state; tutti alone does the same", () => import("./verbs/status.ts")],
    web: ["print a link to the scheduler's page in a browser", () => import("./verbs/web.ts")],
    demo: ["run six toy gangs and watch them take turns", () => import("./verbs/demo.ts")],
    allocations: [
      "show the nodes that the scheduler holds, ask for some, or say that one is off",
      () => import("./verbs/allocations.ts"),
    ],
    config: ["check a configuration file, or print its schema", () => import("./verbs/config.ts")],
    doctor: [
      "show how this machine can run gangs, and how fast it switches",
      () => import("./verbs/doctor.ts"),
    ],
    backup: ["copy the store to a file, even while the scheduler runs", () => import("./verbs/backup.ts")],
    check: ["check the store or a backup for damage", () => import("./verbs/check.ts")],
    drain: ["start no more jobs; running ones continue", () => import("./verbs/drain.ts")],
    undrain: ["let jobs start again", () => import("./verbs/drain.ts")],
    reserve: ["keep the machine for some jobs, or for none, for a time", () => import("./verbs/reserve.ts")],
    unreserve: ["remove a window of tutti reserve", () => import("./verbs/reserve.ts")],
    windows: ["list the windows that are not over", () => import("./verbs/reserve.ts")],
    down: ["stop the scheduler", () => import("./verbs/down.ts")],
  },
  Jobs: {
    submit: ["submit a job, or an array of jobs", () => import("./verbs/submit.ts")],
    run: ["submit a job, show its output, exit with its code", () => import("./verbs/run.ts")],
    top: ["watch jobs, matrix and output on the whole terminal", () => import("./verbs/top.ts")],
    attach: ["connect your terminal with that of a running job", () => import("./verbs/attach.ts")],
    jobs: ["list waiting and running jobs", () => import("./verbs/jobs.ts")],
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
    update: ["change what waiting jobs ask for", () => import("./verbs/change.ts")],
    priority: ["change the priority of jobs", () => import("./verbs/change.ts")],
  },
  Insight: {
    why: ["explain why a job is waiting, and when it is expected to start", () => import("./verbs/why.ts")],
    eta: ["show when waiting jobs are expected to start", () => import("./verbs/eta.ts")],
    matrix: ["show the matrix of rows and CPUs, as the rows take turns", () => import("./verbs/matrix.ts")],
    queues: ["show the queues and their limits", () => import("./verbs/queues.ts")],
    policy: ["show the current policy, or change it", () => import("./verbs/policy.ts")],
    whatif: [
      "forecast starts under other policies, with another job, or with fewer CPUs",
      () => import("./verbs/whatif.ts"),
    ],
    efficiency: ["say how much of what jobs asked for they used", () => import("./verbs/efficiency.ts")],
    usage: ["sum up what ended jobs had and used", () => import("./verbs/usage.ts")],
    shares: ["show your share of the machine, and what you used of it", () => import("./verbs/shares.ts")],
    history: ["list the jobs that have ended", () => import("./verbs/history.ts")],
    export: ["export the jobs that ran, as SWF or CSV", () => import("./verbs/export.ts")],
    events: ["show decisions and changes, one line each", () => import("./verbs/events.ts")],
  },
  Laboratory: {
    simulate: ["run one policy on a trace or a model", () => import("./verbs/simulate.ts")],
    compare: ["run several policies on the same jobs", () => import("./verbs/compare.ts")],
    lab: ["write the laboratory as one page for a browser", () => import("./verbs/lab.ts")],
    torture: [
      "run the scheduler in a simulated world with faults, and check what must hold",
      () => import("./verbs/torture.ts"),
    ],
    reproduce: ["print a paper's tables next to our numbers", () => import("./verbs/reproduce.ts")],
    policies: ["list the policies, or print the exact rules of one", () => import("./verbs/policies.ts")],
    import: ["make a trace of the jobs in Slurm's accounting", () => import("./verbs/import.ts")],
    models: ["list the models, or print the rules and parameters of one", () => import("./verbs/models.ts")],
    workload: [
      "describe, convert and scale traces, or generate one from a model",
      () => import("./verbs/workload.ts"),
    ],
  },
  "Command line": {
    "slurm-names": [
      "make a folder with sbatch, squeue and srun for Slurm's users",
      () => import("./verbs/slurm-names.ts"),
    ],
    completions: ["print the completion script for a shell", () => import("./verbs/completions.ts")],
  },
  [OLDER]: {
    pilot: ["an older name of tutti allocations", () => import("./verbs/allocations.ts")],
  },
};

export const VERBS = Object.entries(GROUPS).flatMap(([group, verbs]) =>
  Object.entries(verbs).map(([name, [summary, load]]) => ({ name, group, summary, load })),
);
