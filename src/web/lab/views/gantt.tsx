/** Which job ran where and when, under one policy. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { asGiven } from "../../../core/schedule.ts";
import { formatCount, formatDuration, formatNumber } from "../../../report/text/format.ts";
import type { ComparedPolicy } from "../../../results/comparison.ts";
import { gangColour, gangRgb } from "../../page/gang-colours.ts";
import { useKey } from "../../page/keys.ts";
import { address, goTo, setQuery } from "../../page/navigation.ts";
import { Figure } from "../charts/figure.tsx";
import {
  boxAt,
  boxesIn,
  type GanttView,
  ganttSvg,
  MAX_SVG_BOXES,
  paintGantt,
} from "../charts/gantt-picture.ts";
import { colours } from "../charts/theme.ts";
import { deal, type Finished } from "../state.ts";
import type { Boxes } from "../worker/deal.ts";
import { setSpan, shownSpan, wholeSpan } from "./over-time.tsx";
import { chosenPolicy, PolicySelect } from "./policy-select.tsx";

const HEIGHT_PX = 460;
const TABLE_ROWS = 100;
/** Bounds of the classes of waits, in seconds: none, and up to these. */
const WAITS_S = [60, 3600, 86_400];

export function Gantt({ done }: { readonly done: Finished }) {
  const { policies } = done.comparison;
  const policy = chosenPolicy(policies.length);
  const boxes = useBoxes(done, policy);
  if (boxes === undefined) return <p role="status">Assigning processors to the jobs.</p>;
  if (typeof boxes === "string") {
    return (
      <>
        <PolicySelect policies={policies} />
        <p role="alert" class="alarm">
          {boxes}
        </p>
      </>
    );
  }
  return <GanttChart done={done} policy={policies[policy]} boxes={boxes} />;
}

/** Those of gangs are known; those of space sharing are assigned in a worker. */
function useBoxes(done: Finished, policy: number): Boxes | string | undefined {
  const [made, setMade] = useState<{ readonly of: string; readonly boxes: Boxes | string }>();
  const { matrix, schedule, label } = done.comparison.policies[policy];
  const gangs = useMemo(() => {
    if (matrix === undefined) return undefined;
    const { boxJob: job, boxFirst: first, boxSize: size } = matrix;
    return {
      ...{ job, first, size },
      startS: Float64Array.from(job, (row) => schedule.startS[row]),
      endS: Float64Array.from(job, (row) => schedule.endS[row]),
    };
  }, [matrix, schedule]);
  useEffect(() => {
    let isCurrent = true;
    const show = (boxes: Boxes | string) => isCurrent && setMade({ of: label, boxes });
    if (gangs === undefined) deal(done, policy).then(show, (error: Error) => show(error.message));
    return () => {
      isCurrent = false;
    };
  }, [done, policy, label, gangs]);
  return gangs ?? (made?.of === label ? made.boxes : undefined);
}

interface GanttChartProps {
  readonly done: Finished;
  readonly policy: ComparedPolicy;
  readonly boxes: Boxes;
}

