/**
 * The expected texts are what a real Slurm 22.05.8 (Debian's) printed for jobs in these states, on a cluster
 * of one node n1 with the partition main. Its account `root` is `default` here.
 */

import type { Job } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import { jobsText } from "./commands/sacct.ts";
import { efficiencyText } from "./commands/seff.ts";
import { queueText } from "./commands/squeue.ts";
import { recordText } from "./job/record.ts";

const at = (time: string) => new Date(`2026-11-23T${time}`).getTime();
const N1 = { cpus: [0], nodes: [{ node: "n1", cpus: [0] }] };

const job = (number: number, more: Partial<Job>): Job => ({
  job: number,
  name: "wrap",
  user: "root",
  queue: "main",
  state: "queued",
  tasks: 1,
  priority: 0,
  command: ["/bin/sh", "/tmp/wrap"],
  cwd: "/tmp/names",
  attempt: 0,
  submittedAtMs: at("12:21:35"),
  ranMs: 0,
  stdout: "/tmp/names/out",
  stderr: "/tmp/names/out",
  cpus: [],
  after: [],
  ...more,
});
const run = { startedAtMs: at("12:21:36"), ranMs: 3000, attempt: 1, ...N1 };
const over = { ...run, ranMs: 0, endedAtMs: at("12:21:36") };
const array = (number: number, arrayIndex: number, more: Partial<Job>) =>
  job(number, { array: 2, arrayIndex, name: "arr", ...more });

const FAILED = job(1, { ...over, state: "failed", code: 3, reason: "exit code 3" });
const LIMITED = array(2, 3, { reason: "at most 2 jobs of array 2 run at a time" });
const LONG = job(3, { ...run, state: "running", name: "long", tasks: 2 });
const HELD = job(4, { state: "held", name: "held" });
const QUEUED = [
  LIMITED,
  HELD,
  array(5, 1, { ...run, state: "running" }),
  array(6, 2, { ...run, state: "running" }),
  LONG,
];

describe("squeue", () => {
  test("prints its usual table", () => {
    expect(queueText(QUEUED, {})).toBe(
      [
        "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)",
        "               2_3      main      arr     root PD       0:00      1 (JobArrayTaskLimit)",
        "                 4      main     held     root PD       0:00      1 (JobHeldUser)",
        // The real one sorts these by priority first, which it gives by age.
        "                 3      main     long     root  R       0:03      1 n1",
        "               2_1      main      arr     root  R       0:03      1 n1",
        "               2_2      main      arr     root  R       0:03      1 n1",
        "",
      ].join("\n"),
    );
  });

  test("prints the columns of a format, as Nextflow asks for them", () => {
    const text = queueText([FAILED, ...QUEUED], { noheader: "", format: "%i %t" });
    expect(text.split("\n").sort().join("\n").trim()).toBe("1 F\n2_1 R\n2_2 R\n2_3 PD\n3 R\n4 PD");
  });

  test("prints all columns that it knows", () => {
    const format = "%A|%F|%K|%i|%j|%T|%M|%l|%D|%C|%R|%P|%u|%S|%V|%r|%Z";
    expect(queueText([LIMITED, HELD, QUEUED[2], LONG], { format, sort: "i" })).toBe(
      [
        "JOBID|ARRAY_JOB_ID|ARRAY_TASK_ID|JOBID|NAME|STATE|TIME|TIME_LIMIT|NODES|CPUS|NODELIST(REASON)|PARTITION|USER|START_TIME|SUBMIT_TIME|REASON|WORK_DIR",
        "2|2|3|2_3|arr|PENDING|0:00|UNLIMITED|1|1|(JobArrayTaskLimit)|main|root|N/A|2026-11-23T12:21:35|JobArrayTaskLimit|/tmp/names",
        "3|3|N/A|3|long|RUNNING|0:03|UNLIMITED|1|2|n1|main|root|2026-11-23T12:21:36|2026-11-23T12:21:35|None|/tmp/names",
        "4|4|N/A|4|held|PENDING|0:00|UNLIMITED|1|1|(JobHeldUser)|main|root|N/A|2026-11-23T12:21:35|JobHeldUser|/tmp/names",
        "5|2|1|2_1|arr|RUNNING|0:03|UNLIMITED|1|1|n1|main|root|2026-11-23T12:21:36|2026-11-23T12:21:35|None|/tmp/names",
        "",
      ].join("\n"),
    );
  });

  test("prints names with widths, also of array jobs", () => {
    expect(queueText([LIMITED, HELD], { Format: "JobID,Name:12,StateCompact,ArrayTaskID" })).toBe(
      [
        "JOBID               NAME        ST                  ARRAY_TASK_ID       ",
        "2                   arr         PD                  3                   ",
        "4                   held        PD                  N/A                 ",
        "",
      ].join("\n"),
    );
  });

  test("refuses columns that it does not know, and keeps names on their line", () => {
    expect(() => queueText([], { format: "%y" })).toThrow("Invalid job format specification: y");
    expect(() => queueText([], { Format: "Bogus" })).toThrow("Invalid job format specification: Bogus");
    const hostile = job(9, { name: "a\nb\u001b[2J" });
    expect(queueText([hostile], { noheader: "", format: "%j" })).toBe("a?b?[2J\n");
  });
});

