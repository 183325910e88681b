/** Tests what is said of jobs that have started and do not run, and who may say that a node is off. */
import { whySentences } from "@tutti/words/why.ts";
import { expect, test } from "vitest";
import { cluster, nodesOf, submit } from "./capacity-for-tests.ts";
import { ANNA, answerOf, type Bench, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const TWO = nodesOf(4, 4);

async function sentences({ frontEnd }: Bench, number: number): Promise<string[]> {
  const job = frontEnd.job(ANNA, number);
  const why = await frontEnd.why(ANNA, number);
  if ("refused" in job || "refused" in why) throw new Error("refused");
  return whySentences({ schema: "tutti.why/1", ...why }, job);
}

test("a job that the policy has stopped says so in lists and in why", async () => {
  const bench = makeBench({ cpus: 4, config: { policy: "gang", slotMs: 100 }, runMs: () => 60_000 });
  for (let i = 0; i < 2; i++)
    await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks: 4 })]));
  bench.clock.advanceTo(bench.clock.nowMs() + 1000);
  await answerOf(bench.clock, bench.frontEnd.setPolicy(ROOT, "fcfs"));
  const reasons = bench.frontEnd.jobs(ANNA, {}).map(({ state, reason }) => `${state} ${reason}`);
  expect(reasons.sort()).toEqual(["running stopped: no room now", "running undefined"]);
  const stopped = bench.frontEnd.jobs(ANNA, {}).find(({ reason }) => reason !== undefined)!;
  expect(await bench.frontEnd.why(ANNA, stopped.job)).toMatchObject({ obstacles: [{ kind: "stopped" }] });
  expect((await sentences(bench, stopped.job))[1]).toBe(
    "It is stopped: the policy has no room for it now. It continues when its CPUs are free.",
  );
});

test("a job on a node that does not answer says so, with the running time that was known last", async () => {
  const bench = cluster("gang", TWO);
  await submit(bench, 8);
  await submit(bench, 4);
  bench.clock.advanceTo(bench.clock.nowMs() + 30_000);
  const message = "node n2 does not answer, so the gang is stopped on the others";
  const sinceMs = bench.clock.unixMs() - 10_000;
  bench.machine.hindrance = ({ job }) =>
    job === 1 ? { kind: "nodes", message, sinceMs, ranMs: 7000 } : undefined;
  expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({ state: "running", reason: message, ranMs: 7000 });
  expect(bench.frontEnd.job(ANNA, 2)).not.toHaveProperty("reason");
  expect(await bench.frontEnd.why(ANNA, 1)).toMatchObject({
    obstacles: [{ kind: "nodes", message, sinceMs }],
    share: { ranMs: 7000 },
  });
  const [begun, why] = await sentences(bench, 1);
  expect(begun).toMatch(/^Started at .*, and has run for 7 s\.$/);
  expect(why).toMatch(/^Node n2 does not answer, so .* \(no answer since [-:0-9 ]+\)\.$/);
  bench.machine.isDeaf = true;
  await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1));
  expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({ state: "ending", reason: message });
});

test("only administrators say that a node is off, and only of a lost one, where nobody else says it", async () => {
  const bench = cluster("gang", TWO, { capabilities: { offByWord: true } });
  await submit(bench, 8);
  await submit(bench, 4);
  const say = (...nodes: string[]) => bench.frontEnd.sayOff(ROOT, { nodes });
  bench.machine.report({
    type: "nodes",
    nodes: [
      { node: "n1", state: "up" },
      { node: "n2", state: "lost" },
      { node: "n3", state: "silent" },
    ],
  });
  bench.clock.settle();
  const sent = () => bench.machine.sent.filter(({ type }) => type === "off");
  expect(bench.frontEnd.sayOff(ANNA, { nodes: ["n2"] })).toMatchObject({ refused: "not-yours" });
  expect(say("n2", "n1")).toMatchObject({
    message: "Cannot say that nothing runs on n2, n1: node n1 answers, expected a lost one",
  });
  expect(say("n3")).toMatchObject({ refused: "wrong-state", message: expect.stringContaining("try again") });
  expect(say("n4")).toMatchObject({
    refused: "not-found",
    message: 'Cannot say that nothing runs on n4: there is no node "n4", expected one of n1, n2, n3',
  });
  expect(sent()).toEqual([]);
  expect(say("n2")).toEqual({ nodes: ["n2"], jobs: [1] });
  expect(sent()).toEqual([{ type: "off", node: "n2", by: ROOT.user }]);
});

test("it is refused where the cluster itself says it", () => {
  const offByWord = "Slurm itself says when nothing runs on a node";
  const bench = cluster("gang", TWO, { capabilities: { offByWord } });
  expect(bench.frontEnd.sayOff(ROOT, { nodes: ["n2"] })).toMatchObject({
    refused: "wrong-state",
    message: `Cannot say that nothing runs on n2: ${offByWord}`,
  });
});
