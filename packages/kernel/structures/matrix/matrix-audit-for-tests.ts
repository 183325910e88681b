/** Checks a matrix for tests: its rows and its jobs must agree, and no gang may be torn. */
import { assert } from "../../core/errors.ts";
import type { JobIndex, ReadonlyColumn } from "../../core/jobs.ts";
import type { RowId, RunId } from "../../core/policy.ts";
import type { OusterhoutMatrix } from "./matrix.ts";

/** Throws an Error if they disagree. @param size processors of each job, if known */
export function auditMatrix(matrix: OusterhoutMatrix, size?: ReadonlyColumn): void {
  const leads = new Map<JobIndex, RunId[]>();
  for (let position = 0; position < matrix.rowCount; position++) {
    const row = matrix.rowAt(position);
    assert(matrix.positionOf(row) === position, `position of row ${row}`);
    for (const lead of leadsOfRow(matrix, row)) {
      const job = matrix.runJob(lead);
      leads.set(job, [...(leads.get(job) ?? []), lead]);
    }
  }
  for (let processor = 0; processor < matrix.processors; processor++) {
    let idle = 0;
    while (idle < matrix.rowCount && !matrix.isIdle(matrix.rowAt(idle), processor, processor + 1)) idle++;
    assert(matrix.firstIdle(processor) === idle, `first row that is idle at processor ${processor}`);
  }
  for (const [job, found] of leads) {
    const own: RunId[] = [];
    for (let run = matrix.firstRunOfJob(job); run !== -1; run = matrix.nextRunOfJob(run)) own.push(run);
    const inOrder = own.toSorted((a, b) => a - b).join(" ");
    assert(inOrder === found.toSorted((a, b) => a - b).join(" "), `runs of job ${job}`);
    assert(matrix.slotsOf(job) === found.length, `number of slots of job ${job}`);
    const [processors, ...others] = found.map((lead) => processorsOf(matrix, lead));
    assert(
      others.every((other) => other.join(" ") === processors.join(" ")),
      `job ${job} has the same processors in each row`,
    );
    assert(size === undefined || processors.length === size[job], `size of job ${job}`);
  }
}

/** The first stretch of each job of the row. */
function leadsOfRow(matrix: OusterhoutMatrix, row: RowId): RunId[] {
  const leads: RunId[] = [];
  let before: RunId = -1;
  let end = 0;
  for (let run = matrix.firstRun(row); run !== -1; run = matrix.nextRun(run)) {
    const first = matrix.runFirst(run);
    assert(matrix.runRow(run) === row, `run at ${first} is in row ${row}`);
    assert(first >= end && matrix.runEnd(run) > first, `order of row ${row}`);
    assert(first === 0 || matrix.runBefore(row, first - 1) === before, `run before ${first} of row ${row}`);
    assert(matrix.runBefore(row, matrix.runEnd(run) - 1) === run, `run at ${first} of row ${row} is found`);
    if (matrix.leadOf(run) === run) leads.push(run);
    before = run;
    end = matrix.runEnd(run);
  }
  assert(end <= matrix.processors, `row ${row} stays on the machine`);
  return leads;
}

function processorsOf(matrix: OusterhoutMatrix, lead: RunId): number[] {
  const processors: number[] = [];
  for (let run = lead; run !== -1; run = matrix.nextStretch(run)) {
    assert(matrix.leadOf(run) === lead, "stretches of a job belong together");
    assert(matrix.runRow(run) === matrix.runRow(lead), "stretches of a job are in one row");
    assert(matrix.runJob(run) === matrix.runJob(lead), "stretches have one job");
    for (let at = matrix.runFirst(run); at < matrix.runEnd(run); at++) processors.push(at);
  }
  return processors;
}
