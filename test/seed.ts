/**
 * Sets one fixed seed for all property tests, so a commit always passes or always fails. To use another seed,
 * set TUTTI_SEED to any whole number, or to `random` as a soak run does. A failure prints its seed.
 */
import fc from "fast-check";

const wanted = process.env.TUTTI_SEED ?? "20261120";
if (wanted !== "random") {
  const seed = Number(wanted);
  if (!Number.isInteger(seed)) throw new Error(`TUTTI_SEED "${wanted}": expected a whole number or "random"`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
}
