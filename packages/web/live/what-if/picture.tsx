/** Two timelines under one axis: as it is, and as it would be, with lines between the starts that differ. */

import { formatCount, plural } from "@tutti/kernel/core/format.ts";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { TimelineData } from "../../timeline/data.ts";
import { barsAt } from "../../timeline/detail.ts";
import { useGestures } from "../../timeline/gestures.ts";
import { useTheme, useWidth } from "../../timeline/measure.ts";
import { AXIS_PX, inkOf, paint } from "../../timeline/paint.ts";
import { type Arrangement, arrange } from "../../timeline/rows.ts";
import { NO_WARP, panned, type Stretch, timeScale, zoomed } from "../../timeline/scale.ts";
import { zoneMs } from "../../timeline/ticks.ts";
import type { Difference } from "./compared.ts";

interface ComparePictureProps {
  readonly before: TimelineData;
  readonly after: TimelineData;
  readonly differences: readonly Difference[];
  readonly shown: Stretch;
  readonly onShow: (shown: Stretch) => void;
  /** Number of the job that stays marked. */
  readonly pinned: number | undefined;
  readonly onPin: (job: number | undefined) => void;
}

/** Space for the lines between the timelines. */
const GAP_PX = 44;
/** For the rows of one timeline. */
const ROWS_PX = 190;
const MAX_ROW_PX = 20;
const MIN_ROW_PX = 3;
/** More lines than this hide each other; the table has all. */
const MAX_LINES = 300;
/** A smaller change is none. */
const NOTABLE_MS = 1000;

export function ComparePicture(props: ComparePictureProps) {
  const { before, after, differences, shown, onShow, pinned, onPin } = props;
  const root = useRef<HTMLDivElement>(null);
  const upper = useRef<HTMLCanvasElement>(null);
  const lower = useRef<HTMLCanvasElement>(null);
  const widthPx = useWidth(root);
  const first = useMemo(() => arrange(before, "queues"), [before]);
  const second = useMemo(() => arrange(after, "queues"), [after]);
  const rows = Math.max(1, first.rows, second.rows);
  const rowPx = Math.max(MIN_ROW_PX, Math.min(MAX_ROW_PX, Math.floor(ROWS_PX / rows)));
  const gutterPx = widthPx < 560 ? 56 : 76;
  const upperPx = AXIS_PX + Math.max(1, first.rows) * rowPx;
  const lowerPx = Math.max(1, second.rows) * rowPx;
  const scale = timeScale(shown.fromMs, shown.toMs, Math.max(1, widthPx - gutterPx), NO_WARP);
  useTheme();
  useLayoutEffect(() => {
    if (upper.current === null || lower.current === null || widthPx === 0) return;
    const ink = inkOf(upper.current.parentElement!);
    const common = {
      clock: { kind: "calendar", zoneMs },
      scale,
      ink,
      widthPx,
      gutterPx,
      rowPx,
      scrolledPx: 0,
      marked: pinned,
    } as const;
    paint(upper.current, { ...common, data: before, arrangement: first, axisPx: AXIS_PX, heightPx: upperPx });
    paint(lower.current, { ...common, data: after, arrangement: second, axisPx: 0, heightPx: lowerPx });
  });
  /** The jobs whose bars are at a place of the picture. */
  const jobsAt = (x: number, y: number): ReadonlySet<number> => {
    const isUpper = y < upperPx;
    const [{ bars }, { jobs }] = isUpper ? [first, before] : [second, after];
    const row = Math.floor((y - (isUpper ? AXIS_PX : upperPx + GAP_PX)) / rowPx);
    if (x < gutterPx || row < 0) return new Set();
    return new Set(barsAt(bars, scale, row, x - gutterPx).map((bar) => jobs[bars.job[bar]].job));
  };
  useGestures(root, {
    onZoom: (factor, x) => onShow(zoomed(scale, factor, Math.max(0, x - gutterPx))),
    onPan: (deltaPx) => onShow(panned(scale, -deltaPx)),
    onSelect: () => {},
    onClick: (x, y) => {
      const [job, ...others] = jobsAt(x, y);
      // At a larger scale, each of these narrow bars can be clicked.
      if (others.length > 0) onShow(zoomed(scale, 0.25, x - gutterPx));
      else onPin(job === pinned ? undefined : job);
    },
    onHover: () => {},
    pansAt: () => true,
  });
  const changed = differences.filter(({ changeMs = 0 }) => Math.abs(changeMs) > NOTABLE_MS);
  const upperRows = rowsOf(first, before);
  const lowerRows = rowsOf(second, after);
  const lines = changed.slice(0, MAX_LINES).flatMap(({ job, before: was, after: then, changeMs = 0 }) => {
    const [from, to] = [upperRows.get(job), lowerRows.get(job)];
    const [fromMs, toMs] = [was?.p50Ms ?? was?.endP50Ms, then?.p50Ms ?? then?.endP50Ms];
    if (from === undefined || to === undefined || fromMs === undefined || toMs === undefined) return [];
    return {
      job,
      isLater: changeMs > 0,
      x1: gutterPx + scale.px(fromMs),
      y1: AXIS_PX + (from + 1) * rowPx - 1,
      x2: gutterPx + scale.px(toMs),
      y2: upperPx + GAP_PX + to * rowPx,
    };
  });
  const inSight = lines.filter(({ x1, x2 }) => Math.max(x1, x2) >= gutterPx && Math.min(x1, x2) <= widthPx);
  const heightPx = upperPx + GAP_PX + lowerPx;
  return (
    <figure class="what-if-picture">
      <div ref={root} style={{ height: `${heightPx}px` }}>
        <canvas
          ref={upper}
          role="img"
          aria-label="Expected times as it is. The table below says the same."
          style={{ width: `${widthPx}px`, height: `${upperPx}px` }}
        />
        <canvas
          ref={lower}
          role="img"
          aria-label="Expected times with the change. The table below says the same."
          style={{ width: `${widthPx}px`, height: `${lowerPx}px`, top: `${upperPx + GAP_PX}px` }}
        />
        <svg width={widthPx} height={heightPx} aria-hidden="true">
          <clipPath id="what-if-plot">
            <rect x={gutterPx} y={0} width={Math.max(0, widthPx - gutterPx)} height={heightPx} />
          </clipPath>
          <g clip-path="url(#what-if-plot)">
            {inSight.map(({ job, isLater, x1, y1, x2, y2 }) => (
              <line key={job} class={isLater ? "later" : "earlier"} x1={x1} y1={y1} x2={x2} y2={y2} />
            ))}
          </g>
        </svg>
      </div>
      <figcaption class="muted">
        Lines join the expected starts of a job, or its ends if it runs: dashed if it is later, solid if it is
        earlier. A click on a bar selects its job.
        {changed.length > MAX_LINES
          ? ` The ${formatCount(MAX_LINES)} largest losses of ${plural(changed.length, "job")} are drawn.`
          : ""}
      </figcaption>
    </figure>
  );
}

/** The row of each job. */
function rowsOf({ bars }: Arrangement, { jobs }: TimelineData): ReadonlyMap<number, number> {
  return new Map(Array.from(bars.job, (index, bar) => [jobs[index].job, bars.firstRow[bar]]));
}
