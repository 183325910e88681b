/** The picture of a timeline: rows that scroll, under an axis that stays. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Area } from "./area.ts";
import type { TimelineJob } from "./data.ts";
import { barsAt } from "./detail.ts";
import { useGestures } from "./gestures.ts";
import { useTheme, useWidth } from "./measure.ts";
import { AXIS_PX, inkOf, type Picture, paint } from "./paint.ts";
import { panned, type Stretch, timeScale, type Warp, zoomed } from "./scale.ts";
import { detailLines, severalLines } from "./text.ts";

interface PictureProps extends Pick<Picture, "data" | "arrangement" | "clock" | "area"> {
  readonly shown: Stretch;
  readonly warp: Warp;
  readonly pinned: number | undefined;
  /** Most rows are below it and scroll. */
  readonly heightPx: number;
  readonly label: string;
  readonly onShow: (shown: Stretch) => void;
  readonly onPin: (job: number | undefined) => void;
  readonly onArea: (area: Area, isDone: boolean) => void;
}

interface Hover {
  readonly x: number;
  readonly y: number;
  readonly jobs: readonly TimelineJob[];
}

/** Heights of a row, by what it is. */
const JOB_ROW_PX = 20;
const LANE_ROW_PX = 18;
const MAX_CPU_ROW_PX = 22;
const MIN_CPU_ROW_PX = 2;

/** Width of the names of rows in a picture of this width. */
function gutterOf(kind: Picture["arrangement"]["kind"], widthPx: number): number {
  return widthPx < 560 ? (kind === "jobs" ? 84 : 76) : kind === "jobs" ? 150 : 110;
}

export function TimelinePicture(props: PictureProps) {
  const { data, arrangement, clock, area, shown, warp, pinned, label } = props;
  const scroller = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [scrolledPx, setScrolled] = useState(0);
  const [hover, setHover] = useState<Hover>();
  const widthPx = useWidth(scroller);
  const roomPx = props.heightPx - AXIS_PX;
  const rowPx = rowHeight(arrangement, roomPx);
  const rowsPx = arrangement.rows * rowPx;
  const heightPx = AXIS_PX + Math.max(3 * JOB_ROW_PX, Math.min(roomPx, rowsPx));
  const gutterPx = gutterOf(arrangement.kind, widthPx);
  const scale = timeScale(shown.fromMs, shown.toMs, Math.max(1, widthPx - gutterPx), warp);
  const rowAt = (y: number) => Math.floor((y - AXIS_PX + scrolledPx) / rowPx);
  const jobsAt = (x: number, y: number): TimelineJob[] => {
    if (x < gutterPx && arrangement.kind === "jobs" && y >= AXIS_PX) {
      const title = arrangement.groups[rowAt(y)];
      const bar = arrangement.bars.firstRow.indexOf(rowAt(y));
      return title === undefined || bar < 0 ? [] : [data.jobs[arrangement.bars.job[bar]]];
    }
    if (x < gutterPx || y < AXIS_PX) return [];
    const bars = barsAt(arrangement.bars, scale, rowAt(y), x - gutterPx);
    return [...new Set(bars.map((bar) => data.jobs[arrangement.bars.job[bar]]))];
  };
  useTheme();
  useLayoutEffect(() => {
    if (canvas.current === null || widthPx === 0) return;
    const ink = inkOf(canvas.current.parentElement!);
    const marked = hover?.jobs.length === 1 ? hover.jobs[0].job : pinned;
    paint(canvas.current, {
      ...{ data, arrangement, clock, area, scale, ink, marked },
      ...{ widthPx, heightPx, axisPx: AXIS_PX, gutterPx, rowPx, scrolledPx },
    });
  });
  // A job that is pinned by a key may be out of sight.
  useLayoutEffect(() => {
    const { bars } = arrangement;
    const bar = bars.job.findIndex((job) => data.jobs[job].job === pinned);
    if (bar < 0 || scroller.current === null) return;
    const top = bars.firstRow[bar] * rowPx;
    const { scrollTop } = scroller.current;
    if (top < scrollTop || top + rowPx > scrollTop + heightPx - AXIS_PX)
      scroller.current.scrollTop = Math.max(0, top - (heightPx - AXIS_PX) / 2);
    // Only when the user pins another job: later, the rows may be scrolled away from it.
  }, [pinned]);
  useGestures(canvas, {
    onZoom: (factor, x) => props.onShow(zoomed(scale, factor, Math.max(0, x - gutterPx))),
    onPan: (deltaPx) => props.onShow(panned(scale, -deltaPx)),
    onSelect: (fromX, fromY, toX, toY, isDone) => {
      const [left, right] = [fromX, toX].sort((a, b) => a - b);
      const [top, bottom] = [fromY, toY].sort((a, b) => a - b);
      const fromMs = scale.ms(Math.max(0, left - gutterPx));
      const toMs = scale.ms(Math.max(0, right - gutterPx));
      const firstRow = Math.max(0, Math.min(arrangement.rows - 1, rowAt(top)));
      const endRow = Math.max(firstRow + 1, Math.min(arrangement.rows, rowAt(bottom) + 1));
      setHover(undefined);
      if (Math.round(toMs) > Math.round(fromMs)) props.onArea({ fromMs, toMs, firstRow, endRow }, isDone);
    },
    onClick: (x, y) => {
      const jobs = jobsAt(x, y);
      if (jobs.length > 1) props.onShow(zoomed(scale, 0.25, x - gutterPx));
      else props.onPin(jobs[0]?.job === pinned ? undefined : jobs[0]?.job);
    },
    onHover: (place) => {
      const jobs = place === undefined ? [] : jobsAt(place.x, place.y);
      if (place !== undefined && jobs.length > 0) setHover({ ...place, jobs });
      else if (hover !== undefined) setHover(undefined);
    },
    pansAt: (_, y) => y < AXIS_PX,
  });
  return (
    <div class="timeline-picture">
      <section
        ref={scroller}
        class="timeline-rows"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys.
        tabIndex={0}
        aria-label={label}
        style={{ height: `${heightPx}px` }}
        onScroll={(event) => setScrolled(event.currentTarget.scrollTop)}
      >
        <div style={{ height: `${Math.max(heightPx, AXIS_PX + rowsPx)}px` }}>
          <canvas
            ref={canvas}
            style={{ width: `${widthPx}px`, height: `${heightPx}px` }}
            role="img"
            aria-label={`${label}. The table below says the same.`}
          />
        </div>
      </section>
      {hover === undefined ? null : (
        <div
          class="timeline-tip"
          aria-hidden="true"
          style={{
            ...(hover.x < widthPx / 2
              ? { left: `${hover.x + 14}px` }
              : { right: `${widthPx - hover.x + 14}px` }),
            top: `${Math.min(hover.y + 10, heightPx)}px`,
          }}
        >
          {(hover.jobs.length === 1 ? detailLines(data, hover.jobs[0]) : severalLines(hover.jobs)).map(
            (text) => (
              <div key={text}>{text}</div>
            ),
          )}
        </div>
      )}
    </div>
  );
}

function rowHeight({ kind, rows }: Picture["arrangement"], roomPx: number): number {
  if (kind !== "cpus") return kind === "jobs" ? JOB_ROW_PX : LANE_ROW_PX;
  return Math.max(MIN_CPU_ROW_PX, Math.min(MAX_CPU_ROW_PX, Math.floor(roomPx / Math.max(1, rows))));
}
