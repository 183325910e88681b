/** Two small pictures of a job: its CPUs among all, and when it is expected to start. */

import { plural } from "@tutti/kernel/core/format.ts";
import { cpusText, NodeTable, THIS_NODE } from "@tutti/kernel/core/machine.ts";
import { rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import type { Job, MatrixAnswer, WhyAnswer } from "@tutti/protocol/answers.ts";
import { expectedPhrase, expectedText, isRange } from "@tutti/words/expected.ts";
import { gangCss } from "../../page/gang-colours.ts";

interface CpuStripProps {
  readonly job: Job;
  readonly machine: Pick<MatrixAnswer, "cpus" | "nodes">;
}

export function CpuStrip({ job, machine }: CpuStripProps) {
  const table = new NodeTable(machine.nodes ?? [{ node: THIS_NODE, cpus: machine.cpus }]);
  const places = table
    .indicesOf(job.nodes ?? [{ node: THIS_NODE, cpus: job.cpus }])
    .filter((index) => index >= 0);
  const label = `${job.cpus.length === 1 ? "CPU" : "CPUs"} ${cpusText(job.cpus, job.nodes)} of ${plural(table.processors, "CPU")}`;
  return (
    <figure class="strip">
      <svg viewBox={`0 0 ${table.processors} 1`} preserveAspectRatio="none" role="img" aria-label={label}>
        <rect width={table.processors} height="1" class="idle" />
        {rangesOf(places).map(({ first, last }) => (
          <rect key={first} x={first} width={last - first + 1} height="1" fill={gangCss(job.job)} />
        ))}
      </svg>
      <figcaption>{label}</figcaption>
    </figure>
  );
}

interface StartStripProps {
  readonly forecast: NonNullable<WhyAnswer["forecast"]>;
  readonly nowMs: number;
}

/** From now to the end of the interval: the interval as a bar, the median as a line. */
export function StartStrip({ forecast, nowMs }: StartStripProps) {
  const { p10Ms, p50Ms, p90Ms } = forecast;
  const span = Math.max(1, (p90Ms - nowMs) * 1.08);
  const at = (ms: number) => (100 * Math.max(0, Math.min(span, ms - nowMs))) / span;
  return (
    <figure class="strip">
      <svg
        viewBox="0 0 100 1"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Expected to start ${expectedPhrase(forecast)}`}
      >
        <rect width="100" height="1" class="idle" />
        <rect x={at(p10Ms)} width={Math.max(0.6, at(p90Ms) - at(p10Ms))} height="1" class="interval" />
        {isRange(forecast) ? null : (
          <rect x={Math.max(0, at(p50Ms) - 0.3)} width="0.6" height="1" class="median" />
        )}
      </svg>
      <figcaption class="ends">
        <span>now</span>
        <span>{expectedText(forecast)}</span>
      </figcaption>
    </figure>
  );
}
