import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Tests that start real schedulers and real jobs: one file at a time, after all others, so that time is theirs. */
const WITH_PROCESSES = [
  "test/conductor/*.test.ts",
  "src/host/machine.test.ts",
  "src/daemon/daemon.test.ts",
  "src/daemon/executor/launcher.test.ts",
  "test/live*.test.ts",
];
/** They mostly wait, and judge no times, so three can run at a time. */
const WAITING_WITH_PROCESSES = [
  "test/live-{hooks,hooks-adversity,shares,terminal,terminal-faults,terminal-users,top}.test.ts",
  "test/conductor/{adversity,background,beginning,connect,home,identity,keep,malice,shim}.test.ts",
  "test/live-{accounts,attack,cli,environment,hostile,job-limits,kill-loop,limits,lists,own-policy}.test.ts",
  "test/live-{python,refusals,removed,restart,slurm-names,starter,store,sweeps,unit,upgrade,usage,users,verbs}.test.ts",
  "test/live-{mpi,pause,threads,units,web,web-changes,web-jobs,web-matrix,web-origins,web-timeline,windows}.test.ts",
];
/** Tests that boot a Slurm of several nodes, after all others; test/slurm/judge has none. */
const WITH_SLURM = ["test/slurm/*.test.ts"];
/** They mostly wait for Slurm, so several can run at a time, each on a Slurm of its own. */
const WAITING_FOR_SLURM = ["test/slurm/{cluster,doctor,import,native,need,pilot-end}.test.ts"];
/** Tests that run programs, take the papers or a whole list through something, or try very many inputs. */
const LONG = [
  "src/**/paper.test.ts",
  "src/**/*.{fuzz,twin,traces}.test.ts",
  "src/words/visible.test.ts",
  "src/daemon/book/{array-limits,job-limits}.test.ts",
  "src/daemon/front-end/share.test.ts",
  "src/daemon/scheduling/{adoption,live-limits,loop,loop-windows}.test.ts",
  "src/daemon/store/migrations.test.ts",
  "src/host/remove-folder.test.ts",
  "src/lab/experiments/run.test.ts",
  "test/**/*.test.ts",
];
const QUICK_AFTER_ALL = ["test/house-rules*.test.ts", "test/*-page.test.ts"];
const common = {
  // As bin/tutti.js does; see docs/decisions.md, Numbers.
  execArgv: ["--no-maglev"],
  setupFiles: ["test/seed.ts"],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A condition may take its time on a busy machine; one second, the default, is none.
  expect: { poll: { timeout: 30_000 } },
};

/** In `npm test` they take only the time that other tests leave, so their limits are for hangs. */
const yielding = { ...common, testTimeout: 600_000, hookTimeout: 600_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...yielding,
          name: "computing",
          include: ["src/**/*.test.ts", ...QUICK_AFTER_ALL],
          exclude: [...WITH_PROCESSES, ...LONG.filter((name) => !name.startsWith("test/"))],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...yielding,
          name: "computing-long",
          include: LONG,
          exclude: [...WITH_PROCESSES, ...WITH_SLURM, ...QUICK_AFTER_ALL],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: "processes",
          include: WITH_PROCESSES,
          exclude: WAITING_WITH_PROCESSES,
          maxWorkers: 1,
          // A busy machine can be late by more than any deadline allows; a second failure is a failure.
          retry: 1,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: "processes-waiting",
          include: WAITING_WITH_PROCESSES,
          maxWorkers: 3,
          retry: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...common,
          name: "slurm",
          include: WITH_SLURM,
          exclude: WAITING_FOR_SLURM,
          maxWorkers: 1,
          retry: 1,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          ...common,
          name: "slurm-waiting",
          include: WAITING_FOR_SLURM,
          maxWorkers: 3,
          retry: 1,
          // First: meanwhile, in the other run, tests that judge times run one by one.
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
