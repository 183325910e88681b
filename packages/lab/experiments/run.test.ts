import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError, RuleViolation } from "@tutti/kernel/core/errors.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { DEFAULT_METRIC_PARAMETERS } from "@tutti/kernel/metrics/registry.ts";
import { WHOLE_RUN } from "@tutti/kernel/metrics/window.ts";
import { ROUNDS_RULES } from "@tutti/kernel/simulator/rules.ts";
import { PolicyError } from "@tutti/own-policies/guarded-policy.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Comparison } from "../results/comparison.ts";
import type { Experiment } from "./comparison-of.ts";
import { generateJobs } from "./jobs.ts";
import { type ExperimentOptions, runExperiment } from "./run.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-run-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const experiment: Experiment = {
  source: { jobs: "downey:jobs=150:processors=16:load=0.9", seed: 3 },
  processors: undefined,
  rules: DEFAULT_RULES,
  window: WHOLE_RUN,
  parameters: DEFAULT_METRIC_PARAMETERS,
  slotS: 5,
  switchS: 0,
};
const options: ExperimentOptions = {
  policies: ["fcfs", "easy", "easy:order=shortest"],
  replications: 3,
  workers: 1,
};

describe("runExperiment()", () => {
  /** Everything that must not differ between two runs: every number, every start and every end. */
  const print = ({ policies, rules, workloadHash }: Comparison) =>
    JSON.stringify([rules, workloadHash, policies.map((policy) => ({ ...policy, schedule: undefined }))]);

  test("policies come in the requested order, and the number of workers never shows", async () => {
    const one = await runExperiment(experiment, options);
    expect(one.policies.map(({ label }) => label)).toEqual(options.policies);
    for (const workers of [2, 3]) {
      const more = await runExperiment(experiment, { ...options, workers });
      expect(print(more)).toBe(print(one));
      expect(more.policies.map(({ schedule }) => schedule)).toEqual(
        one.policies.map(({ schedule }) => schedule),
      );
    }
  });

  test("results of time sharing carry the rules of the rounds, and a remark when most jobs are shorter than a slot", async () => {
    const runWith = (slotS: number) =>
      runExperiment({ ...experiment, slotS }, { ...options, policies: ["easy", "br"], replications: 1 });
    const { policies, instance } = await runWith(1e6);
    expect(policies[0].rules).not.toContain(ROUNDS_RULES[0]);
    expect(policies[1].rules).toEqual(expect.arrayContaining([...ROUNDS_RULES]));
    expect(instance.diagnostics).toMatchObject([
      { code: "shorter-than-slot", count: 150, examples: [{ job: instance.id[0] }] },
    ]);
    expect(instance.diagnostics[0].message).toMatch(
      /^100 % of the jobs are shorter than one slot of 1000000 s/,
    );
    expect((await runWith(1e-6)).instance.diagnostics).toEqual([]);
  });

  test("a replication is the run that its seed alone gives", async () => {
    const { policies, seed } = await runExperiment(experiment, options);
    const other = { ...experiment, source: { ...experiment.source, seed: 5 } };
    const last = await runExperiment(other, { ...options, replications: 1 });
    expect(seed).toBe(3);
    expect(policies.map(({ replications }) => replications?.[2])).toEqual(
      last.policies.map(({ summary }) => summary),
    );
    expect(policies.map(({ replicationHashes }) => replicationHashes?.[2])).toEqual(
      last.policies.map(({ scheduleHash }) => ({
        seed: 5,
        name: last.instance.workload.name,
        workload: last.workloadHash,
        schedule: scheduleHash,
      })),
    );
    expect(policies.map(({ replications }) => replications?.[0])).toEqual(
      policies.map(({ summary }) => summary),
    );
    expect(policies.map(({ replications }) => replications?.length)).toEqual([3, 3, 3]);
    expect(last.policies.map(({ replications }) => replications)).toEqual([undefined, undefined, undefined]);
  });

  test("progress is reported once per run", async () => {
    for (const workers of [1, 2]) {
      const reported: string[] = [];
      await runExperiment(experiment, {
        ...options,
        workers,
        onDone: (done, of) => reported.push(`${done}/${of}`),
      });
      expect(reported).toEqual(Array.from({ length: 9 }, (_, i) => `${i + 1}/9`));
    }
  });

  test("limit takes the first jobs of the same workload", async () => {
    const whole = await runExperiment(experiment, options);
    const part = await runExperiment({ ...experiment, source: { ...experiment.source, limit: 40 } }, options);
    expect(part.instance.count).toBe(40);
    expect(part.instance.submitS).toEqual(whole.instance.submitS.slice(0, 40));
  });

  test("the result names the rules it was made with", async () => {
    const result = await runExperiment(experiment, options);
    const rules = result.rules.join("\n");
    for (const word of ["overrun=raise", "missing-estimate=run", "oversize=drop", "warmup=0", "bound=10"]) {
      expect(rules).toContain(word);
    }
    expect(result.workloadHash).toMatch(/^[0-9a-f]{16}$/);
    expect(result.made.version).toMatch(/^\d+\.\d+\.\d+/);
  });

  test("jobs that a policy cannot schedule are refused before the first run, whatever the seed", async () => {
    // Queue classes of 512 processors.
    const source = { jobs: "downey:jobs=300:processors=2048:load=0.9", seed: 3 };
    let runs = 0;
    const running = runExperiment(
      { ...experiment, source },
      { ...options, policies: ["fcfs", "connected-reservation"], onDone: () => runs++ },
    );
    await expect(running).rejects.toThrow(
      /^Cannot run policy "connected-reservation" here: job \d+ asks for \d+ processors.*set scale=4/,
    );
    // The first of two seeds has no job of more than 512 processors, the second one does.
    const few = "downey:jobs=2:processors=1024:load=0.9";
    const isWide = (seed: number) => generateJobs(few, seed).jobs.size.some((size) => size > 512);
    let seed = 1;
    while (isWide(seed) || !isWide(seed + 1)) seed++;
    const many = runExperiment(
      { ...experiment, source: { jobs: few, seed } },
      { ...options, replications: 2, policies: ["fcfs", "connected-reservation"], onDone: () => runs++ },
    );
    await expect(many).rejects.toThrow('Cannot run policy "connected-reservation" here: job');
    expect(runs).toBe(0);
  });

  test("a machine on which no job fits, and replications of a trace, are refused", async () => {
    const tiny = { ...experiment, source: { jobs: "downey:jobs=20:minSize=4", seed: 3 }, processors: 2 };
    await expect(runExperiment(tiny, options)).rejects.toThrow(
      /all 20 of them are larger than the machine of 2/,
    );
    const trace = join(folder, "trace.swf");
    writeFileSync(trace, "1 0 -1 5 1 -1 -1 1 5 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    await expect(runExperiment({ ...experiment, source: { jobs: trace, seed: 3 } }, options)).rejects.toThrow(
      InputError,
    );
  });
});

