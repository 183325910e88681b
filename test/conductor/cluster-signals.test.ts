/**
 * Tests the signal before a gang ends, at its limit or because its nodes are taken away. Real conductors and
 * processes, each node with its own processes and clock (cluster-stage.ts).
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { monotonicMs } from "@tutti/host/clock.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CAN_MAKE_NODES, ClusterStage } from "./cluster-stage.ts";
import { until } from "./stage.ts";

const SLOT_MS = 100;

function gang(job: number) {
  return { job, attempt: 1, cpus: [0] };
}

describe.skipIf(!CAN_MAKE_NODES)("signals of a cluster (as root, where namespaces can be made)", () => {
  let s: ClusterStage;
  beforeEach(async () => {
    s = new ClusterStage(2);
    await s.ready(SLOT_MS);
  });
  afterEach(async () => {
    const log = s.nodes.map((node) => node.log()).join("");
    await s.clear();
    expect(log).toBe("");
  });

  /** Writes its name and the time into the job's folder, at each USR1. */
  function waiting(job: number, name: string): string {
    const file = join(s.folderOf(job), name);
    return `trap 'echo ${name} $(date +%s%3N) >> ${file}' USR1; while :; do sleep 0.02; done`;
  }

  function written(job: number, name: string): string {
    const file = join(s.folderOf(job), name);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  const before = (beforeMs: number, to: "first" | "others" | "all") =>
    ({ limitSignal: { name: "SIGUSR1", beforeMs, to } }) as const;

  test("before its nodes are taken away, a gang gets its signal everywhere, once, in time for its turns", async () => {
    const [lead, other] = [s.node(0), s.node(1)];
    const limits = { limitMs: 3_600_000, ...before(1000, "all") };
    // A second gang has every other slot, so a second of running time needs two.
    lead.link.send({ type: "launch", spec: s.spec(1, waiting(1, "lead"), limits) });
    lead.link.send({ type: "launch", spec: s.spec(2, "sleep 60") });
    other.link.send({ type: "join", member: s.member(1, [], limits) });
    other.link.send({ type: "join", member: s.member(2, []) });
    await until("all have joined", () => other.link.all("ready").length === 2);
    await s.turn(s.matrix([[gang(1)], [gang(2)]]));
    await until("it runs", () => lead.marked(`tutti-${s.name}/1.`).length > 0);
    const there = waiting(1, "there").replaceAll("'", `'\\''`);
    other.startTask(`TUTTI_GANG=tutti-${s.name}/1.1 sh -c '${there}'`);
    await until("it runs there, too", () => other.marked(`tutti-${s.name}/1.`).length > 0);
    const stopAtMs = monotonicMs() + 5000;
    const stopAtUnixMs = Date.now() + 5000;
    s.grid(s.epochMs, stopAtMs);
    await until("both have it", () => written(1, "lead") !== "" && written(1, "there") !== "");
    await until("the nodes would be taken", () => monotonicMs() > stopAtMs);
    for (const name of ["lead", "there"]) {
      const lines = written(1, name).trim().split("\n");
      expect(lines).toHaveLength(1);
      const leftMs = stopAtUnixMs - Number(lines[0].split(" ")[1]);
      // Not before the time of both rows. How late it is depends on how busy the machine is.
      expect(leftMs).toBeLessThanOrEqual(2000 + SLOT_MS);
      expect(leftMs).toBeGreaterThan(0);
    }
  });

  test("tasks that run each get the signal before their limit; the shells of others do not", async () => {
    const node = s.node(1);
    const limits = { limitMs: 2000, ...before(1000, "others") };
    node.link.send({ type: "join", member: s.member(11, [0], limits) });
    await until("it has joined", () => existsSync(join(s.folderOf(11), "tasks", "0")));
    const script = `(${waiting(11, "child")}) & ${waiting(11, "own")}`;
    const step = ["sh", "-c", `setsid sh ${join(s.folderOf(11), "tasks", "0", "launch")}`];
    node.link.send({ type: "step", spec: s.spec(11, script, { tasks: 1, ...limits }), step });
    await until("it is at its gate", () => node.link.all("ready").length === 1);
    await s.turn(s.matrix([[gang(11)]]));
    expect(await s.end(node, 11)).toMatchObject({ reason: "time-limit" });
    expect(written(11, "child").split("\n")).toHaveLength(2);
    expect(written(11, "own")).toBe("");
  });
});