function GanttChart({ done, policy, boxes }: GanttChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const [width, setWidth] = useState(0);
  const instance = asGiven(done.comparison.instance, policy.schedule);
  const whole = wholeSpan(done);
  const span = shownSpan(whole);
  const { fromS, toS } = span;
  const isByWait = address.value.query.colour !== "job";
  const { waits } = colours.value;
  const view: GanttView = {
    ...span,
    processors: instance.processors,
    colour: isByWait
      ? (job) => rgbOf(waits[waitClass(policy.schedule.startS[job] - instance.submitS[job])])
      : (job) => gangRgb(gangColour(instance.id[job])),
  };
  const nameOf = (job: number) => jobText(instance, policy, job, whole.fromS);
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const resized = new ResizeObserver(() => setWidth(element.clientWidth));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (element === null || context === null || context === undefined || width === 0) return;
    element.width = width * devicePixelRatio;
    element.height = HEIGHT_PX * devicePixelRatio;
    const image = context.createImageData(element.width, element.height);
    paintGantt(image, boxes, view);
    context.putImageData(image, 0, 0);
  }, [boxes, fromS, toS, isByWait, waits, width]);
  const move = (share: number) => {
    const step = Math.max(whole.fromS - fromS, Math.min(whole.toS - toS, share * (toS - fromS)));
    setSpan(whole, fromS + step, toS + step);
  };
  const zoom = (factor: number) => {
    const middleS = (fromS + toS) / 2;
    const half = Math.max(0.5, (factor * (toS - fromS)) / 2);
    setSpan(whole, Math.max(whole.fromS, middleS - half), Math.min(whole.toS, middleS + half));
  };
  useKey("a", "earlier (Gantt chart)", () => move(-0.3));
  useKey("d", "later (Gantt chart)", () => move(0.3));
  useKey("w", "zoom in (Gantt chart)", () => zoom(0.5));
  useKey("s", "zoom out (Gantt chart)", () => zoom(2));
  useKey("f", "show the whole run (Gantt chart)", () => setQuery({ from: "", to: "" }, true));
  const drag = useDrag((from, to) =>
    setSpan(whole, fromS + from * (toS - fromS), fromS + to * (toS - fromS)),
  );
  const shownBoxes = useMemo(() => boxesIn(boxes, { fromS, toS }), [boxes, fromS, toS]);
  const title = `Which job ran where under ${policy.label}`;
  const isGang = policy.summary.gang !== undefined;
  const hovered = pointed === undefined ? undefined : boxes.job[pointed];
  return (
    <Figure
      title={title}
      name={`gantt-${policy.label.replaceAll(/\W+/g, "-")}`}
      note={`${formatCount(shownBoxes.length)} boxes in ${formatDuration(toS - fromS)}, from ${formatDuration(fromS - whole.fromS)} after the first submit. A box is a job on consecutive processors.${isGang ? " Gangs that share processors overlap; a box is where the gang was placed first." : " Jobs get the free processors with the lowest numbers."} Drag to zoom; click a job for its story.`}
      table={tableOf(shownBoxes, boxes, instance, policy, whole.fromS)}
      csv={() => csvOf(shownBoxes, boxes, instance, policy)}
      svg={() =>
        ganttSvg(
          title,
          boxes,
          view,
          shownBoxes.length > MAX_SVG_BOXES ? canvas.current?.toDataURL("image/png") : undefined,
          nameOf,
        )
      }
    >
      <div class="row">
        <PolicySelect policies={done.comparison.policies} />
        <label>
          Colour
          <select
            value={isByWait ? "wait" : "job"}
            onChange={({ currentTarget }) => setQuery({ colour: currentTarget.value })}
          >
            <option value="wait">by wait</option>
            <option value="job">by job</option>
          </select>
        </label>
        <button type="button" onClick={() => move(-0.3)}>
          Earlier
        </button>
        <button type="button" onClick={() => move(0.3)}>
          Later
        </button>
        <button type="button" onClick={() => zoom(0.5)}>
          Zoom in
        </button>
        <button type="button" onClick={() => zoom(2)}>
          Zoom out
        </button>
        <button type="button" onClick={() => setQuery({ from: "", to: "" }, true)}>
          Whole run
        </button>
      </div>
      {isByWait ? <WaitLegend colours={waits} /> : null}
      <div
        class="gantt"
        onPointerDown={drag.down}
        onPointerMove={(event) => {
          const { x, y } = shareOf(event);
          drag.move(event);
          setPointed(boxAt(boxes, view, x, y));
        }}
        onPointerUp={(event) => {
          if (drag.up(event) || hovered === undefined) return;
          goTo("results", [], { ...address.value.query, tab: "longest", job: String(instance.id[hovered]) });
        }}
        onPointerLeave={() => setPointed(undefined)}
      >
        <canvas ref={canvas} role="img" aria-label={`${title}. The table below has the jobs.`} />
        <div class="brush" ref={drag.brush} hidden />
      </div>
      <div class="row muted ends">
        <span>{formatDuration(fromS - whole.fromS)}</span>
        <span>{formatDuration(toS - whole.fromS)} after the first submit</span>
      </div>
      <p class="under">{hovered === undefined ? "Point at a box to see its job." : nameOf(hovered)}</p>
    </Figure>
  );
}

function WaitLegend({ colours: shades }: { readonly colours: readonly string[] }) {
  const texts = ["no wait", "up to 1 min", "up to 1 h", "up to 1 d", "longer"];
  return (
    <ul class="legend">
      {texts.map((text, i) => (
        <li key={text}>
          <svg width="14" height="12" aria-hidden="true">
            <rect width="14" height="12" fill={shades[i]} />
          </svg>{" "}
          {text}
        </li>
      ))}
    </ul>
  );
}

