/**
 * Sets the wall clock forward and back and suspends the machine, for each promise of host/clock.ts, with the
 * code that keeps it, in virtual time. A promise without all three fails here.
 */

import { PROMISES } from "@tutti/host/clock.ts";
import { describe, expect, test } from "vitest";
import * as conductor from "./clock-steps/conductor.ts";
import * as frontEnd from "./clock-steps/front-end.ts";
import * as page from "./clock-steps/page.ts";
import { CHANGES, type Change, type Scene } from "./clock-steps/scenes.ts";

/** By promise and by who keeps it. */
const SCENES: Readonly<Record<keyof typeof PROMISES, Readonly<Record<string, Scene>>>> = {
  begin: { "the front end": frontEnd.begin },
  window: { "the front end": frontEnd.window },
  "retry delay": { "the front end": frontEnd.retryDelay },
  quota: { "the front end": frontEnd.quota },
  "fair share": { "the front end": frontEnd.fairShare },
  retention: { "the front end": frontEnd.retention },
  limit: { "the conductor": conductor.limit, "the executor for jobs of Slurm": frontEnd.slurmLimit },
  "signal before a limit": { "the conductor": conductor.signalBeforeLimit },
  "grace time": { "the conductor": conductor.graceTime },
  forecast: { "the front end": frontEnd.forecast },
  "hook retry": { "the front end": frontEnd.hookRetry },
  "hook limit": { "the runner of hooks": conductor.hookLimit },
  "node silence": { "the executor for nodes": frontEnd.nodeSilence },
  session: { "the page": page.session },
  link: { "the page": page.link },
  decision: { "the front end": frontEnd.decision },
};

describe.each(Object.keys(PROMISES) as (keyof typeof PROMISES)[])("%s", (promise) => {
  const scenes = Object.entries(SCENES[promise] ?? {});

  test("is kept by somebody, and has an expectation for each change", () => {
    expect(scenes).not.toEqual([]);
    for (const [, { expectedMs }] of scenes) expect(Object.keys(expectedMs)).toEqual(Object.keys(CHANGES));
  });

  for (const [who, { happensAtMs, expectedMs, lateMs, leapMs }] of scenes) {
    test.each(Object.keys(CHANGES) as Change[])(`%s, as ${who} keeps it`, async (change) => {
      const atMs = await happensAtMs((time) => CHANGES[change](time, leapMs));
      expect(atMs).toBeGreaterThanOrEqual(expectedMs[change] - 1);
      expect(atMs).toBeLessThanOrEqual(expectedMs[change] + lateMs);
    });
  }
});
