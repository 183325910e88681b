/** Tests a front end whose nodes come and go: what runs, what waits and why, and what users see. */
import { describe, expect, test } from "vitest";
import {
  changeCapacity,
  cluster,
  endGangsOnLostNodes,
  FOUR,
  nodesOf,
  rows,
  submit,
} from "./capacity-for-tests.ts";
import { ANNA, answerOf, asSent, type Bench, makeBench, ROOT, runToEnd } from "./front-end-for-tests.ts";

const [N1, N2, N3, N4] = FOUR;

const states = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ job, state }) => `${job} ${state}`);

test("nodes that have gone with their pilot are neither silent nor lost", async () => {
  const bench = cluster("gang");
  const { machine, clock, frontEnd } = bench;
  machine.report({ type: "nodes", nodes: [{ node: "n1", state: "silent" }] });
  clock.settle();
  expect(frontEnd.status(ROOT).nodes?.[0]).toMatchObject({ node: "n1", state: "silent" });
  // The executor says that there are none, and disconnects before that is read.
  changeCapacity(machine, []);
  machine.report({ type: "nodes", nodes: [] });
  machine.disconnect();
  clock.settle();
  expect(frontEnd.status(ROOT).nodes).toEqual([]);
});

test("without nodes, jobs are accepted and wait; `why` names the trouble", async () => {
  const bench = cluster("fcfs", []);
  expect(await submit(bench, 16)).toMatchObject({ jobs: [{ job: 1, state: "queued" }] });
  expect(await submit(bench, 17)).toEqual({
    refused: "too-large",
    message:
      "Cannot run 17 tasks: each needs a CPU of its own, and the scheduler has 16; ask for 16 or fewer",
  });
  expect(await submit(bench, 1, { memoryBytes: 2 ** 50 })).toMatchObject({ jobs: [{ job: 2 }] });
  expect(await bench.frontEnd.why(ANNA, 1)).toMatchObject({
    obstacles: [
      { kind: "conductor", message: "Slurm has not started the pilot yet" },
      { kind: "capacity", needed: 16, present: 0, most: 16 },
    ],
  });
  expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({ reason: "waits for 16 CPUs; the scheduler has 0 now" });
  const coming = "pilot 5 is pending in Slurm";
  Object.assign(bench.machine, { nodeSource: { allocations: [], coming } });
  expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({ reason: `waits for 16 CPUs; ${coming}` });
  expect(bench.frontEnd.status(ROOT)).toMatchObject({ cpus: 0, busyCpus: 0 });
  expect(bench.frontEnd.matrix()).toMatchObject({ cpus: [], nodes: [], rows: [] });
  expect(await answerOf(bench.clock, bench.frontEnd.setPolicy(ROOT, "easy"))).toEqual({ policy: "easy" });
  changeCapacity(bench.machine, FOUR);
  bench.clock.settle();
  expect(states(bench)).toEqual(["1 running", "2 queued"]);
  expect(bench.frontEnd.status(ROOT)).toMatchObject({ cpus: 16, busyCpus: 16 });
});

test.each(["fcfs", "easy", "gang"])(
  "%s: a node is lost, and comes back with the next allocation",
  async (policy) => {
    const bench = cluster(policy);
    const { machine, clock, frontEnd } = bench;
    await submit(bench, 6, { retries: 1 });
    await submit(bench, 4);
    await submit(bench, 6);
    // 1: n1 and half of n2; 2: the other half and half of n3; 3: the rest.
    expect(rows(bench)).toEqual([["1:n1/4+n2/2", "2:n2/2+n3/2", "3:n3/2+n4/4"]]);
    changeCapacity(machine, [N2, N3, N4], {}, "node n1 is lost: Slurm says DOWN");
    clock.settle();
    // The gang that has lost a node is in no row; the others keep their CPUs. What is free is a gap.
    expect(rows(bench)).toEqual([["2:n2/2+n3/2", "3:n3/2+n4/4"]]);
    expect(states(bench)).toEqual(["1 running", "2 running", "3 running"]);
    await submit(bench, 2);
    await submit(bench, 13);
    expect(rows(bench).flat()).toContain("4:n2/2");
    expect(await frontEnd.why(ANNA, 5)).toMatchObject({
      obstacles: [{ kind: "capacity", needed: 13, present: 12, most: 16 }],
    });
    expect(frontEnd.matrix()).toMatchObject({ nodes: [N2, N3, N4] });
    expect(frontEnd.status(ROOT)).toMatchObject({ cpus: 12, busyCpus: 12 });
    endGangsOnLostNodes(machine);
    clock.settle();
    // Its retries allow another start, and 6 CPUs are never free in a row of their own under space sharing.
    const isShared = policy === "gang";
    expect(states(bench)[0]).toBe(isShared ? "1 running" : "1 queued");
    expect(frontEnd.job(ANNA, 1)).toMatchObject({ attempt: isShared ? 2 : 1 });
    changeCapacity(machine, FOUR, {}, "a new allocation");
    clock.settle();
    expect(machine.matrix!.rows.flat().find(({ job }) => job === 3)?.nodes).toEqual([
      { node: "n3", cpus: [2, 3] },
      N4,
    ]);
    runToEnd(clock);
    expect(states(bench)).toEqual(["1 done", "2 done", "3 done", "4 done", "5 done"]);
    expect(machine.launched).toEqual(["1/1", "2/1", "3/1", "4/1", "1/2", "5/1"]);
  },
);

