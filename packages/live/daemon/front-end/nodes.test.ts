/**
 * Tests the front end over an executor with several nodes: it decides as for one machine of the same size,
 * and shows the node of each CPU.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededInstance } from "@tutti/kernel/policies/instances-for-tests.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { expect, test } from "vitest";
import { withTexts } from "../book/event-texts.ts";
import { DecisionLog } from "../scheduling/decision-log-for-tests.ts";
import { ANNA, answerOf, makeBench, ROOT, request, runInstance, runToEnd } from "./front-end-for-tests.ts";

const NODES = [
  { node: "n1", cpus: [0, 1, 2] },
  { node: "n2", cpus: [0, 1, 2, 3] },
];

test("a gang over two nodes: job, matrix, event and host file name them, also after a restart", async () => {
  const jobsFolder = mkdtempSync(join(tmpdir(), "tutti-nodes-"));
  const options = {
    nodes: NODES,
    jobsFolder,
    path: join(jobsFolder, "tutti.db"),
    config: { policy: "fcfs" },
  };
  const past = makeBench({ ...options, runMs: () => 5000 });
  await answerOf(past.clock, past.frontEnd.submit(ANNA, [request({ tasks: 5, cwd: jobsFolder })]));
  await answerOf(past.clock, past.frontEnd.submit(ANNA, [request({ tasks: 2, cwd: jobsFolder })]));
  // Nodes with a larger power of two come first.
  const nodes = [
    { node: "n2", cpus: [0, 1, 2, 3] },
    { node: "n1", cpus: [0] },
  ];
  const rest = [{ node: "n1", cpus: [1, 2] }];
  expect(past.frontEnd.job(ANNA, 1)).toMatchObject({ state: "running", cpus: [0, 1, 2, 3, 0], nodes });
  expect(past.frontEnd.matrix()).toMatchObject({
    cpus: [0, 1, 2, 3, 0, 1, 2],
    nodes: [NODES[1], NODES[0]],
    rows: [
      [
        { job: 1, nodes },
        { job: 2, nodes: rest },
      ],
    ],
  });
  const [launch] = past.machine.sent.filter((command) => command.type === "launch");
  expect(launch.spec.env).toMatchObject({ TUTTI_CPUS: "n2:0,1,2,3 n1:0", TUTTI_NTASKS: "5" });
  expect(readFileSync(join(jobsFolder, "1", "1", "hosts"), "utf8")).toBe("n2 slots=4\nn1 slots=1\n");
  const starts = past.store.eventsAfter(0, 99).filter(({ event }) => event.kind === "starting");
  expect(starts[0].event.data).toMatchObject({ nodes });
  expect(withTexts(starts[0].event).data).toMatchObject({ cpus: "0,1,2,3,0", nodes: "n2:0-3 n1:0" });
  past.kill();
  const { clock, machine } = past;
  const bench = makeBench({ ...options, clock, machine });
  expect(bench.machine.matrix?.rows).toEqual([
    [
      { job: 1, attempt: 1, nodes },
      { job: 2, attempt: 1, nodes: rest },
    ],
  ]);
  runToEnd(clock);
  expect(bench.frontEnd.jobs(ROOT, {}).map(({ state, attempt }) => [state, attempt])).toEqual([
    ["done", 1],
    ["done", 1],
  ]);
  bench.kill();
  rmSync(jobsFolder, { recursive: true });
});

test.each(POLICIES.map(({ name, sharing }) => [name, sharing] as const))(
  "%s decides the same for 16 CPUs of one node and of three nodes",
  (policy, sharing) => {
    const instance = seededInstance("nodes", {
      ...{ seed: 3, processors: 16, count: 60, gapS: 8, maxRunS: 60, maxSize: 16 },
      ...{ exactShare: 0.3, zeroShare: 0 },
    });
    const logs = [[16], [4, 10, 2]].map((sizes) => {
      const observer = new DecisionLog();
      const bench = makeBench({
        nodes: sizes.map((size, i) => ({
          node: `n${i}`,
          cpus: Array.from({ length: size }, (_, cpu) => cpu),
        })),
        config: { policy, slotMs: 1000 },
        slotted: sharing === "time",
        runMs: (job) => instance.runS[job - 1] * 1000,
        observer,
      });
      runInstance(bench, { ...instance, estimateS: instance.estimateS.map((s) => Math.max(1, s)) });
      return observer.lines;
    });
    expect(logs[1]).toEqual(logs[0]);
    expect(logs[0].length).toBeGreaterThan(100);
  },
);
