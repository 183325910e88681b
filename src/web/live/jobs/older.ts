/** Ended jobs that the page does not keep: how many there are, and those of them that a search finds. */
import { useEffect, useState } from "preact/hooks";
import { rangesText } from "../../../core/number-ranges.ts";
import type { Job, JobsAnswer } from "../../../protocol/answers.ts";
import { isEnded, JOB_STATES } from "../../../protocol/states.ts";
import { ask } from "../client.ts";
import { connection } from "../connection.ts";
import { jobs, loaded, status } from "../store.ts";
import { filterOf } from "./filter.ts";

/** The user types on for a moment. */
const CALM_MS = 300;

interface Older {
  /** Undefined: nobody searches, or the scheduler has not answered yet. */
  readonly found: readonly Job[] | undefined;
  readonly isSearch: boolean;
}

/** How many ended jobs the scheduler has besides these. */
export function olderCount(all: readonly Job[]): number {
  const counts = status.value?.counts;
  if (counts === undefined || loaded.value < 1) return 0;
  const kept = JOB_STATES.reduce((sum, state) => sum + (isEnded(state) ? (counts[state] ?? 0) : 0), 0);
  return Math.max(0, kept - all.filter(({ state }) => isEnded(state)).length);
}

/** @param isNeeded some jobs are older than those that the page keeps */
export function useOlder(query: Readonly<Record<string, string>>, isNeeded: boolean): Older {
  const [answer, setAnswer] = useState<{ readonly text: string; readonly found: readonly Job[] }>();
  const { name, numbers, states } = filterOf(query);
  const isSearch = isNeeded && (name !== undefined || numbers !== undefined);
  const asked = new URLSearchParams({ after: "0" });
  if (name !== undefined) asked.set("name", name);
  if (numbers !== undefined) asked.set("numbers", rangesText(numbers));
  if (states.length > 0) asked.set("states", states.join(","));
  const text = isSearch ? asked.toString() : "";
  const isLive = connection.value === "live";
  useEffect(() => {
    if (text === "" || !isLive) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { jobs: found } = await ask<JobsAnswer>(`/v1/jobs?${text}`, { signal: stop.signal });
        setAnswer({ text, found: found.filter(({ job, state }) => isEnded(state) && !jobs.has(job)) });
      } catch {
        // The page says if the scheduler does not answer; the list says that it still searches.
      }
    }, CALM_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, isLive]);
  return { isSearch, found: isSearch && answer?.text === text ? answer.found : undefined };
}
