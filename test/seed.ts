/**
 * One fixed seed for all property tests, so that a commit always passes or always fails.
 * `TUTTI_SEED=random npm test` (as in a soak run) or any whole number uses another seed. A failure prints its
 * seed.
 */
import fc from "fast-check";

const wanted = process.env.TUTTI_SEED ?? "20261120";
if (wanted !== "random") {
  const seed = Number(wanted);
  if (!Number.isInteger(seed)) throw new Error(`TUTTI_SEED "${wanted}": expected a whole number or "random"`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
