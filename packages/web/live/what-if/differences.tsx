/** Who gains and who loses, as a table. */

import { formatCount, NO_VALUE } from "@tutti/kernel/core/format.ts";
import { csvLine } from "@tutti/lab/report/text/csv.ts";
import { endOf as endOfJob, expectedText, isRange } from "@tutti/words/expected.ts";
import { spreadsheetCell } from "@tutti/words/spreadsheet.ts";
import { clockText, isoText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { changeText, hasTimes } from "@tutti/words/what-if.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { gangCss } from "../../page/gang-colours.ts";
import { linkTo } from "../../page/navigation.ts";
import { Button, Headings } from "../../page/parts.tsx";
import { saveFile } from "../../page/save.ts";
import { jobs } from "../store.ts";
import type { Difference } from "./compared.ts";

const PAGE_ROWS = 50;

interface DifferenceTableProps {
  readonly differences: readonly Difference[];
  /** Number of the job that stays marked; its row is shown. */
  readonly pinned: number | undefined;
}

export function DifferenceTable({ differences, pinned }: DifferenceTableProps) {
  const [count, setCount] = useState(PAGE_ROWS);
  const pinnedRow = useRef<HTMLTableRowElement>(null);
  const at = differences.findIndex(({ job }) => job === pinned);
  if (at >= count) setCount(at + 1);
  useEffect(() => pinnedRow.current?.scrollIntoView({ block: "nearest" }), [pinned]);
  if (differences.length === 0) return <p class="muted">None of your jobs waits or runs.</p>;
  return (
    <>
      <div class="row">
        <h2>Your jobs, the largest loss first</h2>
        <Button onClick={() => saveFile("what-if.csv", [csvOf(differences)], "text/csv")}>Save as CSV</Button>
      </div>
      <div class="scroll">
        <table class="what-if-table">
          <Headings
            titles={["job", "change", "starts as it is", "starts then", "ends as it is", "ends then"]}
            isNumber={() => false}
          />
          <tbody>
            {differences.slice(0, count).map(({ job, before, after, changeMs }) => (
              <tr
                key={job}
                ref={job === pinned ? pinnedRow : null}
                aria-current={job === pinned ? "true" : undefined}
              >
                <td>
                  <span class="timeline-swatch" style={{ background: gangCss(job) }} aria-hidden="true" />
                  <a href={linkTo("jobs", [String(job)])}>
                    {job} {visibleLine(jobs.get(job)?.name ?? "")}
                  </a>
                </td>
                <td class={classOf(changeMs)}>
                  {changeMs === undefined ? "no forecast" : changeText(changeMs)}
                </td>
                <td>{startOf(before)}</td>
                <td>{startOf(after)}</td>
                <td>{endOf(before)}</td>
                <td>{endOf(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {differences.length <= count ? null : (
        <Button onClick={() => setCount(count + 10 * PAGE_ROWS)}>
          Show more: {formatCount(differences.length - count)} are left
        </Button>
      )}
    </>
  );
}

type Times = Difference["before"];

function startOf(times: Times): string {
  if (times === undefined) return NO_VALUE;
  return hasTimes(times) ? expectedText(times) : "runs";
}

function endOf(times: Times): string {
  if (times === undefined) return NO_VALUE;
  const end = endOfJob(times);
  return isRange(end) ? expectedText(end) : clockText(end.p50Ms);
}

/** Colour repeats what the sign says. */
function classOf(changeMs: number | undefined): string {
  if (changeMs === undefined) return "loses";
  return Math.abs(changeMs) <= 1000 ? "" : changeMs > 0 ? "loses" : "gains";
}

const CSV_HEADING =
  "job,name,change_s,start_p10,start_p50,start_p90,end_p50,then_start_p10,then_start_p50,then_start_p90,then_end_p50\n";

function csvOf(differences: readonly Difference[]): string {
  const time = (ms: number | undefined) => (ms === undefined ? "" : isoText(ms));
  const four = (times: Times) => [times?.p10Ms, times?.p50Ms, times?.p90Ms, times?.endP50Ms].map(time);
  const lines = differences.map(({ job, before, after, changeMs }) =>
    csvLine([
      job,
      spreadsheetCell(jobs.get(job)?.name ?? ""),
      changeMs === undefined ? "" : changeMs / 1000,
      ...four(before),
      ...four(after),
    ]),
  );
  return CSV_HEADING + lines.join("");
}
