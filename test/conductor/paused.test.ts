/**
 * Paused gangs while conductors hang, die and are replaced, for every kind of freezer that works here. The
 * gangs have several processes, in several sessions. They mostly wait, so the kinds do so at the same time.
 */
import { copyFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gangName } from "@tutti/protocol/attempts.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cpuTicks, isGone, kindsHere, Stage, until } from "./stage.ts";

/** Three processes in two sessions, each for at most twenty seconds of CPU time. */
const BURN = "ulimit -t 20; (while :; do :; done) & setsid sh -c 'while :; do :; done' & while :; do :; done";
const PROCESSES = 3;

/** Of one kind. */
const IN_TURN = { concurrent: false };

describe.concurrent.each(kindsHere())("paused gangs (%s)", (kind) => {
  let s: Stage;
  beforeAll(async () => {
    s = new Stage(kind);
    await s.ready();
  });
  afterEach(() => s.killJobs());
  afterAll(async () => expect(await s.clear()).toEqual([]));

  const mark = (job: number) => join(s.home, "paused", gangName(s.key(job)));
  const marks = () => (existsSync(join(s.home, "paused")) ? readdirSync(join(s.home, "paused")) : []);

  const guardianReports = () =>
    readFileSync(join(s.home, "conductor.log"), "utf8").split("letting all gangs run").length;

  /** Starts gangs and waits until all of their processes are there. */
  async function begin(...jobs: readonly number[]): Promise<void> {
    s.turn(
      jobs.map((job) => [job]),
      { slotMs: 20 },
    );
    for (const job of jobs) s.launch(job, BURN);
    for (const job of jobs) {
      await s.begun(job);
      await until("all of its processes run", () => {
        const pids = s.processes(job);
        return pids.length === PROCESSES && pids.every((pid) => cpuTicks(pid) > 1);
      });
    }
  }

  /** Job 2 is paused, and job 1 goes on. */
  async function pause(): Promise<number[]> {
    s.turn([[1]], { slotMs: 20, paused: [s.key(2)] });
    await until("it is marked", () => existsSync(mark(2)));
    await standing(s.processes(2));
    return s.processes(2);
  }

  async function standing(pids: readonly number[]): Promise<void> {
    for (let i = 0; i < 50; i++) if (await s.stands(pids)) return;
    throw new Error("They do not stand still");
  }

  async function goOn(pids: readonly number[]): Promise<void> {
    const before = pids.map(cpuTicks);
    await until("all go on", () => pids.every((pid, i) => cpuTicks(pid) > before[i]));
  }

  async function next(conductor: number): Promise<void> {
    await until("the next one answers", () => s.client.connected && s.conductorPid() !== conductor);
  }

  /** Kills the conductor, while nobody starts another one. */
  async function killAlone(): Promise<number> {
    const conductor = s.conductorPid();
    s.client.close();
    process.kill(conductor, "SIGKILL");
    await until("it is dead", () => isGone(conductor));
    return conductor;
  }

  test(
    "all processes stay stopped over several deaths, and all continue when it is resumed",
    IN_TURN,
    async () => {
      await begin(1, 2);
      const paused = await pause();
      const ticks = paused.map(cpuTicks);
      for (let death = 0; death < 3; death++) {
        const conductor = s.conductorPid();
        process.kill(conductor, "SIGKILL");
        await next(conductor);
        await goOn(s.processes(1));
      }
      expect(paused.map(cpuTicks)).toEqual(ticks);
      s.turn([[1], [2]], { slotMs: 20 });
      await goOn(paused);
      expect(marks()).toEqual([]);
    },
  );

  test(
    "one that was paused just before a death stays stopped, although the saved matrix has it in a row",
    IN_TURN,
    async () => {
      await begin(1, 2);
      const state = join(s.home, "state.json");
      copyFileSync(state, join(s.folder, "older"));
      const paused = await pause();
      const ticks = paused.map(cpuTicks);
      const conductor = await killAlone();
      copyFileSync(join(s.folder, "older"), state);
      s.client = s.connect();
      await next(conductor);
      await goOn(s.processes(1));
      await goOn(s.processes(1));
      expect(paused.map(cpuTicks)).toEqual(ticks);
      s.turn([[1], [2]], { slotMs: 20 });
      await goOn(paused);
      expect(marks()).toEqual([]);
    },
  );

  test(
    "a pause that arrives while the conductor hangs holds from then on; a resume ends it",
    IN_TURN,
    async () => {
      await begin(1, 2);
      s.turn([[1]], { slotMs: 20 });
      const pids = s.processes(2);
      await standing(pids);
      const conductor = s.conductorPid();
      process.kill(conductor, "SIGSTOP");
      // The guardian continues what is in no row.
      await goOn(pids);
      s.turn([[1]], { slotMs: 20, paused: [s.key(2)] });
      process.kill(conductor, "SIGCONT");
      await until("it is marked", () => existsSync(mark(2)));
      await standing(pids);
      const ticks = pids.map(cpuTicks);
      const said = () => s.messages.filter((one) => one.type === "refused").length;
      const before = said();
      const reports = guardianReports();
      process.kill(conductor, "SIGSTOP");
      await until("the guardian continues gangs again", () => guardianReports() > reports);
      process.kill(conductor, "SIGCONT");
      await until("it says so", () => said() > before);
      expect(pids.map(cpuTicks)).toEqual(ticks);
      process.kill(conductor, "SIGSTOP");
      s.turn([[1], [2]], { slotMs: 20 });
      process.kill(conductor, "SIGCONT");
      await goOn(pids);
      expect(marks()).toEqual([]);
    },
  );

  test(
    "one that is paused before it begins does not begin, also under the next conductor, and then once",
    IN_TURN,
    async () => {
      await begin(1);
      s.turn([[1]], { slotMs: 20, paused: [s.key(2)] });
      s.launch(2, `echo began; ${BURN}`);
      await until("it is marked", () => existsSync(mark(2)));
      await goOn(s.processes(1));
      const conductor = s.conductorPid();
      process.kill(conductor, "SIGKILL");
      await next(conductor);
      await goOn(s.processes(1));
      expect(s.out(2)).toBe("");
      s.turn([[1], [2]], { slotMs: 20 });
      await until("it has begun", () => s.out(2) !== "");
      await until("all of its processes run", () => s.processes(2).length === PROCESSES);
      await goOn(s.processes(2));
      expect(s.out(2)).toBe("began\n");
    },
  );

  test("one that is resumed while no conductor lives continues under the next", IN_TURN, async () => {
    await begin(1, 2);
    const paused = await pause();
    const conductor = await killAlone();
    expect(await s.stands(paused)).toBe(true);
    s.client = s.connect();
    await next(conductor);
    expect(await s.stands(paused)).toBe(true);
    s.turn([[1], [2]], { slotMs: 20 });
    await goOn(paused);
    expect(marks()).toEqual([]);
  });
});
