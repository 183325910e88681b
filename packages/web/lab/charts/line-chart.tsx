/** Lines over a common axis: drawn by uPlot, with a legend that hides lines, and a reading at the pointer. */

import { colourOf } from "@tutti/lab/report/svg/palette.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Button } from "../../page/parts.tsx";
import { type ChartTable, Figure } from "./figure.tsx";
import { type Lines, linesSvg } from "./lines.ts";
import { colours, dashOf } from "./theme.ts";

const HEIGHT_PX = 300;
/** Rows of the table; the CSV has all points. */
const TABLE_ROWS = 13;

interface LineChartProps {
  readonly lines: Lines;
  readonly note: string;
  /** Of saved files. */
  readonly name: string;
  /** Called when the user has drawn a span over the chart. */
  readonly onZoom?: (from: number, to: number) => void;
  readonly controls?: preact.ComponentChildren;
}

export function LineChart({ lines, note, name, onZoom, controls }: LineChartProps) {
  const { title, x, y, at, series } = lines;
  const place = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const look = colours.value;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const stroke = look.text;
    const grid = { stroke: look.line, width: 1 };
    const plot = new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { y: false, drag: { x: onZoom !== undefined, y: false, setScale: false } },
        scales: {
          x: { time: false, distr: x.isLogarithmic ? 3 : 1, range: [at[0] ?? 0, at.at(-1) ?? 1] },
          y: { range: (_plot, _min, max) => [0, y.max ?? (max > 0 ? 1.05 * max : 1)] },
        },
        axes: [
          {
            stroke,
            grid,
            ticks: grid,
            label: x.label,
            labelSize: 22,
            size: 32,
            ...(x.ticks === undefined
              ? {}
              : {
                  splits: x.ticks.filter((value) => value <= (at.at(-1) ?? 0)),
                  filter: (_plot: uPlot, splits: number[]) => splits,
                }),
            // On a logarithmic axis uPlot leaves out values that would overlap.
            values: (_plot, splits) =>
              splits.map((value) => (value === null ? "" : (x.tick ?? x.format)(value))),
          },
          {
            stroke,
            grid,
            ticks: grid,
            size: 64,
            values: (_plot, splits) => splits.map((value) => (y.tick ?? y.format)(value)),
          },
        ],
        series: [
          {},
          ...series.map(({ label, index }, i) => ({
            label,
            show: !hidden.has(label),
            stroke: colourOf(look, index ?? i),
            width: 1.6,
            dash: [...dashOf(index ?? i)],
            points: { show: false },
          })),
        ],
        hooks: {
          setCursor: [({ cursor }) => setPointed(cursor.idx ?? undefined)],
          setSelect: [
            (drawn) => {
              const { left, width } = drawn.select;
              if (width > 3) onZoom?.(drawn.posToVal(left, "x"), drawn.posToVal(left + width, "x"));
              drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            },
          ],
        },
      },
      [[...at], ...series.map(({ values }) => values.map((value) => (Number.isNaN(value) ? null : value)))],
      element,
    );
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT_PX }),
    );
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [lines, hidden, look, onZoom]);
  const toggle = (label: string) => {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    setHidden(next);
  };
  return (
    <Figure
      title={title}
      note={note}
      name={name}
      table={tableOf(lines)}
      csv={() => csvOf(lines)}
      svg={() => linesSvg(lines)}
      controls={controls}
    >
      <ul class="legend">
        {series.map(({ label, values, index }, i) => (
          <li key={label}>
            <Button class="small" aria-pressed={!hidden.has(label)} onClick={() => toggle(label)}>
              <svg width="26" height="8" aria-hidden="true">
                <line
                  x1="0"
                  x2="26"
                  y1="4"
                  y2="4"
                  stroke={colourOf(look, index ?? i)}
                  stroke-width="2.5"
                  stroke-dasharray={dashOf(index ?? i).join(" ")}
                />
              </svg>{" "}
              {label}
            </Button>
            {pointed === undefined ? null : <span class="muted"> {y.format(values[pointed])}</span>}
          </li>
        ))}
        <li class="muted">{pointed === undefined ? "" : `at ${x.format(at[pointed])}`}</li>
      </ul>
      <div ref={place} class="plot" role="img" aria-label={`${title}. The table below has the numbers.`} />
    </Figure>
  );
}

function tableOf({ x, y, at, series }: Lines): ChartTable {
  const count = Math.min(TABLE_ROWS, at.length);
  const places = Array.from({ length: count }, (_, row) =>
    Math.round((row * (at.length - 1)) / Math.max(1, count - 1)),
  );
  return {
    headings: [x.label, ...series.map(({ label }) => label)],
    rows: places.map((place) => [
      x.format(at[place]),
      ...series.map(({ values }) => y.format(values[place])),
    ]),
  };
}

function* csvOf({ x, at, series }: Lines): Generator<readonly (string | number)[]> {
  yield [x.label, ...series.map(({ label }) => label)];
  for (let i = 0; i < at.length; i++) yield [at[i], ...series.map(({ values }) => values[i])];
}
