/** Starts the forecast thread, which keeps forecasts from delaying other requests. */

import { monotonicMs } from "@tutti/host/clock.ts";
import { answerQuestions } from "@tutti/host/thread.ts";
import type { PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { ownPolicyIn } from "../scheduling/policy-choice.ts";
import { KeptOutcomes } from "./kept-outcomes.ts";
import { forecast } from "./model.ts";
import type { ForecastTask } from "./task.ts";

export type ForecastReply = { readonly times: Float64Array[] } | { readonly failure: string };

/** Time limit: some policies take seconds for one replication of a long queue, and a user may be waiting. */
const MAX_MS = 1000;

const kept = new KeptOutcomes();

answerQuestions(async (task: ForecastTask): Promise<ForecastReply> => {
  try {
    let ownPolicy: PolicyDefinition | undefined;
    for (const scenario of task.scenarios) ownPolicy ??= await ownPolicyIn(scenario);
    const untilMs = monotonicMs() + MAX_MS;
    return { times: forecast(task, () => monotonicMs() < untilMs, ownPolicy, kept) };
  } catch (error) {
    return { failure: String(error) };
  }
});