describe("sacct", () => {
  const cancelled = (number: number, more: Partial<Job>) =>
    job(number, { ...over, state: "cancelled", reason: "cancelled", ...more });
  const ENDED = [
    FAILED,
    cancelled(3, { name: "long", tasks: 2 }),
    job(7, { ...over, state: "done", name: "envy", array: 7, arrayIndex: 3, tasks: 2 }),
    job(13, { tasks: 99 }),
    job(22, { ...over, state: "failed", signal: "SIGKILL", reason: "ended by SIGKILL" }),
  ];

  test("prints its usual table, with the step of the script", () => {
    expect(jobsText(ENDED, {}).replaceAll("default", "   root")).toBe(
      [
        "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode ",
        "------------ ---------- ---------- ---------- ---------- ---------- -------- ",
        "1                  wrap       main       root          1     FAILED      3:0 ",
        "1.batch           batch                  root          1     FAILED      3:0 ",
        "3                  long       main       root          2 CANCELLED+      0:0 ",
        "3.batch           batch                  root          2  CANCELLED     0:15 ",
        "7_3                envy       main       root          2  COMPLETED      0:0 ",
        "7_3.batch         batch                  root          2  COMPLETED      0:0 ",
        "13                 wrap       main       root         99    PENDING      0:0 ",
        "22                 wrap       main       root          1     FAILED      0:9 ",
        "22.batch          batch                  root          1     FAILED      0:9 ",
        "",
      ].join("\n"),
    );
  });

  test("prints lines that programs parse", () => {
    expect(
      jobsText(ENDED, { noheader: "", parsable2: "", allocations: "", format: "JobID,State,ExitCode" }),
    ).toBe("1|FAILED|3:0\n3|CANCELLED by 0|0:0\n7_3|COMPLETED|0:0\n13|PENDING|0:0\n22|FAILED|0:9\n");
    expect(jobsText([FAILED], { noheader: "", parsable2: "", format: "JobIdRaw,State" })).toBe(
      "1|FAILED\n1.batch|FAILED\n",
    );
    expect(jobsText([FAILED], { noheader: "", format: "Account%20" })).toBe(
      "             default \n             default \n",
    );
    const fields =
      "jobid,jobname%5,partition,alloccpus,state,exitcode,elapsed,elapsedraw,start,end,submit,timelimit,timelimitraw,user,uid,nodelist,nnodes,ncpus,workdir,cputimeraw";
    expect(jobsText([FAILED], { parsable: "", allocations: "", format: fields })).toBe(
      [
        "JobID|JobName|Partition|AllocCPUS|State|ExitCode|Elapsed|ElapsedRaw|Start|End|Submit|Timelimit|TimelimitRaw|User|UID|NodeList|NNodes|NCPUS|WorkDir|CPUTimeRAW|",
        "1|wrap|main|1|FAILED|3:0|00:00:00|0|2026-11-23T12:21:36|2026-11-23T12:21:36|2026-11-23T12:21:35|UNLIMITED|UNLIMITED|root|0|n1|1|1|/tmp/names|0|",
        "",
      ].join("\n"),
    );
  });

  test("refuses fields that it does not know, in Slurm's words", () => {
    expect(() => jobsText([], { format: "bogus" })).toThrow('Invalid field requested: "bogus"');
  });

  test.each([
    ["time limit", { state: "failed", signal: "SIGTERM" }, "TIMEOUT"],
    ["memory limit", { state: "failed", signal: "SIGKILL" }, "OUT_OF_MEMORY"],
    ["lost: the conductor no longer knows this attempt", { state: "failed" }, "NODE_FAIL"],
    ["lost: Cannot run /no/such", { state: "failed" }, "FAILED"],
    ["lost: On n1: Cannot run /no/such", { state: "failed" }, "FAILED"],
    ["", { state: "paused" }, "SUSPENDED"],
    ["", { state: "ending" }, "COMPLETING"],
    ["", { state: "starting" }, "CONFIGURING"],
  ] as const)("a job with the reason %j is %j: %s", (reason, more, state) => {
    const text = jobsText([job(1, { ...more, reason })], { noheader: "", parsable2: "", format: "State" });
    expect(text).toBe(`${state}\n`);
  });
});