test("a gang that has lost a node stays out of the rows when the node is back, until it has ended", async () => {
  const bench = cluster("fcfs");
  await submit(bench, 8);
  changeCapacity(bench.machine, [N2, N3, N4]);
  bench.clock.settle();
  await submit(bench, 4);
  expect(rows(bench)).toEqual([["2:n2/4"]]);
  changeCapacity(bench.machine, FOUR);
  bench.clock.settle();
  expect(rows(bench)).toEqual([["2:n2/4"]]);
});

test.each(["buddy", "bc", "br", "brms", "brmms"])(
  "%s: a gang of two nodes keeps its buddy block when another node is lost, also after a restart",
  async (policy) => {
    const bench = cluster(policy);
    await submit(bench, 8);
    await submit(bench, 8);
    expect(rows(bench)).toEqual([["1:n1/4+n2/4", "2:n3/4+n4/4"]]);
    changeCapacity(bench.machine, [N2, N3, N4]);
    bench.clock.settle();
    expect(rows(bench)).toEqual([["2:n3/4+n4/4"]]);
    // n3 and n4 are processors 0 to 7 now, and n2 follows.
    expect(bench.frontEnd.matrix()).toMatchObject({ nodes: [N3, N4, N2] });
    await submit(bench, 4);
    expect(rows(bench)).toEqual([["2:n3/4+n4/4", "3:n2/4"]]);
    bench.machine.forgetListeners();
    const { clock, machine, store } = bench;
    const again = makeBench({ clock, machine, store, nodes: [N2, N3, N4], config: { policy, slotMs: 100 } });
    expect(rows(again)).toEqual([["2:n3/4+n4/4", "3:n2/4"]]);
  },
);

test("gangs that a policy cannot place where they run keep their CPUs; nothing else starts until they have ended", async () => {
  const bench = cluster("gang", FOUR, { slotted: true, runMs: (job) => (job === 3 ? 1000 : 5000) });
  const { clock, frontEnd } = bench;
  for (const tasks of [16, 16, 8]) await submit(bench, tasks);
  clock.advanceTo(clock.nowMs() + 100);
  const before = rows(bench);
  expect(before).toHaveLength(3);
  await answerOf(clock, frontEnd.setPolicy(ROOT, "fcfs"));
  await submit(bench, 2);
  expect(rows(bench).flat().sort()).toEqual(before.flat().sort());
  const why = await frontEnd.why(ANNA, 4);
  expect(why).toMatchObject({ obstacles: [{ kind: "handover", policy: "fcfs", jobs: expect.any(Array) }] });
  expect(asSent(why)).not.toHaveProperty("forecast");
  expect(frontEnd.job(ANNA, 4)).toMatchObject({
    reason: expect.stringContaining("so that the policy can take over"),
  });
  runToEnd(clock);
  expect(states(bench)).toEqual(["1 done", "2 done", "3 done", "4 done"]);
  expect(bench.machine.launched).toHaveLength(4);
  expect(frontEnd.policy().policy).toBe("fcfs");
});

test("nodes of unequal size: the order is by alignment, and jobs fill the gaps", async () => {
  const [a, b, c, d] = nodesOf(3, 4, 6, 1);
  const bench = cluster("fcfs", [a, b, c, d]);
  // 4, 6, 3, 1 by the largest power of two that divides the size: 4, 2, 1, 1.
  expect(bench.frontEnd.matrix()).toMatchObject({ nodes: [b, c, a, d] });
  await submit(bench, 5);
  await submit(bench, 8);
  expect(rows(bench)).toEqual([["1:n2/4+n3/1", "2:n3/5+n1/3"]]);
  changeCapacity(bench.machine, [a, c, d]);
  bench.clock.settle();
  endGangsOnLostNodes(bench.machine);
  await submit(bench, 2);
  // The first CPU of n3 and the only one of n4.
  expect(rows(bench)).toEqual([["2:n3/5+n1/3", "3:n3/1+n4/1"]]);
});

