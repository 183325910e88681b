/**
 * Records the corpus again, or parts of it:
 *
 *   node $FLAG test/corpus/record.ts seasons    days of schedulers without processes
 *   node $FLAG test/corpus/record.ts killed     real schedulers in the kill loop; takes minutes
 *   node $FLAG test/corpus/record.ts expected   what this revision says of the recorded states
 *   node $FLAG test/corpus/record.ts missing    only of those of which nothing is known
 *
 * FLAG is that of bin/tutti.js, --no-maglev-escape-analysis.
 *
 * After a change that users see, only `expected` is recorded again.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../kill-loop/scheduler.ts";
import { EXPECTED, readExpected, STATES, writeExpected } from "./expected.ts";
import { recordKilled } from "./killed.ts";
import { play } from "./play.ts";
import { Season } from "./season.ts";
import { type RecordedState, readStates, writeStates } from "./state.ts";

const SEASONS = 26;
const STEPS = 180;
/** Steps between two states of a season. */
const EVERY = 25;
const FAULTS = 22;
const KILLED: readonly (readonly [seed: number, settings: Settings])[] = [
  [11, { mode: "shared", policy: "easy", turns: "gang" }],
  [12, { mode: "private", policy: "gang", turns: "gang" }],
];

switch (process.argv[2]) {
  case "seasons":
    replace("season", await seasons());
    break;
  case "killed":
    for (const [seed, settings] of KILLED)
      replace(`kill loop ${seed},`, await recordKilled(seed, settings, FAULTS));
    break;
  case "expected":
    await writeExpected(EXPECTED, readStates(STATES), play);
    break;
  case "missing":
    await writeExpected(EXPECTED, readStates(STATES), play, readExpected(EXPECTED));
    break;
  default:
    throw new Error("Expected one of seasons, killed, expected and missing");
}

/** Keeps all states with other names. */
function replace(beginning: string, states: readonly RecordedState[]): void {
  const known = existsSync(STATES) ? readStates(STATES) : [];
  writeStates(STATES, [...known.filter(({ name }) => !name.startsWith(beginning)), ...states]);
}

async function seasons(): Promise<RecordedState[]> {
  const found: RecordedState[] = [];
  const counts: Record<string, number> = {};
  for (let seed = 1; seed <= SEASONS; seed++) {
    const folder = mkdtempSync(join(tmpdir(), "tutti-corpus-"));
    const season = new Season(seed, folder);
    for (let i = 1; i <= STEPS; i++) {
      await season.step();
      if (i % EVERY === 0) found.push(season.record());
    }
    season.end();
    rmSync(folder, { recursive: true });
    for (const [what, count] of Object.entries(season.done)) counts[what] = (counts[what] ?? 0) + count;
  }
  console.error(counts);
  return found;
}
