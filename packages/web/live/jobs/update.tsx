/** The button that changes what jobs ask for. Empty fields stay as they are. */

import { messageOf } from "@tutti/kernel/core/errors.ts";
import { formatCount, plural } from "@tutti/kernel/core/format.ts";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type { BatchAnswer, Job } from "@tutti/protocol/answers.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import { CHANGEABLE_STATES, type JobState } from "@tutti/protocol/states.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useState } from "preact/hooks";
import { Dialog } from "../../page/dialog.tsx";
import { Button } from "../../page/parts.tsx";
import { ask } from "../client.ts";
import { JobFields, JobForm } from "./job-fields.tsx";
import { NO_TEXTS, type Problems, problemsOf, readTexts, type Texts, textsOf } from "./job-request.ts";

const WAITING: readonly JobState[] = ["queued", "held"];

interface UpdateProps {
  readonly jobs: readonly Job[];
  readonly isSingle: boolean;
}

export function Update({ jobs, isSingle }: UpdateProps) {
  const [isOpen, setOpen] = useState(false);
  const able = jobs.filter(({ state }) => (CHANGEABLE_STATES.update as readonly JobState[]).includes(state));
  // Less can change in jobs that have started, so they are changed only if no job waits.
  const waiting = able.filter(({ state }) => WAITING.includes(state));
  const chosen = waiting.length > 0 ? waiting : able;
  if (isSingle && chosen.length === 0 && !isOpen) return null;
  const asked = chosen.slice(0, MAX_JOBS_PER_BATCH);
  return (
    <>
      <Button disabled={asked.length === 0} onClick={() => setOpen(true)}>
        Change{isSingle || asked.length === 0 ? "" : ` ${formatCount(asked.length)}`}
      </Button>
      {isOpen ? (
        <UpdateDialog jobs={asked} hasStarted={waiting.length === 0} onClose={() => setOpen(false)} />
      ) : null}
    </>
  );
}

interface UpdateDialogProps {
  readonly jobs: readonly Job[];
  readonly hasStarted: boolean;
  readonly onClose: () => void;
}

function UpdateDialog({ jobs: given, hasStarted, onClose }: UpdateDialogProps) {
  // While the dialog is open, jobs may start or end; the question is about those that it began with.
  const [jobs] = useState(given);
  const [texts, setTexts] = useState<Texts>(NO_TEXTS);
  const [problems, setProblems] = useState<Problems>({});
  const numbers = rangesOf(jobs.map(({ job }) => job));
  const [now] = useState(jobs.length === 1 ? textsOf(jobs[0], Date.now()) : undefined);
  const send = async () => {
    const { request: update, problems: unreadable } = readTexts(texts, Date.now());
    const isEmpty = Object.keys(update).length === 0;
    setProblems(isEmpty ? { "": "Nothing changes: fill in a field." } : unreadable);
    if (isEmpty || Object.keys(unreadable).length > 0) return;
    try {
      const body = { action: "update", jobs: rangesText(numbers), update };
      const { results } = await ask<BatchAnswer>("/v1/batch", { method: "POST", body });
      const refused = results.flatMap((result) => ("job" in result ? [] : [result.message]));
      if (refused.length === 0) onClose();
      else setProblems({ "": `${plural(refused.length, "job")} unchanged: ${refused[0]}` });
    } catch (error) {
      setProblems(problemsOf(messageOf(error)));
    }
  };
  const count = plural(jobs.length, "job");
  return (
    <Dialog title={`Change ${count}`} onClose={onClose}>
      <JobForm
        problems={problems}
        labels={[`Change ${count}`, "Leave as is"]}
        onSubmit={() => void send()}
        onClose={onClose}
      >
        <p class="numbers-text wide">
          {jobs.length === 1 ? "Job" : "Jobs"} {rangesText(numbers, ", ")}. Empty fields stay as they are.
        </p>
        <JobFields
          texts={texts}
          problems={problems}
          anyQueue={now === undefined ? "as it is" : `${visibleLine(now.queue)}, as it is`}
          hasStarted={hasStarted}
          now={now}
          onChange={(more) => setTexts({ ...texts, ...more })}
        />
      </JobForm>
    </Dialog>
  );
}