test("memory that all nodes have now limits what starts, not what is accepted", async () => {
  const bench = cluster("fcfs");
  changeCapacity(bench.machine, [N1, N2], { memoryBytes: 100, mostMemoryBytes: 200 });
  bench.clock.settle();
  expect(await submit(bench, 1, { memoryBytes: 201 })).toMatchObject({ refused: "too-large" });
  await submit(bench, 1, { memoryBytes: 150 });
  await submit(bench, 1, { memoryBytes: 50 });
  expect(states(bench)).toEqual(["1 queued", "2 running"]);
  expect(await bench.frontEnd.why(ANNA, 1)).toMatchObject({
    obstacles: [{ kind: "capacity-memory", neededBytes: 150, presentBytes: 100 }],
  });
  // Half of the memory of eight CPUs is half of the CPUs.
  expect(rows(bench)).toEqual([["2:n1/4"]]);
  changeCapacity(bench.machine, FOUR, { memoryBytes: 200, mostMemoryBytes: 200 });
  bench.clock.settle();
  // Three quarters of 16 CPUs, and the gang that runs keeps its four.
  expect(rows(bench)).toEqual([["2:n1/4", "1:n2/4+n3/4+n4/4"]]);
});

test("forecasts are made for the processors that are there", async () => {
  const bench = cluster("fcfs", FOUR, { runMs: () => 60_000 });
  const { clock, frontEnd } = bench;
  await submit(bench, 8, { limitMs: 60_000 });
  changeCapacity(bench.machine, [N1, N2]);
  clock.settle();
  await submit(bench, 4, { limitMs: 60_000 });
  const unixMs = clock.unixMs();
  const answer = await answerOf(clock, frontEnd.whatIf(ANNA, {}));
  expect(answer).toMatchObject({ jobs: [{ job: 2, p50Ms: unixMs + 60_000, endP50Ms: unixMs + 120_000 }] });
  changeCapacity(bench.machine, []);
  clock.settle();
  expect(await answerOf(clock, frontEnd.whatIf(ANNA, {}))).toMatchObject({ jobs: [], running: [] });
});

test("capacity and notices are events for all users", async () => {
  const bench = cluster("fcfs");
  changeCapacity(bench.machine, [N1, N2], {}, "node n3 is lost");
  bench.machine.report({ type: "notice", kind: "node-lost", text: "n3 was silent for 20 s", node: "n3" });
  bench.clock.settle();
  const events = bench.store.eventsAfter(0, 99, ANNA.uid).map(({ event }) => event);
  expect(events.filter(({ kind }) => kind === "capacity" || kind === "node")).toMatchObject([
    { data: { because: "the nodes have changed", cpus: 16, nodes: 4 } },
    { data: { because: "node n3 is lost", cpus: 8, nodes: 2 } },
    { kind: "node", data: { rule: "node-lost", text: "n3 was silent for 20 s", node: "n3" } },
  ]);
});

describe("threads of a task are on one node", () => {
  const hybrid = (bench: Bench, tasks: number, threads: number) => submit(bench, tasks, { threads });

  test("a job gets as many CPUs as always hold its tasks", async () => {
    // Consecutive CPUs: 5 hold a task of 3 threads wherever they begin. Any CPUs: see whole-tasks.test.ts.
    const gang = cluster("gang");
    await submit(gang, 2);
    await hybrid(gang, 1, 3);
    expect(rows(gang)).toEqual([["1:n1/2", "2:n1/2+n2/3"]]);
    const whole = cluster("gang", FOUR, { config: { policy: "gang", slotMs: 100, pack: "whole-node" } });
    await submit(whole, 2);
    await hybrid(whole, 1, 3);
    await hybrid(whole, 2, 4);
    expect(rows(whole)).toEqual([["1:n1/4", "2:n2/4", "3:n3/4+n4/4"]]);
    expect(whole.frontEnd.job(ANNA, 3)).toMatchObject({
      tasks: 2,
      threads: 4,
      cpus: [0, 1, 2, 3, 0, 1, 2, 3],
    });
  });

  test("a job whose threads fit on no node is refused", async () => {
    const bench = cluster("gang");
    expect(await hybrid(bench, 1, 5)).toEqual({
      refused: "too-large",
      message:
        "Cannot run 1 task of 5 threads: the threads of a task need CPUs on one node, and the largest node has 4; ask for 4 or fewer threads (-c), and for more tasks (-n)",
    });
    expect(await hybrid(bench, 5, 3)).toEqual({
      refused: "too-large",
      message:
        "Cannot run 5 tasks of 3 threads: the threads of a task need CPUs on one node, and the nodes have room for 4 such tasks; ask for fewer tasks (-n) or threads (-c)",
    });
    expect(await hybrid(bench, 3, 6)).toEqual({
      refused: "too-large",
      message:
        "Cannot run 3 tasks of 6 threads: they need 18 CPUs, and the scheduler has 16; ask for fewer tasks (-n) or threads (-c)",
    });
  });

  test("a job waits for nodes that are large enough, and `why` says so", async () => {
    const bench = cluster("gang", []);
    await hybrid(bench, 2, 3);
    changeCapacity(bench.machine, nodesOf(4, 2, 2));
    bench.clock.settle();
    const obstacle = { kind: "capacity-threads", tasks: 2, threads: 3, present: 1 };
    expect(await bench.frontEnd.why(ANNA, 1)).toMatchObject({ obstacles: [obstacle] });
    expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({
      reason: "waits for nodes for 2 tasks of 3 threads; there is room for 1 of them now",
    });
    changeCapacity(bench.machine, FOUR);
    bench.clock.settle();
    expect(states(bench)).toEqual(["1 running"]);
  });
});

