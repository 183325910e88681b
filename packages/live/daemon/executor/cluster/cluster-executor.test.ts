/** Follows the executor through single faults on simulated nodes, by hand: what it reports, and when. */
import { expect, test } from "vitest";
import type { Command } from "../executor.ts";
import { ALL_NODES as all, Bench, ENDLESS, specOf } from "./bench-for-tests.ts";

test("it connects when all nodes have answered; clocks are known to less than the delay of a message", () => {
  const bench = new Bench({ delayMs: 0.5 });
  const [connected] = bench.of("connected");
  expect(connected).toMatchObject({ attempts: [] });
  expect(connected.atMs).toBeLessThan(500);
  expect(bench.executor.capacity).toMatchObject({ mostProcessors: 8 });
  expect(bench.executor.capacity.nodes.processors).toBe(8);
  const [{ nodes }] = bench.of("nodes");
  expect(nodes.map(({ node, state }) => `${node} ${state}`)).toEqual(all.map((node) => `${node} up`));
  for (const { uncertaintyMs } of nodes) expect(uncertaintyMs).toBeLessThan(0.5);
  bench.pass(30_000);
  // On connecting, and every ten seconds.
  expect(bench.of("nodes")).toHaveLength(4);
});

test("an attempt that was started on an earlier allocation with the same nodes is lost, and may have begun", () => {
  const bench = new Bench();
  const spec = specOf(1, ["n1", "n2"]);
  bench.scripts.set(1, { computeMs: 50 });
  bench.nodes.claims.set(spec.identity!, "n1");
  bench.executor.apply([
    { type: "launch", spec },
    { type: "matrix", matrix: bench.matrix([[spec]]) },
  ]);
  bench.pass(1000);
  expect(bench.ends()).toMatchObject([{ job: 1, lost: expect.stringContaining("allocation") }]);
  expect(bench.ends()[0]).not.toHaveProperty("neverBegan");
  expect(bench.nodes.recordsOf(1)).toEqual([]);
});

test("tasks that run each begin on all nodes in one slot; the highest exit code is the gang's", () => {
  const bench = new Bench();
  const spec = specOf(1, all, { tasksRun: "each" });
  bench.scripts.set(1, { computeMs: 50, exitCode: 3 });
  bench.executor.apply([
    { type: "launch", spec },
    { type: "matrix", matrix: bench.matrix([[spec], []]) },
  ]);
  bench.pass(3000);
  const begun = bench.nodes.recordsOf(1).filter((record) => record.kind === "begun");
  expect(begun.map(({ node }) => node).sort()).toEqual(all);
  const times = begun.map(({ atMs }) => atMs);
  // Nodes differ by the error of their clocks.
  expect(Math.max(...times) - Math.min(...times)).toBeLessThan(1);
  expect(bench.ends()).toMatchObject([{ job: 1, code: 3, reason: "none" }]);
  expect(bench.of("launched")).toHaveLength(1);
});

test("a gate waits for the slowest node: no process begins before all are there", () => {
  const bench = new Bench({ arriveMs: (node) => (node === "n3" ? 1250 : 30) });
  const spec = specOf(1, all, { tasksRun: "each" });
  bench.scripts.set(1, { computeMs: 50 });
  bench.executor.apply([
    { type: "launch", spec },
    { type: "matrix", matrix: bench.matrix([[spec], []]) },
  ]);
  const launchedMs = bench.clock.nowMs();
  bench.pass(1000);
  const message = "its processes on n3 are not at their gates yet";
  expect(bench.executor.hindrance(spec)).toEqual({ kind: "launch", message });
  bench.pass(3000);
  const times = bench.nodes.recordsOf(1).flatMap((record) => (record.kind === "begun" ? [record.atMs] : []));
  expect(times).toHaveLength(4);
  expect(Math.min(...times)).toBeGreaterThan(launchedMs + 1250);
  expect(Math.max(...times) - Math.min(...times)).toBeLessThan(1);
});

