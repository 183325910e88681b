import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SlurmFormatError } from "./format-error.ts";
import { parseReasons } from "./nodes.ts";
import { parseQueue } from "./queue.ts";
import { forcedSharing, parseConfig, parseShownJobs, parseShownNodes } from "./scontrol.ts";

/** Output of Slurm's commands; recorded/README.md says where it is from. */
const recorded = (version: "22.05" | "23.11", name: string) =>
  readFileSync(new URL(`recorded/${version}/${name}`, import.meta.url), "utf8");

const QUEUE = [
  // What was done: sbatch -H; two steps; an array whose script exits with 7; a script that kills itself
  // with 9; requeued, then held; restarted by Slurm after its controller was killed; suspended; over its
  // limit.
  [1, "PENDING", "JobHeldUser", 0, undefined, undefined, "", "tutti=abc 1.1"],
  [2, "COMPLETED", "None", 0, 1795397768, 1795397767, "n[1-2]", "tutti x"],
  [3, "PENDING", "JobHeldAdmin", 1, undefined, 1795398124, "", ""],
  [4, "TIMEOUT", "TimeLimit", 0, 1795397768, 1795397767, "n2", ""],
  [5, "RUNNING", "None", 1, 1795398243, 1795398242, "n[1-4]", "tutti-pilot"],
  [6, "FAILED", "NonZeroExitCode", 0, 1795397774, 1795397774, "n1", ""],
  [7, "FAILED", "JobLaunchFailure", 0, 1795397771, 1795397768, "n2", ""],
  [8, "FAILED", "NonZeroExitCode", 0, 1795397771, 1795397768, "n2", ""],
  [9, "FAILED", "NonZeroExitCode", 0, 1795397774, 1795397774, "n1", ""],
  [10, "COMPLETED", "None", 0, 1795398026, 1795398026, "n[1-2]", "a | b"],
  [11, "SUSPENDED", "None", 0, 1795398026, 1795398026, "n1", ""],
].map(([id, state, reason, restarts, startS, eligibleS, nodes, comment]) => ({
  id,
  state,
  reason,
  restarts,
  startS,
  eligibleS,
  nodes,
  comment,
}));
const byId = (a: { readonly id: number }, b: { readonly id: number }) => a.id - b.id;

describe("parseReasons()", () => {
  test("reads states and reasons of nodes, recorded of Slurm 22.05, also with the separator in a reason", () => {
    const reasons = parseReasons(recorded("22.05", "sinfo-reasons.txt"));
    expect(reasons).toEqual([
      { node: "n1", state: "idle", reason: "none" },
      { node: "n2", state: "idle", reason: "none" },
      { node: "n3", state: "idle", reason: "none" },
      { node: "n4", state: "down*", reason: "broken-disk" },
    ]);
    expect(parseReasons("n1|down|a | b\nn1|down|a | b\n")).toEqual([
      { node: "n1", state: "down", reason: "a | b" },
    ]);
    expect(() => parseReasons("n1 down\n", "slurm 22.05.8")).toThrow(/sinfo of slurm 22.05.8/);
  });
});

describe("parseQueue()", () => {
  test("reads the queue of Slurm 22.05", () => {
    expect(parseQueue(recorded("22.05", "squeue-usual.txt")).sort(byId)).toEqual(QUEUE);
    expect(parseQueue("")).toEqual([]);
  });

  test("refuses every text that is cut off in a line, and names the version", () => {
    const text = recorded("22.05", "squeue-usual.txt");
    for (let end = 1; end < text.length; end++) {
      const cut = () => parseQueue(text.slice(0, end), "slurm 22.05.8");
      if (text[end - 1] === "\n") expect(cut()).toHaveLength(text.slice(0, end).split("\n").length - 1);
      else expect(cut).toThrow(/squeue of slurm 22.05.8: .*complete last line/);
    }
  });

  test("refuses lines of another form", () => {
    for (const line of [
      "1|PENDING|None|0|N/A|N/A\n",
      "x|PENDING|None|0|N/A|N/A||\n",
      "1|R|None|0|noon|N/A||\n",
    ])
      expect(() => parseQueue(line)).toThrow(SlurmFormatError);
  });
});