describe("runExperiment() with a policy of the user's own", () => {
  const own = (name: string, decide: string) => {
    const file = join(folder, name);
    writeFileSync(
      file,
      `export default { name: "own", sharing: "space", make: (pool, jobs) => ({
        queue: [], arrive(job) { this.queue.push(job); }, depart() {}, decide() { ${decide} } }) };`,
    );
    return file;
  };
  const fcfsByHand =
    "while (this.queue.length && jobs.size[this.queue[0]] <= pool.free) pool.start(this.queue.shift(), 0);";

  test("FCFS written by hand gives the schedule of fcfs", async () => {
    const { policies } = await runExperiment(experiment, {
      ...options,
      policies: ["fcfs", own("hand.mjs", fcfsByHand)],
      workers: 2,
    });
    const [fcfs, hand] = policies.map(({ scheduleHash, replications }) => ({ scheduleHash, replications }));
    expect(hand).toEqual(fcfs);
  });

  test.each([1, 2])("the first failing cell is reported, with its kind, by %d workers", async (workers) => {
    const greedy = own("greedy.mjs", "for (const job of this.queue) pool.start(job, 0);");
    const thrower = own("thrower.mjs", 'throw new TypeError("no idea");');
    const run = (policies: string[]) => runExperiment(experiment, { ...options, policies, workers });
    await expect(run(["fcfs", greedy, thrower])).rejects.toThrow(RuleViolation);
    await expect(run(["fcfs", thrower, greedy])).rejects.toThrow(
      /thrower\.mjs": it failed with TypeError: no idea/,
    );
    await expect(run(["fcfs", thrower])).rejects.toMatchObject({ name: PolicyError.name });
    await expect(run(["fcfs", "esay"])).rejects.toThrow(InputError);
  });
});
