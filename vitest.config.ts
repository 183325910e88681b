import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { isBundleFresh } from "./bin/bundle.js";
import { COMPILER_FLAG } from "./packages/lab/experiments/compiler-flag.ts";
import { LongestFirst } from "./test/longest-first.ts";

/** Tests that start real schedulers and real jobs, or wait for times of the real clock. */
const WITH_PROCESSES = [
  "test/conductor/*.test.ts",
  "packages/host/machine.test.ts",
  "packages/live/conductor/clock.test.ts",
  "packages/live/daemon/daemon.test.ts",
  "packages/live/daemon/executor/launcher.test.ts",
  "test/live*.test.ts",
  "test/torture-kernel.test.ts",
  "test/wheel.test.ts",
];
/** They judge times, so they run one at a time. The others mostly wait, so three can run at a time. */
const JUDGING_PROCESSES = [
  "test/conductor/{cluster-steps,cluster-turns,conductor,guardian,paused}.test.ts",
  "packages/live/conductor/clock.test.ts",
  "packages/live/daemon/executor/launcher.test.ts",
  "test/live-{executor,what-if}.test.ts",
];
/** Tests that boot a Slurm of several nodes; test/slurm/judge has none. */
const WITH_SLURM = ["test/slurm/*.test.ts"];
/** They mostly wait for Slurm, so several can run at a time, each on a Slurm of its own. */
const WAITING_FOR_SLURM = [
  "test/slurm/{cluster,doctor,elastic,import,native,need,pilot-end,scripts}.test.ts",
];
/** Tests that make hosts with an sshd each. */
const WITH_HOSTS = ["test/ssh/*.test.ts"];
/** Tests that run programs, take the papers or a whole list through something, or try very many inputs. */
const LONG = [
  "packages/**/paper.test.ts",
  "packages/**/*.{fuzz,twin,traces}.test.ts",
  "packages/words/visible.test.ts",
  "packages/live/daemon/book/{array-limits,job-limits}.test.ts",
  "packages/live/daemon/front-end/share.test.ts",
  "packages/live/daemon/scheduling/{adoption,live-limits,loop,loop-windows}.test.ts",
  "packages/live/daemon/store/migrations.test.ts",
  // It replaces a module, so it needs a process of its own.
  "packages/live/daemon/wide-machine.test.ts",
  "packages/host/remove-folder.test.ts",
  "packages/lab/experiments/run.test.ts",
  "test/**/*.test.ts",
];
const QUICK_AFTER_ALL = ["test/house-rules*.test.ts", "test/*-page.test.ts"];
const BUNDLED_PROGRAMS = fileURLToPath(new URL("test/bundled-programs.ts", import.meta.url));
/** Conditions may take their time on a busy machine, so limits are for hangs; in a soak, sizes are large. */
const HANG_MS = process.env.TUTTI_SOAK === undefined ? 600_000 : 10_800_000;
const common = {
  alias: isBundleFresh("tutti") ? [{ find: "@tutti/host/programs.ts", replacement: BUNDLED_PROGRAMS }] : [],
  // As bin/tutti.js does; see docs/decisions.md, Numbers.
  execArgv: [COMPILER_FLAG],
  setupFiles: ["test/seed.ts"],
  testTimeout: HANG_MS,
  hookTimeout: HANG_MS,
  expect: { poll: { timeout: 120_000 } },
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // A summary says which problems a test found, not how many.
    chaiConfig: { truncateThreshold: 2000 },
    projects: [
      {
        test: {
          ...common,
          name: "computing",
          include: ["packages/**/*.test.ts", ...QUICK_AFTER_ALL],
          exclude: [...WITH_PROCESSES, ...LONG.filter((name) => !name.startsWith("test/"))],
          maxWorkers: availableParallelism(),
          // A process for each of hundreds of short files would take a fifth of the CPU time.
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: "computing-long",
          include: LONG,
          exclude: [...WITH_PROCESSES, ...WITH_SLURM, ...WITH_HOSTS, ...QUICK_AFTER_ALL],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: "processes",
          include: JUDGING_PROCESSES,
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
          include: WITH_PROCESSES,
          exclude: JUDGING_PROCESSES,
          maxWorkers: 3,
          retry: 1,
          // With those that wait for Slurm, so that no worker is idle while the last of these end.
          sequence: { groupOrder: 3 },
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
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...common,
          name: "ssh-waiting",
          include: WITH_HOSTS,
          maxWorkers: 3,
          retry: 1,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...common,
          name: "slurm-waiting",
          include: WAITING_FOR_SLURM,
          maxWorkers: 3,
          retry: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
