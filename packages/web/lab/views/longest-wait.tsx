/** Why a job waited: the one that waited longest under a policy, or any job that the user asks for. */

import { metricOf } from "@tutti/kernel/metrics/summary.ts";
import { useEffect, useState } from "preact/hooks";
import { address, setQuery } from "../../page/navigation.ts";
import { Alarm, Button } from "../../page/parts.tsx";
import { explain, type Finished } from "../state.ts";
import { chosenPolicy, PolicySelect } from "./policy-select.tsx";

type Story =
  | { readonly state: "making" }
  | { readonly state: "told"; readonly lines: readonly string[] }
  | { readonly state: "failed"; readonly message: string };

export function LongestWait({ done }: { readonly done: Finished }) {
  const { run } = done;
  const { policies } = done.comparison;
  const policy = chosenPolicy(policies.length);
  const longest = metricOf(policies[policy].summary, "wait").all.maxJobId;
  const asked = Number(address.value.query.job ?? "");
  const job = Number.isSafeInteger(asked) && asked > 0 ? asked : longest;
  const [story, setStory] = useState<Story>({ state: "making" });
  useEffect(() => {
    let isCurrent = true;
    setStory({ state: "making" });
    if (run === undefined) return;
    explain(run, policy, job).then(
      (lines) => isCurrent && setStory({ state: "told", lines }),
      (error: Error) => isCurrent && setStory({ state: "failed", message: error.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [run, policy, job]);
  return (
    <>
      <h2>{job === longest ? "The longest wait" : `Job ${job}`}</h2>
      <p class="row">
        <PolicySelect policies={policies} />
        <label>
          Job
          <input
            value={String(job)}
            inputMode="numeric"
            size={9}
            onChange={({ currentTarget }) => setQuery({ job: currentTarget.value.trim() }, true)}
          />
        </label>
        {job === longest ? null : (
          <Button onClick={() => setQuery({ job: "" }, true)}>The longest wait</Button>
        )}
      </p>
      {story.state === "making" ? (
        <p role="status">Running the simulation once more to watch this job.</p>
      ) : null}
      <Alarm>{story.state === "failed" ? story.message : ""}</Alarm>
      {story.state === "told" ? (
        <div class="story card">
          {story.lines.map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
      ) : null}
    </>
  );
}
