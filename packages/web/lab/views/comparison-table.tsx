/** The comparison as a table, with the same columns and findings as `tutti compare`. */

import {
  comparedMetric,
  findings,
  ranking,
  rankingCells,
  rankingColumns,
} from "@tutti/lab/report/ranking.ts";
import { differenceColumns, longestWaitColumn, meanColumns } from "@tutti/lab/report/replications.ts";
import { summariesCsv } from "@tutti/lab/report/text/csv.ts";
import { comparisonJson } from "@tutti/lab/report/text/json.ts";
import type { ComparedPolicy } from "@tutti/lab/results/comparison.ts";
import { useState } from "preact/hooks";
import { Button, Scrollable } from "../../page/parts.tsx";
import { saveFile } from "../../page/save.ts";
import type { Finished } from "../state.ts";
import { Provenance, RunFacts } from "./provenance.tsx";

interface TextTable {
  readonly caption: string;
  readonly headings: readonly string[];
  readonly rows: readonly { readonly label: string; readonly cells: readonly Cell[] }[];
}

interface Cell {
  readonly text: string;
  /** By which the column is sorted; default: the text. */
  readonly value?: number;
  readonly isBest?: boolean;
}

export function ComparisonTable({ done }: { readonly done: Finished }) {
  const { comparison } = done;
  const { policies } = comparison;
  const isReplicated = policies[0].replications !== undefined;
  const tables = [rankingTable(policies, isReplicated), ...(isReplicated ? replicationTables(policies) : [])];
  return (
    <>
      <RunFacts done={done} />
      {findings(policies).map((sentence) => (
        <p key={sentence}>
          {isReplicated ? "First seed: " : ""}
          {sentence}
        </p>
      ))}
      {tables.map((table) => (
        <TextTableView key={table.caption} table={table} />
      ))}
      <p class="row">
        <Button onClick={() => saveFile("comparison.csv", [summariesCsv(comparison)], "text/csv")}>
          CSV
        </Button>
        <Button onClick={() => saveFile("comparison.json", [comparisonJson(comparison)], "application/json")}>
          JSON
        </Button>
      </p>
      <Provenance comparison={comparison} />
    </>
  );
}

/** A press on a heading sorts by its column, a second one in the other order. */
function TextTableView({ table: { caption, headings, rows } }: { readonly table: TextTable }) {
  const [sort, setSort] = useState({ column: -1, isFalling: false });
  const key = ({ label, cells }: TextTable["rows"][number]) =>
    sort.column === 0 ? label : (cells[sort.column - 1].value ?? cells[sort.column - 1].text);
  const sorted = sort.column < 0 ? rows : rows.toSorted((a, b) => compared(key(a), key(b)));
  return (
    <Scrollable label={caption}>
      <table class="comparison">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {["policy", ...headings].map((heading, column) => (
              <th
                key={heading}
                scope="col"
                class={column === 0 ? undefined : "number"}
                aria-sort={sort.column !== column ? undefined : sort.isFalling ? "descending" : "ascending"}
              >
                <Button
                  class="heading"
                  onClick={() => setSort({ column, isFalling: sort.column === column && !sort.isFalling })}
                >
                  {heading}
                </Button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(sort.isFalling ? sorted.toReversed() : sorted).map(({ label, cells }) => (
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

/** Numbers by size, those that are missing last; others as texts. */
function compared(a: number | string, b: number | string): number {
  if (typeof a !== "number" || typeof b !== "number") return String(a).localeCompare(String(b));
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a - b;
}

/** The policies in the order of the ranking. */
function rankingTable(policies: readonly ComparedPolicy[], isReplicated: boolean): TextTable {
  const columns = rankingColumns(policies);
  const cells = columns.map((column) => rankingCells(column, policies));
  const by = comparedMetric(policies);
  const remarks = [
    `Policies by mean ${by}${isReplicated ? ", of the first seed" : ""}.`,
    ...(policies.length > 1
      ? ["The best value of a column is marked if the column means the same for all policies."]
      : []),
    ...(by === "response"
      ? ["If rows take turns, jobs start early and run slowly, so policies are compared by response."]
      : []),
  ];
  return {
    caption: remarks.join(" "),
    headings: columns.map(({ heading }) => heading),
    rows: ranking(policies).map((row) => ({
      label: policies[row].label,
      cells: cells.map((column) => {
        const { value, text, remark, isBest } = column[row];
        return { value, text: remark === "" ? text : `${text} (${remark})`, isBest };
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
