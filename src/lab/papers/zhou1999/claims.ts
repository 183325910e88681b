/** What zhou1999 argues, decided by our numbers: paired differences over sets of jobs that all schemes have seen. */
import { confidenceInterval, pairedDifference } from "../../../metrics/statistics.ts";
import type { ReproducedStatement } from "../paper.ts";
import { LOADS, type Measure, type Scheme, type Sizes, type Slots } from "./cells.ts";

/** One scheme with one kind of slots. */
export type Variant = readonly [Scheme, Slots];
/** The replications' numbers. */
export type Column = (sizes: Sizes, load: number, variant: Variant, measure: Measure) => readonly number[];

const BUSY = LOADS.filter((load) => load >= 0.5);

interface Claim {
  readonly statement: string;
  readonly measure: Measure;
  /** The first is below the second: the 95 % interval of the difference is below 0 at every load. */
  readonly pairs: readonly (readonly [below: Variant, above: Variant])[];
  readonly sizes?: Sizes;
}

const CLAIMS: readonly Claim[] = [
  {
    statement:
      "Section 2: random allocation suffers less from fragmentation than first fit, one slot per job: fewer rows",
    measure: "n_a",
    pairs: [
      [
        ["random", "one"],
        ["first fit", "one"],
      ],
    ],
  },
  {
    statement:
      "Section 2: regular allocation raises the number of unifications: first fit and buddy above random, slots returned",
    measure: "unifications",
    pairs: [
      [
        ["random", "returned"],
        ["first fit", "returned"],
      ],
      [
        ["random", "returned"],
        ["buddy", "returned"],
      ],
    ],
  },
  {
    statement: "Section 2: with unification first fit has shorter turnaround than random allocation",
    measure: "t_ta",
    pairs: [
      [
        ["first fit", "returned"],
        ["random", "returned"],
      ],
    ],
  },
  ...(["any", "powers of two"] as const).flatMap((sizes): Claim[] => [
    {
      statement: `Section 2: with unification buddy has shorter turnaround than random allocation (sizes: ${sizes})`,
      measure: "t_ta",
      pairs: [
        [
          ["buddy", "returned"],
          ["random", "returned"],
        ],
      ],
      sizes,
    },
    {
      statement: `Section 2, after Feitelson 1996: with unification buddy has shorter turnaround than first fit (sizes: ${sizes})`,
      measure: "t_ta",
      pairs: [
        [
          ["buddy", "returned"],
          ["first fit", "returned"],
        ],
      ],
      sizes,
    },
  ]),
  {
    statement: "Section 4: WLV needs fewer rows than first and best fit row by row, one slot per job",
    measure: "n_a",
    pairs: [
      [
        ["WLV", "one"],
        ["first fit", "one"],
      ],
      [
        ["WLV", "one"],
        ["best fit", "one"],
      ],
    ],
  },
  {
    statement:
      "Section 4: WLV has shorter turnaround than random, first fit, best fit and buddy, one slot per job",
    measure: "t_ta",
    pairs: (["random", "first fit", "best fit", "buddy"] as const).map((other) => [
      ["WLV", "one"],
      [other, "one"],
    ]),
  },
  {
    statement:
      "Section 4: buddy blocks are better used with re-packing than row by row: shorter turnaround, one slot per job",
    measure: "t_ta",
    pairs: [
      [
        ["buddy, re-packing", "one"],
        ["buddy", "one"],
      ],
    ],
  },
  {
    statement:
      "Section 4: simply running jobs in several rows makes the number of rows large: WLV, kept above one slot",
    measure: "n_a",
    pairs: [
      [
        ["WLV", "one"],
        ["WLV", "kept"],
      ],
    ],
  },
  {
    statement:
      "Section 4: unification and few rows together are better than either: WLV, returned below one and kept",
    measure: "t_ta",
    pairs: [
      [
        ["WLV", "returned"],
        ["WLV", "one"],
      ],
      [
        ["WLV", "returned"],
        ["WLV", "kept"],
      ],
    ],
  },
  {
    statement:
      "Our question, not in the paper: with unification as well, WLV has shorter turnaround than random, first fit, best fit and buddy",
    measure: "t_ta",
    pairs: (["random", "first fit", "best fit", "buddy"] as const).map((other) => [
      ["WLV", "returned"],
      [other, "returned"],
    ]),
  },
];

/** At ρ ≥ 0.5, where rows are scarce. */
export function judge(column: Column): ReproducedStatement[] {
  return CLAIMS.map(({ statement, measure, pairs, sizes = "any" }) => {
    const failed: string[] = [];
    const evidence = BUSY.map((load) => {
      const texts = pairs.map(([below, above]) => {
        const [a, b] = [column(sizes, load, below, measure), column(sizes, load, above, measure)];
        const difference = pairedDifference(a, b);
        if (!(difference.mean + difference.half < 0)) failed.push(String(load));
        const mean = (values: readonly number[]) => short(confidenceInterval(values).mean);
        return `${below[0]} ${mean(a)}, ${above[0]}${above[0] === below[0] ? ` (${above[1]})` : ""} ${mean(b)} (${short(difference.mean)} ± ${short(difference.half)})`;
      });
      return `ρ = ${load}: ${texts.join("; ")}`;
    });
    return { statement, holds: failed.length === 0, evidence: `${measure} at ${evidence.join(" | ")}` };
  });
}

/** Three significant digits, none behind the point from 100 on. */
function short(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace("-", "−");
}
