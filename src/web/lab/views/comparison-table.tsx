/** The comparison as a table, with the same columns and findings as `tutti compare`. */
import { diagnosticText } from "../../../lab/jobs-in-words.ts";
import { findings, programText, rankingCells, rankingColumns } from "../../../report/ranking.ts";
import { differenceColumns, longestWaitColumn, meanColumns } from "../../../report/replications.ts";
import { summariesCsv } from "../../../report/text/csv.ts";
import { comparisonJson } from "../../../report/text/json.ts";
import type { ComparedPolicy } from "../../../results/comparison.ts";
import { saveFile } from "../../page/save.ts";
import { Scrollable } from "../charts/scrollable.tsx";
import type { Finished } from "../state.ts";

interface TextTable {
  readonly caption: string;
  readonly headings: readonly string[];
  readonly rows: readonly { readonly label: string; readonly cells: readonly Cell[] }[];
}

interface Cell {
  readonly text: string;
  readonly isBest?: boolean;
}

export function ComparisonTable({ done }: { readonly done: Finished }) {
  const { comparison } = done;
  const { policies, instance, workloadHash, rules, made } = comparison;
  const isReplicated = policies[0].replications !== undefined;
  const tables = isReplicated ? replicationTables(policies) : [rankingTable(policies)];
  const diagnostics = [...instance.workload.diagnostics, ...instance.diagnostics];
  return (
    <>
      {tables.map((table) => (
        <TextTableView key={table.caption} table={table} />
      ))}
      {isReplicated ? null : findings(policies).map((sentence) => <p key={sentence}>{sentence}</p>)}
      <p class="row">
        <button
          type="button"
          onClick={() => saveFile("comparison.csv", [summariesCsv(comparison)], "text/csv")}
        >
          CSV
        </button>
        <button
          type="button"
          onClick={() => saveFile("comparison.json", [comparisonJson(comparison)], "application/json")}
        >
          JSON
        </button>
      </p>
      <h2>What these numbers rest on</h2>
      <ul>
        {diagnostics.map((diagnostic) => (
          <li key={diagnostic.code}>{diagnosticText(diagnostic)}</li>
        ))}
        {rules.map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </ul>
      <p class="muted">
        workload <code data-hash="workload">{workloadHash}</code>; schedules:{" "}
        {policies.map(({ label, scheduleHash }) => (
          <span key={label}>
            {label} <code data-hash={label}>{scheduleHash}</code>{" "}
          </span>
        ))}
        ; {programText(made)}. The hashes are those that <code>tutti compare</code> prints.
      </p>
    </>
  );
}

function TextTableView({ table: { caption, headings, rows } }: { readonly table: TextTable }) {
  return (
    <Scrollable label={caption}>
      <table class="comparison">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">policy</th>
            {headings.map((heading) => (
              <th key={heading} scope="col" class="number">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, cells }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {cells.map(({ text, isBest }, i) => (
                <td key={headings[i]} class={isBest ? "number best" : "number"}>
                  {text}
                  {isBest ? <span class="visually-hidden"> (best)</span> : null}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function rankingTable(policies: readonly ComparedPolicy[]): TextTable {
  const columns = rankingColumns(policies);
  const cells = columns.map((column) => rankingCells(column, policies));
  return {
    caption: "One line for each policy",
    headings: columns.map(({ heading }) => heading),
    rows: policies.map(({ label }, row) => ({
      label,
      cells: cells.map((column) => {
        const { text, remark, isBest } = column[row];
        return { text: remark === "" ? text : `${text} (${remark})`, isBest };
      }),
    })),
  };
}

function replicationTables(policies: readonly ComparedPolicy[]): TextTable[] {
  const [first, ...others] = policies;
  const count = first.replications?.length ?? 0;
  const means = meanColumns(policies);
  const longest = longestWaitColumn(policies);
  const tables: TextTable[] = [
    {
      caption: `Means of ${count} replications, with 95 % confidence intervals`,
      headings: [...means.map(({ heading }) => heading), longest.heading],
      rows: policies.map(({ label }, row) => ({
        label,
        cells: [
          ...means.map(({ texts }) => ({ text: texts[row] })),
          { text: `${longest.texts[row]} (${longest.remarks[row]})` },
        ],
      })),
    },
  ];
  if (others.length === 0) return tables;
  const differences = differenceColumns(policies);
  tables.push({
    caption: `Difference from ${first.label}: all policies get the same jobs in each replication; two policies differ if the interval excludes 0`,
    headings: differences.map(({ heading }) => heading),
    rows: others.map(({ label }, row) => ({
      label,
      cells: differences.map(({ texts }) => ({ text: texts[row] })),
    })),
  });
  return tables;
}
