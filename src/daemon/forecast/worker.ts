/** Starts the forecast thread, which keeps forecasts from delaying other requests. */
import { answerQuestions } from "../../host/thread.ts";
import { ownPolicyIn } from "../scheduling/policy-choice.ts";
import { type ForecastTask, forecastStarts } from "./model.ts";

export type ForecastReply = { readonly starts: Float64Array } | { readonly failure: string };

/** Time limit: some policies take seconds for one replication of a long queue, and a user may be waiting. */
const MAX_MS = 1000;

answerQuestions(async (task: ForecastTask): Promise<ForecastReply> => {
  try {
    const ownPolicy = await ownPolicyIn(task);
    const untilMs = performance.now() + MAX_MS;
    return { starts: forecastStarts(task, () => performance.now() < untilMs, ownPolicy) };
  } catch (error) {
    return { failure: String(error) };
  }
});
