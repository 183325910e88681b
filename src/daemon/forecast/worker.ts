/** Entry of the thread that makes forecasts, so that nobody who asks for something else waits for them. */
import { answerQuestions } from "../../host/thread.ts";
import { ownPolicyIn } from "../scheduling/policy-choice.ts";
import { type ForecastTask, forecastStarts } from "./model.ts";

export type ForecastReply = { readonly starts: Float64Array } | { readonly failure: string };

/** Some policies take seconds for one replication of a long queue; somebody may wait for the answer. */
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
