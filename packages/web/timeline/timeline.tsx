/** A timeline: small picture of all, picture of a part, sums of a selected area, table. See data.ts. */
import "./timeline.css";
import { useMemo, useRef } from "preact/hooks";
import { useKey } from "../page/keys.ts";
import { Button, Choice, Tick } from "../page/parts.tsx";
import type { Area } from "./area.ts";
import { extentOf, type TimelineData } from "./data.ts";
import { useWidth } from "./measure.ts";
import { Overview } from "./overview.tsx";
import { TimelinePicture } from "./picture.tsx";
import { arrange, type RowKind } from "./rows.ts";
import { compressIdle, NO_WARP, panned, type Stretch, timeScale, zoomed } from "./scale.ts";
import type { StateChanges, TimelineState } from "./state.ts";
import { AreaTable, type JobHref, JobName, TwinTable } from "./tables.tsx";
import { detailLines } from "./text.ts";
import { type Clock, zoneMs } from "./ticks.ts";

interface TimelineProps {
  readonly data: TimelineData;
  readonly state: TimelineState;
  /** @param keepStep true: the back button returns to the state before */
  readonly onState: (changes: StateChanges, keepStep: boolean) => void;
  /** What it is, for people who do not see it. */
  readonly label: string;
  readonly jobHref?: JobHref;
  /** Height of the picture; default 460. */
  readonly heightPx?: number;
}

/** Shown around now, unless the user chose something else. */
const DEFAULT_SPAN_MS = 3_600_000;
const ROW_NAMES: Readonly<Record<RowKind, string>> = { cpus: "CPUs", jobs: "jobs", queues: "queues" };
const ZOOM = 0.7;
const PAN = 0.2;

export function Timeline({ data, state, onState, label, jobHref, heightPx = 460 }: TimelineProps) {
  const root = useRef<HTMLDivElement>(null);
  const widthPx = useWidth(root);
  const { rows, pinned, area, isCompressed, isRelative } = state;
  const arrangement = useMemo(() => arrange(data, rows), [data, rows]);
  const warp = useMemo(() => (isCompressed ? compressIdle(spansOf(data)) : NO_WARP), [data, isCompressed]);
  const everything = useMemo(() => wholeOf(data), [data]);
  const shown = shownOf(data, state, everything);
  const all = {
    fromMs: Math.min(everything.fromMs, shown.fromMs),
    toMs: Math.max(everything.toMs, shown.toMs),
  };
  const scale = timeScale(shown.fromMs, shown.toMs, 1000, warp);
  const show = (range: Stretch, keepStep = false) => onState({ range, spanMs: undefined }, keepStep);
  const zoom = (factor: number) => {
    // What is around now stays around now.
    if (state.range === undefined && data.nowMs !== undefined)
      onState({ spanMs: (shown.toMs - shown.fromMs) * factor }, false);
    else show(zoomed(scale, factor, 500));
  };
  const pan = (share: number) => show(panned(scale, 1000 * share));
  const fit = () => show(everything, true);
  const follow = () => onState({ range: undefined, spanMs: undefined }, true);
  const select = (chosen: Area | undefined, keepStep: boolean) => onState({ area: chosen }, keepStep);
  const selectShown = () => select({ ...shown, firstRow: 0, endRow: Math.max(1, arrangement.rows) }, true);
  const pinNext = (step: 1 | -1) => {
    const order = [...new Set(arrangement.bars.job)].map((index) => data.jobs[index].job);
    if (order.length === 0) return;
    const at = pinned === undefined ? -1 : order.indexOf(pinned);
    const next = at < 0 ? (step > 0 ? 0 : order.length - 1) : (at + step + order.length) % order.length;
    onState({ pinned: order[next] }, false);
  };
  useKey("w", "zoom in", () => zoom(ZOOM));
  useKey("s", "zoom out", () => zoom(1 / ZOOM));
  useKey("a", "show earlier times", () => pan(-PAN));
  useKey("d", "show later times", () => pan(PAN));
  useKey("f", "fit everything", fit);
  useKey("e", "select everything that is shown", selectShown);
  useKey(".", "pin the next job", () => pinNext(1));
  useKey(",", "pin the job before", () => pinNext(-1));
  useKey("Escape", "clear pin and selection", () => onState({ pinned: undefined, area: undefined }, true));
  const clock: Clock =
    data.clock === "elapsed"
      ? { kind: "from", originMs: 0, signed: false }
      : isRelative && data.nowMs !== undefined
        ? { kind: "from", originMs: data.nowMs, signed: true }
        : { kind: "calendar", zoneMs };
  const pinnedJob = pinned === undefined ? undefined : data.jobs.find(({ job }) => job === pinned);
  return (
    <div class="timeline" ref={root}>
      <div class="row timeline-tools">
        <Choice
          title="Rows"
          value={rows}
          options={rowNames(data)}
          onChoose={(kind) => onState({ rows: kind as RowKind, area: undefined }, true)}
        />
        <span class="timeline-buttons">
          <Tool text="−" hint="Zoom out (s)" onClick={() => zoom(1 / ZOOM)} />
          <Tool text="+" hint="Zoom in (w)" onClick={() => zoom(ZOOM)} />
          <Tool text="←" hint="Earlier (a)" onClick={() => pan(-PAN)} />
          <Tool text="→" hint="Later (d)" onClick={() => pan(PAN)} />
        </span>
        <Button onClick={fit}>Fit</Button>
        {data.nowMs === undefined ? null : <Button onClick={follow}>Around now</Button>}
        <Button onClick={selectShown}>Select all shown</Button>
        <Tick isOn={isCompressed} onTick={(isOn) => onState({ isCompressed: isOn }, true)}>
          Compress idle
        </Tick>
        {data.clock === "elapsed" || data.nowMs === undefined ? null : (
          <Tick isOn={isRelative} onTick={(isOn) => onState({ isRelative: isOn }, true)}>
            Times from now
          </Tick>
        )}
      </div>
      <Overview data={data} all={all} shown={shown} warp={warp} widthPx={widthPx} onShow={show} />
      <TimelinePicture
        {...{ data, arrangement, clock, area, shown, warp, pinned, label, heightPx }}
        onShow={show}
        onPin={(job) => onState({ pinned: job }, false)}
        onArea={(chosen, isDone) => select(chosen, isDone)}
      />
      {pinnedJob === undefined ? null : (
        <p class="timeline-pinned" role="status">
          <JobName data={data} job={pinnedJob} jobHref={jobHref} /> ·{" "}
          {detailLines(data, pinnedJob).slice(1).join(" · ")}
        </p>
      )}
      {area === undefined ? null : (
        <AreaTable {...{ data, jobHref, arrangement, area }} onClear={() => select(undefined, true)} />
      )}
      <TwinTable {...{ data, jobHref, shown }} />
    </div>
  );
}

