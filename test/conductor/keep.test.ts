/**
 * Tests that a job that the front end's store does not know keeps running next to the gangs until somebody
 * decides what to do with it, for every kind of freezer.
 */
import { readFileSync } from "node:fs";
import { signal } from "@tutti/host/processes.ts";
import { readIdentity } from "@tutti/live/conductor/attempts/claim.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { cpuTicks, kindsHere, Stage, until } from "./stage.ts";

/** Uses a processor, for at most ten seconds of CPU time. */
const BURN = "ulimit -t 10; while :; do :; done";

describe.each(kindsHere())("%s: a kept job", (kind) => {
  let s: Stage;
  beforeAll(async () => {
    s = new Stage(kind);
    await s.ready();
  });
  afterEach(() => s.killJobs());
  afterAll(async () => expect(await s.clear()).toEqual([]));

  const keep = (job: number) =>
    s.client.send({ type: "keep", attempt: s.key(job), identity: s.identity(job) });

  async function stands(job: number): Promise<void> {
    const pids = s.processes(job);
    expect(pids).not.toEqual([]);
    for (let i = 0; i < 50; i++) if (await s.stands(pids)) return;
    throw new Error(`Job ${job} does not stand still`);
  }

  async function runs(job: number): Promise<void> {
    const before = s.processes(job).map(cpuTicks);
    await until("it runs", () => s.processes(job).every((pid, i) => cpuTicks(pid) > (before[i] ?? 0) + 3));
  }

  test("runs whatever the rows are, on its CPUs, until a front end comes that does not keep it", async () => {
    s.turn([[[1, 0]]], { slotMs: 20 });
    s.launch(1, BURN);
    await s.begun(1);
    s.turn([[]], { slotMs: 20 });
    await stands(1);
    // A message for another attempt with the same number has no effect on it.
    s.client.send({ type: "keep", attempt: s.key(1), identity: "0".repeat(32) });
    await stands(1);
    keep(1);
    await runs(1);
    s.turn([[], [[1, 1]], []], { slotMs: 20 });
    await runs(1);
    const status = readFileSync(`/proc/${s.processes(1)[0]}/status`, "latin1");
    expect(/^Cpus_allowed_list:\s*(.*)$/m.exec(status)?.[1]).toBe("0");
    const before = s.conductorPid();
    signal(before, "SIGKILL");
    await until("another conductor", () => s.client.connected && s.conductorPid() !== before);
    await runs(1);
    keep(1);
    s.turn([[]], { slotMs: 20 });
    await runs(1);
    s.client.close();
    s.client = s.connect();
    await s.ready();
    await runs(1);
    s.turn([[]], { slotMs: 20 });
    await stands(1);
  });

  test("begins without a row, and its time limit counts without a slot", async () => {
    s.turn([[2], []], { slotMs: 20 });
    s.launch(2, "sleep 60");
    const spec = s.launch(1, BURN, { limitMs: 400, graceMs: 20_000 });
    await until("it waits at its gate", () => readIdentity(spec, "job") !== undefined);
    keep(1);
    await s.begun(1);
    const end = await s.end(1);
    expect(end).toMatchObject({ reason: "time-limit", signal: "SIGTERM" });
    expect(end.ranMs).toBeGreaterThanOrEqual(400);
  });

  test("is stopped like any other", async () => {
    s.turn([[1]], { slotMs: 20 });
    s.launch(1, "trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done", { graceMs: 20_000 });
    await until("it is ready", () => s.out(1) === "ready\n");
    s.turn([[]], { slotMs: 20 });
    await stands(1);
    keep(1);
    s.client.send({ type: "stop", attempt: s.key(1), kill: false, reason: "cancelled" });
    expect(await s.end(1)).toMatchObject({ code: 3, reason: "cancelled" });
  });
});
