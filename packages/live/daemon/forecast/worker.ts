/** Starts the forecast thread, which keeps forecasts from delaying other requests. */

import { answerQuestions } from "@tutti/host/thread.ts";
import type { PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { ownPolicyIn } from "../scheduling/policy-choice.ts";
import { KeptOutcomes } from "./kept-outcomes.ts";
import { forecast } from "./model.ts";
import type { ForecastTask } from "./task.ts";

export type ForecastReply = { readonly times: Float64Array[] } | { readonly failure: string };

/**
 * Limit of this thread's CPU time: some policies take seconds for one replication of a long queue, and a user
 * may be waiting. It is not the time that passes, because other programs must not change the answer.
 */
const MAX_CPU_MS = 1000;

const kept = new KeptOutcomes();

answerQuestions(async (task: ForecastTask): Promise<ForecastReply> => {
  try {
    let ownPolicy: PolicyDefinition | undefined;
    for (const scenario of task.scenarios) ownPolicy ??= await ownPolicyIn(scenario);
    const begin = process.threadCpuUsage();
    const usedMs = () => {
      const { user, system } = process.threadCpuUsage(begin);
      return (user + system) / 1000;
    };
    return { times: forecast(task, () => usedMs() < MAX_CPU_MS, ownPolicy, kept) };
  } catch (error) {
    return { failure: String(error) };
  }
});
