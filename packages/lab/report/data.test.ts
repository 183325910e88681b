import { handMade } from "@tutti/kernel/metrics/schedules-for-tests.ts";
import { describe, expect, test } from "vitest";
import type { Comparison } from "../results/comparison.ts";
import { bestOf, comparison } from "./comparisons-for-tests.ts";
import { comparedMetric, findings, ranking, rankingColumns } from "./ranking.ts";
import { csvLine, jobsCsv, summariesCsv } from "./text/csv.ts";
import { comparisonJson, jsonDocument } from "./text/json.ts";

describe("csv", () => {
  test("csvLine() quotes by RFC 4180 and leaves missing values empty", () => {
    expect(csvLine(["a", 'say "hi"', "x,y", 1.5, Number.NaN, "l\nm"])).toBe(
      'a,"say ""hi""","x,y",1.5,,"l\nm"\n',
    );
  });

  test("summariesCsv() has a line per policy, seed, metric and class, each as long as the heading", () => {
    const lines = summariesCsv(comparison()).trimEnd().split("\n");
    expect(lines.length).toBe(1 + 2 * 4 * 5);
    for (const line of lines) expect(line.split(",").length).toBe(22);
    expect(lines[1]).toMatch(/^fcfs,,wait,s,all,5,9.8,/);
  });

  test("summariesCsv() says in every line what it was made from, with replications by their own seeds", () => {
    const made = comparison();
    const origin = (line: string | undefined) => line?.split(",").slice(15).join(",");
    expect(origin(summariesCsv(made).split("\n")[1])).toBe(
      "five-jobs.swf,4,workload-hash,hash-0,overrun=raise,1.2.3,abc",
    );
    const policies = made.policies.slice(0, 1).map((policy) => ({
      ...policy,
      replications: [policy.summary, policy.summary],
      replicationHashes: [
        { seed: 3, name: "n3", workload: "w3", schedule: "s3" },
        { seed: 4, name: "n4", workload: "w4", schedule: "s4" },
      ],
    }));
    const lines = summariesCsv({ ...made, seed: 3, policies })
      .trimEnd()
      .split("\n");
    expect(lines[1]).toMatch(/^fcfs,3,/);
    expect(origin(lines[1])).toBe("n3,4,w3,s3,overrun=raise,1.2.3,abc");
    expect(lines.at(-1)).toMatch(/^fcfs,4,/);
    expect(origin(lines.at(-1))).toBe("n4,4,w4,s4,overrun=raise,1.2.3,abc");
  });

  test("jobsCsv() has a line per job; a job that never started has no start", () => {
    const { instance, schedule } = handMade(2, [
      { id: 7, submitS: 1, runS: 5, size: 2, startS: 3 },
      { id: 9, submitS: 2, runS: 5, size: 1, startS: Number.NaN },
    ]);
    expect([...jobsCsv(instance, schedule)].join("")).toBe(
      "job,submit_s,start_s,end_s,wait_s,run_s,processors\n7,1,3,8,2,5,2\n9,2,,,,5,1\n",
    );
  });
});

describe("json", () => {
  test("jsonDocument() begins with the schema; missing values are null, columns are lists", () => {
    expect(jsonDocument("tutti.x/1", { b: Number.NaN, a: Float64Array.of(1, 2) })).toBe(
      '{\n  "schema": "tutti.x/1",\n  "b": null,\n  "a": [\n    1,\n    2\n  ]\n}\n',
    );
  });

  test("comparisonJson() names workload, rules and revision and holds every policy's numbers", () => {
    const document = JSON.parse(comparisonJson(comparison()));
    expect(Object.keys(document)).toEqual(["schema", "made", "workload", "rules", "policies"]);
    expect(document).toMatchObject({
      schema: "tutti.comparison/1",
      made: { revision: "abc" },
      workload: { name: "five-jobs.swf", hash: "workload-hash", jobs: 5, processors: 4 },
    });
    expect(document.policies[1].summary.metrics[0].all.mean).toBe(7.8);
    expect(document.policies[0].schedule).toBeUndefined();
  });
});

describe("ranking", () => {
  test("by mean wait: 7.8 s is before 9.8 s", () => {
    expect(ranking(comparison().policies)).toEqual([1, 0]);
    expect(findings(comparison().policies)).toEqual([
      "easy has the shortest mean wait, 7.80 s; fcfs the longest, 9.80 s.",
      "Means hide the extremes: under easy job 13 has a wait of 35 s, under fcfs no job has more than 19 s.",
    ]);
  });

  test("a gang policy that used more rows than the live scheduler allows is named", () => {
    const { policies } = comparison({ gang: true });
    const withRows = (label: string, maxRows: number) =>
      policies.map((one) => {
        const { gang } = one.summary;
        return gang === undefined
          ? one
          : { ...one, label, summary: { ...one.summary, gang: { ...gang, maxRows } } };
      });
    const sentence =
      "gang used up to 63 rows, because it has no limit here; the live scheduler allows 4, as gang:rows=4 does.";
    expect(findings(withRows("gang", 63))).toContain(sentence);
    for (const [label, rows] of [
      ["gang", 4],
      ["gang:rows=8", 8],
    ] as const)
      expect(findings(withRows(label, rows)).join(" ")).not.toContain("live scheduler");
  });

  test("by mean response as soon as a policy is time sharing", () => {
    expect(comparedMetric(comparison({ gang: true }).policies)).toBe("response");
  });

  test("marks the best of each column, and all values that look the same when printed", () => {
    const { policies } = comparison();
    expect(bestOf(policies, "mean wait")).toEqual(["easy"]);
    expect(bestOf(policies, "longest wait")).toEqual(["fcfs"]);
    expect(bestOf(policies, "utilisation")).toEqual(["easy"]);
    expect(bestOf([policies[0], policies[0]], "mean wait")).toEqual([]);
    expect(bestOf([...policies, policies[1]], "mean wait")).toEqual(["easy", "easy"]);
  });
});

describe("rankingColumns()", () => {
  const titles = (policies: Comparison["policies"]) => rankingColumns(policies).map(({ title }) => title);

  test("leave out a makespan that is the same for all", () => {
    const { policies } = comparison();
    expect(titles(policies)).toContain("makespan");
    expect(titles([policies[0], policies[0]])).not.toContain("makespan");
    expect(titles(policies.slice(0, 1))).toContain("makespan");
  });

  test("with gangs no wait is the best; with space sharing, too, no utilisation is; responses are compared", () => {
    const { policies } = comparison({ gang: true });
    for (const title of ["mean wait", "longest wait", "utilisation"])
      expect(bestOf(policies, title)).toEqual([]);
    expect(bestOf(policies, "mean response")).toEqual(["easy"]);
  });
});
