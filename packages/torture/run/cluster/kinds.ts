/** The kinds of jobs of a life on a cluster: those of one machine that Slurm allows, and some of its own. */
import { KINDS } from "../kinds.ts";
import type { Kind } from "../story.ts";

const OF_ONE_MACHINE: ReadonlySet<string> = new Set([
  ...["exit code 0", "exit code", "signal", "computes", "several processes", "leaves a process"],
  ...["without a key", "retried", "retried late", "array", "before ok", "before notok", "before any"],
  ...["paused", "begins later", "begin edited", "hooks", "time limit"],
  ...["edited while held", "edited while it may start", "edited while it runs", "held and released"],
  ...["cancelled while it waits", "cancelled while it runs", "requeued", "run again", "priority"],
]);

export const CLUSTER_KINDS: readonly Kind[] = [
  ...KINDS.filter(({ name }) => OF_ONE_MACHINE.has(name)),
  { name: "tasks run each", weight: 4, request: () => ({ tasksRun: "each" }) },
  {
    name: "tasks run each, exit code",
    weight: 2,
    ends: (random) => [String(random.between(1, 99))],
    request: () => ({ tasksRun: "each" }),
    plan: () => ({ computes: true }),
  },
  { name: "srun in it", weight: 4, plan: () => ({ spreads: true }) },
];
