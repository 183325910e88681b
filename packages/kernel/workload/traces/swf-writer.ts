/**
 * Writes a workload, or the schedule of one, in the Standard Workload Format 2.2. A workload keeps the header
 * and the fields of its trace. A schedule gets its own header and quotes the trace's header below it. So a
 * notice such as SDSC's copyright stays in every copy, and no program takes the old MaxProcs for the
 * simulated one.
 *
 *   ; Version: 2.2                      ; Note: header of the source:
 *   ; Computer: Tutti simulation        ;   > Computer: IBM SP2
 */
import { type Instance, UNKNOWN, type Workload } from "../../core/jobs.ts";
import { describeRules } from "../../core/rules.ts";
import { asGiven, type Schedule } from "../../core/schedule.ts";

/** Jobs per piece of text. */
const JOBS_PER_PIECE = 1024;

/**
 * Writes the jobs without starts, with the waits of the trace. The text is in pieces, since one string may be
 * too small.
 */
export function* writeSwf(workload: Workload): Generator<string, void, undefined> {
  const { count, jobs, trace, header } = workload;
  yield header.length > 0 ? commentLines(header) : modelHeader(workload);
  yield* inPieces(count, (row) => {
    if (trace === undefined) return jobLine(workload, row, UNKNOWN, jobs.runS[row], UNKNOWN, UNKNOWN);
    return jobLine(workload, row, trace.waitS[row], jobs.runS[row], trace.allocated[row], trace.status[row]);
  });
}

/**
 * Writes a schedule: the jobs of the instance with their simulated waits, run times and sizes. Under time
 * sharing, the run time is the time from the first start to the end. A job that never started has wait and
 * run time −1, and a job that was killed at its estimate has status 0 (failed).
 * @param notes further header lines, such as the policy's rules and the seed
 */
export function* writeScheduleSwf(
  instance: Instance,
  schedule: Schedule,
  notes: readonly string[] = [],
): Generator<string, void, undefined> {
  const { workload, count, workloadRow } = instance;
  const given = asGiven(instance, schedule);
  yield scheduleHeader(instance, schedule, notes);
  yield* inPieces(count, (job) => {
    const row = workloadRow === undefined ? job : workloadRow[job];
    const startS = schedule.startS[job];
    const started = startS >= 0;
    const shared = schedule.gang !== undefined;
    const runS = shared ? schedule.endS[job] - startS : given.runS[job];
    const killed = instance.runS[job] < workload.jobs.runS[row];
    return jobLine(
      workload,
      row,
      started ? startS - instance.submitS[job] : UNKNOWN,
      started && runS >= 0 ? runS : UNKNOWN,
      started ? given.size[job] : UNKNOWN,
      killed ? 0 : workload.trace === undefined ? UNKNOWN : workload.trace.status[row],
    );
  });
}

/** Joins the texts of `count` jobs into pieces. */
export function* inPieces(
  count: number,
  textOf: (job: number) => string,
): Generator<string, void, undefined> {
  for (let first = 0; first < count; first += JOBS_PER_PIECE) {
    const end = Math.min(count, first + JOBS_PER_PIECE);
    let text = "";
    for (let job = first; job < end; job++) text += textOf(job);
    yield text;
  }
}

function jobLine(
  { jobs, trace }: Workload,
  row: number,
  waitS: number,
  runS: number,
  allocated: number,
  status: number,
): string {
  const start = `${jobs.id[row]} ${jobs.submitS[row]} ${waitS} ${runS} ${allocated}`;
  if (trace === undefined) {
    return `${start} -1 -1 ${jobs.size[row]} ${jobs.estimateS[row]} -1 ${status} -1 -1 -1 -1 -1 -1 -1\n`;
  }
  return (
    `${start} ${trace.cpuS[row]} ${trace.usedMemoryKB[row]} ${trace.requested[row]} ${jobs.estimateS[row]} ` +
    `${trace.requestedMemoryKB[row]} ${status} ${trace.user[row]} ${trace.group[row]} ${trace.application[row]} ` +
    `${trace.queue[row]} ${trace.partition[row]} ${trace.precedingJob[row]} ${trace.thinkTimeS[row]}\n`
  );
}

function modelHeader({ name, count, processors }: Workload): string {
  return commentLines([
    "Version: 2.2",
    "Computer: Tutti workload model",
    `MaxJobs: ${count}`,
    `MaxRecords: ${count}`,
    "Preemption: No",
    ...(processors === undefined ? [] : [`MaxNodes: ${processors}`, `MaxProcs: ${processors}`]),
    `Note: ${name}`,
  ]);
}

function scheduleHeader(instance: Instance, schedule: Schedule, notes: readonly string[]): string {
  const { workload, processors, rules, count } = instance;
  return commentLines([
    "Version: 2.2",
    "Computer: Tutti simulation",
    `MaxJobs: ${count}`,
    `MaxRecords: ${count}`,
    `Preemption: ${schedule.gang === undefined ? "No" : "TS"}`,
    `MaxNodes: ${processors}`,
    `MaxProcs: ${processors}`,
    `Note: jobs of ${workload.name}`,
    ...[...describeRules(rules), ...notes].map((note) => `Note: ${note}`),
    ...instance.diagnostics.map(({ code, count, message }) => `Note: ${code}, ${count} jobs: ${message}`),
    ...(workload.header.length > 0 ? ["Note: header of the source:"] : []),
    ...workload.header.map((line) => `  > ${line.replace(/^\s*;\s?/, "")}`),
  ]);
}

/** Comment lines, each with a semicolon and a newline; newlines within a text become blanks. */
function commentLines(lines: readonly string[]): string {
  return lines
    .map((line) => line.replace(/[\r\n]+/g, " "))
    .map((line) => (/^\s*;/.test(line) ? `${line}\n` : `; ${line}\n`))
    .join("");
}