describe("scontrol show job", () => {
  /** Printed by the real Slurm for job 5 of the array 2. */
  const REAL =
    "JobId=5 ArrayJobId=2 ArrayTaskId=1 ArrayTaskThrottle=2 JobName=arr UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901758 Nice=0 Account=root QOS=normal JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:00:03 TimeLimit=UNLIMITED TimeMin=N/A SubmitTime=2026-11-23T12:21:35 EligibleTime=2026-11-23T12:21:36 AccrueTime=2026-11-23T12:21:36 StartTime=2026-11-23T12:21:36 EndTime=Unknown Deadline=N/A SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-23T12:21:36 Scheduler=Main Partition=main AllocNode:Sid=localhost:5852 ReqNodeList=(null) ExcNodeList=(null) NodeList=n1 BatchHost=n1 NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:* TRES=cpu=1,node=1,billing=1 Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=* MinCPUsNode=1 MinMemoryNode=0 MinTmpDiskNode=0 Features=(null) DelayBoot=00:00:00 OverSubscribe=YES Contiguous=0 Licenses=(null) Network=(null) Command=(null) WorkDir=/tmp/names StdErr=/tmp/names/out StdIn=/dev/null StdOut=/tmp/names/out Power= ";

  test("prints what Slurm prints, in its order", () => {
    const differs = ["Priority", "Account", "EligibleTime", "Requeue", "Command"];
    const words = recordText(QUEUED[2], true).trim().split(" ");
    const real = REAL.trim().split(" ");
    const names = (list: readonly string[]) => list.map((word) => word.split("=")[0]);
    expect(names(real).filter((name) => names(words).includes(name))).toEqual(names(words));
    const same = words.filter((word) => !differs.includes(word.split("=")[0]));
    expect(same.filter((word) => !real.includes(word))).toEqual([]);
    expect(same.length).toBeGreaterThan(35);
  });

  test("separates jobs by an empty line, and a name stays on its line", () => {
    expect(recordText(job(1, { name: "x\nJobState=COMPLETED" }), false)).toMatch(
      /^JobId=1 JobName=x\?JobState=COMPLETED\n {3}UserId=.*\n\n$/s,
    );
  });
});

test("seff computes efficiencies of CPUs and memory: half of 4 CPUs for an hour, a quarter of 8 GiB", () => {
  const ended = job(7, {
    ...over,
    state: "done",
    tasks: 4,
    ranMs: 3_600_000,
    memoryBytes: 8 * 2 ** 30,
    nodes: [
      { node: "n1", cpus: [0, 1] },
      { node: "n2", cpus: [0, 1] },
    ],
    usage: { cpuMs: 7_200_000, peakMemoryBytes: 2 * 2 ** 30 },
  });
  // The lines of seff 2.1, contribs/seff/seff in Slurm's sources.
  expect(efficiencyText(ended).split("\n").slice(3)).toEqual([
    "State: COMPLETED (exit code 0)",
    "Nodes: 2",
    "Cores per node: 2",
    "CPU Utilized: 02:00:00",
    "CPU Efficiency: 50.00% of 04:00:00 core-walltime",
    "Job Wall-clock time: 01:00:00",
    "Memory Utilized: 2.00 GB",
    "Memory Efficiency: 25.00% of 8.00 GB (4.00 GB/node)",
    "",
  ]);
});
