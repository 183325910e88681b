/** The columns of the list of jobs. */

import { NO_VALUE } from "@tutti/kernel/core/format.ts";
import type { Job } from "@tutti/protocol/answers.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { jobName, remarkText, stateText } from "@tutti/words/jobs.ts";
import { elapsedText, limitCell } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { ComponentChildren } from "preact";
import { gangCss } from "../../page/gang-colours.ts";
import { elapsedMs, waitedMs } from "./filter.ts";

export interface JobColumn {
  /** In the address: the order by this column. Empty: the list cannot be ordered by it. */
  readonly sort: string;
  readonly title: string;
  /** What the numbers of the column are; shown by hovering. */
  readonly unit?: string;
  readonly isNumber?: true;
  /** Left out on narrow screens. */
  readonly isWide?: true;
  readonly text: (job: Job, nowMs: number) => string;
  /** Drawn instead of the text. */
  readonly draw?: (job: Job) => ComponentChildren;
}

const TIME = "hours, minutes, seconds";

export const COLUMNS: readonly JobColumn[] = [
  { sort: "name", title: "name", text: jobName, draw: (job) => <Name job={job} /> },
  { sort: "state", title: "state", text: ({ state }) => stateText(state) },
  { sort: "user", title: "user", isWide: true, text: ({ user }) => visibleLine(user) },
  { sort: "queue", title: "queue", isWide: true, text: ({ queue }) => visibleLine(queue) },
  { sort: "cpus", title: "CPUs", isNumber: true, text: (job) => String(processorsOf(job)) },
  {
    sort: "wait",
    title: "waited",
    unit: TIME,
    isNumber: true,
    text: (job, nowMs) => elapsedText(waitedMs(job, nowMs)),
  },
  {
    sort: "elapsed",
    title: "since start",
    unit: TIME,
    isNumber: true,
    isWide: true,
    text: (job, nowMs) => {
      const ms = elapsedMs(job, nowMs);
      return ms === undefined ? NO_VALUE : elapsedText(ms);
    },
  },
  {
    sort: "limit",
    title: "limit",
    unit: TIME,
    isNumber: true,
    isWide: true,
    text: ({ limitMs }) => limitCell(limitMs),
  },
  { sort: "", title: "remark", isWide: true, text: remarkText },
];

/** Running jobs have the colour of their gang, as in the matrix. */
function Name({ job }: { readonly job: Job }) {
  const isPlaced = job.state === "running" || job.state === "ending";
  return (
    <>
      <span
        class="swatch"
        aria-hidden="true"
        style={{ background: isPlaced ? gangCss(job.job) : "transparent" }}
      />
      {jobName(job)}
    </>
  );
}
