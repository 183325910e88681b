/** What the pinned gang gets of its CPUs, and what it is due. */

import { formatPercent } from "@tutti/kernel/core/format.ts";
import type { WhyAnswer } from "@tutti/protocol/answers.ts";
import { shareText } from "@tutti/words/why.ts";
import { useState } from "preact/hooks";
import { linkTo } from "../../page/navigation.ts";
import { useRepeated } from "../asked.ts";
import { ask } from "../client.ts";
import { status } from "../store.ts";

const REFRESH_MS = 2000;

/** Asks only while it is open. */
export function Service({ job }: { readonly job: number }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="card" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Job {job}: service got against service due</summary>
      {isOpen && <Numbers job={job} />}
    </details>
  );
}

function Numbers({ job }: { readonly job: number }) {
  const [why, setWhy] = useState<WhyAnswer>();
  const load = async (signal: AbortSignal) => setWhy(await ask<WhyAnswer>(`/v1/jobs/${job}/why`, { signal }));
  const problem = useRepeated(load, REFRESH_MS, [job]);
  if (problem !== "") return <p>{problem}</p>;
  if (why?.share === undefined)
    return <p class="muted">{why === undefined ? "Loading" : "It has not started."}</p>;
  const { slots, ofSlots } = why.share;
  const lateMs = status.value?.conductor.lateP99Ms;
  return (
    <>
      <p>
        {slots > 0 && `Due now: ${formatPercent(slots / Math.max(1, ofSlots))} of the time. `}
        {shareText(why)}
      </p>
      {lateMs !== undefined && (
        <p>Of the last slots of all gangs, 99 % began at most {lateMs.toFixed(1)} ms late.</p>
      )}
      <p>
        <a href={linkTo("jobs", [String(job)])}>Open the job</a>
      </p>
    </>
  );
}