describe("what an executor cannot do is refused", () => {
  const unable = {
    tasksRunEach: false,
    modeConcurrent: "a gang has its slots on all nodes",
    timeSharing: false,
  };

  test("tasks that the cluster starts", async () => {
    const bench = cluster("fcfs");
    const each = { tasksRun: "each", mpi: "pmix" };
    expect(await submit(bench, 2, each)).toMatchObject({ jobs: [{ job: 1, ...each }] });
    const [launch] = bench.machine.sent.filter(({ type }) => type === "launch");
    expect(launch).toMatchObject({ spec: { ...each, tasks: 2, nodes: [{ node: "n1", cpus: [0, 1] }] } });
    expect(bench.frontEnd.status(ROOT)).toMatchObject({ tasksRunEach: true });
    bench.machine.forgetListeners();
    const { clock, machine, store } = bench;
    const again = makeBench({ clock, machine, store, nodes: FOUR, config: { policy: "fcfs" } });
    expect(again.frontEnd.job(ANNA, 1)).toMatchObject({ ...each, state: "running" });
    const local = makeBench({ capabilities: unable, config: { policy: "fcfs" } });
    expect(await submit(local, 2, { tasksRun: "each" })).toEqual({
      refused: "invalid",
      message:
        "Cannot run the command once per task: only a scheduler on a cluster does that; leave out tasksRun (--tasks-run each), and let the command start its processes itself, for example with mpirun",
    });
    expect(await submit(local, 2, { tasksRun: "once" })).toMatchObject({ jobs: [{ job: 1 }] });
    expect(local.frontEnd.status(ROOT)).not.toHaveProperty("tasksRunEach");
    expect(await submit(bench, 2, { mpi: "pmix" })).toEqual({
      refused: "invalid",
      message:
        'Cannot start a job with MPI of type "pmix": its command runs once; expected tasksRun (--tasks-run each) as well',
    });
  });

  test("the mode concurrent, at the start", () => {
    const config = { policy: "fcfs", mode: "concurrent" as const };
    expect(() => makeBench({ capabilities: unable, config })).toThrow(
      'Cannot use the mode "concurrent": a gang has its slots on all nodes',
    );
  });

  test("policies whose gangs take turns, at the start and later", async () => {
    expect(() => makeBench({ capabilities: unable, config: { policy: "br" } })).toThrow(
      'Cannot use policy "br" here: its gangs take turns on the same CPUs, but here a job has its CPUs until it ends; expected a policy of space sharing, such as easy',
    );
    const bench = makeBench({ capabilities: unable, config: { policy: "easy" } });
    expect(await answerOf(bench.clock, bench.frontEnd.setPolicy(ROOT, "gang"))).toMatchObject({
      refused: "invalid",
      message: expect.stringContaining('Cannot use policy "gang" here'),
    });
  });
});

