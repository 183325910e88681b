/**
 * `npm run attack`: runs every attack of the registry against real schedulers and prints what got through.
 *
 *   npm run attack                       all of them, some minutes
 *   npm run attack -- --short            what npm test runs
 *   npm run attack -- --only private     only attacks whose name begins with this, or with this finding
 *   npm run attack -- --seed 7           other requests of the fuzzer
 *   npm run attack -- --only news-filled --minutes 20
 *                                        for so long; default: 3
 *   npm run attack -- --package FOLDER   attacks this package (with bin/ and dist/) instead of the sources
 *
 * Exits with 1 if something got through, and with 2 if an attack itself failed.
 */
import { parseArgs } from "node:util";
import { printTable } from "../bench/measure.ts";
import { ATTACKS } from "./registry.ts";
import { runAttacks } from "./run.ts";
import { Stage } from "./stage.ts";

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "3" },
    package: { type: "string" },
  },
});
const chosen = ATTACKS.filter(
  ({ name, finding }) => values.only?.some((one) => name.startsWith(one) || finding === one) ?? true,
);
if (chosen.length === 0) {
  console.error(
    `Cannot find an attack named ${values.only?.join(" or ")}: expected one of ${ATTACKS.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}
const stage = await Stage.open({
  isShort: values.short,
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  package: values.package,
  note: (line) => console.error(line),
});
let isInterrupted = false;
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(name, () => {
    isInterrupted = true;
    void stage.close().finally(() => process.exit(130));
  });
}
const results = await runAttacks(stage, chosen).finally(() => stage.close());
// The interrupted attack has failed, which means nothing.
if (isInterrupted) await new Promise(() => {});

printTable(
  ["finding", "attack", "tried", "got through", "what happened"],
  results.map(({ attack, outcome, failure, skipped }) => [
    attack.finding,
    attack.name,
    String(outcome?.tried ?? 0),
    String(outcome?.through ?? 0),
    skipped !== undefined ? `skipped: ${skipped}` : (outcome?.detail ?? `the attack failed: ${failure}`),
  ]),
);
const tried = results.reduce((sum, { outcome }) => sum + (outcome?.tried ?? 0), 0);
const through = results.filter(({ outcome }) => outcome?.held === false).length;
const failed = results.filter(({ failure }) => failure !== undefined).length;
const skipped = results.filter((one) => one.skipped !== undefined).length;
console.log(
  `\n${results.length} attacks, ${tried} attempts: ${through} got through, ${failed} failed, ${skipped} skipped`,
);
process.exit(through > 0 ? 1 : failed > 0 ? 2 : 0);
