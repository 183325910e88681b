/**
 * A table over a grid: each value is the mean of a measure over the runs at a place. The simulations that the
 * table needs follow from its places.
 */

import { canonicalText } from "@tutti/lab/experiments/cell.ts";
import type { CellResult, Kind } from "@tutti/lab/experiments/kinds.ts";
import type { ReproducedTable, ReproducedValue } from "@tutti/lab/results/reproduction.ts";
import type { PaperTable } from "./paper.ts";
import type { Results } from "./results.ts";

interface GridValue<Place, Result> {
  readonly place: Place;
  readonly measure: (result: Result) => number;
  /** As printed, if the paper prints a value. */
  readonly published?: number | undefined;
  /** Called only if the value deviates from the published one. */
  readonly reason?: (values: readonly number[]) => string;
  /** Of how many runs the published mean is, if the paper says so. */
  readonly publishedRuns?: number;
}

interface Grid<Place, Result> extends Pick<ReproducedTable, "id" | "labelColumns" | "valueColumns"> {
  /** As a function, it names what the values show. */
  readonly title: string | ((values: readonly ReproducedValue[], results: Results<Place, Result>) => string);
  readonly rows: readonly {
    readonly labels: readonly string[];
    /** One for each column of values. */
    readonly values: readonly GridValue<Place, Result>[];
  }[];
}

export function gridTable<Place, K extends Kind>(grid: Grid<Place, CellResult<K>>): PaperTable<Place, K> {
  const { id, title, labelColumns, valueColumns } = grid;
  const places = new Set(grid.rows.flatMap(({ values }) => values.map(({ place }) => canonicalText(place))));
  return {
    needs: (place) => places.has(canonicalText(place)),
    of: (results) => {
      const rows = grid.rows.map(({ labels, values }) => ({
        labels,
        values: values.map(({ place, measure, published, reason, publishedRuns }) =>
          results.value(place, measure, published, reason, publishedRuns),
        ),
      }));
      const all = rows.flatMap(({ values }) => values);
      return {
        id,
        title: typeof title === "string" ? title : title(all, results),
        labelColumns,
        valueColumns: valueColumns.map(({ name, unit, meaning }) => ({ name, unit, meaning })),
        rows,
      };
    },
  };
}
