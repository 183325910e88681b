/**
 * Proves that lives in a simulated world find faults of the live code: plants each fault of
 * test/torture/mutations.ts, and lets sets of lives go on until one has a problem, or long enough.
 *
 *   npm run torture:mutations -- [--only NAME] [--sets 10] [--hours 50] [--first 0]
 *
 * A fault that two sets have missed is given up. The first row has no planted fault, and must have no
 * problem. A life that has one without the planted fault, too, proves nothing, and does not count.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { programsOf } from "@tutti/torture/node/programs.ts";
import { loadParts, settler } from "@tutti/torture/run/host.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import { liveOnce, settingOf } from "@tutti/torture/run/torture.ts";
import { PLANTED_FAULTS, type PlantedFault } from "../test/torture/mutations.ts";
import { buildWorldPrograms } from "./torture-bundle.ts";

interface Row {
  readonly name: string;
  /** Simulated hours until a problem, of each set; undefined: none was found. */
  readonly hours: readonly (number | undefined)[];
  readonly first: string;
}

/** Sets that may miss a fault which has to be found in nearly all; with one more, it is given up. */
const MOST_MISSES = 1;
/** Sets have seeds that are this far apart: more than any set has lives. */
const SEEDS_OF_SET = 10_000;
const TEXT_LENGTH = 110;
const WASM = new URL("../node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm", import.meta.url);

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    sets: { type: "string", default: "10" },
    hours: { type: "string", default: "50" },
    first: { type: "string", default: "0" },
  },
});
const sets = Array.from({ length: Number(values.sets) }, (_, i) => Number(values.first) + i);
const mostHours = Number(values.hours);
const { settle, close } = settler();
// A planted fault may leave a promise behind; what it does wrong shows in the life.
process.on("unhandledRejection", () => {});

let plain: ReturnType<typeof programsOf> | undefined;

const isAsked = (name: string) => values.only === undefined || values.only.some((one) => name.includes(one));
const chosen = PLANTED_FAULTS.filter(({ name }) => isAsked(name));
console.log("| fault | found | median hours | first problem |\n| --- | --- | --- | --- |");
if (isAsked("none")) print(await rowOf("none", []));
for (const fault of chosen) print(await rowOf(fault.name, [fault]));
close();

/** Whether the life of that seed has a problem without any planted fault. */
async function isSpoilt(seed: number): Promise<boolean> {
  plain ??= programsOf(await buildWorldPrograms());
  const parts = await loadParts(plain, readFileSync(WASM), Buffer as never);
  const { problems } = await liveOnce(settingOf(seed), { parts, settle });
  if (problems.length > 0)
    console.error(`seed ${seed} has a problem without a planted fault: ${problems[0]}`);
  return problems.length > 0;
}

async function rowOf(name: string, faults: readonly PlantedFault[]): Promise<Row> {
  const programs = programsOf(await buildWorldPrograms(faults));
  const hours: (number | undefined)[] = [];
  let first = "";
  for (const set of sets) {
    if (hours.filter((one) => one === undefined).length > MOST_MISSES && faults.length > 0) break;
    const parts = await loadParts(programs, readFileSync(WASM), Buffer as never);
    let lived = 0;
    let problem: string | undefined;
    for (let seed = SEEDS_OF_SET * (set + 1); problem === undefined && lived < mostHours; seed++) {
      // What shows before the end is enough.
      const onBegin = (life: Life) => {
        life.onStep = () => {
          life.isStopped = life.problems.length > 0;
        };
      };
      const verdict = await liveOnce(settingOf(seed), { parts, settle, onBegin });
      lived += verdict.hours;
      [problem] = verdict.problems;
      if (problem !== undefined && faults.length > 0 && (await isSpoilt(seed))) problem = undefined;
      if (problem !== undefined) console.error(`${name}: seed ${seed}, ${lived.toFixed(1)} h: ${problem}`);
    }
    hours.push(problem === undefined ? undefined : lived);
    first ||= problem ?? "";
  }
  return { name, hours, first };
}

function print({ name, hours, first }: Row): void {
  const found = hours.filter((one) => one !== undefined).sort((a, b) => a - b);
  const median = found.length === 0 ? "" : found[Math.floor(found.length / 2)].toFixed(1);
  const text = first.replaceAll("|", "/").replaceAll("\n", " ").slice(0, TEXT_LENGTH);
  console.log(`| ${name} | ${found.length} of ${hours.length} | ${median} | ${text} |`);
}
