/**
 * Runs the short form of `npm run attack`: attacks that worked once, found in reviews, must not work again.
 * There is one test per attack; a failure says what got through.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKS } from "../attack/registry.ts";
import { reasonToSkip, runOne } from "../attack/run.ts";
import { Stage } from "../attack/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open({ isShort: true, seed: 1 });
});
afterAll(() => stage.close());

describe("an attacker on this machine", () => {
  // The attacks have their own limit.
  const timeout = 900_000;
  test.for(ATTACKS)("$name ($finding) does not get through", { timeout }, async (attack, { skip }) => {
    const reason = reasonToSkip(stage, attack);
    if (reason !== undefined) skip(reason);
    const { outcome, failure } = await runOne(stage, attack);
    expect(failure).toBeUndefined();
    expect(outcome, outcome?.detail).toMatchObject({ held: true, through: 0 });
  });
});
