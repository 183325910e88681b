/** The buttons that change jobs, with a confirmation that names them, and what the scheduler refused. */

import { messageOf } from "@tutti/kernel/core/errors.ts";
import { formatCount, plural } from "@tutti/kernel/core/format.ts";
import { rangesOf, rangesText } from "@tutti/kernel/core/number-ranges.ts";
import type { BatchAnswer, Job } from "@tutti/protocol/answers.ts";
import { MAX_PRIORITY, MIN_PRIORITY } from "@tutti/protocol/limits.ts";
import { CHANGEABLE_STATES, type JobState } from "@tutti/protocol/states.ts";
import { jobCountsText, jobName } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useState } from "preact/hooks";
import { Dialog } from "../../page/dialog.tsx";
import { Button, Tick } from "../../page/parts.tsx";
import { session } from "../session.ts";
import { matrix } from "../store.ts";
import { ACTIONS, type ChangeAction, changeJobs, type MoreOfChange } from "./change.ts";
import { Rerun } from "./rerun.tsx";
import { Update } from "./update.tsx";

/** Jobs that a confirmation names one by one; all are named by number. */
const NAMED = 8;
const LISTED_REFUSALS = 50;

interface ActionsProps {
  readonly jobs: readonly Job[];
  /** For one job, only what destroys work, or needs an answer, is confirmed. */
  readonly isSingle?: boolean;
  readonly onDone?: () => void;
}

