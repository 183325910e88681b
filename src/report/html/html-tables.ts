/**
 * Writes the report's tables: the ranking, the replications, and the data of the figures for readers who
 * cannot see a chart.
 */
import type { Comparison } from "../../results/comparison.ts";
import { comparedMetric, ranking, rankingCells, rankingColumns } from "../ranking.ts";
import { differenceColumns, longestWaitColumn, meanColumns } from "../replications.ts";
import { LIGHT } from "../svg/palette.ts";
import { escapeHtml } from "../text/escape.ts";

/** The policies in order, with the best value of every column marked. */
export function rankingTable({ policies }: Comparison): string {
  const columns = rankingColumns(policies);
  const cellsOf = columns.map((column) => rankingCells(column, policies));
  const heading = ["policy", ...columns.map((column) => column.heading)].map(
    (title) => `<th scope="col"><button type="button">${escapeHtml(title)}</button></th>`,
  );
  const rows = ranking(policies).map((row) => {
    const { label } = policies[row];
    const cells = cellsOf.map((column) => {
      const { value, text, remark, isBest } = column[row];
      const shown = isBest
        ? `<span class="best">${escapeHtml(text)}<span class="hidden"> (best)</span></span>`
        : escapeHtml(text);
      return `<td data-value="${Number.isNaN(value) ? "" : value}">${shown}${remark === "" ? "" : `<small class="spread">${escapeHtml(remark)}</small>`}</td>`;
    });
    return `<tr><th scope="row" data-value="${escapeHtml(label)}">${named(row, label)}</th>${cells.join("")}</tr>`;
  });
  return `<section>
<h2>${policies.length > 1 ? `Policies by mean ${comparedMetric(policies)}` : "In numbers"}</h2>
<p class="note">${policies.length > 1 ? "The best value of a column is marked if the column has the same meaning for all policies. " : ""}The longest wait is shown with the number of its job. ${comparedMetric(policies) === "response" ? "If rows take turns, jobs start early and run slowly, so policies are compared by response, not by wait. " : ""}${policies.length > 1 ? "Click a heading to sort." : ""}</p>
<div class="scroll"><table class="sortable"><thead><tr>${heading.join("")}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>
</section>`;
}

/**
 * Means over the seeds with Student intervals, and paired differences from the first policy; empty without
 * replications.
 */
export function replicationsTable({ policies }: Comparison): string {
  const [first] = policies;
  const count = first?.replications?.length ?? 0;
  if (count < 2 || !policies.every(({ replications }) => replications?.length === count)) return "";
  const means = meanColumns(policies);
  const longest = longestWaitColumn(policies);
  const differences = policies.length === 1 ? [] : differenceColumns(policies);
  const rows = policies.map((policy, row) => {
    const texts = [
      ...means.map((column) => column.texts[row]),
      `${longest.texts[row]}${longest.remarks[row] === "" ? "" : ` (${longest.remarks[row]})`}`,
      ...differences.map((column) => (row === 0 ? "–" : column.texts[row - 1])),
    ];
    const cells = texts.map((text) => `<td>${escapeHtml(text)}</td>`).join("");
    return `<tr><th scope="row">${named(row, policy.label)}</th>${cells}</tr>`;
  });
  const headings = [
    ...[...means, longest].map(({ heading }) => heading),
    ...differences.map(({ heading }) => `${heading}, difference from ${first!.label}`),
  ];
  const head = headings.map((title) => `<th scope="col">${escapeHtml(title)}</th>`).join("");
  return `<section>
<h2>${count} replications</h2>
<p class="note">Means over the seeds ± half of the 95 % confidence interval (Student). All policies get the same jobs in each replication, so differences are paired; two policies differ if the interval excludes 0. The longest wait is that of any job under any seed. The table above, the charts and the hashes below show the first seed.</p>
<div class="scroll"><table><thead><tr><th scope="col">policy</th>${head}</tr></thead><tbody>${rows.join("")}</tbody></table></div>
</section>`;
}

/** The numbers of a figure, folded away. */
export function dataTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heading.map((title) => `<th scope="col">${escapeHtml(title)}</th>`).join("");
  const body = rows.map(
    ([first, ...rest]) =>
      `<tr><th scope="row">${escapeHtml(first ?? "")}</th>${rest.map((text) => `<td>${escapeHtml(text)}</td>`).join("")}</tr>`,
  );
  return `<details><summary>Show as a table</summary><div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table></div></details>`;
}

/** A policy's label with its colour in the charts. A long label may break before a parameter. */
function named(row: number, label: string): string {
  return `<span class="named"><span class="swatch" style="background:var(--series-${row % LIGHT.series.length})"></span><span>${escapeHtml(label).replaceAll(":", ":<wbr>")}</span></span>`;
}