test("status has the nodes of a cluster, with their clocks; a clock known too badly is uncertain", async () => {
  const bench = cluster("gang");
  const { machine, clock, frontEnd } = bench;
  expect(frontEnd.status(ROOT).nodes).toEqual(
    ["n1", "n2", "n3", "n4"].map((node) => ({ node, state: "up", cpus: 4 })),
  );
  changeCapacity(machine, [N2, N3, N4]);
  const measured = { state: "up" as const, offsetMs: 5, uncertaintyMs: 10, skewP50Ms: 1, skewP99Ms: 2 };
  const nodes = [
    { node: "n1", state: "lost" as const },
    { node: "n2", ...measured },
    // A slot has 100 ms.
    { node: "n3", ...measured, uncertaintyMs: 10.01 },
    { node: "n4", state: "silent" as const },
  ];
  machine.report({ type: "nodes", nodes });
  clock.settle();
  expect(frontEnd.status(ROOT)).toMatchObject({ trouble: "Slurm has not started the pilot yet" });
  expect(frontEnd.status(ROOT).nodes).toEqual([
    { ...nodes[1], cpus: 4 },
    { ...nodes[2], cpus: 4, isUncertain: true },
    { ...nodes[3], cpus: 4 },
    { ...nodes[0], cpus: 0 },
  ]);
  // The executor of a cluster notices silent nodes itself, and reports only when something changes.
  await submit(bench, 8);
  await submit(bench, 16);
  clock.advanceTo(clock.nowMs() + 30_000);
  expect(asSent(frontEnd.status(ROOT).conductor)).not.toHaveProperty("silentMs");
  expect(makeBench().frontEnd.status(ROOT)).not.toHaveProperty("nodes");
});

test("a reboot of the scheduler's machine ends no gang on other nodes; the executor says what it does not know", async () => {
  const bench = cluster("fcfs");
  const { clock, machine, store } = bench;
  await submit(bench, 4);
  await submit(bench, 4);
  machine.forgetListeners();
  machine.attempts.delete("2/1");
  const again = makeBench({
    clock,
    machine,
    store,
    nodes: FOUR,
    config: { policy: "fcfs" },
    bootId: "another",
  });
  // The second one is launched again, and the executor finds that it was started before.
  expect(machine.sent.filter(({ type }) => type === "launch")).toHaveLength(3);
  expect(states(again)).toEqual(["1 running", "2 failed"]);
  expect(again.frontEnd.job(ANNA, 2)).toMatchObject({ reason: "lost: gone" });
});

test("while the executor is away, ends that it reported count, and `why` names its trouble", async () => {
  const bench = cluster("fcfs");
  const { clock, machine, frontEnd } = bench;
  await submit(bench, 8);
  await submit(bench, 12);
  // Its allocation ends: all of this arrives at one instant.
  machine.end({ job: 1, attempt: 1 }, "none", { lost: "its allocation 7 has ended" });
  changeCapacity(machine, []);
  machine.disconnect();
  clock.settle();
  expect(states(bench)).toEqual(["1 failed", "2 queued"]);
  expect(frontEnd.status(ROOT)).toMatchObject({ cpus: 0, busyCpus: 0, nodes: [] });
  expect(await frontEnd.why(ANNA, 2)).toMatchObject({
    obstacles: [
      { kind: "conductor", message: "Slurm has not started the pilot yet" },
      { kind: "capacity", needed: 12, present: 0, most: 16 },
    ],
  });
  changeCapacity(machine, FOUR);
  machine.connect();
  clock.settle();
  expect(states(bench)).toEqual(["1 failed", "2 running"]);
});

test("a new front end that learns the nodes late keeps the rows of its predecessor", async () => {
  const bench = cluster("gang");
  for (const tasks of [8, 16, 8, 8, 8]) await submit(bench, tasks);
  await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 3));
  bench.clock.advanceTo(bench.clock.nowMs() + 100);
  // There is room for job 5 next to job 1, but gangs keep their rows.
  const sorted = (of: Bench) =>
    rows(of)
      .map((row) => row.join(" "))
      .sort();
  const before = ["1:n1/4+n2/4", "2:n1/4+n2/4+n3/4+n4/4", "4:n1/4+n2/4 5:n3/4+n4/4"];
  expect(sorted(bench)).toEqual(before);
  bench.machine.forgetListeners();
  const { clock, machine, store } = bench;
  const again = makeBench({
    ...{ clock, machine, store, nodes: [], connected: false },
    config: { policy: "gang", slotMs: 100 },
  });
  changeCapacity(machine, FOUR);
  machine.connect();
  clock.settle();
  expect(sorted(again)).toEqual(before);
});

test("`why` says what keeps a launched gang from beginning", async () => {
  const bench = cluster("gang", FOUR, { slotted: true });
  bench.machine.hindrance = ({ job }) =>
    job === 1 ? { kind: "launch", message: "at most 16 steps run at once" } : undefined;
  await submit(bench, 4);
  expect(await bench.frontEnd.why(ANNA, 1)).toMatchObject({
    state: "starting",
    obstacles: [{ kind: "launch", message: "at most 16 steps run at once" }],
  });
});
