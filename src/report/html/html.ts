/**
 * Writes the report on a comparison as one file: tables in plain HTML, and charts that a script in the page
 * draws. The page loads nothing from the network; its content security policy forbids that. Without scripts,
 * readers still see all numbers in tables.
 */
import { sumOf } from "../../metrics/compensated-sum.ts";
import { describeWindow } from "../../metrics/window.ts";
import type { Comparison } from "../../results/comparison.ts";
import { findings, programText } from "../ranking.ts";
import { escapeHtml, scriptJson, scriptSource } from "../text/escape.ts";
import { formatCount, formatDuration, formatNumber, formatPercent } from "../text/format.ts";
import { chartFigures } from "./html-figures.ts";
import { bullets, factList, htmlPage, termList } from "./html-parts.ts";
import { rankingTable, replicationsTable } from "./html-tables.ts";
import { pageData } from "./page-data.ts";

interface HtmlOptions {
  /** The script made by scripts/build-report-page.ts. */
  readonly chartScript: string;
}

/** The report as one HTML document. Every text from outside Tutti is escaped. */
export function htmlReport(comparison: Comparison, { chartScript }: HtmlOptions): string {
  const { instance, policies } = comparison;
  const data = pageData(comparison);
  const title = `${policies.length === 1 ? policies[0].label : `${policies.length} policies`} on ${instance.workload.name}`;
  const { version, revision } = comparison.made;
  return htmlPage({
    title,
    version,
    brand: "Tutti · simulation report",
    lead: facts(comparison),
    main: [
      findingsSection(comparison),
      rankingTable(comparison),
      replicationsTable(comparison),
      chartFigures(comparison, data),
      rulesSection(comparison),
      diagnosticsSection(comparison),
    ].join("\n"),
    footer: `Made by ${escapeHtml(programText({ version, revision }))}. This file needs no network. Charts: Apache ECharts.`,
    scripts: `<script type="application/json" id="report-data">${scriptJson(data)}</script>
<script>${scriptSource(chartScript)}</script>
`,
  });
}

function facts({ instance, policies }: Comparison): string {
  const { machine, window } = policies[0].summary;
  const spanS = instance.count === 0 ? 0 : instance.submitS[instance.count - 1] - instance.submitS[0];
  const list: [string, string][] = [
    ["jobs", formatCount(instance.count)],
    ["processors", formatCount(instance.processors)],
    ["offered load", formatPercent(machine.offeredLoad)],
    ["submit period", formatDuration(spanS)],
    ["mean size in processors", formatNumber(meanOf(instance.size))],
    ["mean run time", formatDuration(meanOf(instance.runS))],
  ];
  if (window.countedJobs < instance.count) list.push(["jobs counted", formatCount(window.countedJobs)]);
  return factList(list);
}

function meanOf(column: Int32Array | Float64Array): number {
  return sumOf(column) / column.length;
}

function findingsSection({ policies }: Comparison): string {
  const sentences = findings(policies);
  if (sentences.length === 0) return "";
  return `<section class="findings" aria-label="Findings">${sentences.map((text) => `<p>${escapeHtml(text)}</p>`).join("")}</section>`;
}

function rulesSection(comparison: Comparison): string {
  const { instance, workloadHash, seed, rules, made, command, policies } = comparison;
  const { summary } = policies[0];
  const entries: [string, string][] = [
    [
      policies[0].replications === undefined ? "workload" : "workload of the first seed",
      `${instance.workload.name}, hash ${workloadHash}`,
    ],
    ["seed", seed === undefined ? "none: the jobs come from a trace" : String(seed)],
    ["machine", `${formatCount(instance.processors)} processors`],
    ["program", programText(made)],
  ];
  const window = describeWindow(summary.window);
  if (!rules.includes(window)) entries.push(["window", window]);
  if (command !== undefined) entries.push(["command", command]);
  const policyParts = policies.map(
    ({ label, title, rules: own, scheduleHash, replications, summary: { starts } }) => {
      const how = starts.map(({ name, count }) => `${formatCount(count)} ${name}`).join(", ");
      return `<h3>${escapeHtml(label)}: ${escapeHtml(title)}</h3>${bullets(own)}<p class="note">Schedule hash${replications === undefined ? "" : " of the first seed"} <code>${escapeHtml(scheduleHash)}</code>. ${how === "" ? "" : `Starts: ${escapeHtml(how)}.`}</p>`;
    },
  );
  const metrics = summary.metrics.map(({ title, definition }): [string, string] => [title, definition]);
  return `<section>
<h2>How these numbers were made</h2>
<p class="note">Policies of the same name give different results in different simulators, because their rules differ. These are the rules used here.</p>
<details><summary>Provenance and rules</summary>
${termList(entries)}
<h3>Rules for all policies</h3>${bullets(rules)}</details>
<details><summary>Rules of each policy</summary>${policyParts.join("")}</details>
<details><summary>Definitions of the metrics</summary>${termList(metrics)}
<p class="note">Percentiles interpolate linearly between neighbouring values. Utilisation is busy processor-seconds ÷ (processors × measured time). On machines whose rows take turns, busy is the run time × size of the jobs that ended, and the time is the makespan, from the first submit to the last end.</p></details>
</section>`;
}

function diagnosticsSection({ instance, policies }: Comparison): string {
  const diagnostics = [...instance.workload.diagnostics, ...instance.diagnostics];
  const unfinished = policies
    .filter(({ summary }) => summary.jobs.neverStarted + summary.jobs.neverEnded > 0)
    .map(
      ({ label, summary }) =>
        `${label}: ${formatCount(summary.jobs.neverStarted)} jobs never started, ${formatCount(summary.jobs.neverEnded)} never ended`,
    );
  const rows = diagnostics.map(({ action, count, message, examples }) => {
    const places = examples.map(({ line, job }) =>
      line !== undefined ? `line ${line}` : job !== undefined ? `job ${job}` : "",
    );
    const shown = places.filter((place) => place !== "").join(", ");
    return `<tr><td>${escapeHtml(action)}</td><td>${formatCount(count)}</td><td class="words">${escapeHtml(message)}</td><td class="words">${escapeHtml(shown)}</td></tr>`;
  });
  const table = `<details${rows.length > 0 && rows.length <= 6 ? " open" : ""}><summary>${rows.length} kinds of diagnostics</summary><div class="scroll"><table class="left">
<thead><tr><th>what was done</th><th>times</th><th class="words">why</th><th class="words">for example</th></tr></thead><tbody>${rows.join("")}</tbody></table></div></details>`;
  return `<section>
<h2>Diagnostics of the input</h2>
${unfinished.length > 0 ? bullets(unfinished) : ""}
${rows.length === 0 ? '<p class="note">Nothing in the input was repaired, dropped or remarkable.</p>' : table}
</section>`;
}