test("at most two steps at once if configured: the third gang begins when the first has ended", () => {
  const bench = new Bench({ steps: 2 });
  const specs = [1, 2, 3].map((job) => specOf(job, all, { tasksRun: "each" }));
  for (const { job } of specs) bench.scripts.set(job, { computeMs: 200 });
  bench.executor.apply([
    ...specs.map((spec): Command => ({ type: "launch", spec })),
    { type: "matrix", matrix: bench.matrix(specs.map((spec) => [spec])) },
  ]);
  bench.pass(500);
  expect(bench.nodes.steps.map(({ job }) => job)).toEqual([1, 2]);
  const message = "at most 2 steps run at once, and 0 gangs wait before it";
  const waits = { kind: "launch", message };
  expect(specs.map((spec) => bench.executor.hindrance(spec))).toEqual([undefined, undefined, waits]);
  bench.pass(10_000);
  expect(bench.nodes.steps.map(({ job }) => job)).toEqual([1, 2, 3]);
  expect(bench.ends().map(({ code }) => code)).toEqual([0, 0, 0]);
  const begunMs = bench.nodes.recordsOf(3).find(({ kind }) => kind === "begun")!;
  expect(begunMs).toMatchObject({ kind: "begun" });
  expect("atMs" in begunMs && begunMs.atMs).toBeGreaterThan(bench.ends()[0].endedAtMs);
});

test("a node that is cut off for 10 s: its gang stops everywhere, and goes on when the node is back", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS }, { job: 2, on: ["n3", "n4"], script: ENDLESS });
  bench.pass(2000);
  bench.nodes.cut("n2");
  const cutMs = bench.clock.nowMs();
  bench.pass(10_000);
  expect(bench.executor.hindrance({ job: 1, attempt: 1 })).toMatchObject({
    kind: "nodes",
    message: "node n2 does not answer, so the gang is stopped on the others",
  });
  expect(bench.executor.hindrance({ job: 2, attempt: 1 })).toBeUndefined();
  bench.nodes.join("n2");
  bench.pass(3000);
  expect(bench.notices()).toEqual(["node-silent n2", "node-back n2"]);
  const [silent, back] = bench.of("notice");
  expect(silent.atMs - cutMs).toBeGreaterThanOrEqual(2500);
  expect(silent.atMs - cutMs).toBeLessThanOrEqual(3750);
  expect(back.atMs - cutMs).toBeGreaterThanOrEqual(10_000);
  const spans = bench.nodes.recordsOf(1).filter((record) => record.kind === "ran");
  const stopped = spans.filter(
    ({ node, fromMs }) => node === "n1" && fromMs > silent.atMs + 500 && fromMs < cutMs + 10_000,
  );
  expect(stopped).toEqual([]);
  expect(spans.filter(({ fromMs }) => fromMs > back.atMs + 500).length).toBeGreaterThan(0);
  expect(bench.ends()).toEqual([]);
});

test("the clock of a node that is silent or lost is no reason to warn: only its last measurement is old", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ["n1"], script: ENDLESS });
  bench.nodes.crash("n2");
  bench.pass(120_000);
  const kinds = bench.of("notice").map(({ kind }) => kind);
  expect(kinds).toContain("node-lost");
  expect(kinds).not.toContain("clock-uncertain");
});

test("a node that crashes: after 23 s its gang is killed elsewhere, and lost when the cluster calls it down", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS }, { job: 2, on: ["n3", "n4"], script: ENDLESS });
  bench.pass(2000);
  bench.nodes.crash("n2");
  bench.pass(22_000);
  expect(bench.nodes.processesOf(1)).toBe(1);
  bench.pass(2000);
  expect(bench.nodes.processesOf(1)).toBe(0);
  expect(bench.executor.capacity.nodes.nodes.map(({ node }) => node)).toEqual(["n1", "n3", "n4"]);
  expect(bench.of("capacity").at(-1)!.because).toBe("node n2 is lost");
  // It may still run there, as far as we know.
  expect(bench.ends()).toEqual([]);
  bench.nodes.down("n2");
  expect(bench.ends()).toMatchObject([{ job: 1, reason: "none" }]);
  expect(bench.ends()[0].lost).toContain("node n2");
  expect(bench.ends()[0]).not.toHaveProperty("neverBegan");
  // It had every second slot for 2 s until the crash and for 3 s until n2 was silent. Nodes say each second
  // how long it has run.
  expect(bench.ends()[0].ranMs).toBeGreaterThanOrEqual(500);
  expect(bench.ends()[0].ranMs).toBeLessThanOrEqual(2500 + 2 * 100);
  bench.pass(1000);
  expect(bench.nodes.processesOf(2)).toBe(2);
  const rules = bench.of("notice").map(({ text }) => text.split(";")[0]);
  expect(rules).toEqual([
    "node n2: no answer for 3 s: its gangs are stopped on the other nodes, and lost after 20 s more",
    "node n2: no answer for 23 s (the connection broke)",
    "node n2: the cluster says that it is down",
  ]);
});

