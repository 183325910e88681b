/** The matrix as a table, for screen readers and for copying. */

import { formatCount, formatPercent, plural } from "@tutti/kernel/core/format.ts";
import { useState } from "preact/hooks";
import { Button, Headings, Scrollable } from "../page/parts.tsx";
import type { Cells } from "./cells.ts";
import type { Grid } from "./grid.ts";
import { lineTexts, numbersOf, TABLE_HEAD, tableOf, tabText } from "./table.ts";

/** More lines are copied but not shown: a page of 10,000 lines is slow, and nobody reads it. */
const MAX_LINES = 1000;
const NUMBERS: readonly string[] = ["row", "first CPU", "last CPU", "CPUs", "job", "share"];

interface TwinProps {
  readonly grid: Grid;
  readonly cells: Cells;
  readonly sequence: number;
}

export function TwinTable({ grid, cells, sequence }: TwinProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="matrix-twin" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The matrix as a table</summary>
      {isOpen && <Lines grid={grid} cells={cells} sequence={sequence} />}
    </details>
  );
}

function Lines({ grid, cells, sequence }: TwinProps) {
  const [copied, setCopied] = useState("");
  const lines = tableOf(cells, grid);
  const { rows, gangs, busyCells, cells: all, fragments, largestFragment } = numbersOf(cells);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(tabText(lines));
      setCopied(`${formatCount(lines.length)} lines copied`);
    } catch {
      setCopied("The browser does not allow copying here; select the table instead");
    }
  };
  return (
    <>
      <p class="row">
        <Button onClick={copy}>Copy with tabs</Button>
        <span role="status">{copied}</span>
        {lines.length > MAX_LINES && (
          <span class="muted">
            The first {formatCount(MAX_LINES)} of {formatCount(lines.length)} lines; copying takes all.
          </span>
        )}
      </p>
      <Scrollable label="The matrix as a table">
        <table data-sequence={sequence}>
          <caption>
            {plural(rows, "row")}, {plural(gangs, "gang")}
            {all > 0 && `, ${formatPercent(busyCells / all)} of the slots taken`},{" "}
            {plural(fragments, "idle fragment")}
            {fragments > 0 && `, the largest of ${plural(largestFragment, "CPU")}`}
          </caption>
          <Headings titles={TABLE_HEAD} isNumber={(column) => NUMBERS.includes(TABLE_HEAD[column])} />
          <tbody>
            {lines.slice(0, MAX_LINES).map((line) => (
              <tr key={`${line.row} ${line.firstCpu}`}>
                {lineTexts(line).map((text, i) => (
                  <td key={TABLE_HEAD[i]} class={NUMBERS.includes(TABLE_HEAD[i]) ? "number" : ""}>
                    {text}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrollable>
    </>
  );
}
