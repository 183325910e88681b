import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { GangMachine, Pool } from "@tutti/kernel/core/policy.ts";
import { instanceOf } from "@tutti/kernel/policies/instances-for-tests.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { PolicyError } from "@tutti/own-policies/guarded-policy.ts";
import { loadPolicy } from "@tutti/own-policies/own-policy.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SLOTS } from "../audit/broken-policies-for-tests.ts";

let folder = "";
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-guarded-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const instance = () =>
  instanceOf(4, [
    { submitS: 0, runS: 5, size: 2 },
    { submitS: 1, runS: 3, size: 4 },
  ]);

function moduleOf(text: string): string {
  const file = join(folder, `own-${count++}.mjs`);
  writeFileSync(file, text);
  return file;
}

/** Writes the file of a policy with the given hooks. Their code can use `machine` and `jobs`. */
const policyOf = (hooks: string, sharing = "space") =>
  moduleOf(`export default { name: "own", sharing: "${sharing}", make: (machine, jobs, parameters) => ({
    arrive(job) {}, depart(job) {}, decide() {}, ${hooks} }) };`);

const runOf = async (file: string, jobs = instance()) => simulate(jobs, await loadPolicy(file), SLOTS);

describe("guardedPolicy()", () => {
  test("what a policy writes into the columns stays with it", async () => {
    const jobs = instance();
    await runOf(
      policyOf("decide() { for (const name of ['size', 'submitS', 'estimateS']) jobs[name].fill(1); }"),
      jobs,
    );
    expect([...jobs.size, ...jobs.submitS, ...jobs.estimateS]).toEqual([2, 4, 0, 1, 5, 3]);
  });

  test.each(["free = 9", "nowS = 9", "processors = 9", "start = () => {}", "extra = 1"])(
    "machine.%s is refused",
    async (assignment) => {
      await expect(runOf(policyOf(`decide() { machine.${assignment}; }`))).rejects.toThrow(TypeError);
    },
  );

  test("what it is shown of outages and resources cannot be changed", async () => {
    const jobs = { ...instance(), resources: [{ name: "gpu", amount: 1 }], demand: [Int32Array.of(1, 1)] };
    const copes = `copesWith: () => ["resources"], `;
    const file = moduleOf(`export default { name: "own", sharing: "space", ${copes} make: (machine) => ({
      depart() {}, decide() { machine.resources[0].amount = 99; } }) };`);
    await expect(runOf(file, jobs)).rejects.toThrow(/Cannot assign to read only property 'amount'/);
    expect(jobs.resources[0].amount).toBe(1);
  });

  test("claims are those of the first time that they were asked for", async () => {
    const file = moduleOf(`let asked = 0; export default { name: "own", sharing: "space",
      guarantees: () => ({ headNeverFits: asked++ === 0, workConserving: false, keepsPromises: false }),
      make: () => ({ depart() {}, decide() {} }) };`);
    const { definition, parameters } = await loadPolicy(file);
    for (let i = 0; i < 3; i++) expect(definition.guarantees(parameters).headNeverFits).toBe(true);
  });

  test("a policy of space sharing sees the contract's members and no others", async () => {
    const seen: string[] = [];
    Object.assign(globalThis, { seenByPolicy: seen });
    const names: (keyof Pool)[] = [
      "processors",
      "free",
      "nowS",
      "outages",
      "resources",
      "fits",
      "start",
      "promise",
      "wakeAt",
    ];
    await runOf(
      policyOf(
        "arrive(job) { if (job === 0) seenByPolicy.push(...Reflect.ownKeys(machine), String(machine.ends), Object.getPrototypeOf(machine) === Object.prototype); }",
      ),
    );
    expect(seen).toEqual([...names, "undefined", true]);
  });

  test("a gang policy places, and sees the contract's members and no others", async () => {
    const seen: string[] = [];
    Object.assign(globalThis, { seenByPolicy: seen });
    const { startS, endS } = await runOf(
      policyOf(
        "arrive(job) { if (job === 0) seenByPolicy.push(...Reflect.ownKeys(machine)); machine.place(job, machine.addRow(), 0); }, depart(job) { for (let p = machine.rowCount; p-- > 0; ) if (machine.firstRun(machine.rowAt(p)) < 0) machine.deleteRow(machine.rowAt(p)); }",
        "time",
      ),
    );
    const names: readonly (keyof GangMachine)[] = [
      ...(["processors", "rowCount", "nowS", "slotS", "switchS", "rowAt", "positionOf", "firstRun"] as const),
      ...(["nextRun", "runBefore", "runJob", "runRow", "runFirst", "runSize", "nextStretch"] as const),
      ...([
        "firstRunOfJob",
        "nextRunOfJob",
        "slotsOf",
        "firstIdle",
        "isIdle",
        "addRow",
        "deleteRow",
        "place",
      ] as const),
      ...([
        "placeStretches",
        "release",
        "exchange",
        "migrate",
        "servedSlots",
        "promise",
        "movesGangs",
      ] as const),
    ];
    expect([...seen].sort()).toEqual([...names].sort());
    // Slots from 0 s on: job 0 twice, then in turns 1 0 1 0 1, and job 0 alone in the last.
    expect([...startS]).toEqual([0, 2]);
    expect([...endS]).toEqual([8, 7]);
  });

  test.each(["'0'", "'length'"])("start by rule %s, a text, is refused", async (rule) => {
    const file = policyOf(`arrive(job) { if (job === 0) machine.start(job, ${rule}); }`);
    await expect(runOf(file)).rejects.toThrow("a string in place of a number");
  });

  test.each(["-1", "7", "0.5"])("start by rule %s is refused", async (rule) => {
    const file = policyOf(`arrive(job) { if (job === 0) machine.start(job, ${rule}); }`);
    await expect(runOf(file)).rejects.toMatchObject({
      name: "RuleViolation",
      rule: "unknown-rule",
      job: 0,
    });
  });

  test.each([
    ["decide() { throw 'a word'; }", /own-\d+\.mjs": it threw "a word"/],
    ["decide() { throw null; }", /it threw null/],
    ["async decide() { throw new Error('late'); }", /its decide returns a promise/],
    ["async arrive() {}", /its arrive returns a promise/],
    ["depart: 3", /has no function depart/],
  ])("%s is reported as a failure of the policy", async (hooks, message) => {
    const failure = await runOf(policyOf(hooks)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PolicyError);
    expect((failure as Error).message).toMatch(message);
  });
});

describe("loadPolicy() of a module that is wrong", () => {
  const definition = (fields: string) =>
    moduleOf(`export default { name: "own", sharing: "space", make() {}, ${fields} };`);

  test.each([
    ["parameters: 3", /its parameters are not a list/],
    ["parameters: { order: 1 }", /its parameters are not a list/],
    ["parameters: [null]", /its parameters are not a list/],
    ["parameters: [{ name: 'a', kind: 'integer', default: 1 }]", /its parameters are not a list/],
    ["rules: 'one'", /its rules are not a list/],
    ["title: 3", /its title is not a string/],
    ["guarantees: {}", /its guarantees are not a function/],
  ])("%s", async (fields, message) => {
    const failure = await loadPolicy(definition(fields)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(InputError);
    expect((failure as Error).message).toMatch(message);
  });

  test.each([
    ["throw 'a word'", /": "a word", expected a module/],
    ["throw null", /": null, expected a module/],
    ["throw undefined", /": undefined, expected a module/],
  ])("%s", async (text, message) => {
    await expect(loadPolicy(moduleOf(text))).rejects.toThrow(message);
  });
});