test("a lost node that is up without a conductor confirms that nothing runs there", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS }, { job: 2, on: ["n3", "n4"], script: ENDLESS });
  bench.pass(2000);
  bench.nodes.crash("n2");
  bench.pass(22_000);
  // Too early: the node may still be back, with a conductor that adopts the gang.
  bench.nodes.vacant("n2");
  expect(bench.ends()).toEqual([]);
  bench.pass(2000);
  bench.nodes.vacant("n2");
  expect(bench.ends()).toMatchObject([{ job: 1, reason: "none" }]);
  expect(bench.ends()[0].lost).toContain("node n2");
  bench.pass(1000);
  expect(bench.nodes.processesOf(1)).toBe(0);
  expect(bench.nodes.processesOf(2)).toBe(2);
});

test("a node that was lost and comes back kills what was given up, and takes part again when the job has ended", () => {
  const bench = new Bench();
  const [spec] = bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS });
  bench.pass(2000);
  bench.nodes.cut("n2");
  bench.pass(30_000);
  expect(bench.nodes.processesOf(1)).toBe(1);
  expect(bench.ends()).toEqual([]);
  bench.nodes.join("n2");
  bench.pass(2000);
  expect(bench.nodes.processesOf(1)).toBe(0);
  expect(bench.ends()).toMatchObject([{ job: 1, lost: expect.stringContaining("node n2") }]);
  expect(bench.of("node-clean").at(-1)).toMatchObject({ node: "n2", jobs: [1] });
  // The job may be started again, but not there. So the node stays out, also for the next front end.
  bench.pass(60_000);
  bench.restart();
  bench.pass(60_000);
  expect(bench.executor.capacity.nodes.nodes.map(({ node }) => node)).toEqual(["n1", "n3", "n4"]);
  expect(bench.notices()).toEqual(["node-silent n2", "node-lost n2"]);
  bench.executor.apply([{ type: "admit", node: "n2", jobs: [] }]);
  expect(bench.executor.capacity.nodes.processors).toBe(6);
  bench.executor.apply([{ type: "admit", node: "n2", jobs: [1] }]);
  expect(bench.notices()).toEqual(["node-silent n2", "node-lost n2", "node-back n2"]);
  expect(bench.executor.capacity.nodes.processors).toBe(8);
  const { job, attempt, identity } = spec;
  bench.executor.apply([{ type: "forget", attempt: { job, attempt }, identity: identity! }]);
  bench.pass(100);
  for (const node of all) expect(bench.nodes.conductor(node).attempts.size).toBe(0);
});

test("a gang on a lost node says so, and ends at once when somebody says that nothing runs there", () => {
  const bench = new Bench({ offByWord: true });
  bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS }, { job: 2, on: ["n2"], script: ENDLESS });
  bench.pass(2000);
  bench.nodes.cut("n2");
  const cutAtMs = bench.clock.unixMs();
  bench.pass(10_000);
  const off = { type: "off", node: "n2", by: "ann" } as const;
  // Silent, so it may be back at any moment.
  bench.executor.apply([off]);
  bench.pass(20_000);
  expect(bench.ends()).toEqual([]);
  const hindrance = bench.executor.hindrance({ job: 1, attempt: 1 });
  const then = "the job ends when n2 answers, or by tutti allocations off n2";
  expect(hindrance).toMatchObject({
    kind: "nodes",
    message: `node n2 is lost; what ran on the others was killed, and ${then}`,
  });
  const { sinceMs = 0, ranMs = 0 } = hindrance?.kind === "nodes" ? hindrance : {};
  // It had reported each second. The gang had every second slot for 2 s, and on n1 until n2 was silent.
  expect(Math.abs(sinceMs - cutAtMs)).toBeLessThanOrEqual(1000);
  expect(ranMs).toBeGreaterThanOrEqual(500);
  expect(ranMs).toBeLessThanOrEqual(2500 + 2 * 100);
  expect(bench.executor.hindrance({ job: 2, attempt: 1 })?.message).toBe(`node n2 is lost; ${then}`);
  bench.executor.apply([off]);
  expect(bench.ends().map(({ job, lost }) => [job, lost])).toEqual([
    [1, "node n2 is lost: no answer for 23 s"],
    [2, "node n2 is lost: no answer for 23 s"],
  ]);
  expect(bench.of("notice").at(-1)).toMatchObject({
    kind: "node-off",
    text: "node n2: ann says that nothing runs there; its gangs are lost",
  });
  expect(bench.nodes.processesOf(2)).toBe(1);
  // It was wrong: what still runs there is killed when the node is back.
  bench.nodes.join("n2");
  bench.pass(3000);
  expect([1, 2].map((job) => bench.nodes.processesOf(job))).toEqual([0, 0]);
});

