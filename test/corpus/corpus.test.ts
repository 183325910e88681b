/**
 * Plays recorded live states (record.ts), and compares what the front end says of each with what was written
 * down. A change that users are meant to see is recorded again and listed in its commit.
 */
import { afterEach, expect, test, vi } from "vitest";
import { EXPECTED, hashOf, readExpected, STATES } from "./expected.ts";
import { play } from "./play.ts";
import { type RecordedState, readStates } from "./state.ts";

/** In short runs, each state with this distance from the last one. */
const SAMPLE = 16;

const states = readStates(STATES);
const expected = readExpected(EXPECTED);

afterEach(() => {
  vi.unstubAllEnvs();
});

test("the corpus has 200 states of seasons and of killed schedulers", () => {
  expect(states.length).toBeGreaterThanOrEqual(200);
  expect(states.map(({ name }) => name)).toEqual(Object.keys(expected));
  expect(states.filter(({ name }) => name.startsWith("kill loop")).length).toBeGreaterThanOrEqual(20);
});

/** Fails if a state gives other texts than recorded. */
async function check(state: RecordedState): Promise<void> {
  const texts = await play(state);
  const known = expected[state.name];
  expect(Object.keys(texts), state.name).toEqual(Object.keys(known));
  for (const [name, text] of Object.entries(texts)) {
    // Of some states there are only hashes.
    if (hashOf(text) !== known[name]) expect(text, `${state.name}: ${name}`).toBe(known[name]);
  }
}

test("every recorded state gives the texts that were recorded", async () => {
  const isFull = process.env.TUTTI_FULL !== undefined;
  for (const state of states.filter((_, i) => isFull || i % SAMPLE === 0)) await check(state);
});

test.each(["Asia/Tokyo", "America/St_Johns"])("the texts are the same in %s", async (zone) => {
  vi.stubEnv("TZ", zone);
  await check(states[1]);
});
