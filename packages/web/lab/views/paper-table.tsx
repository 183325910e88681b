/** A table of a paper as its page prints it. */
import type { PrintedTable, PrintedValue } from "@tutti/lab/report/printed-table.ts";
import { Facts, Headings, Scrollable } from "../../page/parts.tsx";

/** The places, such as `3 1`, of values that are not printed alike. */
export function differentValues(published: PrintedTable, ours: PrintedTable): ReadonlySet<string> {
  const places = published.rows.flatMap(({ values }, row) =>
    values.flatMap((value, column) => {
      const other = ours.rows[row]?.values[column];
      return JSON.stringify(value) === JSON.stringify(other) ? [] : [placeOf(row, column)];
    }),
  );
  return new Set(places);
}

interface PaperTableProps {
  readonly table: PrintedTable;
  readonly different?: ReadonlySet<string> | undefined;
}

export function PaperTable({ table, different }: PaperTableProps) {
  const { id, title, legend, labels, columns, rows, reasons } = table;
  return (
    <>
      <p class="muted">{legend}</p>
      <Scrollable label={`${id}. ${title}`}>
        <table class="paper">
          <Headings
            titles={[...labels, ...columns.map(({ heading }) => heading)]}
            isNumber={(column) => column >= labels.length}
          />
          <tbody>
            {rows.map(({ labels: own, values }, row) => (
              <tr key={own.join(" ")}>
                {own.map((label, i) => (
                  <th key={labels[i]} scope="row">
                    {label}
                  </th>
                ))}
                {values.map((value, column) => (
                  <Value
                    key={columns[column].heading}
                    value={value}
                    isDifferent={different?.has(placeOf(row, column)) ?? false}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrollable>
      {reasons.length === 0 ? null : (
        <ol class="reasons">
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ol>
      )}
      <details>
        <summary>What the columns mean</summary>
        <Facts facts={columns.map(({ name, meaning }) => [name, meaning])} />
      </details>
    </>
  );
}

function Value({ value, isDifferent }: { readonly value: PrintedValue; readonly isDifferent: boolean }) {
  const [ours, halfWidth, published, compared = "", reason = 0, isBeyond = false] = value;
  const classes = ["number", ...(isBeyond ? ["beyond"] : []), ...(isDifferent ? ["different"] : [])];
  return (
    <td class={classes.join(" ")}>
      <b>{ours}</b>
      {halfWidth === "" ? null : <span class="muted"> ± {halfWidth}</span>}
      {isDifferent ? <span class="visually-hidden"> (differs from the published page)</span> : null}
      {published === undefined ? null : (
        <small>
          <br />
          {published}
          {compared === "" ? null : (
            <>
              <br />
              {compared}
            </>
          )}
          {reason === 0 ? null : <sup> {reason}</sup>}
        </small>
      )}
    </td>
  );
}

function placeOf(row: number, column: number): string {
  return `${row} ${column}`;
}
