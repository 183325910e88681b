import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import { hashWorkload } from "../hash.ts";
import { anyWorkload } from "../workloads-for-tests.ts";
import { BatsimReader, writeBatsim } from "./batsim.ts";
import { BATSIM_RULES } from "./batsim-rules.ts";
import { droppedOf, sampleBytes, sampleFile, wrongWith } from "./formats-for-tests.ts";

const SAMPLE = "batsim-workload-sample.json";

function read(text: string | Uint8Array, piece = 1 << 20) {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const reader = new BatsimReader("test.json");
  for (let from = 0; from < bytes.length; from += piece) reader.push(bytes.subarray(from, from + piece));
  return reader.end();
}

const PROFILES = {
  a: { type: "delay", delay: 50 },
  old: { type: "DelayProfile", delay: 7.5, np: 4 },
  zero: { type: "delay", delay: 0 },
  three: { type: "composed", repeat: 3, seq: ["a", "old"] },
  nested: { type: "composed", nb: 2, seq: ["three", "zero"] },
  par: { type: "parallel_homogeneous", cpu: 1e9, com: 1e6 },
  mixed: { type: "composed", seq: ["a", "par"] },
  loop: { type: "composed", seq: ["a", "loop"] },
  late: { type: "delay", delay: -1 },
  odd: { delay: 5 },
};
const JOB = { id: 1, subtime: 10, res: 4, walltime: 100, profile: "a" };
const one = (changes: object) =>
  read(JSON.stringify({ nb_res: 16, jobs: [{ ...JOB, ...changes }], profiles: PROFILES }));

