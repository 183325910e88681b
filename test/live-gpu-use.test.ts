/**
 * Runs jobs on a machine with two pretended GPUs: a program nvidia-smi on the PATH prints what a file says.
 * What it prints changes only when the test says so, so the averages are known although nobody knows when
 * the conductor asks.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityOf, isAlive, signal } from "@tutti/host/processes.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const GIB = 2 ** 30;
const MIB_PER_GIB = 1024;
/** Until a job that holds a GPU is measured, some seconds pass. */
const PATIENT = { timeout: 60_000 };

/** Makes the program, and a configuration with its two GPUs. */
function prepare(s: LiveScheduler, script: string): void {
  const bin = join(s.folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "nvidia-smi"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, "nvidia-smi"), 0o755);
  s.env.PATH = `${bin}:${process.env.PATH}`;
  const config = join(s.folder, "tutti.toml");
  writeFileSync(config, `[resources]\ngpu = ["0", "1"]\n`, { mode: 0o600 });
  s.words.push("--config", config);
}

describe("with a program that answers", () => {
  const s = new LiveScheduler();
  const says = join(s.folder, "says");

  /** From now on, the GPUs are so busy (in %), and have so much memory in use (in GiB). */
  const say = (busy: readonly [number, number], gib: readonly [number, number]) => {
    const line = (i: 0 | 1) => `${i}, GPU-000${i}, ${busy[i]}, ${gib[i] * MIB_PER_GIB}, 81920, NVIDIA A100`;
    writeFileSync(says, `${line(0)}\n${line(1)}\n`);
  };
  /** A job that runs until the test lets it end. */
  const submit = (name: string, gpus: number) =>
    s.submit(`until [ -e "${s.folder}/${name}" ]; do sleep 0.05; done`, { name, use: { gpu: gpus } });
  const release = (name: string) => writeFileSync(join(s.folder, name), "");
  const usage = async (job: number) => (await s.job(job)).usage ?? {};
  const tutti = async (...words: string[]) => (await startTutti(s.socket, words).result).stdout;

  beforeAll(async () => {
    say([40, 80], [10, 2]);
    prepare(s, `cat "${says}"`);
    await s.start();
  });
  afterAll(() => s.clear());

  test("the use of a job is seen while it runs and after its end: 40 % and 80 % are 60 %", async () => {
    const both = await submit("both", 2);
    await s.running(both);
    const soFar = { gpus: 2, gpuShare: 0.6, peakGpuMemoryBytes: 12 * GIB };
    await expect.poll(() => usage(both), PATIENT).toEqual(soFar);
    expect(await tutti("show", String(both))).toMatch(/^ {2}GPU use +60 % of 2 GPUs, at most 12 GiB$/m);
    expect(await tutti("usage", String(both))).toMatch(/So far, it used 60 % of 2 GPUs/);
    expect(await tutti("jobs", "--columns", "gpu_use,gpu_memory", "--no-header")).toMatch(/^60 % +12 GiB\n$/);
    expect((await s.status()).gpus).toEqual([
      { gpu: "0", share: 0.4, memoryBytes: 10 * GIB },
      { gpu: "1", share: 0.8, memoryBytes: 2 * GIB },
    ]);
    release("both");
    const ended = await s.client.ended(both);
    expect(ended.usage).toMatchObject(soFar);
    expect(await tutti("usage", String(both))).toContain("It used 60 % of 2 GPUs, at most 12 GiB");
  }, 120_000);

  test("two jobs have a GPU each; the sums go on in the next conductor and front end", async () => {
    const first = await submit("first", 1);
    const second = await submit("second", 1);
    await Promise.all([first, second].map((job) => s.running(job)));
    const { units } = await s.job(first);
    const shares = units?.gpu?.[0] === "0" ? [0.4, 0.8] : [0.8, 0.4];
    const isMeasured = async () => (await Promise.all([first, second].map(usage))).map((use) => use.gpuShare);
    await expect.poll(isMeasured, PATIENT).toEqual(shares);
    // The state is saved once a second, and nothing new happens until the next sample.
    const conductorState = join(s.state, "conductor", "state.json");
    const saved = () => readFileSync(conductorState, "utf8").match(/"busyMs":[1-9]/g)?.length;
    await expect.poll(saved).toBe(2);
    say([0, 0], [1, 1]);
    await s.killBoth();
    await s.start();
    const [before] = shares as [number];
    // Neither what was before the kill nor what is after it is forgotten.
    await expect.poll(async () => (await usage(first)).gpuShare ?? 1, PATIENT).toBeLessThan(before);
    for (const name of ["first", "second"]) release(name);
    for (const [i, job] of [first, second].entries()) {
      const { gpuShare = 0, gpus, peakGpuMemoryBytes } = (await s.client.ended(job)).usage ?? {};
      expect(gpuShare).toBeGreaterThan(0);
      expect(gpuShare).toBeLessThan(shares[i]);
      expect({ gpus, peakGpuMemoryBytes }).toEqual({
        gpus: 1,
        peakGpuMemoryBytes: (shares[i] === 0.4 ? 10 : 2) * GIB,
      });
    }
  }, 180_000);

  test("doctor says which GPUs are there and what jobs get", async () => {
    const path = `${join(s.folder, "bin")}:${process.env.PATH}`;
    const { stdout } = await startTutti(s.socket, ["doctor"], { env: { PATH: path } }).result;
    expect(stdout).toMatch(/^GPUs +2 × NVIDIA A100 \(0,1\), by nvidia-smi; jobs get 0,1$/m);
  }, 60_000);

  test("a job without GPUs has no use of any", async () => {
    const job = await s.submit("true");
    expect((await s.client.ended(job)).usage ?? {}).not.toHaveProperty("gpus");
    expect(await tutti("show", String(job))).not.toContain("GPU use");
  });
});

test("a program that hangs is ended, and jobs run as if it were not there", async () => {
  const s = new LiveScheduler();
  const pidFile = join(s.folder, "pid");
  prepare(s, `echo $$ >>"${pidFile}"; exec sleep 600`);
  await s.start();
  try {
    const job = await s.submit(`until [ -e "${s.folder}/go" ]; do sleep 0.05; done`, { use: { gpu: 1 } });
    await until(() => existsSync(pidFile));
    const hanging = Number(readFileSync(pidFile, "utf8"));
    const identity = identityOf(hanging);
    // Others begin and end while it hangs.
    const other = await s.submit("true", { use: { gpu: 1 } });
    expect(await s.client.ended(other)).toMatchObject({ state: "done" });
    expect(identity !== undefined && isAlive(identity)).toBe(true);
    await until(() => identity !== undefined && !isAlive(identity));
    writeFileSync(join(s.folder, "go"), "");
    const ended = await s.client.ended(job);
    expect(ended).toMatchObject({ state: "done" });
    expect(ended.usage ?? {}).not.toHaveProperty("gpus");
    expect(readFileSync(join(s.state, "conductor", "conductor.log"), "utf8")).toContain(
      "Cannot measure GPUs",
    );
  } finally {
    for (const pid of existsSync(pidFile) ? readFileSync(pidFile, "utf8").split("\n") : [])
      if (pid !== "" && isAlive(identityOf(Number(pid)) ?? { pid: 0, startTicks: 0, bootId: "" }))
        signal(Number(pid), "SIGKILL");
    await s.clear();
  }
}, 120_000);
