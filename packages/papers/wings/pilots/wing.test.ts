/** The wing's parameters, files, numbers and explanations. */
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { auditedRun } from "../run-cell.ts";
import type { WingFiles } from "../wing.ts";
import { parseWing } from "../wings.ts";
import { pilots } from "./wing.ts";

/** Submit, run time, size, limit; as in the first cases of simulate.test.ts. */
const LOG = [
  "; MaxProcs: 15",
  ...[
    [0, 100, 2, 200],
    [130, 10, 2, 20],
    [400, 10, 16, 20],
    [400, 10, 2, 7200],
  ].map(
    ([submit, run, size, limit], i) =>
      `${i + 1} ${submit} -1 ${run} ${size} -1 -1 ${size} ${limit} -1 1 1 1 -1 1 -1 -1 -1`,
  ),
  "",
].join("\n");
const FILES = { "/logs/site.swf": LOG };
const FILE = "pilots:file=/logs/site.swf:cpus=2";

function run(source: string, policy: string, files: WingFiles = FILES, seed = 1) {
  const choice = parseWing(source)!;
  const result = auditedRun(choice, chooseAmong(pilots.policies, policy), seed, files);
  return { ...result, values: Object.fromEntries(result.measures.map(({ name, value }) => [name, value])) };
}

function explain(source: string, policy: string, job: string): string {
  const { parameters } = parseWing(source)!;
  return pilots.explain!(parameters, chooseAmong(pilots.policies, policy), 1, job, FILES).join("\n");
}

describe("a log", () => {
  test("has as many nodes as its processors need; a job of 16 CPUs fits on 8 nodes of 2", () => {
    const { jobs, processors, left, values, checked } = run(FILE, "pilots-elastic:idle=30");
    expect([jobs, processors, left, checked]).toEqual([4, 16, 0, "4 jobs on 2 pilots"]);
    // 6 s for the first, 0 for the second. The third and the fourth do not fit on 8 nodes together: one pilot
    // comes for both, and the fourth starts when the third has run for 10 s.
    expect(values.wait).toBeCloseTo((6 + 0 + 6 + 16) / 4, 12);
  });

  test("may be cut to its first jobs, and its arrivals scaled to a load", () => {
    const { jobs, values } = run(`${FILE}:jobs=2`, "pilots-fixed");
    expect([jobs, values.wait]).toEqual([2, 0]);
    // Two CPUs for 110 s in 140 s on 16; the held time ends with the second job.
    expect(values.used).toBeCloseTo((8 * 140) / 3600, 12);
    expect(values.idle).toBeCloseTo((8 * 140 - 110) / 3600, 12);
    // (200 + 20) ÷ (16 × 130) is the load. With twice of it, the second comes at 65 s, while the first runs.
    const dense = run(`${FILE}:jobs=2:load=${(2 * 220) / (16 * 130)}`, "pilots-fixed");
    expect(dense.values.used).toBeCloseTo((8 * 100) / 3600, 12);
  });

  test("jobs that no pilot may hold are left", () => {
    const { left, values } = run(FILE, "pilots-elastic:longest=3600");
    expect([left, values.pilots]).toEqual([1, 2]);
    expect(explain(FILE, "pilots-elastic:longest=3600", "4")).toMatch(/refused: no pilot may hold its size/);
  });

  test.each([
    ["pilots:stop=300", "pilots-fixed", /Cannot use stop=300 with drain=300: expected less than 300/],
    ["pilots:nodes=1:cpus=2", "pilots-fixed", /Cannot make jobs for 2 processors/],
    [`${FILE}:factor=2`, "pilots-fixed", /Cannot use factor=2 with file=/],
    [`${FILE}:nodes=1:cpus=1`, "pilots-fixed", /no job fits on 1 processors/],
    [FILE, "pilots-elastic:most=9", /Cannot use most=9: expected at most 8, the nodes of the site/],
    [FILE, "pilots-elastic:most=4:max=5", /Cannot use max=5: expected at most 4/],
    [FILE, "pilots-elastic:max=4:min=5", /Cannot use min=5: expected at most 4/],
    [FILE, "pilots-elastic:max=4:narrow=5", /Cannot use narrow=5: expected at most 4/],
    [FILE, "pilots-elastic:shortest=300", /Cannot use shortest=300 with drain=300/],
    [FILE, "pilots-elastic:longest=599", /Cannot use longest=599 with shortest=600/],
  ])("%s with %s is refused", (source, policy, message) => {
    expect(() => run(source, policy)).toThrow(message);
  });
});

describe("the model", () => {
  test("gives the same jobs under every policy, and others for another seed", () => {
    const [one, other, third] = [
      run("pilots:jobs=200", "pilots-elastic"),
      run("pilots:jobs=200", "pilots-fixed:queue=fcfs"),
      run("pilots:jobs=200", "pilots-elastic", {}, 2),
    ];
    expect(one.workloadHash).toBe(other.workloadHash);
    expect(one.workloadHash).not.toBe(third.workloadHash);
    expect([one.jobs, one.processors, one.left]).toEqual([200, 128, 0]);
  });

  test("with a longer idle time nodes idle longer", () => {
    const idle = ["pilots-elastic:idle=0", "pilots-elastic:idle=7200"].map((policy) =>
      [1, 2, 3, 4, 5]
        .map((seed) => run("pilots:jobs=300:load=0.3", policy, {}, seed).values.idle)
        .reduce((sum, value) => sum + value),
    );
    expect(idle[0]).toBeLessThan(idle[1]);
  });
});

test("explain() says which pilot took the job, and what kept the others", () => {
  const second = explain(FILE, "pilots-elastic:idle=30", "2");
  expect(second).toMatch(/^job 2 under pilots-elastic:idle=30: 2 processors, limit 20 s, submitted at 130 s/);
  expect(second).toMatch(/Pilot 1 was asked for 130 s earlier/);
  expect(second).toMatch(/started at 0 s on 1 node of pilot 1, which has 1 node\./);
  expect(explain(FILE, "pilots-elastic:idle=1000", "3")).toMatch(
    /Of 1 pilot that could take jobs when it came, 1 had too few processors, 0 would have ended too early/,
  );
  expect(() => explain(FILE, "pilots-fixed", "9")).toThrow('Cannot explain job "9"');
});
