/** Says why a job does not run while somebody waits for its output. */
import { sleep } from "@tutti/host/sleep.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { Job, WhyAnswer } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { whySentences } from "@tutti/words/why.ts";

const FIRST_MS = 5000;
const AGAIN_MS = 15_000;
/** Why a job that has started stands still; the rest says where it runs, and until when. */
const STANDSTILLS: readonly string[] = ["conductor", "launch", "nodes", "stopped"];

/**
 * The first remark comes after five seconds, another one when the reason has changed.
 * @param connected the scheduler, as it is reached now
 * @param over ends the remarks
 */
export async function remarkOnWaits(
  connected: () => Client,
  job: number,
  over: AbortSignal,
  say: (text: string) => void,
): Promise<void> {
  let [seen, said] = ["", ""];
  for (let pauseMs = FIRST_MS; ; pauseMs = AGAIN_MS) {
    await sleep(pauseMs, over);
    if (over.aborted) return;
    try {
      const client = connected();
      const { job: now } = await client.job(job);
      // To explain a waiting job costs a forecast.
      const key = `${now.state} ${now.reason}`;
      if (isEnded(now.state) || key === seen) continue;
      const remark = remarkOn(now, await client.ask<WhyAnswer>(`/v1/jobs/${job}/why`));
      if (over.aborted) return;
      if (remark !== "") say(`job ${job} ${remark}`);
      else if (said !== "" && now.state === "running") say(`job ${job} runs`);
      [seen, said] = [key, remark];
    } catch {
      // Those who show the output say that there is no scheduler.
    }
  }
}

/** Empty: nothing keeps it from running. */
function remarkOn(job: Job, why: WhyAnswer): string {
  const sentences = whySentences(why, job);
  if (job.state === "queued" || job.state === "held") {
    const [, ...obstacles] = sentences;
    return obstacles.length === 0 ? "" : `waits: ${obstacles.join(" ")}`;
  }
  return why.obstacles.some(({ kind }) => STANDSTILLS.includes(kind)) ? `stands: ${sentences.join(" ")}` : "";
}
