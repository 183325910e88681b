/** How the waits and slowdowns of the jobs are distributed under each policy. */

import { formatDuration, formatNumber, formatPercent, largestTimeUnit } from "@tutti/kernel/core/format.ts";
import { GRID } from "@tutti/lab/report/page/curves.ts";
import { useMemo } from "preact/hooks";
import { LineChart } from "../charts/line-chart.tsx";
import { type Lines, wholePercent } from "../charts/lines.ts";
import type { Finished } from "../state.ts";

/** Round durations: 1 and 10 s, min, h and days. */
const WAIT_TICKS_S = [1, 10, 60, 600, 3600, 36_000, 86_400, 864_000, 8_640_000, 86_400_000];

export function Distributions({ done }: { readonly done: Finished }) {
  const waits = useMemo(() => linesOf(done, "wait"), [done]);
  const responses = useMemo(() => linesOf(done, "response"), [done]);
  const slowdowns = useMemo(() => linesOf(done, "slowdown"), [done]);
  return (
    <>
      <LineChart
        lines={waits}
        name="waits"
        note="Share of the jobs that wait at most this long; higher is better. The axis begins at one second, so its left end has all jobs that wait less."
      />
      <LineChart
        lines={responses}
        name="responses"
        note="Share of the jobs whose response, from submit to end, is at most this; higher is better."
      />
      <LineChart
        lines={slowdowns}
        name="slowdowns"
        note="Share of the jobs whose bounded slowdown is at most this; higher is better."
      />
    </>
  );
}

const TEXTS = {
  wait: ["How long jobs wait", "wait"],
  response: ["How long jobs take", "response"],
  slowdown: ["How much longer jobs take than alone", "bounded slowdown"],
} as const;

function linesOf({ comparison, curves }: Finished, metric: keyof typeof TEXTS): Lines {
  // All curves are 1 from the largest value on: there the chart ends.
  const last = Math.max(
    40,
    ...curves.map((run) => {
      const end = run[metric].indexOf(1);
      return end < 0 ? GRID.length - 1 : end;
    }),
  );
  const isTime = metric !== "slowdown";
  const [title, label] = TEXTS[metric];
  return {
    title,
    x: {
      label,
      format: (value) => (isTime ? formatDuration(value) : formatNumber(value)),
      isLogarithmic: true,
      ...(isTime && { ticks: WAIT_TICKS_S, tick: (value) => formatDuration(value, largestTimeUnit(value)) }),
    },
    y: { label: "share of the jobs", format: formatPercent, tick: wholePercent, max: 1 },
    at: Array.from(GRID.subarray(0, last + 1)),
    series: comparison.policies.map(({ label }, i) => ({
      label,
      values: Array.from(curves[i][metric].subarray(0, last + 1)),
    })),
  };
}