describe("parseShownJobs()", () => {
  test("reads how the jobs of Slurm 22.05 ended", () => {
    const jobs = parseShownJobs(recorded("22.05", "show-job-usual.txt")).sort(byId);
    expect(jobs.map(({ id, state, reason, restarts }) => [id, state, reason, restarts])).toEqual(
      QUEUE.map(({ id, state, reason, restarts }) => [id, state, reason, restarts]),
    );
    expect(jobs.map(({ exitCode, signal }) => `${exitCode}:${signal}`)).toEqual(
      "0:0 0:0 0:0 0:15 0:0 7:0 0:9 7:0 7:0 0:0 0:0".split(" "),
    );
    expect(jobs[1]).toMatchObject({
      startS: 1795397768,
      endS: 1795397772,
      nodes: "n[1-2]",
      comment: "tutti x",
    });
    expect(jobs[0]).toMatchObject({ startS: undefined, endS: undefined, comment: "tutti=abc 1.1" });
    expect(parseShownJobs(recorded("22.05", "show-job-none.txt"))).toEqual([]);
  });

  test("reads that of 23.11, whose free texts look like fields", () => {
    expect(parseShownJobs(recorded("23.11", "show-job-usual.txt"))).toEqual([
      {
        id: 102,
        state: "FAILED",
        reason: "NonZeroExitCode",
        exitCode: 7,
        signal: 0,
        restarts: 2,
        startS: 1700000001,
        endS: 1700000005,
        eligibleS: 1700000000,
        nodes: "n[1-2]",
        comment: "tutti x JobState=COMPLETED ExitCode=0:0",
      },
    ]);
  });

  test.each(["22.05", "23.11"] as const)("refuses a text of %s that is cut off within a job", (version) => {
    const text = recorded(version, "show-job-usual.txt");
    for (let end = 1; end < text.length; end++) {
      if (text.slice(0, end).endsWith("\n\n")) continue;
      expect(() => parseShownJobs(text.slice(0, end)), String(end)).toThrow(SlurmFormatError);
    }
    expect(() =>
      parseShownJobs("slurm_load_jobs error: Invalid job id specified\n", "slurm 22.05.8"),
    ).toThrow(/scontrol show job of slurm 22.05.8/);
  });
});

describe("parseShownNodes() and parseConfig()", () => {
  test("read the nodes and settings of Slurm 22.05", () => {
    const nodes = parseShownNodes(recorded("22.05", "show-node-usual.txt"));
    expect(nodes.map(({ node, cpus, memoryMib, version }) => [node, cpus, memoryMib, version])).toEqual(
      ["n1", "n2", "n3", "n4"].map((node) => [node, 4, 6026, "22.05.8"]),
    );
    const config = parseConfig(recorded("22.05", "show-config-usual.txt"));
    expect(
      ["SLURM_VERSION", "ClusterName", "TaskPlugin", "KillWait"].map((name) => config.get(name)),
    ).toEqual(["22.05.8", "tutti", "task/none", "3 sec"]);
  });

  test("partitions that share CPUs by force are found", () => {
    const line = (name: string, setting: string) =>
      `PartitionName=${name} AllowGroups=ALL Default=YES State=UP OverSubscribe=${setting} OverTimeLimit=NONE PreemptMode=OFF TotalCPUs=16\n`;
    const all = ["NO", "EXCLUSIVE", "YES:4", "FORCE:1", "FORCE:4", "FORCE:16"];
    expect(forcedSharing(all.map((setting, index) => line(`p${index}`, setting)).join(""))).toEqual([
      "p4 (FORCE:4)",
      "p5 (FORCE:16)",
    ]);
  });

  test("refuse texts that are cut off, and other texts", () => {
    const nodes = recorded("22.05", "show-node-usual.txt");
    expect(() => parseShownNodes(nodes.slice(0, -30))).toThrow(/complete last line/);
    expect(() => parseShownNodes("Node n9 not found\n")).toThrow(/NodeName=/);
    const config = recorded("22.05", "show-config-usual.txt");
    for (const end of [0, 100, 3000, config.indexOf("\nSlurmctld(")])
      expect(() => parseConfig(config.slice(0, end))).toThrow(SlurmFormatError);
  });
});
