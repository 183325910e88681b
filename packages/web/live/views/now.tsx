/** What runs and waits at this moment, on one screen: numbers, the matrix, and what happened last. */
import "../now/now.css";
import { formatCount, formatDuration, NO_VALUE } from "@tutti/kernel/core/format.ts";
import type { TimelineAnswer } from "@tutti/protocol/forecasts.ts";
import { activeRow, slotAt } from "@tutti/protocol/turns.ts";
import { type Expected, expectedInText } from "@tutti/words/expected.ts";
import { clockText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useEffect, useMemo, useState } from "preact/hooks";
import { gridOfAnswer } from "../../matrix/grid.ts";
import { MatrixView } from "../../matrix/matrix-view.tsx";
import { useSelection } from "../../matrix/selection.ts";
import { isStale, useCalm, useNow } from "../../page/clock.ts";
import { goTo, linkTo } from "../../page/navigation.ts";
import { Facts } from "../../page/parts.tsx";
import { useRepeated } from "../asked.ts";
import { ask } from "../client.ts";
import { connection } from "../connection.ts";
import { DrainBanner, WindowNotes } from "../now/drain.tsx";
import { lastHappenings, longestWaitMs, troublesOf } from "../now/facts.ts";
import { Service } from "../now/service.tsx";
import { changes, events, jobs, matrix, status, type TimedMatrix } from "../store.ts";

const HAPPENINGS = 20;
/** Of the list of what happened, while jobs change. */
const REDRAW_MS = 500;
/** Height of everything on the page but the rows of the matrix. */
const OTHERS_PX = 510;
const MIN_ROWS_PX = 170;

export function Now() {
  const now = status.value;
  if (now === undefined) return <p class="muted">Loading</p>;
  return (
    <div class="now">
      <h1 class="visually-hidden">Now</h1>
      {troublesOf(now, matrix.value?.answer).map((text) => (
        <p key={text} role="alert" class="alarm">
          {text}
        </p>
      ))}
      <DrainBanner />
      <WindowNotes />
      <Numbers />
      {matrix.value !== undefined && <Rows timed={matrix.value} />}
      <Happened />
    </div>
  );
}

function Numbers() {
  const nowMs = useNow();
  const change = useCalm(changes, REDRAW_MS);
  const { cpus, busyCpus, counts, drain } = status.value!;
  const waitedMs = useMemo(() => longestWaitMs(jobs.values(), nowMs), [change, nowMs]);
  const nextStart = useNextStart(drain === undefined ? (counts.queued ?? 0) : 0, nowMs);
  const facts: readonly (readonly [title: string, value: string])[] = [
    ["free CPUs", `${formatCount(Math.max(0, cpus - Math.ceil(busyCpus)))} of ${formatCount(cpus)}`],
    ["rows", formatCount(matrix.value?.answer.rows.length ?? 0)],
    ["running", formatCount(counts.running ?? 0)],
    ...(counts.paused > 0 ? [["paused", formatCount(counts.paused)] as const] : []),
    ["waiting", formatCount(counts.queued ?? 0)],
    ["longest wait", waitedMs === undefined ? NO_VALUE : formatDuration(Math.floor(waitedMs / 1000))],
    ["next start", nextStart],
  ];
  return <Facts class="numbers" facts={facts} />;
}

function Rows({ timed: { answer, receivedAtMs } }: { readonly timed: TimedMatrix }) {
  const [selection, select] = useSelection();
  const heightPx = useHeight() - OTHERS_PX;
  const grid = useMemo(() => gridOfAnswer(answer), [answer]);
  const isTurning = answer.sharing === "time" && answer.rows.length > 0;
  const turn = () => {
    // The page's own clock continues the node's.
    const nowMs = answer.nowMs + performance.now() - receivedAtMs;
    return { slot: slotAt(answer, nowMs), row: activeRow(answer, nowMs) };
  };
  const { sharing, mode, slotMs } = answer;
  const policy = visibleLine(answer.policy);
  const how = sharing === "time" ? `${mode}, slots of ${slotMs} ms` : "space sharing";
  return (
    <section aria-label="Matrix" data-epoch-ms={answer.epochMs}>
      {grid.rows === 0 ? (
        <p class="muted">
          No gang is in the matrix. Policy {policy}, {how}.
        </p>
      ) : (
        <MatrixView
          grid={grid}
          sequence={answer.sequence}
          turn={isTurning && !isStale.value ? turn : undefined}
          label={`Ousterhout matrix, policy ${policy}, ${how}`}
          heightPx={Math.max(MIN_ROWS_PX, heightPx)}
          selection={selection}
          onSelect={select}
          onOpen={(job) => goTo("jobs", [String(job)])}
        />
      )}
      {selection.pinned !== undefined && jobs.has(selection.pinned) && (
        <Service key={selection.pinned} job={selection.pinned} />
      )}
    </section>
  );
}

function Happened() {
  const change = useCalm(changes, REDRAW_MS);
  const seen = useCalm(events, REDRAW_MS);
  const list = useMemo(() => lastHappenings(jobs, seen, HAPPENINGS), [change, seen]);
  return (
    <section aria-label="What happened last">
      <h2>What happened last</h2>
      {list.length === 0 ? (
        <p class="muted">
          Nothing yet. To run something: <code>tutti submit -n 2 -- COMMAND</code>
        </p>
      ) : (
        <ol class="happenings">
          {list.map(({ atMs, text, job, order }) => (
            <li key={`${atMs} ${text} ${order}`}>
              <time dateTime={new Date(atMs).toISOString()}>{clockText(atMs)}</time>
              <span title={text}>
                {job !== undefined && jobs.has(job) ? (
                  <a href={linkTo("jobs", [String(job)])}>{text}</a>
                ) : (
                  text
                )}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

/** Height of the window in CSS pixels. */
function useHeight(): number {
  const [heightPx, setHeight] = useState(innerHeight);
  useEffect(() => {
    const measure = () => setHeight(innerHeight);
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  return heightPx;
}

const REFRESH_MS = 10_000;
/** The answer lists every waiting job, so a long queue is asked for only a short while ahead. */
const LONG_QUEUE = 500;
const SHORT_MS = 60_000;
const LONG_MS = 30 * 24 * 3600 * 1000;

/**
 * When the next of the user's waiting jobs is expected to start, in words: the earliest median start.
 * NO_VALUE: there is no forecast, or none of the queue starts soon.
 */
function useNextStart(queued: number, nowMs: number): string {
  const [next, setNext] = useState<Expected | "none">();
  const isLive = connection.value === "live";
  const load = async (signal: AbortSignal) => {
    if (queued === 0) setNext(undefined);
    if (queued === 0 || !isLive) return;
    const nowMs = Date.now();
    const toMs = nowMs + (queued > LONG_QUEUE ? SHORT_MS : LONG_MS);
    const { jobs } = await ask<TimelineAnswer>(`/v1/timeline?from=${nowMs}&to=${toMs}`, { signal });
    const starts = jobs.flatMap(({ start }) => start ?? []).sort((a, b) => a.p50Ms - b.p50Ms);
    setNext(starts[0] ?? "none");
  };
  // If it fails, the page says that the scheduler does not answer.
  useRepeated(load, REFRESH_MS, [queued, isLive]);
  if (queued === 0 || next === "none") return NO_VALUE;
  return next === undefined ? "loading" : expectedInText(next, nowMs);
}
