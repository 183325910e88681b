/** What jobs may ask for on the machine as it can be. */
import type { Config } from "./config/config.ts";
import type { SubmissionLimits } from "./contract/submission.ts";
import type { Capabilities } from "./executor/executor.ts";
import type { LiveMachine } from "./scheduling/live-machine.ts";

export function submissionLimits(
  machine: LiveMachine,
  { queues, resources, hooks }: Pick<Config, "queues" | "resources" | "hooks">,
  { tasksRunEach, takesInput, signalsBeforeLimit }: Capabilities,
): SubmissionLimits {
  return {
    get cpus() {
      return machine.mostProcessors;
    },
    get cpusOfNode() {
      return machine.cpusOfNode;
    },
    mostTasks: (threads) => machine.mostTasks(threads),
    get memoryBytes() {
      return machine.mostMemoryBytes;
    },
    get limitMs() {
      return machine.mostLimitMs;
    },
    tasksRunEach,
    jobHooks: hooks.jobs,
    signalsBeforeLimit,
    takesInput,
    queues,
    resources,
  };
}
