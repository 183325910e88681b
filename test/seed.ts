/**
 * One seed for all property tests, so that a commit is green or red and not both by turns. `TUTTI_SEED=random npm test` (a soak
 * does so) or any whole number looks elsewhere; a failure prints its seed.
 */
import fc from "fast-check";

const wanted = process.env.TUTTI_SEED ?? "20261120";
if (wanted !== "random") {
  const seed = Number(wanted);
  if (!Number.isInteger(seed)) throw new Error(`TUTTI_SEED "${wanted}": expected a whole number or "random"`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
