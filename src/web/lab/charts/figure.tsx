/** The frame of every chart: title, note, the same numbers as a table, and files to save. */
import "./charts.css";
import type { ComponentChildren } from "preact";
import { csvLine } from "../../../report/text/csv.ts";
import { saveFile } from "../../page/save.ts";
import { Scrollable } from "./scrollable.tsx";

export interface ChartTable {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

interface FigureProps {
  readonly title: string;
  /** Level of the title; default: h2. */
  readonly heading?: "h2" | "h3";
  readonly note?: string;
  /** Of saved files, without its ending. */
  readonly name: string;
  /** Left out if the chart has its own. */
  readonly table?: ChartTable;
  /** All points, with their headings; they are made when the user asks for them. */
  readonly csv: () => Iterable<readonly (string | number)[]>;
  readonly svg: () => string;
  readonly controls?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Figure({
  title,
  heading: Heading = "h2",
  note,
  name,
  table,
  csv,
  svg,
  controls,
  children,
}: FigureProps) {
  return (
    <figure class="chart" aria-label={title}>
      <div class="row">
        <Heading>{title}</Heading>
        {controls}
        <span class="push row">
          <button
            type="button"
            class="small"
            onClick={() => saveFile(`${name}.csv`, Array.from(csv(), csvLine), "text/csv")}
          >
            CSV
          </button>
          <button
            type="button"
            class="small"
            onClick={() => saveFile(`${name}.svg`, [svg()], "image/svg+xml")}
          >
            SVG
          </button>
        </span>
      </div>
      {note === undefined ? null : <p class="muted">{note}</p>}
      {children}
      {table === undefined ? null : (
        <details>
          <summary>Table</summary>
          <TableOf table={table} caption={title} />
        </details>
      )}
    </figure>
  );
}

function TableOf({
  table: { headings, rows },
  caption,
}: {
  readonly table: ChartTable;
  readonly caption: string;
}) {
  return (
    <Scrollable label={`${caption} as a table`}>
      <table>
        <thead>
          <tr>
            {headings.map((heading, i) => (
              <th key={heading} scope="col" class={i === 0 ? undefined : "number"}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([first, ...values]) => (
            <tr key={first}>
              <th scope="row">{first}</th>
              {values.map((value, i) => (
                <td key={headings[i + 1]} class="number">
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}
