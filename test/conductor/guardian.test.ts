/**
 * Tests what the guardian does if the conductor hangs. The tests really stop a conductor, for every kind of
 * freezer that works here. They mostly wait, so the kinds do so at the same time.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readStat } from "@tutti/host/processes.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cpuTicks, kindsHere, Stage, until } from "./stage.ts";

/** Uses a processor, for at most twenty seconds of CPU time. */
const BURN = "ulimit -t 20; while :; do :; done";

/** Of one kind. */
const IN_TURN = { concurrent: false };

describe.concurrent.each(kindsHere())("a conductor that hangs (%s)", (kind) => {
  let s: Stage;
  beforeAll(async () => {
    s = new Stage(kind);
    await s.ready();
  });
  afterEach(async () => {
    // A test that failed may have left it stopped.
    process.kill(s.conductorPid(), "SIGCONT");
    await s.killJobs();
  });
  afterAll(async () => expect(await s.clear()).toEqual([]));

  /** Running gangs that are in no row, so that they stay stopped. */
  async function begin(jobs: readonly number[]): Promise<number[]> {
    s.turn(
      jobs.map((job) => [job]),
      { slotMs: 20 },
    );
    for (const job of jobs) s.launch(job, BURN);
    for (const job of jobs) await s.begun(job);
    s.turn([[]]);
    const pids = s.processes();
    expect(pids).toHaveLength(jobs.length);
    return pids;
  }

  async function twoThatStand(): Promise<number[]> {
    const pids = await begin([1, 2]);
    await standing(pids);
    return pids;
  }

  async function standing(pids: readonly number[]): Promise<void> {
    for (let i = 0; i < 50; i++) if (await s.stands(pids)) return;
    throw new Error("They do not stand still");
  }

  async function goOn(pids: readonly number[]): Promise<void> {
    const before = pids.map(cpuTicks);
    await until("all go on", () => pids.every((pid, i) => cpuTicks(pid) > before[i]));
  }

  test(
    "what it had stopped continues, and is stopped again when the conductor is back",
    IN_TURN,
    async () => {
      const pids = await twoThatStand();
      const conductor = s.conductorPid();
      process.kill(conductor, "SIGSTOP");
      await goOn(pids);
      expect(readStat(conductor)?.state).toBe("T");
      expect(readFileSync(join(s.home, "conductor.log"), "utf8")).toMatch(
        /^\d{4}-\S+Z No sign of life from the conductor for 5 s: letting all gangs run$/m,
      );
      process.kill(conductor, "SIGCONT");
      await until("it says so", () =>
        s.messages.some(
          (message) => message.type === "refused" && message.message.includes("conductor hung"),
        ),
      );
      await standing(pids);
      // It is the same conductor, and gangs take turns as before.
      const [one = 0] = s.processes(1);
      const [other = 0] = s.processes(2);
      s.turn([[1], []], { slotMs: 20 });
      await goOn([one]);
      expect(await s.stands([other])).toBe(true);
      s.turn([[1], [2]], { slotMs: 20 });
      await goOn(pids);
      expect(s.conductorPid()).toBe(conductor);
    },
  );

  test(
    "paused gangs stay stopped: while it hangs, when it is killed, and under the next one",
    IN_TURN,
    async () => {
      // The guardian goes through a list that may begin with any gang, so some paused one follows a free one.
      await standing(await begin([1, 2, 3, 4]));
      const free = [1, 3].flatMap((job) => s.processes(job));
      const paused = [2, 4].flatMap((job) => s.processes(job));
      s.turn([[]], { paused: [s.key(2), s.key(4)] });
      await until("they are marked", () =>
        [2, 4].every((job) => existsSync(join(s.home, "paused", gangName(s.key(job))))),
      );
      const conductor = s.conductorPid();
      process.kill(conductor, "SIGSTOP");
      await goOn(free);
      expect(await s.stands(paused)).toBe(true);
      process.kill(conductor, "SIGKILL");
      await until("the next one answers", () => s.client.connected && s.conductorPid() !== conductor);
      expect(await s.stands(paused)).toBe(true);
      await standing([...free, ...paused]);
      s.turn([[2], [4]], { slotMs: 20 });
      await goOn(paused);
      await until("none is marked", () => readdirSync(join(s.home, "paused")).length === 0);
    },
  );

  test(
    "killed while it hangs, it is replaced by another, which stops the gangs of other rows",
    IN_TURN,
    async () => {
      const pids = await twoThatStand();
      const conductor = s.conductorPid();
      process.kill(conductor, "SIGSTOP");
      await goOn(pids);
      process.kill(conductor, "SIGKILL");
      await until("the next one answers", () => s.client.connected && s.conductorPid() !== conductor);
      await standing(pids);
    },
  );
});
