/** `tutti show JOBS`: shows everything about jobs. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import { cpusText } from "../../core/machine.ts";
import type { Job } from "../../protocol/schema.ts";
import { formatDuration } from "../../report/text/format.ts";
import { quoted } from "../../words/command-line.ts";
import { reasonText, saysMore, stateText } from "../../words/jobs.ts";
import { bytesText, clockText, limitText } from "../../words/times.ts";
import { visibleLine } from "../../words/visible.ts";
import { SELECTOR_HELP, selectJobs } from "../options/selectors.ts";
import { bold, wrap, writeJson, writeOut } from "../text/text.ts";

export function configure(command: Command): void {
  command
    .argument("<jobs...>", SELECTOR_HELP)
    .option("--json", "print as JSON")
    .action(async (words: readonly string[], { json }: { readonly json?: boolean }) => {
      const client = new Client();
      const jobs: Job[] = [];
      for (const number of await selectJobs(client, words)) jobs.push((await client.job(number)).job);
      if (json) writeJson({ schema: "tutti.jobs/1", jobs });
      else writeOut(jobs.map(jobText).join("\n"));
    });
}

function jobText(job: Job): string {
  const { limitMs, memoryBytes, startedAtMs, endedAtMs, code, signal, array, arrayIndex } = job;
  const duration = (ms: number) => formatDuration(ms / 1000);
  const waited = (untilMs: number) => `waited ${duration(untilMs - job.submittedAtMs)}`;
  const facts: Readonly<Record<string, string | undefined>> = {
    state: stateText(job.state),
    reason: saysMore(job) ? reasonText(job) : undefined,
    exit: code === undefined ? signal : String(code),
    user: job.user,
    queue: job.queue,
    priority: job.priority === 0 ? undefined : String(job.priority),
    array: array === undefined ? undefined : `${array}, index ${arrayIndex}`,
    command: job.command.map(quoted).join(" "),
    folder: job.cwd,
    CPUs: `${job.tasks}${job.cpus.length === 0 ? "" : `: ${cpusText(job.cpus, job.nodes)}`}`,
    limit: limitMs === undefined ? undefined : `${limitText(limitMs)} of running time`,
    memory: memoryBytes === undefined ? undefined : bytesText(memoryBytes),
    after: job.after.length === 0 ? undefined : job.after.join(", "),
    submitted: clockText(job.submittedAtMs),
    started: startedAtMs === undefined ? undefined : `${clockText(startedAtMs)}, ${waited(startedAtMs)}`,
    ended: endedAtMs === undefined ? undefined : clockText(endedAtMs),
    ran: startedAtMs === undefined ? undefined : `${duration(job.ranMs)} with its CPUs`,
    attempt: job.attempt > 1 ? String(job.attempt) : undefined,
    stdout: job.stdout,
    stderr: job.stderr,
  };
  const shown = Object.entries(facts).flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name.padEnd(10)}${wrap(visibleLine(value), 12)}`],
  );
  return `${bold(`job ${job.job}: ${visibleLine(job.name)}`)}\n${shown.join("\n")}\n`;
}