/** A span that is drawn with the pointer, as shares of the width. */
function useDrag(onSpan: (from: number, to: number) => void) {
  const from = useRef<number | undefined>(undefined);
  const brush = useRef<HTMLDivElement>(null);
  const show = (to: number | undefined) => {
    const element = brush.current;
    if (element === null) return;
    element.hidden = to === undefined || from.current === undefined;
    if (to === undefined || from.current === undefined) return;
    element.style.left = `${100 * Math.min(from.current, to)}%`;
    element.style.width = `${100 * Math.abs(to - from.current)}%`;
  };
  return {
    brush,
    down: (event: PointerEvent & { readonly currentTarget: HTMLElement }) => {
      from.current = shareOf(event).x;
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    move: (event: PointerEvent & { readonly currentTarget: HTMLElement }) => show(shareOf(event).x),
    /** Whether a span was drawn, and not just a place clicked. */
    up: (event: PointerEvent & { readonly currentTarget: HTMLElement }): boolean => {
      const to = shareOf(event).x;
      const begin = from.current;
      from.current = undefined;
      show(undefined);
      if (begin === undefined || Math.abs(to - begin) < 0.005) return false;
      onSpan(Math.min(begin, to), Math.max(begin, to));
      return true;
    },
  };
}

function shareOf({
  clientX,
  clientY,
  currentTarget,
}: PointerEvent & { readonly currentTarget: HTMLElement }) {
  const { left, top, width, height } = currentTarget.getBoundingClientRect();
  const share = (value: number) => Math.max(0, Math.min(1, value));
  return { x: share((clientX - left) / width), y: share((clientY - top) / height) };
}

type Jobs = ReturnType<typeof asGiven>;

function jobText(
  { id, submitS, size }: Jobs,
  { schedule }: ComparedPolicy,
  job: number,
  firstS: number,
): string {
  const { startS, endS } = schedule;
  return `Job ${id[job]}: ${size[job] === 1 ? "1 processor" : `${formatCount(size[job])} processors`}, started ${formatDuration(startS[job] - firstS)} after the first submit, in the system until ${formatDuration(endS[job] - firstS)}, waited ${formatDuration(startS[job] - submitS[job])}`;
}

function tableOf(shown: readonly number[], boxes: Boxes, jobs: Jobs, policy: ComparedPolicy, firstS: number) {
  const rows = [...new Set(shown.map((box) => boxes.job[box]))];
  const { startS, endS } = policy.schedule;
  const seconds = (timeS: number) => formatNumber(timeS - firstS);
  return {
    headings: [
      rows.length > TABLE_ROWS ? `job (the first ${TABLE_ROWS} of ${formatCount(rows.length)})` : "job",
      "processors",
      "submit (s)",
      "start (s)",
      "end (s)",
      "wait (s)",
    ],
    rows: rows
      .slice(0, TABLE_ROWS)
      .map((job) => [
        String(jobs.id[job]),
        formatCount(jobs.size[job]),
        seconds(jobs.submitS[job]),
        seconds(startS[job]),
        seconds(endS[job]),
        formatNumber(startS[job] - jobs.submitS[job]),
      ]),
  };
}

function* csvOf(
  shown: readonly number[],
  boxes: Boxes,
  jobs: Jobs,
  { schedule }: ComparedPolicy,
): Generator<readonly (string | number)[]> {
  yield ["job", "first_processor", "processors", "submit_s", "start_s", "end_s", "wait_s"];
  for (const box of shown) {
    const job = boxes.job[box];
    const waitS = schedule.startS[job] - jobs.submitS[job];
    yield [
      jobs.id[job],
      boxes.first[box],
      boxes.size[box],
      jobs.submitS[job],
      boxes.startS[box],
      boxes.endS[box],
      waitS,
    ];
  }
}

function waitClass(waitS: number): number {
  if (waitS <= 0) return 0;
  const bound = WAITS_S.findIndex((limitS) => waitS <= limitS);
  return bound < 0 ? WAITS_S.length + 1 : bound + 1;
}

function rgbOf(hexadecimal: string): readonly [number, number, number] {
  const value = Number.parseInt(hexadecimal.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
