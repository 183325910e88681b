/** Jobs that have ended: sums by user or queue, how long they waited, and how much they were slowed down. */
import { messageOf } from "@tutti/kernel/core/errors.ts";
import "../history/history.css";
import {
  durationColumn,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  NO_VALUE,
  plural,
} from "@tutti/kernel/core/format.ts";
import { GRID, sharesUpTo } from "@tutti/lab/report/page/curves.ts";
import { csvLine } from "@tutti/lab/report/text/csv.ts";
import type { Job, JobsAnswer } from "@tutti/protocol/answers.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { ENDED_STATES } from "@tutti/protocol/states.ts";
import { spreadsheetCell } from "@tutti/words/spreadsheet.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useEffect, useMemo, useState } from "preact/hooks";
import { LineChart } from "../../lab/charts/line-chart.tsx";
import { type Lines, wholePercent } from "../../lab/charts/lines.ts";
import { address, linkTo, setQuery } from "../../page/navigation.ts";
import { Alarm, Button, Choice, Headings, Scrollable } from "../../page/parts.tsx";
import { saveFile } from "../../page/save.ts";
import { ask } from "../client.ts";
import { boundedSlowdown, type Sum, sumOf, sumsBy, waitS } from "../history/sums.ts";
import { jobs, loaded } from "../store.ts";

/** The shares of fewer jobs are a step or two, which the table says better. */
const FEWEST_DRAWN = 5;
const HOUR_MS = 3_600_000;
const PERIODS: readonly { readonly id: string; readonly label: string; readonly ms: number }[] = [
  { id: "1h", label: "last hour", ms: HOUR_MS },
  { id: "24h", label: "last 24 hours", ms: 24 * HOUR_MS },
  { id: "7d", label: "last 7 days", ms: 7 * 24 * HOUR_MS },
  { id: "", label: "all kept", ms: Number.POSITIVE_INFINITY },
];

export function History() {
  const [all, setAll] = useState<readonly Job[]>([]);
  const [share, setShare] = useState(0);
  const [problem, setProblem] = useState("");
  const [round, setRound] = useState(0);
  const isReady = loaded.value === 1;
  useEffect(() => {
    if (!isReady) return;
    const stop = new AbortController();
    setProblem("");
    loadHistory(stop.signal, (jobs, part) => {
      setAll(jobs);
      setShare(part);
    }).catch((error) => {
      if (!stop.signal.aborted) setProblem(messageOf(error));
    });
    return () => stop.abort();
  }, [isReady, round]);
  const { period: asked = "", by: askedBy } = address.value.query;
  const by = askedBy === "queue" ? "queue" : "user";
  const period = PERIODS.find(({ id }) => id === asked) ?? PERIODS[PERIODS.length - 1];
  const jobs = useMemo(() => {
    const fromMs = Date.now() - period.ms;
    return all.filter(({ endedAtMs = 0 }) => endedAtMs >= fromMs);
  }, [all, period]);
  return (
    <>
      <h1>History</h1>
      <div class="row">
        <Choice
          label="Period"
          value={period.id}
          options={PERIODS.map(({ id, label }) => [id, label])}
          onChoose={(period) => setQuery({ period }, true)}
        />
        <Choice
          label="Sums by"
          value={by}
          options={[
            ["user", "by user"],
            ["queue", "by queue"],
          ]}
          onChoose={(by) => setQuery({ by }, true)}
        />
        <Button onClick={() => setRound(round + 1)}>Load again</Button>
        <Button disabled={jobs.length === 0} onClick={() => save(jobs)}>
          CSV of the jobs
        </Button>
        <span role="status" class="muted push">
          {share < 1 ? `Loading: ${Math.floor(100 * share)} %` : plural(jobs.length, "ended job")}
        </span>
      </div>
      <Alarm>{problem}</Alarm>
      {jobs.length === 0 ? <p>No jobs ended in this period.</p> : <Found jobs={jobs} by={by} />}
      <p class="muted">
        Among the {formatCount(MAX_HISTORY)} newest jobs. The same on the command line:{" "}
        <code>tutti jobs --ended</code>, and <code>tutti export</code> for a trace.
      </p>
    </>
  );
}

function Found({ jobs, by }: { readonly jobs: readonly Job[]; readonly by: "user" | "queue" }) {
  const sums = useMemo(() => sumsBy(jobs, (job) => job[by]), [jobs, by]);
  const waits = useMemo(() => linesOf(jobs, "wait"), [jobs]);
  const slowdowns = useMemo(() => linesOf(jobs, "slowdown"), [jobs]);
  return (
    <>
      <Sums sums={sums} total={sumOf("all", jobs)} by={by} />
      {jobs.length < FEWEST_DRAWN ? null : (
        <div class="charts">
          <LineChart
            lines={waits}
            name="waits"
            note="Share of the jobs that waited at most this long. The axis begins at one second."
          />
          <LineChart
            lines={slowdowns}
            name="slowdowns"
            note="Share of the jobs whose response ÷ running time is at most this; running times count from 10 s."
          />
        </div>
      )}
    </>
  );
}

