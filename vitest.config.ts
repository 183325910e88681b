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
/** Tests that run programs, take the papers or a whole list through something, or try very many inputs. */
const LONG = [
  "src/**/paper.test.ts",
  "src/**/*.{fuzz,twin,traces}.test.ts",
  "src/words/visible.test.ts",
  "src/daemon/book/array-limits.test.ts",
  "src/daemon/front-end/share.test.ts",
  "src/daemon/scheduling/{adoption,live-limits,loop}.test.ts",
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
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: "computing",
          include: ["src/**/*.test.ts", ...QUICK_AFTER_ALL],
          exclude: [...WITH_PROCESSES, ...LONG.filter((name) => !name.startsWith("test/"))],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: "computing-long",
          include: LONG,
          exclude: [...WITH_PROCESSES, ...QUICK_AFTER_ALL],
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: "processes",
          include: WITH_PROCESSES,
          maxWorkers: 1,
          // A busy machine can be late by more than any deadline allows; a second failure is a failure.
          retry: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
