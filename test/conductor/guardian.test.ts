/**
 * Tests what the guardian does if the conductor hangs. The tests really stop a conductor, for every kind of
 * freezer that works here.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readStat } from "../../src/host/processes.ts";
import { cpuTicks, kindsHere, Stage, until } from "./stage.ts";

/** Uses a processor, for at most twenty seconds of CPU time. */
const BURN = "ulimit -t 20; while :; do :; done";

describe.each(kindsHere())("a conductor that hangs (%s)", (kind) => {
  let s: Stage;
  beforeAll(async () => {
    s = new Stage(kind);
    await s.ready();
  });
  afterEach(() => s.killJobs());
  afterAll(async () => expect(await s.clear()).toEqual([]));

  /** Two running gangs that are in no row, so that they stay stopped. */
  async function twoThatStand(): Promise<number[]> {
    s.turn([[1], [2]], { slotMs: 20 });
    for (const job of [1, 2]) s.launch(job, BURN);
    await s.begun(1);
    await s.begun(2);
    s.turn([[]]);
    const pids = s.processes();
    expect(pids).toHaveLength(2);
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

  test("what it had stopped continues, and is stopped again when the conductor is back", async () => {
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
      s.messages.some((message) => message.type === "refused" && message.message.includes("conductor hung")),
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
  });

  test("killed while it hangs, it is replaced by another, which stops the gangs of other rows", async () => {
    const pids = await twoThatStand();
    const conductor = s.conductorPid();
    process.kill(conductor, "SIGSTOP");
    await goOn(pids);
    process.kill(conductor, "SIGKILL");
    await until("the next one answers", () => s.client.connected && s.conductorPid() !== conductor);
    await standing(pids);
  });
});
