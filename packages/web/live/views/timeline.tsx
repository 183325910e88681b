/** The timeline: what ran, runs and is expected, with now in the middle. */

import { formatDuration, plural } from "@tutti/kernel/core/format.ts";
import type { TimelineAnswer } from "@tutti/protocol/forecasts.ts";
import { clockText } from "@tutti/words/times.ts";
import { useMemo } from "preact/hooks";
import { useNow } from "../../page/clock.ts";
import { address, linkTo, setQuery } from "../../page/navigation.ts";
import { Alarm } from "../../page/parts.tsx";
import { MAX_MS } from "../../timeline/scale.ts";
import { queryOf, readState, type TimelineState } from "../../timeline/state.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { useAsked } from "../asked.ts";
import { WindowNotes } from "../now/drain.tsx";
import { status } from "../store.ts";
import { timelineData } from "../timeline-data.ts";

/** Asked from the scheduler around now, in each direction, until the user looks further. */
const REACH_MS = 3_600_000;

export function TimelineView() {
  const state = readState(address.value.query);
  const nowMs = useNow();
  const { answer, receivedAtMs, problem } = useAsked<TimelineAnswer>({ path: pathFor(state, nowMs) });
  if (answer === undefined)
    return (
      <>
        <h1>Timeline</h1>
        <p class={problem === "" ? "muted" : "alarm"} role="status">
          {problem === "" ? "Loading" : problem}
        </p>
        {problem === "" ? null : <a href={linkTo("timeline")}>Show the time around now</a>}
      </>
    );
  return <Shown {...{ answer, receivedAtMs, problem, state, nowMs }} />;
}

interface ShownProps {
  readonly answer: TimelineAnswer;
  readonly receivedAtMs: number;
  readonly problem: string;
  readonly state: TimelineState;
  /** By the clock of the browser, which may be another one than the scheduler's. */
  readonly nowMs: number;
}

function Shown({ answer, receivedAtMs, problem, state, nowMs }: ShownProps) {
  const windows = status.value?.windows;
  const data = useMemo(
    () => timelineData(answer, answer.atMs + performance.now() - receivedAtMs, windows),
    [answer, receivedAtMs, nowMs, windows],
  );
  const unknown = answer.jobs.filter(
    ({ startedAtMs, start }) => startedAtMs === undefined && start === undefined,
  );
  return (
    <>
      <h1>Timeline</h1>
      <Alarm>{problem}</Alarm>
      {answer.truncated === undefined ? null : (
        <p class="muted">
          Too many jobs: what ended before {clockText(answer.fromMs)} is left out. Zoom in to see it.
        </p>
      )}
      <Timeline
        data={data}
        state={state}
        onState={(changes, keepStep) => setQuery(queryOf(changes), keepStep)}
        label="What ran, runs and is expected"
        jobHref={({ job, name }) => (job > 0 && name !== "" ? linkTo("jobs", [String(job)]) : undefined)}
      />
      <p class="muted">{noteText(answer, unknown.length)}</p>
      <WindowNotes />
    </>
  );
}

function noteText({ forecastAtMs, atMs, waitingLeftOut = 0 }: TimelineAnswer, unknown: number): string {
  const age =
    forecastAtMs === undefined
      ? "There are no forecasts now."
      : `Striped: expected, as dark as it is likely; lines mark the medians. The forecasts were ${formatDuration(Math.max(0, Math.round((atMs - forecastAtMs) / 1000)))} old.`;
  const without =
    unknown === 0 ? "" : ` ${unknown === 1 ? "One job waits" : `${unknown} jobs wait`} without a forecast.`;
  const leftOut = waitingLeftOut === 0 ? "" : ` Not shown: ${plural(waitingLeftOut, "more waiting job")}.`;
  return age + without + leftOut;
}

/** Whole multiples of the reach, so that the question changes only when the user looks elsewhere. */
function pathFor({ range, spanMs }: TimelineState, nowMs: number): string {
  const span = range === undefined ? (spanMs ?? REACH_MS) : range.toMs - range.fromMs;
  const step = 2 ** Math.ceil(Math.log2(Math.max(REACH_MS, span)));
  const from = range?.fromMs ?? nowMs - span / 2;
  const to = range?.toMs ?? nowMs + span / 2;
  const fromMs = Math.max(0, Math.floor(from / step - 0.5) * step);
  const toMs = Math.min(MAX_MS, Math.ceil(to / step + 0.5) * step);
  return `/v1/timeline?from=${fromMs}&to=${toMs}`;
}