test("a lost node without gangs takes part again when it answers", () => {
  const bench = new Bench();
  bench.nodes.cut("n4");
  bench.pass(25_000);
  expect(bench.executor.capacity.nodes.processors).toBe(6);
  bench.nodes.join("n4");
  bench.pass(4000);
  expect(bench.executor.capacity.nodes.processors).toBe(8);
  expect(bench.notices()).toEqual(["node-silent n4", "node-lost n4", "node-back n4"]);
});

test("a node that crashes and is back within a second: nobody else notices, but its gang is lost", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS });
  bench.pass(2000);
  bench.nodes.crash("n2");
  bench.pass(800);
  bench.nodes.startNode("n2");
  bench.pass(2000);
  expect(bench.nodes.processesOf(1)).toBe(0);
  expect(bench.ends()).toMatchObject([{ lost: "the conductor of node n2 no longer knows this attempt" }]);
  expect(bench.notices()).toEqual([]);
});

test("a killed conductor and a broken connection end nothing", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: all, script: ENDLESS }, { job: 2, on: all, script: ENDLESS });
  bench.pass(2000);
  bench.nodes.killConductor("n1");
  bench.nodes.dropLink("n3");
  bench.pass(5000);
  expect([bench.ends(), bench.notices()]).toEqual([[], []]);
  expect([bench.nodes.processesOf(1), bench.nodes.processesOf(2)]).toEqual([4, 4]);
});

test("the end of an allocation ends everything; the next one starts from nothing", () => {
  const bench = new Bench({ stopAtMs: 5000 });
  const [spec] = bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS });
  expect(bench.executor.capacity.end).toEqual({ drainAtMs: 4000, stopAtMs: 5000 });
  bench.pass(4500);
  const [room] = bench.of("make-room");
  expect(room).toMatchObject({ atMs: 5000, reason: "allocation 1 ends" });
  const { job, attempt, identity } = spec;
  bench.executor.apply([
    { type: "stop", attempt: { job, attempt }, kill: false, reason: "requeued", identity: identity! },
  ]);
  bench.pass(1000);
  expect(bench.ends()).toMatchObject([{ reason: "requeued", signal: "SIGTERM" }]);
  bench.nodes.endAllocation("its time is over", {});
  expect(bench.executor.capacity.nodes.processors).toBe(0);
  expect(bench.disconnects.at(-1)).toBe("there is no allocation: its time is over");
  bench.pass(1000);
  expect(bench.of("connected")).toHaveLength(2);
  expect(bench.executor.capacity.nodes.processors).toBe(8);
  // The front end has not stored the end: it is listed again.
  expect(bench.of("connected")[1].attempts).toMatchObject([{ job: 1, phase: "ended" }]);
});

test("an allocation that is cancelled from outside: its gangs are lost, with the reason", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS });
  bench.pass(2000);
  bench.nodes.endAllocation("it was cancelled", {});
  expect(bench.disconnects.at(-1)).toContain("it was cancelled");
  bench.pass(1000);
  const [, again] = bench.of("connected");
  expect(again.attempts).toMatchObject([
    { job: 1, phase: "ended", end: { lost: "its allocation 1 has ended: it was cancelled" } },
  ]);
});

