/** Which Tutti made the page. */
import type { Comparison } from "../../results/comparison.ts";

/** Set by scripts/build-web.ts in the bundle. */
declare const TUTTI_BUILD: Comparison["made"];

export const MADE: Comparison["made"] = TUTTI_BUILD;
