/**
 * Decides by simulation what zhou1999 says in words but does not measure. A claim holds if the 95 % interval
 * of the paired difference is on its side at every load of 0.5 or more, because rows are scarce there.
 */
import { type Claim, within } from "../../claims.ts";
import {
  LOADS,
  MEASURES,
  type Measure,
  type Scheme,
  SIZES,
  type Sizes,
  type Slots,
  type Zhou1999Results,
} from "./cells.ts";

/** A scheme and the kind of slots that its jobs have. */
type Variant = readonly [Scheme, Slots];

const BUSY = LOADS.filter((load) => load >= 0.5);

interface Text {
  readonly statement: string;
  /** The measure is smaller under the first variant than under each of the others. */
  readonly smaller: readonly [Measure, ...(readonly Variant[])];
  readonly sizes?: Sizes;
}

/** Conventional regular allocation. Section 4 compares the vector with it, not with random allocation. */
const ROW_BY_ROW: readonly Scheme[] = ["first fit", "best fit", "buddy"];
/** After Feitelson 1996, whose jobs mostly have sizes that are powers of two. */
const BUDDY: readonly [string, Scheme][] = [
  ["Section 2: with unification, buddy has shorter turnaround than random allocation", "random"],
  [
    "Section 2, after Feitelson 1996: with unification, buddy has shorter turnaround than first fit",
    "first fit",
  ],
];

/** zhou1999 does not say whether others may use what a job leaves of its block; zhou2000 does. */
const BLOCKS: readonly [Scheme, string][] = [
  ["buddy", "blocks shared"],
  ["buddy, exclusive", "blocks exclusive"],
];

const TEXTS: readonly Text[] = [
  {
    statement:
      "Section 2: random allocation suffers less from fragmentation than first fit, one slot per job: fewer rows",
    smaller: ["n_a", ["random", "one"], ["first fit", "one"]],
  },
  {
    statement:
      "Section 2: fragmentation is worse under buddy (blocks exclusive) than under first fit, one slot per job: more rows",
    smaller: ["n_a", ["first fit", "one"], ["buddy, exclusive", "one"]],
  },
  {
    statement:
      "Section 2: regular allocation raises the number of unifications: first fit and buddy have more than random, slots returned",
    smaller: ["unifications", ["random", "returned"], ["first fit", "returned"], ["buddy", "returned"]],
  },
  {
    statement: "Section 2: with unification, first fit has shorter turnaround than random allocation",
    smaller: ["t_ta", ["first fit", "returned"], ["random", "returned"]],
  },
  ...SIZES.flatMap((sizes) =>
    BUDDY.flatMap(([statement, other]) =>
      // Blocks of jobs whose sizes are powers of two are exclusive in any case.
      (sizes === "any" ? BLOCKS : BLOCKS.slice(0, 1)).map(
        ([scheme, words]): Text => ({
          statement: `${statement} (sizes: ${sizes}${sizes === "any" ? `, ${words}` : ""})`,
          smaller: ["t_ta", [scheme, "returned"], [other, "returned"]],
          sizes,
        }),
      ),
    ),
  ),
  {
    statement: "Section 4: WLV needs fewer rows than first and best fit row by row, one slot per job",
    smaller: ["n_a", ["WLV", "one"], ["first fit", "one"], ["best fit", "one"]],
  },
  {
    statement:
      "Section 4: WLV has shorter turnaround than first fit, best fit and buddy row by row, one slot per job",
    smaller: ["t_ta", ["WLV", "one"], ...ROW_BY_ROW.map((scheme): Variant => [scheme, "one"])],
  },
  {
    statement:
      "Section 4: re-packing uses buddy blocks better than row by row does: shorter turnaround, one slot per job",
    smaller: ["t_ta", ["buddy, re-packing", "one"], ["buddy", "one"]],
  },
  {
    statement:
      "Section 4: simply running jobs in several rows makes the number of rows large: WLV has more rows with kept slots than with one slot",
    smaller: ["n_a", ["WLV", "one"], ["WLV", "kept"]],
  },
  {
    statement:
      "Section 4: unification and few rows together are better than either: WLV has shorter turnaround with returned slots than with one slot or kept slots",
    smaller: ["t_ta", ["WLV", "returned"], ["WLV", "one"], ["WLV", "kept"]],
  },
  {
    statement: "Our question, not in the paper: WLV has shorter turnaround than random, one slot per job",
    smaller: ["t_ta", ["WLV", "one"], ["random", "one"]],
  },
  {
    statement:
      "Our question, not in the paper: with unification, too, WLV has shorter turnaround than random, first fit, best fit and buddy",
    smaller: [
      "t_ta",
      ["WLV", "returned"],
      ...(["random", ...ROW_BY_ROW] as const).map((scheme): Variant => [scheme, "returned"]),
    ],
  },
];

export function claims(results: Zhou1999Results): Claim[] {
  return TEXTS.map(({ statement, smaller: [measure, below, ...others], sizes = "any" }) => {
    const compared = BUSY.map((load) =>
      others.map((above) => {
        const [from, to] = [above, below].map(([scheme, slots]) => ({ sizes, load, scheme, slots }));
        const difference = results.difference(from, to, MEASURES[measure]);
        const mean = (place: typeof from) => short(results.mean(place, MEASURES[measure]));
        const slots = above[0] === below[0] ? ` (${above[1]})` : "";
        const means = `${below[0]} ${mean(to)}, ${above[0]}${slots} ${mean(from)}`;
        return { difference, text: `${means} (${short(difference.mean)} ± ${short(difference.half)})` };
      }),
    );
    const texts = compared.map((ofLoad, i) => `ρ = ${BUSY[i]}: ${ofLoad.map(({ text }) => text).join("; ")}`);
    return {
      statement,
      comparisons: compared.flat().map(({ difference }) => ({ a: within(difference), is: "below", b: 0 })),
      evidence: `${measure} at ${texts.join(" | ")}`,
    };
  });
}

/** Three significant digits; no decimals from 100 on. */
function short(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace("-", "−");
}
