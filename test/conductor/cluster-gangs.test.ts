/**
 * Tests how a gang on several nodes runs: on nodes that only hold a part of it, and with tasks that the
 * cluster starts. Real conductors and processes, each node with its own processes and clock. The place of
 * Slurm is taken by a shell on each node, and that of srun by a script.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readStat, signal } from "@tutti/host/processes.ts";
import { programFile } from "@tutti/host/programs.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CAN_MAKE_NODES, type ClusterNode, ClusterStage } from "./cluster-stage.ts";
import { cpuTicks, isGone, until } from "./stage.ts";

const SLOT_MS = 300;
const BURN = "ulimit -t 60; while :; do :; done";

function gang(job: number, more: { closed?: true } = {}) {
  return { job, attempt: 1, cpus: [0], ...more };
}

describe.skipIf(!CAN_MAKE_NODES)("gangs of a cluster (as root, where namespaces can be made)", () => {
  let s: ClusterStage;
  beforeEach(async () => {
    s = new ClusterStage(2);
    await s.ready(SLOT_MS);
  });
  afterEach(async () => {
    const log = s.nodes.map((node) => node.log().replaceAll("Killed\n", "")).join("");
    await s.clear();
    expect(log).toBe("");
  });

  function stop(node: ClusterNode, job: number, kill: boolean): void {
    node.link.send({ type: "stop", attempt: { job, attempt: 1 }, kill, reason: "cancelled" });
  }

  function joined(node: ClusterNode, job: number): boolean {
    return node.link.all("ready").some(({ attempt }) => attempt.job === job);
  }

  function mark(job: number): string {
    return `TUTTI_GANG=tutti-${s.name}/${job}.1`;
  }

  test("processes that the cluster starts for a gang on another node are stopped with its row, and ended with it", async () => {
    const node = s.node(1);
    node.link.send({ type: "join", member: s.member(1, []) });
    await until("it has joined", () => joined(node, 1));
    await s.turn(s.matrix([[gang(1)]]));
    // Without a mark at first, as between fork and exec in the daemon of a cluster.
    node.startTask(`sleep 1; exec env ${mark(1)} sh -c '${BURN}'`);
    await until("it runs", () => node.marked(`tutti-${s.name}/1.`).length > 0);
    const [pid = 0] = node.marked(`tutti-${s.name}/1.`);
    const at = await s.turn(s.matrix([[]]));
    await s.untilSlot(at + 1);
    await until("it is stopped", () => readStat(pid)?.state === "T");
    // More come while it is stopped: they are stopped at the next boundary.
    node.startTask(`${mark(1)} sh -c '${BURN}'`);
    await until("another is there", () => node.marked(`tutti-${s.name}/1.`).length === 2);
    await s.untilSlot(s.slot() + 2);
    const before = node.marked(`tutti-${s.name}/1.`).map(cpuTicks);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(node.marked(`tutti-${s.name}/1.`).map(cpuTicks)).toEqual(before);
    expect((await node.connect()).attempts).toMatchObject([
      { job: 1, phase: "running", about: { nodes: ["node0", "node1"], tasksRun: "once" } },
    ]);
    stop(node, 1, false);
    const end = await s.end(node, 1);
    expect(end).toMatchObject({ reason: "cancelled" });
    expect(end).not.toHaveProperty("lost");
    expect(s.marked(1)).toEqual([]);
  });

  test("a part without processes does not end by itself; stopped with grace, TERM comes before KILL", async () => {
    const node = s.node(1);
    node.link.send({ type: "join", member: s.member(2, [], { graceMs: 500 }) });
    await until("it has joined", () => joined(node, 2));
    await s.turn(s.matrix([[gang(2)]]));
    await s.untilSlot(s.slot() + 3);
    expect(node.link.all("ended").filter(({ end }) => end.job === 2)).toEqual([]);
    const told = join(s.folder, "told");
    node.startTask(`${mark(2)} sh -c 'trap "echo TERM >> ${told}" TERM; while :; do sleep 0.05; done'`);
    await until("it runs", () => node.marked(`tutti-${s.name}/2.`).length > 0);
    await s.untilSlot(s.slot() + 2);
    stop(node, 2, false);
    await s.end(node, 2);
    expect(readFileSync(told, "utf8")).toBe("TERM\n");
    expect(s.marked(2)).toEqual([]);
    // What the cluster starts too late is killed, too, perhaps before we could see it.
    const status = join(s.folder, "status");
    node.startTask(`${mark(2)} sh -c '${BURN}'; echo $? > ${status}`);
    const KILLED = `${128 + 9}\n`;
    await until("it was killed", () => existsSync(status) && readFileSync(status, "utf8") === KILLED);
  });

  test("a fork bomb is killed by its mark, also that of a gang that the conductor does not know", async () => {
    const node = s.node(1);
    node.link.send({ type: "join", member: s.member(3, []) });
    await until("it has joined", () => joined(node, 3));
    await s.turn(s.matrix([[gang(3)]]));
    // Two processes fork two, and so on: 127 in all, each for 20 s.
    const bomb = "f() { [ $1 -gt 0 ] && { f $(($1 - 1)) & f $(($1 - 1)) & }; sleep 20; }; f 6; wait";
    for (const job of [3, 4]) {
      node.startTask(`${mark(job)} sh -c '${bomb}'`);
      await until(`${job} has 20 processes`, () => node.marked(`tutti-${s.name}/${job}.`).length >= 20);
      stop(node, job, true);
      expect(await s.end(node, job)).toMatchObject({ reason: "cancelled" });
      expect(s.marked(job)).toEqual([]);
    }
  });

  /** Starts a command that runs once, on node 1 alone. @returns its pid and that of its shim */
  async function launch(job: number, command: string): Promise<{ pid: number; shim: number }> {
    const node = s.node(1);
    node.link.send({ type: "launch", spec: s.spec(job, command) });
    await s.turn(s.matrix([[gang(job)]]));
    const of = `tutti-${s.name}/${job}.`;
    await until(`${job} runs`, () => node.marked(of).length > 0);
    const [pid = 0] = node.marked(of);
    return { pid, shim: readStat(pid)?.parent ?? 0 };
  }

  test("what srun starts on the node of the command has the gang's CPUs, as the command itself", async () => {
    const node = s.node(1);
    await launch(101, "exec sleep 60");
    // Its parent is Slurm, not the command.
    node.startTask(`${mark(101)} sh -c 'exec sleep 60'`);
    const cpus = () =>
      node
        .marked(`tutti-${s.name}/101.`)
        .map((pid) => /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    await until("both are pinned", () => cpus().join(" ") === "0 0");
    stop(node, 101, true);
    await s.end(node, 101);
  });

  test("a command that somebody kills has ended by that signal; if its shim is killed next, it is lost", async () => {
    const node = s.node(1);
    const alone = await launch(11, "exec sleep 60");
    signal(alone.pid, "SIGKILL");
    const own = await s.end(node, 11);
    expect(own).toMatchObject({ signal: "SIGKILL", reason: "none" });
    expect(own).not.toHaveProperty("lost");
    for (const [job, how] of [
      [21, "SIGKILL"],
      [31, "SIGTERM"],
    ] as const) {
      const { pid, shim } = await launch(job, "exec sleep 60");
      // As a cluster does that ends a step: one process after the other.
      signal(pid, how);
      await until("it has ended", () => isGone(pid));
      signal(shim, how);
      expect((await s.end(node, job)).lost).toContain("ended without leaving an exit status");
    }
  });

  test("a command that a node lacks is lost, and the reason names the node", async () => {
    const node = s.node(1);
    node.link.send({ type: "launch", spec: s.spec(51, "", { command: ["no-such-program"] }) });
    await s.turn(s.matrix([[gang(51)]]));
    // The nodes of this test have the host name of this machine.
    expect((await s.end(node, 51)).lost).toBe(
      `On ${hostname()}: Cannot run "no-such-program": no such command, expected a program in the job's PATH or a path to one`,
    );
  });

  test("the shim of a command that we kill does not expect to be killed", async () => {
    await launch(41, "exec sleep 60");
    stop(s.node(1), 41, true);
    expect(await s.end(s.node(1), 41)).toMatchObject({ reason: "cancelled", signal: "SIGKILL" });
    expect(existsSync(join(s.folderOf(41), "asked"))).toBe(true);
  });

  test("what a conductor kills after the death of its keeper is lost, also if it is killed next itself", async () => {
    const node = s.node(1);
    const { pid } = await launch(51, "exec sleep 60");
    const conductor = node.conductorPid();
    for (const keeper of node.pidsOf(`^sh ${node.home}/keeper`)) signal(keeper, "SIGKILL");
    await until("the command was killed", () => isGone(pid));
    signal(conductor, "SIGKILL");
    node.startKeeper();
    await until("another conductor is there", () => ![0, conductor].includes(node.conductorPid()));
    const { attempts } = await node.connect();
    const ended = attempts.find(({ job }) => job === 51)?.end ?? (await s.end(node, 51));
    expect(ended.lost).toContain("that started the conductor has ended");
    writeFileSync(join(node.home, "log"), "");
  });

  test.each([
    ["sees that", 81, true],
    ["is killed next itself", 91, false],
  ])("what the cluster kills after the keeper is lost, before the conductor %s", async (_, job, goesOn) => {
    const node = s.node(1);
    const { pid, shim } = await launch(job, "exec sleep 60");
    const conductor = node.conductorPid();
    signal(conductor, "SIGSTOP");
    for (const keeper of node.pidsOf(`^sh ${node.home}/keeper`)) {
      signal(keeper, "SIGKILL");
      await until("the keeper has ended", () => isGone(keeper));
    }
    signal(pid, "SIGKILL");
    await until("the shim has written how it ended", () => isGone(shim));
    if (!goesOn) signal(conductor, "SIGKILL");
    signal(conductor, "SIGCONT");
    await until("the conductor has ended", () => isGone(conductor));
    node.startKeeper();
    await until("another conductor is there", () => node.conductorPid() !== 0);
    const { attempts } = await node.connect();
    const ended = attempts.find((one) => one.job === job)?.end ?? (await s.end(node, job));
    expect(ended.lost).toContain("that started the conductor has ended");
    writeFileSync(join(node.home, "log"), "");
  });

  test("a conductor whose keeper has died starts nothing more, also while it waits for an end", async () => {
    const node = s.node(1);
    const { pid, shim } = await launch(61, "exec sleep 60");
    const conductor = node.conductorPid();
    signal(shim, "SIGSTOP");
    for (const keeper of node.pidsOf(`^sh ${node.home}/keeper`)) signal(keeper, "SIGKILL");
    await until("the command was killed", () => isGone(pid));
    node.link.send({ type: "launch", spec: s.spec(71, "exec sleep 60") });
    await until("the conductor has ended", () => node.conductorPid() !== conductor);
    expect(existsSync(join(s.folderOf(71), "claim"))).toBe(false);
    node.startKeeper();
    await until("another conductor is there", () => ![0, conductor].includes(node.conductorPid()));
    expect((await node.connect()).attempts.map(({ job }) => job)).not.toContain(71);
    writeFileSync(join(node.home, "log"), "");
  });

  test("a conductor whose keeper died before it had started ends", async () => {
    const home = join(s.folder, "orphan");
    const program = fileURLToPath(
      programFile("conductor", new URL("../../packages/live/conductor/main.ts", import.meta.url)),
    );
    mkdirSync(home, { mode: 0o700 });
    const gone = spawnSync("true").pid;
    const words = [home, "signals", "--cluster", s.name, "--parent", String(gone)];
    const { status, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: "utf8" });
    expect(stderr).toContain(`The process ${gone} that started the conductor has ended`);
    expect(status).toBe(0);
  });
});
