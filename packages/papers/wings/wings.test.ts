/** What holds for every wing; the list of wings decides which are tested. */

import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { describe, expect, test } from "vitest";
import { parseWing, WINGS, wingOfPolicy } from "./wings.ts";

/** With seed 1; other simulators of the two papers can compare their results with them. */
const GOLDEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "sites:jobs=3000:gangs=5,20": {
    "sites-one": "d4a19e27cbb46f2d",
    "sites-across": "f72feaad8beed5a4",
    "sites-one:order=oldest": "307d0ef651914cd1",
    "sites-one:idle=held": "d4a19e27cbb46f2d",
  },
  "sites:sizes=8,4,13:speeds=1,2,0.5:critical=0.3:error=30:remaining=predicted:jobs=3000": {
    "sites-one:critical=ahead:threshold=0.5": "e72be75a9f2ceaab",
    "sites-across:site=fastest:backfill=none": "4aa4331da6012e66",
  },
  "tasks:hours=3": { "tasks-idle": "98654aada04ae858", "tasks-grades": "126b40dacbcdab09" },
  // The default before place=any.
  "tasks:hours=3:place=adjacent": { "tasks-idle": "98654aada04ae858", "tasks-grades": "7c9bb9f16184af9d" },
  "tasks:kind=synchronisation:hours=3:slot=7:switch=0.5:returns=no:gang=brms": {
    "tasks-idle": "6e200668317ccf2f",
    "tasks-grades:alpha=0.5": "c5a535e0ec99c854",
  },
  phases: {
    "phases-exclusive": "2abc3f6445adc847",
    "phases-exclusive:queue=first-fit": "3791252cf90abf7a",
    "phases-lock": "c5a35dda8c1d4001",
    "phases-lock:groups=8,4,2,2:order=served": "2a8f82274423a682",
    "phases-pool": "d3063f76312bddd1",
    "phases-pool:most=0:split=yes": "36fe2fd8f1b3f6a9",
    "phases-pool:order=served:most=3": "e60298daf6ca9713",
    "phases-grades": "4be002a5823ccbc9",
    "phases-rows": "d0d7ece5836fcc42",
    "phases-rows:extra=no": "b2af218f89aeb029",
    "phases-rows:gang=brms": "936c4370e34b2ef8",
    "phases-rows:gang=brmms": "378560187645af84",
  },
  "phases:sizes=2,16,3:units=64:resident=2.5:interarrival=300:save=21:restore=9:spread=1": {
    "phases-lock:groups=16": "fdc5c25968a6be95",
    "phases-pool": "0ed554cd0c079f96",
    "phases-grades:alpha=0.5:turns=3": "9d8abb97e23e5a67",
    "phases-rows:gang=brmms": "4d7bfb129b01a489",
  },
  "pilots:jobs=300": {
    "pilots-fixed": "ba0c51f9b565fcfd",
    "pilots-elastic": "7581350974fbdb9b",
    "pilots-elastic:queue=fcfs:idle=0": "a146a04c997e04f7",
    "pilots-elastic:queue=conservative:idle=none:narrow=4:longest=50000": "0fdc2c9f3de30350",
    "pilots-elastic:queue=first-fit:min=16:most=24:hours=3000": "3b1f53cb1b3d7ad7",
  },
};

describe("WINGS", () => {
  test("every wing has policies, with names that nothing else has, rules and a source in words", () => {
    const names = [...POLICIES, ...WINGS.flatMap(({ policies }) => policies)].map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const wing of WINGS) {
      expect(wing.rules.length, wing.name).toBeGreaterThan(0);
      expect(wing.policies.length, wing.name).toBeGreaterThan(1);
      for (const policy of wing.policies) {
        expect(policy.name).toMatch(/^[a-z][a-z-]*$/);
        expect(policy.summary, policy.name).toMatch(/\.$/);
        expect(policy.source, policy.name).not.toBe("");
        expect(policy.rules.length, policy.name).toBeGreaterThan(0);
      }
    }
  });

  test("wingOfPolicy() finds the wing of a policy with its parameters, and none for a policy of one machine", () => {
    for (const wing of WINGS)
      for (const { name } of wing.policies) expect(wingOfPolicy(`${name}:a=1`)).toBe(wing);
    expect(wingOfPolicy("easy")).toBeUndefined();
  });

  test.each(Object.entries(GOLDEN))("schedules of %s stay as they are, to the last bit", (source, hashes) => {
    const { wing, parameters } = parseWing(source)!;
    const found = Object.keys(hashes).map((policy) => {
      const { scheduleHash } = wing.simulate(parameters, chooseAmong(wing.policies, policy), 1, false);
      return [policy, scheduleHash];
    });
    expect(Object.fromEntries(found)).toEqual(hashes);
  });
});
