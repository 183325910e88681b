/**
 * Tests gangs whose tasks the cluster starts on all nodes of the gang: each waits at its node's gate, and all
 * gates open in the same slot. Real conductors and processes, each node with its own processes and clock. The
 * place of Slurm's daemon is taken by a shell on each node, and that of srun by a script.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signal } from "@tutti/host/processes.ts";
import { TRIES } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CAN_MAKE_NODES, ClusterStage } from "./cluster-stage.ts";
import { isGone, until } from "./stage.ts";

const SLOT_MS = 300;

function gang(job: number, more: { closed?: true } = {}) {
  return { job, attempt: 1, cpus: [0], ...more };
}

describe.skipIf(!CAN_MAKE_NODES)("tasks on several nodes (as root, where namespaces can be made)", () => {
  let s: ClusterStage;
  /** Takes the place of srun: FOLDER, then node:rank for each task; waits until all tasks have ended. */
  let srun: string;
  beforeEach(async () => {
    s = new ClusterStage(2);
    srun = join(s.folder, "srun");
    writeFileSync(
      srun,
      `folder=$1; shift
       echo $$ > "$folder/srun.pid"
       for task; do
         echo "exec env SLURM_PROCID=\${task#*:} SLURM_NODEID=\${task%:*} SLURM_NTASKS=4 PMIX_RANK=\${task#*:} \
           /bin/sh $folder/tasks/\${task#*:}/launch" > ${s.folder}/node\${task%:*}/tasks
       done
       for task; do
         until [ -e "$folder/tasks/\${task#*:}/exit" ] || [ -e "$folder/tasks/\${task#*:}/lost" ]; do
           sleep 0.1
         done
       done`,
    );
    await s.ready(SLOT_MS);
  });
  afterEach(async () => {
    const log = s.nodes.map((node) => node.log().replaceAll("Killed\n", "")).join("");
    await s.clear();
    expect(log).toBe("");
  });

  /** Ranks 0 and 1 on node 0, ranks 2 and 3 on node 1. */
  const TASKS = ["0:0", "0:1", "1:2", "1:3"];

  /** Joins on both nodes and starts the step with this command. */
  function start(
    job: number,
    script: string,
    {
      step = ["sh", srun, s.folderOf(job), ...TASKS],
      ...more
    }: Partial<LaunchSpec> & { step?: string[] } = {},
  ): void {
    const { limitMs } = more;
    const member = (ranks: number[]) => s.member(job, ranks, limitMs === undefined ? {} : { limitMs });
    s.node(0).link.send({ type: "join", member: member([0, 1]) });
    s.node(1).link.send({ type: "join", member: member([2, 3]) });
    const spec = s.spec(job, script, { tasks: 4, tasksRun: "each", ...more });
    s.node(0).link.send({ type: "step", spec, step });
  }

  async function ready(job: number): Promise<void> {
    await until(`job ${job} is ready`, () =>
      s.nodes.every(({ link }) => link.all("ready").some(({ attempt }) => attempt.job === job)),
    );
  }

  function stop(job: number, kill: boolean): void {
    for (const { link } of s.nodes) {
      link.send({ type: "stop", attempt: { job, attempt: 1 }, kill, reason: "cancelled" });
    }
  }

  test(
    "wait at their gates, begin in the same slot on all nodes, and keep the variables of the cluster",
    TRIES,
    async () => {
      const script = `date +%s%3N; echo $SLURM_PROCID $SLURM_NODEID $SLURM_NTASKS $PMIX_RANK $OWN $SLURM_JOB_ID; exit $SLURM_PROCID`;
      // What the cluster sets for a task wins over the job's environment; the rest is the job's.
      start(1, script, {
        env: { PATH: process.env.PATH ?? "", OWN: "a'b c", SLURM_PROCID: "9", SLURM_JOB_ID: "7" },
      });
      await ready(1);
      const closed = await s.turn(s.matrix([[gang(1, { closed: true })], []]));
      await s.untilSlot(closed + 3);
      expect(s.out(1)).toBe("");
      expect((await s.node(0).connect()).attempts).toMatchObject([
        { job: 1, phase: "launching", about: { command: ["sh", "-c", script], tasksRun: "each" } },
      ]);
      const open = await s.turn(s.matrix([[gang(1)], []]), s.slot() + 3);
      const ends = [await s.end(s.node(0), 1), await s.end(s.node(1), 1)];
      // Of exit codes 0 and 1, and of 2 and 3.
      expect(ends).toMatchObject([
        { code: 1, reason: "none" },
        { code: 3, reason: "none" },
      ]);
      for (const { link } of s.nodes) expect(link.all("launched")).toHaveLength(1);
      const lines = s.out(1).trim().split("\n");
      const first = open % 2 === 0 ? open : open + 1;
      const times = lines.filter((line) => /^\d+$/.test(line));
      expect(times.map((line) => s.slotOf(Number(line)))).toEqual([first, first, first, first]);
      expect(lines.filter((line) => !/^\d+$/.test(line)).sort()).toEqual([
        "0 0 4 0 a'b c 7",
        "1 0 4 1 a'b c 7",
        "2 1 4 2 a'b c 7",
        "3 1 4 3 a'b c 7",
      ]);
      expect(s.marked(1)).toEqual([]);
    },
  );

  test("a conductor that is killed, first at the gates and then later, is followed by one that goes on", async () => {
    start(2, "while [ ! -e go$SLURM_PROCID ]; do sleep 0.05; done; exit 5");
    await ready(2);
    const node = s.node(0);
    const killConductor = async () => {
      const pid = node.conductorPid();
      signal(pid, "SIGKILL");
      await until("it is gone", () => isGone(pid));
      await node.connect();
    };
    await killConductor();
    // Ready again without another join.
    await until("it is ready", () => node.link.all("ready").length === 1);
    await s.turn(s.matrix([[gang(2)]]));
    await until("all run", () => s.marked(2).length >= 4);
    await killConductor();
    expect(node.link.all("state")[0]?.attempts).toMatchObject([{ job: 2, phase: "running" }]);
    for (const rank of [0, 1, 2, 3]) writeFileSync(join(s.folder, `go${rank}`), "");
    for (const one of s.nodes) expect(await s.end(one, 2)).toMatchObject({ code: 5, reason: "none" });
    expect(s.marked(2)).toEqual([]);
  });

  test("cancelled at their gates, they never began; cancelled later, they get TERM and their code counts", async () => {
    start(3, "echo ran");
    await ready(3);
    stop(3, false);
    for (const node of s.nodes) {
      const end = await s.end(node, 3);
      expect(end).toMatchObject({ reason: "cancelled", neverBegan: true, signal: "SIGKILL" });
    }
    expect(s.out(3)).toBe("");
    expect(s.marked(3)).toEqual([]);
    start(4, "trap 'exit 6' TERM; echo ready; while :; do sleep 0.05; done");
    await ready(4);
    await s.turn(s.matrix([[gang(4)]]));
    await until("all have their trap", () => s.out(4) === "ready\n".repeat(4));
    stop(4, false);
    for (const node of s.nodes) {
      const end = await s.end(node, 4);
      expect(end).toMatchObject({ reason: "cancelled", code: 6 });
      expect(end).not.toHaveProperty("neverBegan");
    }
    expect(s.marked(4)).toEqual([]);
  });

  test("reach their time limit in running time, on each node", async () => {
    start(5, "exec sleep 60", { limitMs: 900 });
    await ready(5);
    // Half of the slots.
    const at = await s.turn(s.matrix([[gang(5)], []]));
    for (const node of s.nodes) {
      const end = await s.end(node, 5);
      expect(end).toMatchObject({ reason: "time-limit", signal: "SIGTERM" });
      // Three slots of 300 ms; a look at the limit may be 50 ms late, and a busy machine later.
      expect(end.ranMs).toBeGreaterThanOrEqual(900);
      expect(end.ranMs).toBeLessThan(1200);
    }
    expect(s.slot() - at).toBeGreaterThanOrEqual(4);
    expect(s.marked(5)).toEqual([]);
  });

  test("a task killed by a signal: no higher code, so the signal; and a killed shim is lost", async () => {
    start(6, "[ $SLURM_PROCID = 1 ] && kill -SEGV $$; exit 0");
    await ready(6);
    await s.turn(s.matrix([[gang(6)]]));
    expect(await s.end(s.node(0), 6)).toMatchObject({ signal: "SIGSEGV" });
    expect(await s.end(s.node(1), 6)).toMatchObject({ code: 0 });
    expect(s.marked(6)).toEqual([]);
    start(7, "exec sleep 60");
    await ready(7);
    await s.turn(s.matrix([[gang(7)]]));
    await until("all run", () => s.marked(7).length >= 4);
    const shims = s.node(1).pidsOf(`^awk BEGIN`);
    expect(shims).toHaveLength(2);
    for (const pid of shims) signal(pid, "SIGKILL");
    expect((await s.end(s.node(1), 7)).lost).toContain("Task 2: The shim of job 7.1 ended without leaving");
    stop(7, true);
    expect(await s.end(s.node(0), 7)).toMatchObject({ signal: "SIGKILL", reason: "cancelled" });
    expect(s.marked(7)).toEqual([]);
  });

  test("a step that ends before all its tasks have begun: lost, with its last words, and none begins later", async () => {
    const step = [
      "sh",
      "-c",
      `echo one; sh ${srun} ${s.folderOf(8)} 0:0 & sleep 1; kill $!; echo "srun: error: Unable to create step" >&2`,
    ];
    start(8, "echo ran", { step });
    await until("the first task is there", () => existsSync(join(s.folderOf(8), "tasks", "0", "gate")));
    const end = await s.end(s.node(0), 8);
    expect(end.neverBegan).toBe(true);
    expect(end.lost).toContain("ended while 3 of 4 had not begun");
    expect(end.lost).toContain("srun: error: Unable to create step");
    stop(8, true);
    expect(await s.end(s.node(1), 8)).toMatchObject({ neverBegan: true, signal: "SIGKILL" });
    // A shim that comes later finds its task blocked.
    s.node(1).startTask(`/bin/sh ${s.folderOf(8)}/tasks/2/launch`);
    await s.turn(s.matrix([[gang(8)]]));
    await s.untilSlot(s.slot() + 3);
    expect(s.out(8)).toBe("");
    expect(s.marked(8)).toEqual([]);
  });

  test("a step that cannot be started: lost at once", async () => {
    start(9, "echo ran", { step: ["/no/such/srun"] });
    const end = await s.end(s.node(0), 9);
    expect(end).toMatchObject({ neverBegan: true });
    expect(end.lost).toContain("/no/such/srun");
    stop(9, true);
    await s.end(s.node(1), 9);
    expect(s.marked(9)).toEqual([]);
  });

  test("TERM to a conductor, as when the allocation ends, queues its gangs again and ends it", async () => {
    start(2, "trap '' TERM; sleep 60 & sleep 60");
    await ready(2);
    await s.turn(s.matrix([[gang(2)]]));
    await until("all run", () => s.marked(2).length >= 4);
    const node = s.node(0);
    const pid = node.conductorPid();
    signal(pid, "SIGTERM");
    await until("it has ended", () => isGone(pid));
    expect(node.marked(`tutti-${s.name}/2.`)).toEqual([]);
    expect((await node.connect()).attempts).toMatchObject([
      { job: 2, phase: "ended", end: { reason: "requeued", signal: "SIGKILL" } },
    ]);
  });

  test("the death of the keeper ends all: the tasks are lost, and the command that started them is gone", async () => {
    start(1, "exec sleep 60");
    await ready(1);
    await s.turn(s.matrix([[gang(1)]]));
    await until("all run", () => s.marked(1).length >= 4);
    const step = Number(readFileSync(join(s.folderOf(1), "srun.pid"), "utf8"));
    expect(step).toBeGreaterThan(0);
    const node = s.node(0);
    const { link } = node;
    for (const pid of node.pidsOf(`^sh ${node.home}/keeper`)) signal(pid, "SIGKILL");
    await until("the conductor has ended", () => node.conductorPid() === 0);
    expect(node.marked(`tutti-${s.name}/1.`)).toEqual([]);
    const lost = () => link.all("ended").find(({ end }) => end.job === 1)?.end.lost;
    await until("its end was reported", () => lost() !== undefined);
    expect(lost()).toContain("started the conductor");
    await until("srun has ended", () => node.pidsOf(`^sh ${srun} ${s.folderOf(1)}`).length === 0);
    expect(node.log()).toContain("all gangs here are killed");
    writeFileSync(join(node.home, "log"), "");
    s.node(1).link.send({
      type: "stop",
      attempt: { job: 1, attempt: 1 },
      kill: true,
      reason: "cancelled",
    });
    await s.end(s.node(1), 1);
    // The cluster starts another keeper.
    node.startKeeper();
  });
});
