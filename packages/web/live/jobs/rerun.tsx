/** The button that runs ended jobs again, where the administrator allows to submit from the page. */

import { messageOf } from "@tutti/kernel/core/errors.ts";
import { formatCount, plural } from "@tutti/kernel/core/format.ts";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type { Job, JobsAnswer } from "@tutti/protocol/answers.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import type { RerunBody } from "@tutti/protocol/requests.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { useState } from "preact/hooks";
import { Dialog } from "../../page/dialog.tsx";
import { goTo } from "../../page/navigation.ts";
import { Button } from "../../page/parts.tsx";
import { ask } from "../client.ts";
import { status } from "../store.ts";

interface RerunProps {
  readonly jobs: readonly Job[];
  readonly isSingle: boolean;
  readonly onDone?: (() => void) | undefined;
}

export function Rerun({ jobs, isSingle, onDone }: RerunProps) {
  const [asked, setAsked] = useState(false);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [problem, setProblem] = useState("");
  if (!(status.value?.web?.submit ?? false)) return null;
  const able = jobs.filter(({ state }) => isEnded(state)).slice(0, MAX_JOBS_PER_BATCH);
  if (isSingle && able.length === 0) return null;
  const numbers = rangesText(rangesOf(able.map(({ job }) => job)));
  const run = async () => {
    setAsked(false);
    try {
      const body: RerunBody = { jobs: numbers, key };
      const answer = await ask<JobsAnswer>("/v1/rerun", { method: "POST", body });
      setKey(crypto.randomUUID());
      setProblem("");
      onDone?.();
      goTo("jobs", [String(answer.jobs[0].job)]);
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <>
      <Button disabled={able.length === 0} onClick={() => (isSingle ? run() : setAsked(true))}>
        Run again{isSingle || able.length === 0 ? "" : ` ${formatCount(able.length)}`}
      </Button>
      {problem === "" ? null : (
        <span role="alert" class="alarm">
          {problem}
        </span>
      )}
      {asked ? (
        <Dialog title={`Run ${plural(able.length, "job")} again?`} onClose={() => setAsked(false)}>
          <p class="numbers-text">
            {able.length === 1 ? "Job" : "Jobs"} {numbers.replaceAll(",", ", ")}
          </p>
          <p>New jobs get the same command, environment and script. Only jobs that have ended run again.</p>
          <div class="row">
            <Button class="primary" onClick={run}>
              Run {plural(able.length, "job")} again
            </Button>
            <Button onClick={() => setAsked(false)}>Leave as is</Button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
