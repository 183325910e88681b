/**
 * A job as `scontrol show job` prints it. What has no meaning in Tutti has the value that Slurm prints
 * then.
 */

import { ACCOUNT, QOS } from "@tutti/cli/options/slurm-site.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { oneLine } from "../text/columns.ts";
import { longDuration, timeText } from "../text/times.ts";
import { uidOf } from "../text/users.ts";
import {
  commandText,
  cpusOf,
  dependencyText,
  expectedEndMs,
  isWaiting,
  limitText,
  memoryText,
  nodesOf,
  tresText,
} from "./facts.ts";
import { exitCodeText, reasonText, slurmState } from "./states.ts";

export function recordText(job: Job, isOneLine: boolean): string {
  const { array, arrayIndex, threads = 1, attempt, submittedAtMs, startedAtMs } = job;
  const nodes = nodesOf(job).join(",");
  const uid = uidOf(job.user);
  const isArray = array !== undefined;
  const reason = isWaiting(job) ? reasonText(job) : endReason(job);
  const lines = [
    [
      `JobId=${job.job}`,
      ...(isArray ? [`ArrayJobId=${array}`, `ArrayTaskId=${arrayIndex}`] : []),
      `JobName=${job.name}`,
    ],
    [`UserId=${job.user}(${uid ?? "?"})`, "MCS_label=N/A"],
    [`Priority=${job.priority}`, "Nice=0", `Account=${ACCOUNT}`, `QOS=${QOS}`],
    [
      `JobState=${slurmState(job)}`,
      `Reason=${reason.replaceAll(" ", "_")}`,
      `Dependency=${dependencyText(job)}`,
    ],
    [
      `Requeue=${(job.retries ?? 0) > 0 ? 1 : 0}`,
      // Slurm counts a restart when it queues the job again.
      `Restarts=${isWaiting(job) ? attempt : Math.max(0, attempt - 1)}`,
      "BatchFlag=1",
      "Reboot=0",
      `ExitCode=${exitCodeText(job)}`,
    ],
    [`RunTime=${longDuration(job.ranMs)}`, `TimeLimit=${limitText(job)}`, "TimeMin=N/A"],
    [`SubmitTime=${timeText(submittedAtMs)}`, `EligibleTime=${timeText(job.eligibleAtMs ?? submittedAtMs)}`],
    [`StartTime=${timeText(startedAtMs)}`, `EndTime=${timeText(expectedEndMs(job))}`, "Deadline=N/A"],
    [`SuspendTime=${timeText(job.pausedAtMs, "None")}`],
    [`Partition=${job.queue}`],
    [`NodeList=${nodes}`],
    ...(nodes === "" ? [] : [[`BatchHost=${nodesOf(job)[0]}`]]),
    [
      `NumNodes=${Math.max(1, nodesOf(job).length)}`,
      `NumCPUs=${cpusOf(job)}`,
      `NumTasks=${job.tasks}`,
      `CPUs/Task=${threads}`,
    ],
    [`TRES=${tresText(job)}`],
    [`MinCPUsNode=${threads}`, `MinMemoryNode=${memoryText(job) ?? 0}`, "MinTmpDiskNode=0"],
    ["Features=(null)", "Licenses=(null)", "Network=(null)"],
    [`Command=${commandText(job)}`],
    [`WorkDir=${job.cwd}`],
    [`StdErr=${job.stderr}`],
    ["StdIn=/dev/null"],
    [`StdOut=${job.stdout}`],
  ].map((words) => oneLine(words.join(" ")));
  return isOneLine ? `${lines.join(" ")} \n` : `${lines.join("\n   ")}\n\n`;
}

function endReason(job: Job): string {
  switch (slurmState(job)) {
    case "TIMEOUT":
      return "TimeLimit";
    case "OUT_OF_MEMORY":
      return "OutOfMemory";
    case "FAILED":
      return job.signal === undefined ? "NonZeroExitCode" : "RaisedSignal";
    case "NODE_FAIL":
      return "NodeDown";
    default:
      return "None";
  }
}