test("an allocation that ends while no front end is there: what it launches again is lost at once", () => {
  const bench = new Bench();
  const specs = bench.run(
    { job: 1, on: ["n1", "n2"], script: ENDLESS },
    { job: 2, on: ["n3"], script: ENDLESS },
  );
  bench.pass(2000);
  bench.executor.close();
  bench.nodes.endAllocationUnseen("the pilot 1 has reached its time limit");
  bench.restart();
  const [, again] = bench.of("connected");
  expect(again.attempts).toEqual([]);
  expect(bench.executor.capacity.nodes.processors).toBe(0);
  bench.executor.apply([
    ...specs.map((spec) => ({ type: "launch" as const, spec })),
    { type: "matrix", matrix: bench.matrix([]) },
  ]);
  expect(bench.ends()).toMatchObject([
    { job: 1, lost: expect.stringContaining("the allocation has ended") },
    { job: 2, lost: expect.stringContaining("the allocation has ended") },
  ]);
  expect(bench.disconnects.at(-1)).toContain("has reached its time limit");
  bench.nodes.allocate({});
  bench.pass(1000);
  expect(bench.of("connected")).toHaveLength(3);
  expect(bench.executor.capacity.nodes.processors).toBe(8);
  bench.run({ job: 3, on: all, script: { computeMs: 500 } });
  bench.pass(3000);
  expect(bench.ends().at(-1)).toMatchObject({ job: 3, code: 0 });
});

test("another executor finds gangs, rows and slots as they were", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: all, script: ENDLESS }, { job: 2, on: all, script: { computeMs: 3000 } });
  bench.pass(2000);
  const [{ epochMs }] = bench.of("connected");
  bench.restart();
  const [, again] = bench.of("connected");
  expect(again.attempts).toMatchObject([
    { job: 1, phase: "running", about: { nodes: all } },
    { job: 2, phase: "running" },
  ]);
  expect(Math.abs(again.epochMs - epochMs)).toBeLessThan(1);
  bench.pass(10_000);
  expect(bench.ends()).toMatchObject([{ job: 2, code: 0 }]);
});

test("the end of the scheduler kills the jobs, and gives the allocation back when they have ended", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: all, script: ENDLESS });
  bench.pass(2000);
  bench.executor.apply([{ type: "shutdown", killJobs: false }]);
  expect(bench.of("refused").at(-1)!.message).toContain("1 jobs are running");
  bench.executor.apply([{ type: "shutdown", killJobs: true }]);
  expect(bench.nodes.isReleased).toBe(false);
  bench.pass(1000);
  expect(bench.ends()).toMatchObject([{ reason: "shutdown" }]);
  expect(bench.nodes.isReleased).toBe(true);
  expect(bench.nodes.living()).toEqual([]);
});

test("a clock that is known badly is a warning, once", () => {
  const bench = new Bench({ delayMs: 300 });
  bench.run({ job: 1, on: all, script: ENDLESS });
  bench.pass(60_000);
  const warnings = bench.of("notice").filter(({ kind }) => kind === "clock-uncertain");
  expect(warnings.length).toBeGreaterThan(0);
  expect(new Set(warnings.map(({ node }) => node)).size).toBe(warnings.length);
  for (const { text } of warnings) expect(text).toContain("expected a tenth of a slot, 10.0 ms");
});

test("an attempt that is unknown, or whose nodes are gone, is refused with a reason", () => {
  const bench = new Bench();
  bench.executor.apply([
    { type: "stop", attempt: { job: 9, attempt: 1 }, kill: true, reason: "cancelled" },
    { type: "launch", spec: specOf(8, ["n1", "n9"]) },
  ]);
  expect(bench.of("refused")[0].message).toContain("job 9.1");
  expect(bench.ends()[0]).toMatchObject({ job: 8, lost: expect.stringContaining("n9") });
});

test("the notice about a lost node has the last words of its connection; its jobs' reasons do not", () => {
  const bench = new Bench();
  bench.run({ job: 1, on: ["n1", "n2"], script: ENDLESS });
  bench.nodes.crash("n2");
  bench.pass(30_000);
  expect(bench.of("notice").find(({ kind }) => kind === "node-lost")?.text).toBe(
    "node n2: no answer for 23 s (the connection broke); its gangs are killed everywhere else",
  );
  bench.nodes.vacant("n2");
  expect(bench.ends()).toMatchObject([{ job: 1, lost: "node n2 is lost: no answer for 23 s" }]);
});