/** Simulated jobs have no queues. */
function rowNames({ clock }: TimelineData) {
  return Object.entries(ROW_NAMES).filter(([kind]) => kind !== "queues" || clock === "calendar");
}

interface ToolProps {
  readonly text: string;
  readonly hint: string;
  readonly onClick: () => void;
}

function Tool({ text, hint, onClick }: ToolProps) {
  return (
    <Button aria-label={hint} title={hint} onClick={onClick}>
      {text}
    </Button>
  );
}

/** The time that the state asks for. */
function shownOf(data: TimelineData, { range, spanMs }: TimelineState, everything: Stretch): Stretch {
  if (range !== undefined) return range;
  if (data.nowMs === undefined) return everything;
  const half = (spanMs ?? DEFAULT_SPAN_MS) / 2;
  return { fromMs: data.nowMs - half, toMs: data.nowMs + half };
}

/** From the first start to the last end, with a margin. */
function wholeOf(data: TimelineData): Stretch {
  const spans = spansOf(data);
  const { nowMs } = data;
  let fromMs = nowMs ?? Number.POSITIVE_INFINITY;
  let toMs = nowMs ?? Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    fromMs = Math.min(fromMs, span.fromMs);
    toMs = Math.max(toMs, span.toMs);
  }
  if (!(fromMs <= toMs)) return { fromMs: 0, toMs: DEFAULT_SPAN_MS };
  const margin = Math.max(1000, (toMs - fromMs) * 0.02);
  return { fromMs: fromMs - margin, toMs: toMs + margin };
}

function spansOf({ jobs, nowMs }: TimelineData): Stretch[] {
  return jobs.flatMap((job) => extentOf(job, nowMs) ?? []);
}
