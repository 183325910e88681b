import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { filesOf, runOnWing } from "./on-wings.ts";
import { auditedRun } from "./wings/run-cell.ts";
import { oneSite } from "./wings/sites/policies.ts";
import { parseWing, type WingChoice } from "./wings/wings.ts";

const SOURCE = "sites:jobs=400";
const experiment = {
  source: SOURCE,
  policies: ["sites-one", "sites-across:threshold=1"],
  seed: 3,
  replications: 3,
  isAudited: true,
};

describe("filesOf()", () => {
  test("unpacks gzip, as `compare` does, and says which file is damaged", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tutti-wing-"));
    const [packed, damaged] = [join(folder, "packed"), join(folder, "damaged")];
    const bytes = gzipSync("; MaxProcs: 8\n");
    await writeFile(packed, bytes);
    await writeFile(damaged, bytes.subarray(0, 12));
    const read = (path: string) => filesOf(parseWing(`pilots:file=${path}`) as WingChoice);
    try {
      expect(read(packed)).toEqual({ [packed]: "; MaxProcs: 8\n" });
      expect(() => read(damaged)).toThrow(`Cannot read ${damaged}: unexpected end of file`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("reads what parameters name, and says which file cannot be read", () => {
    const [file, missing] = [import.meta.filename, "no-such-file.csv"];
    const read = (path: string) => filesOf(parseWing(`phases:file=${path}`) as WingChoice);
    expect(read(file)).toEqual({ [file]: expect.stringContaining("no-such-file.csv") });
    expect(() => read(missing)).toThrow("Cannot read no-such-file.csv");
    expect(filesOf(parseWing("phases") as WingChoice)).toEqual({});
  });
});

describe("runOnWing()", () => {
  test("runs every policy on every seed, the same jobs for all, whatever the number of workers", async () => {
    const choice = parseWing(SOURCE) as WingChoice;
    const alone = await runOnWing(choice, experiment, { workers: 1 });
    expect(await runOnWing(choice, experiment, { workers: 2 })).toEqual(alone);
    const [one, across] = alone.policies;
    expect(across.runs.map(({ workloadHash }) => workloadHash)).toEqual(
      one.runs.map(({ workloadHash }) => workloadHash),
    );
    expect(new Set(one.runs.map(({ workloadHash }) => workloadHash)).size).toBe(3);
    const [first, second] = [one, across].map(({ measures }) => measures[1]);
    expect(first.values).toHaveLength(3);
    expect(first.mean?.mean).toBeCloseTo(first.values.reduce((sum, value) => sum + value, 0) / 3, 12);
    expect(first.difference).toBeUndefined();
    expect(second.difference?.mean).toBeCloseTo((second.mean?.mean ?? 0) - (first.mean?.mean ?? 0), 12);
  });

  test("an audit refuses a policy that breaks a promise, and one that decides differently the second time", () => {
    let made = 0;
    const make: typeof oneSite.make = (machine, jobs, parameters) =>
      oneSite.make(machine, jobs, { ...parameters, order: made++ % 2 === 0 ? "largest" : "oldest" });
    const lazy: typeof oneSite.make = () => ({ arrive() {}, depart() {}, decide() {} });
    const choice = parseWing("sites:jobs=3000") as WingChoice;
    const audited = (policy: typeof oneSite) => () => auditedRun(choice, makeChoice(policy), 1);
    expect(audited(oneSite)).not.toThrow();
    expect(audited({ ...oneSite, make })).toThrow("decides differently in a second run");
    expect(audited({ ...oneSite, make: lazy })).toThrow("job row 0: startS is none, expected");
  });
});
