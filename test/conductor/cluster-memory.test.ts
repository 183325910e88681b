/**
 * Tests that conductors of a cluster, which make no control groups, end gangs that have too much memory. Real
 * conductors and processes, each node with its own processes and clock.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CAN_MAKE_NODES, ClusterStage } from "./cluster-stage.ts";
import { until } from "./stage.ts";

const MIB = 2 ** 20;
const LIMIT = { memoryBytes: 100 * MIB };

/** A process that holds some memory and then waits. */
function holding(mib: number): string {
  // A read ends early when the process is stopped.
  const read = `1 while ($n = length $x) < ${mib} << 20 and sysread STDIN, $x, (${mib} << 20) - $n, $n`;
  return `perl -e '${read}; sleep 60' < /dev/zero`;
}

describe.skipIf(!CAN_MAKE_NODES)("memory on a cluster (as root, where namespaces can be made)", () => {
  let s: ClusterStage;
  beforeEach(async () => {
    s = new ClusterStage(2);
    await s.ready(100);
  });
  afterEach(async () => {
    await s.clear();
  });

  const row = (...jobs: number[]) => jobs.map((job) => ({ job, attempt: 1, cpus: [0] }));
  const launch = (job: number, script: string, more: Partial<LaunchSpec>) =>
    s.node(0).link.send({ type: "launch", spec: s.spec(job, script, more) });

  test("a command with too much is ended by that reason; its share is reported while it has less", async () => {
    launch(10, holding(150), LIMIT);
    launch(20, `${holding(40)} & ${holding(40)}`, LIMIT);
    await s.turn(s.matrix([row(10), row(20)]));
    expect(await s.end(s.node(0), 10)).toMatchObject({ signal: "SIGKILL", reason: "memory-limit" });
    const shares = () =>
      s
        .node(0)
        .link.all("slots")
        .flatMap(({ statistics }) =>
          statistics.gangs.flatMap(({ job, memoryShare = 0 }) => (job === 20 ? [memoryShare] : [])),
        );
    await until("its share is known", () => shares().some((share) => share > 0.8));
    expect(Math.max(...shares())).toBeLessThan(1);
    expect(
      s
        .node(0)
        .link.all("ended")
        .map(({ end }) => end.job),
    ).toEqual([10]);
  });

  test("a part without the command, and tasks that run each, are ended, too", async () => {
    const node = s.node(1);
    node.link.send({ type: "join", member: s.member(11, [], LIMIT) });
    node.link.send({ type: "join", member: s.member(21, [0], LIMIT) });
    await until("they have joined", () => existsSync(join(s.folderOf(21), "tasks", "0")));
    const step = ["sh", "-c", `setsid sh ${join(s.folderOf(21), "tasks", "0", "launch")}`];
    node.link.send({ type: "step", spec: s.spec(21, holding(150), { tasks: 1, ...LIMIT }), step });
    await until("both are ready", () => node.link.all("ready").length === 2);
    await s.turn(s.matrix([row(11), row(21)]));
    const command = holding(150).replaceAll("'", `'\\''`);
    node.startTask(`TUTTI_GANG=tutti-${s.name}/11.1 sh -c '${command}'`);
    for (const job of [11, 21]) {
      expect(await s.end(node, job)).toMatchObject({ reason: "memory-limit" });
      expect(s.marked(job)).toEqual([]);
    }
  });
});
