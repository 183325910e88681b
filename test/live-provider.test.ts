/**
 * A batch system that nothing in `src` knows becomes a provider: a program that runs real processes
 * (`spool/spool.sh`), and one file that describes it (`spool/provider.ts`). Its jobs go through the front end
 * as those of any other, also over a restart and while the batch system is away.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Caller, Change } from "@tutti/live/daemon/contract/service.ts";
import { type RunningFrontEnd, startFrontEnd } from "@tutti/live/daemon/main.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { spoolProvider } from "./spool/provider.ts";

const ME: Caller = { uid: process.getuid!(), user: "me", isAdministrator: true };
const WITHIN = { timeout: 120_000, interval: 50 };
const folder = mkdtempSync(join(tmpdir(), "tutti-provider-"));
const spool = join(folder, "spool");
let frontEnd: RunningFrontEnd;

beforeAll(async () => {
  mkdirSync(spool);
  await start();
});
afterAll(async () => {
  await frontEnd.service.shutdown(ME, true);
  await frontEnd.stop();
  rmSync(folder, { recursive: true });
});

async function start(policy = "fcfs"): Promise<void> {
  frontEnd = await startFrontEnd({
    stateFolder: join(folder, "state"),
    isShared: false,
    settings: { policy, graceMs: 2000 },
    provider: spoolProvider(spool, 2),
  });
}

async function submit(script: string, fields: Partial<SubmitJob> = {}): Promise<number> {
  const env = { PATH: process.env.PATH ?? "" };
  const answer = await frontEnd.service.submit(ME, [
    { command: ["sh", "-c", script], cwd: folder, env, ...fields },
  ]);
  if (!("jobs" in answer)) throw new Error(answer.message);
  return answer.jobs[0].job;
}

const job = (number: number) => frontEnd.service.job(ME, number);
const change = async (number: number, what: Change) => {
  const answer = await frontEnd.service.change(ME, what, [number]);
  return isRefusal(answer) ? answer : answer[0];
};
const until = (number: number, state: string) =>
  vi.waitFor(() => expect(job(number)).toMatchObject({ state }), WITHIN);

async function end(number: number) {
  return vi.waitFor(() => {
    const found = job(number);
    if (!("state" in found && isEnded(found.state))) throw new Error(`job ${number} has not ended`);
    return found;
  }, WITHIN);
}

const begun = (path: string) => vi.waitFor(() => expect(existsSync(path)).toBe(true), WITHIN);

describe("a batch system as a provider", () => {
  test("takes two files, and at most 300 lines", () => {
    const files = readdirSync(new URL("spool", import.meta.url));
    const lines = files.map((file) =>
      readFileSync(new URL(`spool/${file}`, import.meta.url), "utf8").split("\n"),
    );
    expect(files.length).toBeLessThanOrEqual(3);
    expect(lines.flat().length).toBeLessThanOrEqual(300);
  });

  test("runs jobs, which leave their output and their exit status", async () => {
    const good = await submit('echo "good day from $TUTTI_JOB_ID"');
    const bad = await submit("exit 7");
    const shot = await submit("kill -SEGV $$");
    expect(await end(good)).toMatchObject({ state: "done", code: 0, attempt: 1 });
    expect(await end(bad)).toMatchObject({ state: "failed", code: 7 });
    expect(await end(shot)).toMatchObject({ state: "failed", signal: "SIGSEGV" });
    const stdout = join(frontEnd.jobsFolder, String(good), "stdout");
    expect(readFileSync(stdout, "utf8")).toBe(`good day from ${good}\n`);
  });

  test("a job waits until those before it have given their CPUs back, and says where it runs", async () => {
    const wide = await submit(`touch ${folder}/wide; exec sleep 1000`, { tasks: 2 });
    await begun(join(folder, "wide"));
    const next = await submit("true", { tasks: 2 });
    expect(job(next)).toMatchObject({ state: "queued" });
    await until(wide, "running");
    expect(frontEnd.service.status(ME)).toMatchObject({ nodes: [{ node: "spool", state: "up", cpus: 2 }] });
    await change(wide, { action: "cancel" });
    expect(await end(wide)).toMatchObject({ state: "cancelled", signal: "SIGTERM" });
    expect(await end(next)).toMatchObject({ state: "done" });
  });

  test("one that ignores TERM is killed after its grace time", async () => {
    const stubborn = await submit(`trap "" TERM; touch ${folder}/stubborn; while :; do sleep 0.1; done`);
    await begun(join(folder, "stubborn"));
    await until(stubborn, "running");
    await change(stubborn, { action: "cancel" });
    expect(await end(stubborn)).toMatchObject({ state: "cancelled", signal: "SIGKILL" });
  });

  test("what it cannot do is refused in its words", async () => {
    const one = await submit("exec sleep 1000");
    await until(one, "running");
    expect(await change(one, { action: "pause" })).toMatchObject({
      message: `Cannot pause job ${one}: it is a job of the spool, which only the spool can suspend`,
    });
    await change(one, { action: "cancel" });
    await end(one);
    const window = { name: "disk", untilMs: Date.now() + 1000 };
    expect(await frontEnd.service.reserve(ME, window)).toMatchObject({
      message: "Cannot add a window here: the spool decides when jobs begin",
    });
    expect(frontEnd.service.allocations()).toMatchObject({ refused: "wrong-state" });
    expect(await frontEnd.service.setPolicy(ME, "gang")).toMatchObject({ refused: "invalid" });
  });

  test("a job that it refuses fails with the reason", async () => {
    writeFileSync(join(spool, "full"), "");
    const refused = await submit("true");
    expect(await end(refused)).toMatchObject({
      state: "failed",
      reason: expect.stringContaining("the spool is full"),
    });
    rmSync(join(spool, "full"));
  });

  test("a front end that comes back finds what runs, and what has ended meanwhile", async () => {
    const runs = await submit(`touch ${folder}/runs; exec sleep 1000`);
    const ends = await submit(`while ! [ -e ${folder}/go ]; do sleep 0.1; done; exit 3`);
    await until(runs, "running");
    await until(ends, "running");
    await frontEnd.stop();
    writeFileSync(join(folder, "go"), "");
    await start();
    expect(await end(ends)).toMatchObject({ state: "failed", code: 3, attempt: 1 });
    expect(job(runs)).toMatchObject({ state: "running", attempt: 1 });
    await change(runs, { action: "cancel" });
    expect(await end(runs)).toMatchObject({ state: "cancelled" });
  });

  test("while it is away, jobs wait, and status says why", async () => {
    const runs = await submit(`touch ${folder}/away; exec sleep 1000`);
    await until(runs, "running");
    renameSync(spool, `${spool}.away`);
    const trouble = expect.stringContaining("the spool does not answer");
    await vi.waitFor(() => expect(frontEnd.service.status(ME)).toMatchObject({ trouble }), WITHIN);
    const waits = await submit("true");
    renameSync(`${spool}.away`, spool);
    expect(await end(waits)).toMatchObject({ state: "done", attempt: 1 });
    await change(runs, { action: "cancel" });
    expect(await end(runs)).toMatchObject({ state: "cancelled", attempt: 1 });
  });

  test("another policy needs nothing of it: easy lets a short job pass", async () => {
    await frontEnd.stop();
    await start("easy");
    const first = await submit("exec sleep 1000", { tasks: 1, limitMs: 3_600_000 });
    await until(first, "running");
    const wide = await submit("true", { tasks: 2, limitMs: 3_600_000 });
    expect(await end(await submit("true", { limitMs: 60_000 }))).toMatchObject({ state: "done" });
    expect(job(wide)).toMatchObject({ state: "queued" });
    await change(first, { action: "cancel" });
    expect(await end(wide)).toMatchObject({ state: "done" });
  });

  test("a scheduler on this machine is refused in its state until it was ended by down", async () => {
    const here = () => startFrontEnd({ stateFolder: join(folder, "state"), isShared: false });
    const waits = await submit("true", { held: true });
    await frontEnd.stop();
    const refusal = /without --on in .*: the last one there was started with --on spool, and .* left alone/;
    await expect(here()).rejects.toThrow(refusal);
    await start();
    expect(await frontEnd.service.shutdown(ME, false)).toMatchObject({ stopping: true });
    await frontEnd.stop();
    frontEnd = await here();
    expect(job(waits)).toMatchObject({ state: "held" });
    // Nothing of this machine runs, so it need not be ended in this way.
    await frontEnd.stop();
    await start();
    await change(waits, { action: "cancel" });
  });
});
