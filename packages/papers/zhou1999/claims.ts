/**
 * Decides by simulation what zhou1999 says in words but does not measure. A claim holds if the 95 % interval
 * of the paired difference is on its side at every load of 0.5 or more, because rows are scarce there.
 */

import { type Claim, within } from "@tutti/lab/claims.ts";
import statements from "../../../docs/papers/zhou1999.claims.json" with { type: "json" };
import {
  LOADS,
  MEASURES,
  type Measure,
  type Scheme,
  type Sizes,
  type Slots,
  type Zhou1999Results,
} from "./cells.ts";

interface Variant {
  readonly scheme: Scheme;
  /** The kind of slots that its jobs have. */
  readonly slots: Slots;
}

const BUSY = LOADS.filter((load) => load >= 0.5);

/** A statement of docs/papers/zhou1999.claims.json. */
interface ClaimText {
  readonly statement: string;
  readonly measure: Measure;
  /** The measure is smaller under this variant than under each of the others. */
  readonly smaller: Variant;
  readonly than: readonly Variant[];
  /** "any" if undefined. */
  readonly sizes?: Sizes;
}

export function claims(results: Zhou1999Results): Claim[] {
  return (statements as readonly ClaimText[]).map(
    ({ statement, measure, smaller: below, than, sizes = "any" }) => {
      const compared = BUSY.map((load) =>
        than.map((above) => {
          const [from, to] = [above, below].map((variant) => ({ sizes, load, ...variant }));
          const difference = results.difference(from, to, MEASURES[measure]);
          const mean = (place: typeof from) => short(results.mean(place, MEASURES[measure]));
          const slots = above.scheme === below.scheme ? ` (${above.slots})` : "";
          const means = `${below.scheme} ${mean(to)}, ${above.scheme}${slots} ${mean(from)}`;
          return { difference, text: `${means} (${short(difference.mean)} ± ${short(difference.half)})` };
        }),
      );
      const texts = compared.map(
        (ofLoad, i) => `ρ = ${BUSY[i]}: ${ofLoad.map(({ text }) => text).join("; ")}`,
      );
      return {
        statement,
        comparisons: compared.flat().map(({ difference }) => ({ a: within(difference), is: "below", b: 0 })),
        evidence: `${measure} at ${texts.join(" | ")}`,
      };
    },
  );
}

/** Three significant digits; no decimals from 100 on. */
function short(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0).replace("-", "−");
}
