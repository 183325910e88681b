/** Tables of a timeline: the jobs in the selected area, and those in the time that is shown. */

import { formatCount, formatDuration } from "@tutti/kernel/core/format.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useState } from "preact/hooks";
import { Button, Headings } from "../page/parts.tsx";
import { saveFile } from "../page/save.ts";
import { type Area, sumsOf } from "./area.ts";
import { colourOf, extentOf, jobTitle, type TimelineData, type TimelineJob } from "./data.ts";
import type { Arrangement } from "./rows.ts";
import type { Stretch } from "./scale.ts";
import { cpusOf, endText, jobsCsv, startText, sumsText, timeTextOf } from "./text.ts";

/** Undefined for a job that has no page. */
export type JobHref = (job: TimelineJob) => string | undefined;

interface TableProps {
  readonly data: TimelineData;
  readonly jobHref?: JobHref | undefined;
}

/** More rows are shown by a button: a table of 100,000 rows would stop the page. */
const PAGE_ROWS = 100;

export function AreaTable({
  data,
  jobHref,
  arrangement,
  area,
  onClear,
}: TableProps & { readonly arrangement: Arrangement; readonly area: Area; readonly onClear: () => void }) {
  const sums = sumsOf(data, arrangement, area);
  const [count, setCount] = useState(PAGE_ROWS);
  return (
    <section class="timeline-area" aria-label="Selected area">
      <p role="status">
        <strong>{sumsText(sums, area)}</strong>
      </p>
      <p class="muted">
        From {timeTextOf(data, area.fromMs)} to {timeTextOf(data, area.toMs)}
      </p>
      <div class="row">
        <Button onClick={onClear}>Clear the selection</Button>
        <SaveCsv data={data} jobs={sums.jobs.map(({ index }) => data.jobs[index])} />
      </div>
      <div class="scroll">
        <table>
          <Headings
            titles={["job", "user", "CPU time used", "expected", "start", "end"]}
            isNumber={(column) => column === 2 || column === 3}
          />
          <tbody>
            {sums.jobs.slice(0, count).map(({ index, usedCpuMs, expectedCpuMs }) => {
              const job = data.jobs[index];
              return (
                <tr key={job.job}>
                  <td>
                    <JobName data={data} job={job} jobHref={jobHref} />
                  </td>
                  <td>{visibleLine(job.user ?? "")}</td>
                  <td class="number">{formatDuration(usedCpuMs / 1000)}</td>
                  <td class="number">{expectedCpuMs > 0 ? formatDuration(expectedCpuMs / 1000) : ""}</td>
                  <td>{startText(data, job)}</td>
                  <td>{endText(data, job)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <More rows={sums.jobs.length} count={count} onMore={setCount} />
    </section>
  );
}

/** The same as the picture, for screen readers and for copying. */
export function TwinTable({ data, jobHref, shown }: TableProps & { readonly shown: Stretch }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="timeline-twin" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The jobs as a table</summary>
      {isOpen ? <TwinRows data={data} jobHref={jobHref} shown={shown} /> : null}
    </details>
  );
}

function TwinRows({ data, jobHref, shown }: TableProps & { readonly shown: Stretch }) {
  const [count, setCount] = useState(PAGE_ROWS);
  const jobs = data.jobs.filter((job) => {
    const extent = extentOf(job, data.nowMs);
    return extent === undefined || (extent.fromMs <= shown.toMs && extent.toMs >= shown.fromMs);
  });
  return (
    <>
      <div class="row">
        <p>
          {formatCount(jobs.length)} jobs from {timeTextOf(data, shown.fromMs)} to{" "}
          {timeTextOf(data, shown.toMs)}
        </p>
        <SaveCsv data={data} jobs={jobs} />
      </div>
      <div class="scroll">
        <table>
          <Headings
            titles={["job", "user", "queue", "state", "CPUs", "on", "start", "end"]}
            isNumber={() => false}
          />
          <tbody>
            {jobs.slice(0, count).map((job) => (
              <tr key={job.job}>
                <td>
                  <JobName data={data} job={job} jobHref={jobHref} />
                </td>
                <td>{visibleLine(job.user ?? "")}</td>
                <td>{visibleLine(job.queue ?? "")}</td>
                <td>{job.state ?? ""}</td>
                <td class="number">{formatCount(job.tasks)}</td>
                <td class="timeline-cpus">{cpusOf(data, job)}</td>
                <td>{startText(data, job)}</td>
                <td>{endText(data, job)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More rows={jobs.length} count={count} onMore={setCount} />
    </>
  );
}

interface MoreProps {
  readonly rows: number;
  readonly count: number;
  readonly onMore: (count: number) => void;
}

function More({ rows, count, onMore }: MoreProps) {
  if (rows <= count) return null;
  return (
    <Button onClick={() => onMore(count + 10 * PAGE_ROWS)}>
      Show more: {formatCount(rows - count)} are left
    </Button>
  );
}

/** A job with its colour, as a link if it can be opened. */
export function JobName({
  data,
  job,
  jobHref,
}: {
  readonly data: TimelineData;
  readonly job: TimelineJob;
  readonly jobHref?: JobHref | undefined;
}) {
  const href = jobHref?.(job);
  return (
    <>
      <span
        class="timeline-swatch"
        style={{ background: `rgb(${colourOf(data, job).join(" ")})` }}
        aria-hidden="true"
      />
      {href === undefined ? jobTitle(job) : <a href={href}>{jobTitle(job)}</a>}
    </>
  );
}

function SaveCsv({ data, jobs }: { readonly data: TimelineData; readonly jobs: readonly TimelineJob[] }) {
  return (
    <Button onClick={() => saveFile("timeline.csv", [jobsCsv(data, jobs)], "text/csv")}>Save as CSV</Button>
  );
}
