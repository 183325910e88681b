/** The frame of every chart: title, note, the same numbers as a table, and files to save. */
import "./charts.css";
import { csvLine } from "@tutti/lab/report/text/csv.ts";
import type { ComponentChildren } from "preact";
import { Button, Scrollable, TextTable } from "../../page/parts.tsx";
import { saveFile } from "../../page/save.ts";

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
          <Button
            class="small"
            onClick={() => saveFile(`${name}.csv`, Array.from(csv(), csvLine), "text/csv")}
          >
            CSV
          </Button>
          <Button class="small" onClick={() => saveFile(`${name}.svg`, [svg()], "image/svg+xml")}>
            SVG
          </Button>
        </span>
      </div>
      {note === undefined ? null : <p class="muted">{note}</p>}
      {children}
      {table === undefined ? null : (
        <details>
          <summary>Table</summary>
          <Scrollable label={`${title} as a table`}>
            <TextTable titles={table.headings} rows={table.rows} />
          </Scrollable>
        </details>
      )}
    </figure>
  );
}
