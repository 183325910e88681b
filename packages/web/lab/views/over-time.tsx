/** The machine over time: utilisation and queue. A span that is drawn over a chart is shown alone. */

import {
  formatDuration,
  formatNumber,
  formatPercent,
  type TimeUnit,
  timeUnit,
} from "@tutti/kernel/core/format.ts";
import { resample, type StepFunction } from "@tutti/kernel/metrics/over-time.ts";
import type { TimeSpan } from "@tutti/lab/report/page/boxes.ts";
import { useMemo } from "preact/hooks";
import { address, setQuery } from "../../page/navigation.ts";
import { Button, Choice } from "../../page/parts.tsx";
import { LineChart } from "../charts/line-chart.tsx";
import { type Lines, wholePercent } from "../charts/lines.ts";
import type { Finished } from "../state.ts";

const BUCKETS = 480;
/** Texts of a chart over time. */
const CURVES = {
  inUse: "Utilisation over time",
  queue: "Queue over time",
  rows: "Rows of the matrix over time",
} as const;

export function OverTime({ done }: { readonly done: Finished }) {
  const whole = useMemo(() => wholeSpan(done), [done]);
  const { fromS, toS } = shownSpan(whole);
  const isGang = done.comparison.policies.some(({ summary }) => summary.gang !== undefined);
  const utilisation = useMemo(() => linesOf(done, whole, { fromS, toS }, "inUse"), [done, whole, fromS, toS]);
  const ofQueue = address.value.query.queue === "longest" ? "longest" : "mean";
  const queue = useMemo(
    () => linesOf(done, whole, { fromS, toS }, "queue", ofQueue),
    [done, whole, fromS, toS, ofQueue],
  );
  const rows = useMemo(() => linesOf(done, whole, { fromS, toS }, "rows"), [done, whole, fromS, toS]);
  const zoom = useMemo(() => {
    const { seconds } = unitOf(whole, toS);
    return (from: number, to: number) =>
      setSpan(whole, whole.fromS + from * seconds, whole.fromS + to * seconds);
  }, [whole, toS]);
  const controls =
    fromS === whole.fromS && toS === whole.toS ? null : (
      <Button class="small" onClick={() => setQuery({ from: "", to: "" }, true)}>
        Show the whole run
      </Button>
    );
  const note = "Drag over the chart to look at a part of the time.";
  return (
    <>
      <LineChart
        lines={utilisation}
        name="utilisation"
        note={`Processors of the running jobs as a share of the machine, averaged over intervals of ${formatDuration((toS - fromS) / BUCKETS)}.${isGang ? " Where rows take turns, it exceeds 100 % as soon as there is more than one full row." : ""} ${note}`}
        onZoom={zoom}
        controls={controls}
      />
      <LineChart
        lines={queue}
        name="queue"
        note={`Jobs that are submitted but not started. ${note}`}
        onZoom={zoom}
        controls={
          <>
            <Choice
              title="In each interval"
              value={ofQueue}
              options={[
                ["mean", "the mean"],
                ["longest", "the longest"],
              ]}
              onChoose={(queue) => setQuery({ queue: queue === "mean" ? "" : queue })}
            />
            {controls}
          </>
        }
      />
      {rows.series.length === 0 ? null : (
        <LineChart
          lines={rows}
          name="rows"
          note={`Each row gets one slot per round, so a job in one row runs at 1/rows of its speed. Only policies with time sharing have rows. ${note}`}
          onZoom={zoom}
          controls={controls}
        />
      )}
    </>
  );
}

/** The span in the address, in seconds after the first submit; the whole run if there is none. */
export function shownSpan(whole: TimeSpan): TimeSpan {
  const { from = "", to = "" } = address.value.query;
  const fromS = whole.fromS + Number(from);
  const toS = whole.fromS + Number(to);
  const isSpan = from !== "" && to !== "" && fromS >= whole.fromS && toS <= whole.toS && toS - fromS >= 1;
  return isSpan ? { fromS, toS } : whole;
}

export function setSpan(whole: TimeSpan, fromS: number, toS: number, keepStep = true): void {
  const digits = (timeS: number) => String(Math.round(timeS * 1000) / 1000);
  if (toS - fromS < 1) return;
  const [from, to] = [Math.max(0, fromS - whole.fromS), Math.min(toS, whole.toS) - whole.fromS];
  const isWhole = from === 0 && to === whole.toS - whole.fromS;
  setQuery(isWhole ? { from: "", to: "" } : { from: digits(from), to: digits(to) }, keepStep);
}

/** From the first submit to the last end under any policy, and at least a second. */
export function wholeSpan({ curves, facts: { firstSubmitS: fromS } }: Finished): TimeSpan {
  return { fromS, toS: Math.max(fromS + 1, ...curves.map(({ inUse }) => inUse.atS.at(-1) ?? 0)) };
}

const UNIT_WORDS = { s: "seconds", min: "minutes", h: "hours", d: "days" } as const;

/** The axis counts in this unit, so that its ticks are round numbers. */
function unitOf(whole: TimeSpan, toS: number): TimeUnit {
  return timeUnit(toS - whole.fromS);
}

function linesOf(
  { comparison, curves }: Finished,
  whole: TimeSpan,
  { fromS, toS }: TimeSpan,
  quantity: keyof typeof CURVES,
  of: "mean" | "longest" = "mean",
): Lines {
  const isUse = quantity === "inUse";
  const scale = isUse ? 1 / comparison.instance.processors : 1;
  const valuesOf = (steps: StepFunction) =>
    Array.from(
      resample(steps, fromS, toS, BUCKETS)[of === "mean" ? "mean" : "max"],
      (value) => value * scale,
    );
  const unit = unitOf(whole, toS);
  return {
    title: CURVES[quantity],
    x: {
      label: `${UNIT_WORDS[unit.name]} after the first submit`,
      format: (time) => formatDuration(time * unit.seconds, unit),
      tick: formatNumber,
    },
    y: {
      label: isUse ? "utilisation" : quantity === "queue" ? "jobs" : "rows",
      format: isUse ? formatPercent : formatNumber,
      ...(isUse && { tick: wholePercent }),
    },
    at: Array.from(
      { length: BUCKETS },
      (_, i) => (fromS - whole.fromS + ((i + 0.5) * (toS - fromS)) / BUCKETS) / unit.seconds,
    ),
    series: comparison.policies.flatMap(({ label }, i) => {
      const curve = of === "longest" ? curves[i].longestQueue : curves[i][quantity];
      return curve === undefined ? [] : [{ label, values: valuesOf(curve), index: i }];
    }),
  };
}
