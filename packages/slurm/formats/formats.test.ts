import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SlurmFormatError } from "./format-error.ts";
import { parseReasons } from "./nodes.ts";
import { parseQueue } from "./queue.ts";
import { forcedSharing, parseConfig, parseShownJobs, parseShownNodes } from "./scontrol.ts";

/** Output of Slurm's commands; recorded/README.md says where it is from. */
const recorded = (version: "22.05" | "23.11", name: string) =>
  readFileSync(new URL(`recorded/${version}/${name}`, import.meta.url), "utf8");

const NODES = ["n1", "n2", "n3", "n4"];
/** How jobs of Slurm 22.05 ended. */
const SHOWN = [
  // What was done: sbatch -H; two steps; an array whose script exits with 7; a script that kills itself
  // with 9; requeued, then held; restarted by Slurm after its controller was killed; suspended; over its
  // limit.
  ["1", "PENDING", "JobHeldUser", 0],
  ["2", "COMPLETED", "None", 0],
  ["3", "PENDING", "JobHeldAdmin", 1],
  ["4", "TIMEOUT", "TimeLimit", 0],
  ["5", "RUNNING", "None", 1],
  ["6", "FAILED", "NonZeroExitCode", 0],
  ["7", "FAILED", "JobLaunchFailure", 0],
  ["8", "FAILED", "NonZeroExitCode", 0],
  ["9", "FAILED", "NonZeroExitCode", 0],
  ["10", "COMPLETED", "None", 0],
  ["11", "SUSPENDED", "None", 0],
];
const byId = (a: { readonly id: string }, b: { readonly id: string }) => Number(a.id) - Number(b.id);

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
    const HOURS_8 = 8 * 3600 - 12;
    const DAY = 86_400;
    const NOW = 1795821499;
    const none = undefined;
    const rows = [
      // What was done: sbatch -H; two nodes; a pilot; without limit; an array, one at a time; exit 7; on all
      // nodes; --begin; three of 5 minutes, one suspended, one cancelled; requeuehold; --comment=.
      ["1", "PENDING", "JobHeldUser", 0, none, none, none, "", "", [], "tutti=abc 1.1"],
      ["2", "COMPLETED", "None", 0, NOW, NOW - 2, none, "n1", "n[1-2]", ["n1", "n2"], "tutti x"],
      ["3", "RUNNING", "None", 0, NOW, NOW - 2, HOURS_8, "n1", "n[1-4]", NODES, "tutti:0123456789abcdef:1"],
      ["4", "RUNNING", "None", 0, NOW, NOW - 1, none, "n1", "n1", ["n1"], ""],
      ["5", "PENDING", "JobArrayTaskLimit", 0, none, none, DAY, "", "", [], ""],
      ["6", "FAILED", "NonZeroExitCode", 0, NOW, NOW - 1, none, "n2", "n[2-3]", ["n2", "n3"], "a | b"],
      ["7", "COMPLETED", "None", 0, NOW, NOW - 1, 1800, "n1", "n[1-4]", NODES, ""],
      ["8", "PENDING", "BeginTime", 0, NOW + 3599, NOW + 3599, none, "", "", [], ""],
      ["9", "RUNNING", "None", 0, NOW, NOW - 1, 288, "n2", "n2", ["n2"], ""],
      ["10", "SUSPENDED", "None", 0, NOW, NOW - 1, 293, "n3", "n3", ["n3"], ""],
      ["11", "CANCELLED", "None", 0, NOW, NOW - 1, 293, "n3", "n3", ["n3"], ""],
      ["12", "PENDING", "job requeued in held state", 1, NOW + 128, NOW + 128, 60, "", "", [], ""],
      ["13", "RUNNING", "None", 0, NOW, NOW, 588, "n1", "n[1,3]", ["n1", "n3"], ""],
      ["14", "RUNNING", "None", 0, NOW, NOW, DAY - 12, "n1", "n1", ["n1"], ""],
    ];
    const fields = "id state reason restarts startS eligibleS leftS batchHost nodeList nodes comment".split(
      " ",
    );
    expect(parseQueue(recorded("22.05", "squeue-usual.txt")).sort(byId)).toEqual(
      rows.map((row) => Object.fromEntries(fields.map((field, index) => [field, row[index]]))),
    );
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

  test.each([
    "1|PENDING|None|0|N/A|N/A|1:00|n/a|\n",
    "x|PENDING|None|0|N/A|N/A|1:00|n/a||\n",
    "7_[1-3]|PENDING|None|0|N/A|N/A|1:00|n/a||\n",
    "1|R|None|0|noon|N/A|1:00|n/a||\n",
    "4|RUNNING|None|0|1|1|soon|n1|n1|c\n",
    "4|RUNNING|None|0|1|1|0:10|n1|n[1|c\n",
    "JOBID PARTITION NAME USER ST TIME NODES\n",
    '{"jobs": []}\n',
  ])("%j is one error that names the version", (line) => {
    const parse = () => parseQueue(line, "slurm 99.1");
    expect(parse).toThrow(SlurmFormatError);
    expect(parse).toThrow(/slurm 99\.1.*lines of job id.*22\.05 and 23\.11/);
  });
});

describe("parseShownJobs()", () => {
  test("reads how the jobs of Slurm 22.05 ended", () => {
    const jobs = parseShownJobs(recorded("22.05", "show-job-usual.txt")).sort(byId);
    expect(jobs.map(({ id, state, reason, restarts }) => [id, state, reason, restarts])).toEqual(SHOWN);
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
        id: "102",
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
