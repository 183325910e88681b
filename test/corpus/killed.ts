/**
 * States of real schedulers, with real jobs, while the kill loop harms them: what is on disk at some moment,
 * and what the conductor has noted there.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@tutti/host/clock.ts";
import { bootId } from "@tutti/host/processes.ts";
import type { SavedState } from "@tutti/live/conductor/state-file.ts";
import { readConfig } from "@tutti/live/daemon/config/config.ts";
import type { AttemptState } from "@tutti/protocol/attempts.ts";
import { runKillLoop } from "../kill-loop/run.ts";
import type { Settings } from "../kill-loop/scheduler.ts";
import { USERS } from "./play.ts";
import { copyOf } from "./season.ts";
import type { RecordedState } from "./state.ts";

const EVERY_MS = 3000;

/** Runs the kill loop and looks at its files again and again. */
export async function recordKilled(
  seed: number,
  settings: Settings,
  faults: number,
): Promise<RecordedState[]> {
  const folder = mkdtempSync("/tmp/tutti-corpus-");
  // Other users' jobs run below it.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  // The environment of the jobs.
  process.env.PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
  const states: RecordedState[] = [];
  let isOver = false;
  const plan = { seed, faults, only: "" };
  const loop = runKillLoop(plan, settings, console.error).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await sleep(EVERY_MS);
    try {
      const [name] = readdirSync(folder).filter((one) => one.startsWith("tutti-kill-"));
      if (name !== undefined) states.push(look(join(folder, name), seed, settings));
    } catch (error) {
      // The scheduler is just being killed, restored or moved.
      console.error(`no state: ${(error as Error).message}`);
    }
  }
  console.error((await loop).problems);
  rmSync(folder, { recursive: true, force: true });
  return states;
}

function look(folder: string, seed: number, { policy, turns }: Settings): RecordedState {
  const store = copyOf(join(folder, "state", "tutti.db"), join(folder, "corpus.db"));
  const nowMs = systemClock.nowMs();
  const saved = JSON.parse(
    readFileSync(join(folder, "state", "conductor", "state.json"), "utf8"),
  ) as SavedState;
  const { config } = readConfig(readFileSync(join(folder, "tutti.toml"), "utf8"), "tutti.toml");
  const limits = Object.keys(config.limits).length > 0 ? { limits: config.limits } : {};
  return {
    name: `kill loop ${seed}, ${Math.round(nowMs)} ms`,
    config: {
      policy,
      mode: turns,
      slotMs: 20,
      resources: { gpu: ["0", "1"], licence: ["l0", "l1", "l2"] },
      ...limits,
    },
    nowMs,
    unixMs: Math.round(systemClock.unixMs() + offsetOf(folder)),
    bootMs: systemClock.bootMs(),
    bootId: bootId(),
    nodes: [{ node: "localhost", cpus: [0, 1] }],
    memoryBytes: 2 ** 35,
    connected: {
      type: "connected",
      attempts: saved.attempts.map(stateOf),
      sequence: saved.matrix.sequence,
      facts: { pid: 1, freezer: "signals" },
      epochMs: saved.epochMs,
    },
    store,
  };
}

/** How far the clock is from the machine's. */
function offsetOf(folder: string): number {
  try {
    return Number(readFileSync(join(folder, "clock"), "utf8"));
  } catch {
    return 0;
  }
}

/** As the conductor would report it. */
function stateOf({
  spec,
  begun,
  startedAtMs,
  ranMs,
  reason,
  endingAtMs,
  end,
  shim,
}: SavedState["attempts"][number]): AttemptState {
  const { job, attempt, identity, command, cwd, folder } = spec;
  const going = reason === "none" ? (begun ? "running" : "launching") : "stopping";
  return {
    job,
    attempt,
    ...(identity !== undefined && { identity }),
    record: {
      version: 1,
      ...(begun && { startedAtMs }),
      ...(endingAtMs !== undefined && { ending: { reason, atMs: endingAtMs } }),
    },
    about: { uid: USERS[0].uid, command, cwd, folder, startedAtMs },
    phase: end === undefined ? going : "ended",
    ...(shim !== undefined && { shim }),
    ranMs,
    ...(end !== undefined && { end }),
  };
}