describe("new BatsimReader()", () => {
  test("reads jobs with delay profiles of either name, and sequences of them", () => {
    const jobs = ["a", "old", "three", "nested"].map((profile, i) => ({
      ...JOB,
      id: i,
      subtime: i,
      profile,
    }));
    const workload = read(JSON.stringify({ nb_res: 16, jobs, profiles: PROFILES }));
    expect([...workload.jobs.runS]).toEqual([50, 7.5, 172.5, 345]);
    expect([...workload.jobs.estimateS]).toEqual([100, 100, 100, 100]);
    expect([...workload.jobs.submitS]).toEqual([0, 1, 2, 3]);
    expect([...workload.jobs.id]).toEqual([0, 1, 2, 3]);
    expect(workload.processors).toBe(16);
    expect(workload.trace).toBeUndefined();
    expect(workload.diagnostics).toEqual([]);
  });

  test.each([
    ["profile-needs-platform", { profile: "par" }],
    ["profile-needs-platform", { profile: "mixed" }],
    ["no-profile", { profile: "none" }],
    ["no-profile", { profile: "toString" }],
    ["no-profile", { profile: undefined }],
    ["bad-profile", { profile: "loop" }],
    ["bad-profile", { profile: "late" }],
    ["bad-profile", { profile: "odd" }],
    ["bad-needed-field", { subtime: -1 }],
    ["bad-needed-field", { subtime: "soon" }],
    ["bad-needed-field", { res: 0 }],
    ["bad-needed-field", { res: 2.5 }],
    ["bad-needed-field", { res: null }],
  ] as const)("leaves out %s: %o", (code, changes) => {
    const workload = one(changes);
    expect(workload.count).toBe(0);
    expect(workload.diagnostics).toMatchObject([{ code, action: "dropped", count: 1 }]);
  });

  test.each([
    ["no-walltime", { walltime: -1 }, "estimateS", -1],
    ["no-walltime", { walltime: undefined }, "estimateS", -1],
    ["bad-walltime", { walltime: 0 }, "estimateS", -1],
    ["bad-walltime", { walltime: "1 h" }, "estimateS", -1],
    ["zero-run-time", { profile: "zero" }, "runS", 0],
    ["bad-job-number", { id: "first" }, "id", 1],
    ["bad-job-number", { id: -4 }, "id", 1],
  ] as const)("%s: %o gives %s = %d", (code, changes, column, value) => {
    const workload = one(changes);
    expect(workload.jobs[column][0]).toBe(value);
    expect(workload.diagnostics.map(({ code: found }) => found)).toEqual([code]);
  });

  test("numbers may be texts with a workload's name before; equal ones and jobs not in order are repaired", () => {
    expect(one({ id: "12" }).jobs.id[0]).toBe(12);
    expect(one({ id: "w0!12" }).jobs.id[0]).toBe(12);
    const jobs = [JOB, { ...JOB, subtime: 5 }, 17];
    const workload = read(JSON.stringify({ jobs, profiles: PROFILES }));
    expect([...workload.jobs.submitS]).toEqual([5, 10]);
    expect([...workload.jobs.id]).toEqual([2, 1]);
    expect(workload.processors).toBeUndefined();
    expect(workload.diagnostics.map(({ code }) => code).sort()).toEqual([
      "duplicate-job-number",
      "no-job",
      "unsorted-submit",
    ]);
  });

  test("every rule is one of those above", () => {
    const tested =
      "no-job bad-needed-field no-profile bad-profile profile-needs-platform bad-walltime unsorted-submit bad-job-number duplicate-job-number no-walltime zero-run-time";
    expect(tested.split(" ").sort()).toEqual(Object.keys(BATSIM_RULES).sort());
  });

  test.each([
    ["", /it is not valid JSON/],
    ["{", /it is not valid JSON/],
    ["[1, 2]", /it is not a JSON object/],
    ["{}", /it has no list of jobs/],
    ['{"jobs": []}', /it has no object of profiles/],
    ['{"jobs": 3, "profiles": {}}', /it has no list of jobs/],
    [`${"[".repeat(300_000)}`, /it is not valid JSON/],
    ['{"submitS":0}\n{"submitS":1}\n', /expected a first line such as \{"schema":"tutti.workload-file\/1"/],
  ])("a text that is not a workload is refused in one line: %#", (text, message) => {
    expect(() => read(text)).toThrow(InputError);
    expect(() => read(text)).toThrow(message);
    expect(() => read(text)).not.toThrow(/\n/);
  });

  test("profiles that contain one another many times over or very deep take no time and no stack", () => {
    const profiles: Record<string, object> = { p0: PROFILES.a };
    for (let i = 1; i <= 60; i++) profiles[`p${i}`] = { type: "composed", seq: [`p${i - 1}`, `p${i - 1}`] };
    const doubled = (profile: string) => read(JSON.stringify({ jobs: [{ ...JOB, profile }], profiles }));
    expect(doubled("p20").jobs.runS[0]).toBe(50 * 2 ** 20);
    expect(doubled("p60").diagnostics[0].code).toBe("bad-profile"); // 5·10^19 s
    for (let i = 1; i <= 50_000; i++) profiles[`p${i}`] = { type: "composed", seq: [`p${i - 1}`] };
    expect(doubled("p50000").diagnostics[0].code).toBe("bad-profile");
  });

  test.skipIf(sampleFile(SAMPLE) === undefined)("the sample: 250 jobs as a plain reading has them", () => {
    const bytes = sampleBytes(SAMPLE);
    const workload = read(bytes, 1000);
    const { jobs, profiles, nb_res } = JSON.parse(new TextDecoder().decode(bytes));
    expect(workload.count).toBe(250);
    expect(workload.processors).toBe(nb_res);
    expect(workload.diagnostics).toEqual([]);
    for (let row = 0; row < 250; row++) {
      const { id, submitS, runS, size, estimateS } = workload.jobs;
      expect({ id: id[row], subtime: submitS[row], res: size[row], walltime: estimateS[row] }).toEqual({
        id: jobs[row].id,
        subtime: jobs[row].subtime,
        res: jobs[row].res,
        walltime: jobs[row].walltime,
      });
      expect(runS[row]).toBe(profiles[jobs[row].profile].delay);
    }
  });
});

describe("writeBatsim()", () => {
  test("what is written reads as the same jobs", () => {
    fc.assert(
      fc.property(anyWorkload, (workload) => {
        const again = read([...writeBatsim(workload)].join(""));
        expect(hashWorkload(again)).toBe(hashWorkload(workload));
        expect(again.processors).toBe(workload.count === 0 ? 1 : Math.max(...workload.jobs.size));
        expect(read([...writeBatsim({ ...workload, processors: 500 })].join("")).processors).toBe(500);
      }),
    );
  });
});

describe("mutated Batsim workloads", () => {
  const text = JSON.stringify({
    nb_res: 16,
    jobs: Object.keys(PROFILES).map((profile, i) => ({ ...JOB, id: i, profile })),
    profiles: PROFILES,
  });
  const pieces = [
    "",
    "null",
    "{}",
    "[]",
    "-1",
    "1e999",
    "1e400",
    '"a"',
    "true",
    ",",
    "}",
    "__proto__",
    "\u0000",
    "0",
  ];

  test("never make anything but a sound workload or an InputError, and count every job", () => {
    let sound = 0;
    let refused = 0;
    const value = fc.constantFrom<unknown>(
      null,
      -1,
      0,
      1e13,
      2 ** 40,
      "a",
      "loop",
      true,
      [],
      {},
      [[["a"]]],
      "9",
    );
    const key = fc.constantFrom(
      "id",
      "subtime",
      "res",
      "walltime",
      "profile",
      "type",
      "delay",
      "seq",
      "repeat",
    );
    const check = (mutant: string) => {
      try {
        const workload = read(mutant);
        expect(wrongWith(workload)).toBeUndefined();
        expect(workload.count + droppedOf(workload)).toBe(JSON.parse(mutant).jobs.length);
        sound++;
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        refused++;
      }
    };
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(19), key, value), { minLength: 1, maxLength: 8 }), (edits) => {
        const mutant = JSON.parse(text);
        const entries = [...mutant.jobs, ...Object.values(mutant.profiles)];
        for (const [place, name, to] of edits) entries[place][name] = to;
        check(JSON.stringify(mutant));
      }),
      { numRuns: 1500 },
    );
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(12), fc.constantFrom(...pieces), (from, length, piece) =>
        check(text.slice(0, from) + piece + text.slice(from + length)),
      ),
      { numRuns: 1500 },
    );
    expect(sound).toBeGreaterThan(1500);
    expect(refused).toBeGreaterThan(500);
  });
});
