/** What is expected of the recorded states: texts of some, and hashes of the texts of all. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Texts } from "./play.ts";
import { type RecordedState, readPacked, writePacked } from "./state.ts";

export const STATES = fileURLToPath(new URL("./states.zst", import.meta.url));
export const EXPECTED = fileURLToPath(new URL("./expected.zst", import.meta.url));
/** Of each state with this remainder, the whole texts are kept. */
const TEXTS_EVERY = 4;

/** Of a state: its texts, or their hashes, by name. */
export type Expected = Readonly<Record<string, Texts>>;

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** @param known what is not played again */
export async function writeExpected(
  file: string,
  states: readonly RecordedState[],
  play: (state: RecordedState) => Promise<Texts>,
  known: Expected = {},
): Promise<void> {
  const expected: Record<string, Texts> = {};
  for (const [i, state] of states.entries()) {
    const texts = known[state.name] ?? (await play(state));
    const isWhole = i % TEXTS_EVERY === 0 || Object.hasOwn(known, state.name);
    expected[state.name] = isWhole
      ? texts
      : Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, hashOf(text)]));
  }
  writePacked(file, Buffer.from(JSON.stringify(expected)));
}

export function readExpected(file: string): Expected {
  return JSON.parse(readPacked(file).toString()) as Expected;
}
