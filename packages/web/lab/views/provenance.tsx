/** What was simulated, how the numbers were made, and what was remarkable in the input. */

import {
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
  plural,
} from "@tutti/kernel/core/format.ts";
import { describeWindow } from "@tutti/kernel/metrics/window.ts";
import { diagnosticText } from "@tutti/lab/jobs-in-words.ts";
import { programText } from "@tutti/lab/report/ranking.ts";
import type { Comparison } from "@tutti/lab/results/comparison.ts";
import { Bullets, Facts } from "../../page/parts.tsx";
import type { Finished } from "../state.ts";

export function RunFacts({ done: { comparison, facts } }: { readonly done: Finished }) {
  const { instance, policies } = comparison;
  const { machine, window } = policies[0].summary;
  const list: (readonly [string, string])[] = [
    ["jobs", formatCount(instance.count)],
    ["processors", formatCount(instance.processors)],
    ["offered load", formatPercent(machine.offeredLoad)],
    ["submit period", formatDuration(facts.submitPeriodS)],
    ["mean size in processors", formatNumber(facts.meanSize)],
    ["mean run time", formatDuration(facts.meanRunS)],
  ];
  if (window.countedJobs < instance.count) list.push(["jobs counted", formatCount(window.countedJobs)]);
  return <Facts class="run-facts" facts={list} />;
}

export function Provenance({ comparison }: { readonly comparison: Comparison }) {
  const { workloadHash, seed, rules, made, command, policies } = comparison;
  const { summary, replications } = policies[0];
  const ofFirst = replications === undefined ? "" : " of the first seed";
  const window = describeWindow(summary.window);
  return (
    <>
      <h2>What these numbers rest on</h2>
      <Diagnostics comparison={comparison} />
      <Bullets texts={rules.includes(window) ? rules : [...rules, window]} />
      <p class="muted">
        workload{ofFirst} <code data-hash="workload">{workloadHash}</code>
        {seed === undefined ? null : `, seed ${seed}`}; schedules{ofFirst}:{" "}
        {policies.map(({ label, scheduleHash }) => (
          <span key={label}>
            {label} <code data-hash={label}>{scheduleHash}</code>{" "}
          </span>
        ))}
        ; {programText(made)}. The hashes are those that <code>tutti compare</code> prints.
      </p>
      {command === undefined ? null : (
        <p class="muted">
          The same numbers again: <code class="said">{command}</code>
        </p>
      )}
      <details>
        <summary>Rules of each policy</summary>
        <p>
          Policies of the same name give different results in different simulators, because their rules
          differ. These are the rules used here.
        </p>
        {policies.map(({ label, title, rules: own, summary: { starts } }) => (
          <section key={label} aria-label={label}>
            <h3>
              {label}: {title}
            </h3>
            <Bullets texts={own} />
            {starts.length === 0 ? null : (
              <p class="muted">
                Starts: {starts.map(({ name, count }) => `${formatCount(count)} ${name}`).join(", ")}.
              </p>
            )}
          </section>
        ))}
      </details>
      <details>
        <summary>Definitions of the metrics</summary>
        <Facts facts={summary.metrics.map(({ title, definition }) => [title, definition])} />
        <p class="muted">
          Percentiles interpolate linearly between neighbouring values. Utilisation is busy processor-seconds
          ÷ (processors × measured time). On machines whose rows take turns, busy is the run time × size of
          the jobs that ended, and the time is the makespan, from the first submit to the last end.
        </p>
      </details>
    </>
  );
}

/** Each kind with examples, and how many jobs never ran to their end. */
function Diagnostics({ comparison: { instance, policies } }: { readonly comparison: Comparison }) {
  const diagnostics = [...instance.workload.diagnostics, ...instance.diagnostics];
  const unfinished = policies.filter(({ summary: { jobs } }) => jobs.neverStarted + jobs.neverEnded > 0);
  if (diagnostics.length === 0 && unfinished.length === 0)
    return <p>Nothing in the input was repaired, dropped or remarkable.</p>;
  return (
    <ul class="diagnostics">
      {unfinished.map(({ label, summary: { jobs } }) => (
        <li key={label} class="dropped">
          {label}: {plural(jobs.neverStarted, "job")} never started, {formatCount(jobs.neverEnded)} never
          ended
        </li>
      ))}
      {diagnostics.map((diagnostic) => {
        const further = diagnostic.examples
          .slice(1)
          .flatMap(({ line, job }) =>
            line !== undefined ? `line ${line}` : job !== undefined ? `job ${job}` : [],
          );
        return (
          <li key={diagnostic.code} class={diagnostic.action}>
            {diagnosticText(diagnostic)}
            {further.length === 0 ? "" : `; also ${further.join(", ")}`}
          </li>
        );
      })}
    </ul>
  );
}
