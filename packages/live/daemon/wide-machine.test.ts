/**
 * Tests that a machine wider than a policy's queue classes is refused at the start. The widest class of the
 * HPC2500, d512, admits 512 processors and 512 processes (Kawanami et al. 2008, table 2).
 */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { readConfig } from "./config/config.ts";
import { startFrontEnd } from "./main.ts";
import { choosePolicyFor, refuseWideMachine } from "./scheduling/policy-choice.ts";

vi.mock("@tutti/host/machine.ts", async (original) => ({
  ...(await original<object>()),
  allowedCpus: () => Array.from({ length: 600 }, (_, cpu) => cpu),
}));

test("the scheduler does not start on 600 CPUs, makes nothing, and says what to set", async () => {
  const stateFolder = join(tmpdir(), `tutti-wide-${process.pid}`);
  const settings = { policy: "connected-reservation" };
  await expect(startFrontEnd({ stateFolder, isShared: false, settings })).rejects.toThrow(
    'Cannot use policy "connected-reservation" on 600 CPUs: a job on 600 of them asks for 600 processors, 600 processes and 1 thread per process, but no queue class admits that: the widest, d512, admits 512 processors, 512 processes and 32 threads per process; set scale=2 or more for wider classes, or define "queues" in the configuration file',
  );
  expect(existsSync(stateFolder)).toBe(false);
});

describe("refuseWideMachine()", () => {
  const check = (policy: string, cpus: number, file = "") => {
    const { config } = readConfig(file, "f.toml");
    return () => refuseWideMachine(choosePolicyFor(policy, config), cpus, config);
  };

  test.each([
    ["connected-reservation", 513, "set scale=2"],
    ["connected-reservation:scale=2", 1025, "set scale=3"],
    // Every job is in the queue `default`, so selection=user gives all of them the first class, ss8.
    ["connected-reservation:selection=user", 9, 'in queue "ss8".*set scale=2 or more.*selection=automatic'],
  ])("%s on %i CPUs is refused: %s", (policy, cpus, advice) =>
    expect(check(policy, cpus)).toThrow(new RegExp(advice)),
  );

  test.each([
    ["connected-reservation", 512, ""],
    ["connected-reservation:scale=2", 1024, ""],
    ["connected-reservation:selection=user", 8, ""],
    ["gang", 100_000, ""],
    // The site itself limits its jobs to fewer processors.
    ["connected-reservation", 600, '[[queues]]\nname = "default"\nprocessors = 512\n'],
    ["connected-reservation", 600, '[[queues]]\nname = "short"\nprocessors = 8\n'],
  ])("%s on %i CPUs is accepted %s", (policy, cpus, file) => expect(check(policy, cpus, file)).not.toThrow());
});
