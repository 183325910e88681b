/** Promises that the conductor and the runner of hooks keep, both with real processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bootId, identityOf } from "@tutti/host/processes.ts";
import { Conductor } from "@tutti/live/conductor/conductor.ts";
import { openContainment } from "@tutti/live/conductor/freezers/open-containment.ts";
import { MARK_VARIABLE } from "@tutti/live/conductor/freezers/signals.ts";
import { Hook } from "@tutti/live/conductor/hooks/hook.ts";
import type { SavedState } from "@tutti/live/conductor/state-file.ts";
import { vi } from "vitest";
import { CHANGE_MS, inMachineTime, S, type Scene, type Time } from "./scenes.ts";

/** The conductor looks at its jobs this often. */
const LATE_MS = 150;
const STEP_MS = 50;
const END_MS = 120 * S;

async function inFolder<Result>(play: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-steps-"));
  try {
    return await play(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/**
 * A conductor finds a job that begins now. Signals are noted and not sent, so the job never ends. The job has
 * a limit of 60 s of running time, a signal 20 s before it, and a grace time of 5 s.
 * @returns when the job gets the signal
 */
async function signalledAtMs(name: NodeJS.Signals, change: (time: Time) => void): Promise<number> {
  return await inFolder(async (home) => {
    const containment = openContainment(home, "signals")!;
    const env = { PATH: process.env.PATH, [MARK_VARIABLE]: `${containment.marks}1.1` };
    const child = spawn("sleep", ["600"], { env, stdio: "ignore", detached: true });
    try {
      const identity = identityOf(child.pid!)!;
      writeFileSync(join(home, "state.json"), JSON.stringify(stateWith(identity, home)));
      return await inMachineTime(async (time) => {
        const sent = new Map<NodeJS.Signals, number>();
        const kill = vi.spyOn(process, "kill").mockImplementation((pid, signal) => {
          const what = signal as NodeJS.Signals;
          if (pid === child.pid && !sent.has(what)) sent.set(what, time.nowMs());
          return true;
        });
        const conductor = new Conductor(home, containment, () => {});
        try {
          await conductor.start();
          await time.advanceTo(CHANGE_MS, STEP_MS);
          change(time);
          while (!sent.has(name) && time.nowMs() < END_MS)
            await time.advanceTo(time.nowMs() + STEP_MS, STEP_MS);
          return sent.get(name) ?? Number.POSITIVE_INFINITY;
        } finally {
          kill.mockRestore();
          conductor.close();
        }
      });
    } finally {
      await end(child);
    }
  });
}

function stateWith(identity: NonNullable<ReturnType<typeof identityOf>>, folder: string): SavedState {
  const key = { job: 1, attempt: 1 };
  return {
    version: 1,
    bootId: bootId(),
    epochMs: 0,
    matrix: { sequence: 1, slotMs: 60_000, mode: "gang", fromSlot: 0, rows: [[{ ...key, cpus: [0] }]] },
    attempts: [
      {
        spec: {
          ...key,
          folder,
          command: ["sleep", "600"],
          cwd: "/",
          stdout: "/dev/null",
          stderr: "/dev/null",
          uid: process.getuid!(),
          gid: process.getgid!(),
          limitMs: 60 * S,
          limitSignal: { name: "SIGUSR1", beforeMs: 20 * S, to: "first" },
          graceMs: 5 * S,
        },
        shim: identity,
        job: identity,
        begun: true,
        startedAtMs: Date.now(),
        ranMs: 0,
        reason: "none",
        killed: false,
      },
    ],
  };
}

/** @returns when the hook is killed, which would run for ten minutes */
async function hookKilledAtMs(change: (time: Time) => void): Promise<number> {
  return await inFolder(async (home) => {
    const folder = join(home, "job");
    mkdirSync(folder);
    const containment = openContainment(home, "signals")!;
    return await inMachineTime(async (time) => {
      let killedAtMs = Number.POSITIVE_INFINITY;
      const { freezer } = containment;
      const kill = freezer.kill.bind(freezer);
      freezer.kill = (gang) => {
        killedAtMs = Math.min(killedAtMs, time.nowMs());
        return kill(gang);
      };
      let isOver = false;
      const task = { id: "1", data: {}, command: ["sleep", "600"], folder, output: "hook.log" };
      const hook = new Hook(containment, task, () => {
        isOver = true;
      });
      const started = hook.start();
      await time.advanceTo(CHANGE_MS, STEP_MS);
      change(time);
      while (killedAtMs === Number.POSITIVE_INFINITY && time.nowMs() < END_MS) {
        await time.advanceTo(time.nowMs() + STEP_MS, STEP_MS);
      }
      // It waits in virtual time until the kernel has ended its process.
      while (!isOver) await time.advanceTo(time.nowMs() + 1, 1);
      await started;
      return killedAtMs;
    });
  });
}

const always = (atMs: number) => ({ forward: atMs, back: atMs, suspend: atMs });

const signalled = (name: NodeJS.Signals, atMs: number): Scene => ({
  happensAtMs: (change) => signalledAtMs(name, change),
  expectedMs: always(atMs),
  lateMs: LATE_MS,
});

export const limit = signalled("SIGTERM", 60 * S);
export const signalBeforeLimit = signalled("SIGUSR1", 40 * S);
export const graceTime = signalled("SIGKILL", 65 * S);
export const hookLimit: Scene = {
  happensAtMs: hookKilledAtMs,
  expectedMs: always(30 * S),
  lateMs: LATE_MS,
};
