import { describe, expect, test } from "vitest";
import { parseJobNodes, parseNodes } from "./nodes.ts";
import { parseJobs } from "./squeue.ts";

/** Recorded from Slurm 22.05.8. The forms of 23.11 are the same (squeue(1), sinfo(1) of that version). */
const RUNNING = "4|RUNNING|7:59:57|n1|n[1-4]|None|tutti:0123456789abcdef:1\n";
const OTHERS = `1|CANCELLED|7:55:41|n1|n[1-4]|None|tutti:0123456789abcdef:1
3|PENDING|8:00:00|n/a||Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions|a | b
5|COMPLETING|UNLIMITED|n1|n[1,3]|None|(null)
7_[1-3]|PENDING|1-00:00:00|n/a||JobArrayTaskLimit|(null)
`;
const DETAILS = `JobId=1 JobName=sbatch UserId=root(0) JobState=RUNNING BatchHost=n1 NumNodes=4 TRES=cpu=8,node=4,billing=8 JOB_GRES=(null)   Nodes=n[1-2] CPU_IDs=0-1 Mem=0 GRES=   Nodes=n3 CPU_IDs=0,2-3 Mem=2000 GRES= MinCPUsNode=1 OverSubscribe=YES Comment=tutti:abc:1 Power= \n`;

describe("squeue", () => {
  test("reads a pilot that runs", () => {
    expect(parseJobs(RUNNING)).toEqual([
      {
        id: "4",
        state: "RUNNING",
        leftS: 7 * 3600 + 59 * 60 + 57,
        batchHost: "n1",
        nodes: ["n1", "n2", "n3", "n4"],
        reason: "None",
        comment: "tutti:0123456789abcdef:1",
      },
    ]);
  });

  test("reads jobs of others, of arrays, without limit, and comments with separators", () => {
    const [ended, waiting, completing, array] = parseJobs(OTHERS);
    expect(ended.state).toBe("CANCELLED");
    expect(waiting).toMatchObject({ batchHost: "", nodes: [], comment: "a | b" });
    expect(completing).toMatchObject({ leftS: undefined, nodes: ["n1", "n3"], comment: "" });
    expect(array).toMatchObject({ id: "7_[1-3]", leftS: 86_400 });
  });

  test("an empty answer is no job", () => {
    expect(parseJobs("")).toEqual([]);
  });

  test.each([
    [RUNNING.slice(0, 30), /complete last line/],
    ["JOBID PARTITION NAME USER ST TIME NODES\n", /lines of job id/],
    ['{"jobs": []}\n', /lines of job id/],
    ["4|RUNNING|soon|n1|n1|None|c\n", /lines of job id/],
    ["4|RUNNING|0:10|n1|n[1|None|c\n", /lines of job id/],
  ])("%j is one error that names the version", (text, expected) => {
    expect(() => parseJobs(text, "slurm 99.1")).toThrow(expected);
    expect(() => parseJobs(text, "slurm 99.1")).toThrow(/slurm 99\.1.*22\.05 and 23\.11/);
  });
});

describe("nodes", () => {
  test("scontrol says which CPUs and how much memory a job has on each node", () => {
    expect(parseJobNodes(DETAILS)).toEqual([
      { node: "n1", cpus: [0, 1], memoryMib: 0 },
      { node: "n2", cpus: [0, 1], memoryMib: 0 },
      { node: "n3", cpus: [0, 2, 3], memoryMib: 2000 },
    ]);
  });

  test("the unit of memory may follow it", () => {
    expect(parseJobNodes("a  Nodes=n1 CPU_IDs=0 Mem=1.5G GRES=\n")[0].memoryMib).toBe(1536);
  });

  test("a job without nodes, or an answer that was cut off, is one error", () => {
    expect(() => parseJobNodes("JobId=1 JobState=PENDING\n", "slurm 99.1")).toThrow(/slurm 99\.1/);
    expect(() => parseJobNodes(DETAILS.slice(0, DETAILS.indexOf("CPU_IDs") + 8))).toThrow(/CPU_IDs/);
  });

  test("sinfo lists a node once for each partition", () => {
    const text = "n1|allocated|6026|2\nn2|down*|6026|2\nn1|allocated|6026|2\nn3|drained|6026+|2\n";
    expect(parseNodes(text)).toEqual([
      { node: "n1", state: "allocated", isDown: false, memoryMib: 6026, cpus: 2 },
      { node: "n2", state: "down*", isDown: true, memoryMib: 6026, cpus: 2 },
      { node: "n3", state: "drained", isDown: false, memoryMib: 6026, cpus: 2 },
    ]);
    expect(() => parseNodes("n1 allocated\n", "slurm 99.1")).toThrow(/slurm 99\.1/);
  });
});
