/**
 * Lives in a simulated world find faults that are planted into the live code: a few that show within seconds,
 * so that the check is known to be able to fail. `npm run torture:mutations` plants all.
 */
import { readFileSync } from "node:fs";
import { programsOf } from "@tutti/torture/node/programs.ts";
import type { Verdict } from "@tutti/torture/run/course.ts";
import { loadParts, settler } from "@tutti/torture/run/host.ts";
import type { Setting } from "@tutti/torture/run/setting.ts";
import { kindOfProblem, shrink } from "@tutti/torture/run/shrink.ts";
import { liveOnce, settingOf } from "@tutti/torture/run/torture.ts";
import { afterAll, describe, expect, test } from "vitest";
import { buildWorldPrograms, type Mutation } from "../scripts/torture-bundle.ts";
import { PLANTED_FAULTS } from "./torture/mutations.ts";

const WASM = new URL("../node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm", import.meta.url);
/** Jobs in which these faults show without any other fault. */
const SETTING: Setting = {
  ...settingOf(1),
  ...{ hours: 0.05, cpus: 2, policy: "gang", slotMs: 500, maxRows: 2, arrivalMs: 5000, graceMs: 500 },
  ...{ isLaxDisk: false, pidMax: 32_768, faults: {}, cluster: undefined, olderStore: undefined },
  groups: "v2",
  mode: "gang",
  runMs: [1000, 5000],
  kinds: { retried: 1, "time limit": 1, hooks: 1, "leaves a process": 1 },
};

/** Nothing disturbs it, and jobs wait for each other. */
const UNDISTURBED: Setting = {
  ...SETTING,
  ...{ hours: 0.3, cpus: 4, policy: "easy", runningJobs: undefined, arrivalMs: 8000 },
  runMs: [1000, 60_000],
  kinds: { "knows its time": 1 },
};

const { settle, close } = settler();
afterAll(close);

/** @returns lives a life with these mistakes in the programs */
async function liverWith(mutations: readonly Mutation[]): Promise<(setting: Setting) => Promise<Verdict>> {
  const programs = programsOf(await buildWorldPrograms(mutations));
  const parts = await loadParts(programs, readFileSync(WASM), Buffer as never);
  return (setting) => liveOnce(setting, { parts, settle });
}

async function problemsWith(mutations: readonly Mutation[], setting = SETTING): Promise<readonly string[]> {
  const live = await liverWith(mutations);
  return (await live(setting)).problems;
}

const faultNamed = (name: string) => PLANTED_FAULTS.find((one) => one.name === name)!;

describe("a life in a simulated world", () => {
  test("has no problem", async () => {
    expect(await problemsWith([])).toEqual([]);
  });

  test.each([
    ["one retry too many", /ended with (?:3|75|SIG\w+), no retry follows|is one too many/],
    ["no start hook for a second attempt", /onStart of start 2 was not reported/],
    ["processes of an ended gang are left", /is left after the last job/],
  ])("finds a planted fault: %s", async (name, problem) => {
    expect((await problemsWith([faultNamed(name)])).join("\n")).toMatch(problem);
  });

  test("decides as the simulator does, and a policy that sees other limits is found", async () => {
    expect(await problemsWith([], UNDISTURBED)).toEqual([]);
    const found = await problemsWith([faultNamed("the policy sees another limit")], UNDISTURBED);
    expect(found.join("\n")).toMatch(/^job \d+ was started at [\d.]+ s, and at [\d.]+ s by the simulator$/);
  });

  test("has in memory what its record says, and a field that is not read is found", async () => {
    const setting = { ...UNDISTURBED, kinds: { gpu: 1 } };
    expect(await problemsWith([], setting)).toEqual([]);
    const found = await problemsWith([faultNamed("units are forgotten at a restart")], setting);
    expect(found[0]).toMatch(/^the front end's memory differs from its record: record of job \d+: /);
  });

  test("shrinks to one job that shows the fault, and no other fault", async () => {
    const live = await liverWith([faultNamed("one retry too many")]);
    const setting = { ...SETTING, faultMs: 20_000, faults: { "another policy": 1 } };
    const verdict = await live(setting);
    expect(verdict.drawn.jobs).toBeGreaterThan(10);
    expect(verdict.drawn.faults).toBeGreaterThan(3);
    const { jobs, faults, only, verdict: smallest } = await shrink({ setting, verdict, live });
    expect([jobs, faults]).toEqual([1, 0]);
    expect(kindOfProblem(smallest.problems[0])).toBe(kindOfProblem(verdict.problems[0]));
    const { starts, ...again } = await live({ ...setting, only });
    expect(again).toMatchObject({ problems: smallest.problems, hash: smallest.hash });
    expect(starts).toBeLessThan(verdict.starts);
  });

  test("each planted fault has a name of its own and changes exactly one text", () => {
    expect(new Set(PLANTED_FAULTS.map(({ name }) => name)).size).toBe(PLANTED_FAULTS.length);
    for (const { file, find, replace } of PLANTED_FAULTS) {
      expect([file, readFileSync(file, "utf8").split(find).length]).toEqual([file, 2]);
      expect(replace).not.toBe(find);
    }
  });
});