interface SumsProps {
  readonly sums: readonly Sum[];
  readonly total: Sum;
  readonly by: "user" | "queue";
}

function Sums({ sums, total, by }: SumsProps) {
  const rows = [...sums, total];
  const waits = durationColumn(rows.flatMap(({ medianWaitS, p90WaitS }) => [medianWaitS, p90WaitS]));
  const cpuTimes = durationColumn(rows.map(({ cpuS }) => cpuS));
  const waitText = (seconds: number) => (Number.isNaN(seconds) ? NO_VALUE : waits.format(seconds));
  const headings = ["jobs", "done", "failed", "cancelled", cpuTimes.heading("CPU time")];
  return (
    <Scrollable label={`Sums by ${by}`}>
      <table class="sums">
        <Headings titles={[by, ...headings, waits.heading("median wait"), waits.heading("90 % wait")]} />
        <tbody>
          {rows.map((sum) => (
            <tr key={sum === total ? "" : `=${sum.key}`}>
              <th scope="row" class="long">
                {sum === total ? (
                  "all"
                ) : (
                  <a href={linkTo("jobs", [], { [by]: sum.key })}>{visibleLine(sum.key)}</a>
                )}
              </th>
              {[sum.jobs, sum.done, sum.failed, sum.cancelled].map((count, i) => (
                <td key={headings[i]} class="number">
                  {formatCount(count)}
                </td>
              ))}
              <td class="number">{cpuTimes.format(sum.cpuS)}</td>
              <td class="number">{waitText(sum.medianWaitS)}</td>
              <td class="number">{waitText(sum.p90WaitS)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function linesOf(jobs: readonly Job[], metric: "wait" | "slowdown"): Lines {
  const isWait = metric === "wait";
  const shares = sharesUpTo(Float64Array.from(jobs, isWait ? waitS : boundedSlowdown));
  // The curve is 1 from the largest value on: there the chart ends.
  const end = shares.indexOf(1);
  const last = Math.max(40, end < 0 ? GRID.length - 1 : end);
  return {
    title: isWait ? "How long jobs waited" : "How much longer jobs took than alone",
    x: {
      label: isWait ? "wait" : "bounded slowdown",
      format: (value) => (isWait ? formatDuration(value) : formatNumber(value)),
      isLogarithmic: true,
    },
    y: { label: "share of the jobs", format: formatPercent, tick: wholePercent, max: 1 },
    at: Array.from(GRID.subarray(0, last + 1)),
    series: [{ label: "ended jobs", values: Array.from(shares.subarray(0, last + 1)) }],
  };
}

const iso = (ms: number | undefined) => (ms === undefined ? "" : new Date(ms).toISOString());

function save(jobs: readonly Job[]): void {
  const heading = "job,name,user,queue,state,cpus,submitted,started,ended,wait_s,ran_s,exit_code\n";
  const lines = jobs.map((job) =>
    csvLine([
      job.job,
      ...[job.name, job.user, job.queue].map(spreadsheetCell),
      job.state,
      processorsOf(job),
      ...[iso(job.submittedAtMs), iso(job.startedAtMs), iso(job.endedAtMs)],
      ...[waitS(job), job.ranMs / 1000, job.code ?? Number.NaN],
    ]),
  );
  saveFile("history.csv", [heading, ...lines], "text/csv");
}

/** Numbers of jobs, the newest ones, among which the history looks. */
const MAX_HISTORY = 20_000;

/**
 * Loads the jobs that ended last.
 * @param onPart called with all jobs so far, and the share of the numbers that has been searched
 */
async function loadHistory(
  signal: AbortSignal,
  onPart: (jobs: readonly Job[], share: number) => void,
): Promise<void> {
  const last = Math.max(0, ...jobs.keys());
  const first = Math.max(1, last - MAX_HISTORY + 1);
  const found: Job[] = [];
  if (last === 0) onPart(found, 1);
  for (let after: number | undefined = last === 0 ? undefined : first - 1; after !== undefined; ) {
    const query: string = `numbers=${first}-${last}&states=${ENDED_STATES.join(",")}&after=${after}`;
    const page: JobsAnswer = await ask<JobsAnswer>(`/v1/jobs?${query}`, { signal });
    found.push(...page.jobs);
    after = page.next;
    onPart([...found], after === undefined ? 1 : (after - first) / (last - first + 1));
  }
}