export function Actions({ jobs, isSingle = false, onDone }: ActionsProps) {
  const [asked, setAsked] = useState<ChangeAction>();
  const [report, setReport] = useState<Report>();
  const run = async (action: ChangeAction, among: readonly Job[], more?: MoreOfChange) => {
    setAsked(undefined);
    setReport({ text: "…", refusals: [] });
    const next = await reportOf(action, among, more);
    setReport(next);
    if (next.refusals.length === 0) onDone?.();
  };
  return (
    <>
      {ACTIONS.map(({ action, label, isDestructive, place = action }) => {
        const able = jobs.filter(({ state }) => isChangeable(action, state));
        if (isSingle && able.length === 0) return null;
        return (
          <Button
            key={isSingle ? place : action}
            disabled={able.length === 0}
            onClick={() =>
              isSingle && !isDestructive && !asksMore(action) ? run(action, able) : setAsked(action)
            }
          >
            {label}
            {isSingle || able.length === 0 ? "" : ` ${formatCount(able.length)}`}
          </Button>
        );
      })}
      <Update jobs={jobs} isSingle={isSingle} />
      <Rerun jobs={jobs} isSingle={isSingle} onDone={onDone} />
      {/* The state of a single job is next to its buttons. */}
      <span role="status" class={isSingle ? "visually-hidden" : "report"}>
        {report === undefined ? "" : report.text}
      </span>
      {report !== undefined && report.refusals.length > 0 ? (
        <Refusals report={report} onClose={() => setReport(undefined)} />
      ) : null}
      {asked === undefined ? null : (
        <Confirmation action={asked} jobs={jobs} onAnswer={run} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

/** Whether the confirmation has a field. */
function asksMore(action: ChangeAction): boolean {
  return action === "priority" || (action === "pause" && matrix.value?.answer.sharing === "space");
}

function isChangeable(action: ChangeAction, state: JobState): boolean {
  return (CHANGEABLE_STATES[action] as readonly JobState[]).includes(state);
}

interface Report {
  readonly text: string;
  readonly refusals: readonly { readonly number?: number; readonly message: string }[];
}

async function reportOf(action: ChangeAction, jobs: readonly Job[], more?: MoreOfChange): Promise<Report> {
  const numbers = jobs.map(({ job }) => job);
  let results: BatchAnswer["results"];
  try {
    results = await changeJobs(action, numbers, more);
  } catch (error) {
    const message = messageOf(error);
    return { text: `Nothing is known to have changed.`, refusals: [{ message }] };
  }
  const changed = results.flatMap((result) => ("job" in result ? [result.job] : []));
  const refusals = results.flatMap((result) => ("job" in result ? [] : [result]));
  const refused = refusals.length === 0 ? "" : `, ${formatCount(refusals.length)} refused`;
  return { text: `${jobCountsText(changed).replace(/: $/, " changed")}${refused}`, refusals };
}

function Refusals({ report, onClose }: { readonly report: Report; readonly onClose: () => void }) {
  const { text, refusals } = report;
  return (
    <Dialog title="Not everything was changed" onClose={onClose}>
      <p>{text}</p>
      <ul class="refusals">
        {refusals.slice(0, LISTED_REFUSALS).map(({ number, message }, i) => (
          <li key={number ?? i}>{visibleLine(message)}</li>
        ))}
      </ul>
      {refusals.length > LISTED_REFUSALS ? (
        <p>and {plural(refusals.length - LISTED_REFUSALS, "more refusal")}</p>
      ) : null}
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </Dialog>
  );
}

interface ConfirmationProps {
  readonly action: ChangeAction;
  readonly jobs: readonly Job[];
  readonly onAnswer: (action: ChangeAction, jobs: readonly Job[], more?: MoreOfChange) => void;
  readonly onClose: () => void;
}

function Confirmation({ action, jobs, onAnswer, onClose }: ConfirmationProps) {
  const [priority, setPriority] = useState(0);
  const [release, setRelease] = useState(false);
  const able = jobs.filter(({ state }) => isChangeable(action, state));
  const others = jobs.length - able.length;
  const isOne = able.length === 1;
  const { label } = ACTIONS.find((entry) => entry.action === action)!;
  const count = plural(able.length, "job");
  const title = action === "priority" ? `Change the priority of ${count}` : `${label} ${count}?`;
  const most = session.value?.isAdministrator ? MAX_PRIORITY : 0;
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="numbers-text">
        {isOne ? "Job" : "Jobs"} {rangesText(rangesOf(able.map(({ job }) => job)), ", ")}
      </p>
      <ul class="named">
        {able.slice(0, NAMED).map((job) => (
          <li key={job.job}>
            {job.job} {jobName(job)}, {job.state}
          </li>
        ))}
        {able.length > NAMED ? <li>and {formatCount(able.length - NAMED)} more</li> : null}
      </ul>
      {others > 0 ? (
        <p>
          {plural(others, "other selected job")} {others === 1 ? "is" : "are"} not changed: only jobs that are{" "}
          {orText(CHANGEABLE_STATES[action])} can be.
        </p>
      ) : null}
      {action === "cancel" ? <p>{isOne ? "Its" : "Their"} processes get SIGTERM, then SIGKILL.</p> : null}
      {action === "pause" ? (
        <p>
          {isOne ? "It stops, and keeps its" : "They stop, and keep their"}{" "}
          {release ? "memory and units" : "CPUs, memory and units"} until{" "}
          {isOne ? "it is resumed" : "they are resumed"}.
        </p>
      ) : null}
      {action === "requeue" ? (
        <p>{isOne ? "It ends, and starts" : "They end, and start"} again from the beginning.</p>
      ) : null}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onAnswer(action, able, {
            ...(action === "priority" && { priority }),
            ...(release && { release }),
          });
        }}
      >
        {action === "pause" && asksMore(action) ? (
          <p>
            <Tick isOn={release} onTick={setRelease}>
              Other jobs may use{" "}
              {isOne ? "its CPUs; after a resume, it waits" : "their CPUs; after a resume, they wait"} for
              CPUs
            </Tick>
          </p>
        ) : null}
        {action === "priority" ? (
          <p>
            <label>
              Priority, {MIN_PRIORITY} to {most}
              <input
                type="number"
                required
                min={MIN_PRIORITY}
                max={most}
                value={priority}
                onInput={({ currentTarget }) => setPriority(currentTarget.valueAsNumber)}
              />
            </label>
          </p>
        ) : null}
        <div class="row">
          <button type="submit" class="primary">
            {action === "priority" ? `Change ${count}` : `${label} ${count}`}
          </button>
          <Button onClick={onClose}>Leave as is</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** `queued, held or running`. */
function orText(words: readonly string[]): string {
  return words.join(", ").replace(/, ([^,]*)$/, " or $1");
}