test("a paused gang is listed on every node, does not run, and continues where it was", () => {
  const bench = new Bench();
  const spec = specOf(1, all, { tasksRun: "each" });
  bench.scripts.set(1, { computeMs: 2000 });
  bench.executor.apply([
    { type: "launch", spec },
    { type: "matrix", matrix: bench.matrix([[spec]]) },
  ]);
  bench.pass(1500);
  const paused = [{ job: 1, attempt: 1 }];
  bench.executor.apply([{ type: "matrix", matrix: { ...bench.matrix([[]]), paused } }]);
  bench.pass(60_000);
  for (const node of all) expect(bench.nodes.conductor(node).matrix).toMatchObject({ paused });
  expect(bench.ends()).toEqual([]);
  bench.executor.apply([{ type: "matrix", matrix: bench.matrix([[spec]]) }]);
  bench.pass(3000);
  expect(bench.ends()).toMatchObject([{ job: 1, code: 0 }]);
  // Without the minute of the pause.
  expect(bench.ends()[0].ranMs).toBeLessThan(4000);
  for (const node of all) expect(bench.nodes.conductor(node).matrix).not.toHaveProperty("paused");
});

test("each node knows on its own clock when it is taken away, also when that changes", () => {
  const bench = new Bench({ stopAtMs: 100_000 });
  const stopsAt = () => all.map((node) => bench.nodes.conductor(node).stopAtMs ?? Number.NaN);
  // Clocks run up to 50 ppm faster or slower until then.
  for (const atMs of stopsAt()) expect(Math.abs(atMs - 100_000)).toBeLessThan(100_000 * 5e-5 + 1);
  bench.nodes.changeEnd({ drainAtMs: 199_000, stopAtMs: 200_000 });
  // Nodes are sent their grid again every ten seconds.
  bench.pass(11_000);
  for (const atMs of stopsAt()) expect(Math.abs(atMs - 200_000)).toBeLessThan(200_000 * 5e-5 + 1);
  bench.nodes.endAllocation("it was cancelled", {});
  bench.pass(1000);
  expect(all.map((node) => bench.nodes.conductor(node).stopAtMs)).toEqual(all.map(() => undefined));
});

test("what a client sends goes to the first node, once, also over a broken connection and another front end", async () => {
  const bench = new Bench();
  const [spec] = bench.run({ job: 1, on: ["n2", "n3"], script: ENDLESS });
  bench.pass(1000);
  const piece = (offset: number, text: string) => ({
    writer: "w",
    offset,
    data: Buffer.from(text).toString("base64"),
  });
  const send = (offset: number, text: string) => {
    const answer = bench.executor.sendInput(spec, piece(offset, text));
    bench.pass(1000);
    return answer;
  };
  expect(await send(0, "one ")).toEqual({ taken: 4, reader: "open" });
  // The answer is lost with the connection: after a while, the client asks again.
  bench.nodes.dropLink("n2");
  const lost = bench.executor.sendInput(spec, piece(4, "two "));
  bench.pass(9000);
  expect(await lost).toEqual({ taken: 0, reader: "not-yet" });
  expect(await send(4, "two ")).toEqual({ taken: 8, reader: "open" });
  bench.restart();
  expect(await send(4, "two three")).toEqual({ taken: 13, reader: "open" });
  expect(bench.nodes.conductor("n2").inputs.get(1)).toBe("one two three");
  expect(bench.nodes.conductor("n3").inputs.size).toBe(0);
  const { job, attempt, identity } = spec;
  bench.executor.apply([
    { type: "stop", attempt: { job, attempt }, identity, kill: true, reason: "cancelled" },
  ]);
  bench.pass(1000);
  expect(await send(13, "four")).toEqual({ taken: 13, reader: "closed" });
});

test("a gang whose parts have more memory together than it may is ended everywhere, by that reason", () => {
  const bench = new Bench();
  bench.run(
    { job: 1, on: ["n1", "n2"], script: { ...ENDLESS, memoryShare: 0.5 } },
    { job: 2, on: ["n3", "n4"], script: { ...ENDLESS, memoryShare: 0.51 } },
  );
  bench.pass(5000);
  expect(bench.ends()).toMatchObject([{ job: 2, reason: "memory-limit", signal: "SIGKILL" }]);
  expect(bench.nodes.living().map(({ node, key }) => `${node} ${key.job}`)).toEqual(["n1 1", "n2 1"]);
});
