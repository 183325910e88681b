import { describe, expect, test } from "vitest";
import { parseJobNodes, parseNodes } from "./nodes.ts";

/** Recorded from Slurm 22.05.8. The form of 23.11 is the same (scontrol(1) of that version). */
const DETAILS = `JobId=1 JobName=sbatch UserId=root(0) JobState=RUNNING BatchHost=n1 NumNodes=4 TRES=cpu=8,node=4,billing=8 JOB_GRES=(null)   Nodes=n[1-2] CPU_IDs=0-1 Mem=0 GRES=   Nodes=n3 CPU_IDs=0,2-3 Mem=2000 GRES= MinCPUsNode=1 OverSubscribe=YES Comment=tutti:abc:1 Power= \n`;

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
