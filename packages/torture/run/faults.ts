/** What may happen to a machine and its scheduler. Each leaves everything repaired, but nothing restarted. */
import { nameOf } from "../judge/history.ts";
import type { Process } from "../world/contract.ts";
import { cutPowerAtWrite } from "./crash.ts";
import type { Life } from "./life.ts";
import { resumePaused } from "./pauses.ts";
import { restoreBackup } from "./restore.ts";
import { POLICIES, type Topic } from "./setting.ts";

export interface Fault {
  readonly name: string;
  readonly about?: readonly Topic[];
  readonly weight?: number;
  /** @param last of a fault that somebody inflicts who will take it back: returns when that happens */
  readonly inflict: (life: Life, last?: () => Promise<unknown>) => Promise<void> | void;
}

const HOUR_MS = 3_600_000;
/** From the true time, of a clock that nobody sets right. */
const FARTHEST_MS = 4 * HOUR_MS;
/** For something to happen. */
const WAIT_MS = 60_000;
const SOON_MS = [0.5, 2, 10, 50, 1000] as const;
/** Each call is two steps: before and after it. The first calls are what this program has waited to do. */
const STEPS_AHEAD = [2, 2, 4, 20] as const;

export const FAULTS: readonly Fault[] = [
  {
    name: "kill -9 of the front end",
    about: ["starts", "records"],
    weight: 4,
    inflict: (life) => kill(life, "SIGKILL", life.frontEnds()),
  },
  {
    name: "TERM to the front end",
    about: ["records"],
    weight: 2,
    inflict: (life) => kill(life, "SIGTERM", life.frontEnds()),
  },
  {
    name: "kill -9 of the conductor",
    about: ["ends", "starts", "turns"],
    weight: 4,
    inflict: (life) => kill(life, "SIGKILL", life.conductors()),
  },
  {
    name: "TERM to the conductor",
    about: ["ends", "turns"],
    weight: 2,
    inflict: (life) => kill(life, "SIGTERM", life.conductors()),
  },
  {
    name: "kill -9 of the guardian",
    about: ["turns"],
    inflict: (life) => kill(life, "SIGKILL", life.guardians()),
  },
  { name: "kill -9 of a shim", about: ["starts", "ends"], weight: 2, inflict: killShim },
  {
    name: "kill -9 of the hook runner",
    about: ["hooks"],
    weight: 2,
    inflict: (life) => kill(life, "SIGKILL", life.hookRunners()),
  },
  {
    name: "kill -9 of front end and conductor",
    about: ["ends", "turns", "records", "restores"],
    weight: 2,
    inflict: (life) => kill(life, "SIGKILL", [...life.frontEnds(), ...life.conductors()]),
  },
  {
    name: "kill -9 of front end, conductor and guardian",
    about: ["turns"],
    inflict: (life) =>
      kill(life, "SIGKILL", [...life.frontEnds(), ...life.conductors(), ...life.guardians()]),
  },
  {
    name: "kill -9 of a front end that starts",
    about: ["records", "restores"],
    weight: 2,
    inflict: async (life) => {
      kill(life, "SIGKILL", life.frontEnds());
      await life.sleep(life.random.below(1500));
      kill(life, "SIGKILL", life.frontEnds());
    },
  },
  {
    name: "kill -9 just when something happens",
    about: ["ends", "starts", "hooks"],
    weight: 8,
    inflict: killAtMoment,
  },
  {
    name: "kill -9 in the middle of something",
    about: ["ends", "starts", "records", "hooks"],
    weight: 20,
    inflict: async (life) => void (await inStep(life, killWithOthers)),
  },
  {
    name: "front end stopped",
    about: ["starts"],
    weight: 2,
    inflict: (life) => stop(life, life.frontEnds()),
  },
  {
    name: "conductor stopped",
    about: ["ends", "turns"],
    weight: 2,
    inflict: (life) => stop(life, life.conductors()),
  },
  { name: "guardian stopped", about: ["turns"], inflict: (life) => stop(life, life.guardians()) },
  { name: "hook runner stopped", about: ["hooks"], inflict: (life) => stop(life, life.hookRunners()) },
  {
    name: "front end killed while the conductor is stopped",
    about: ["starts", "ends"],
    weight: 2,
    inflict: (life) => stop(life, life.conductors(), () => kill(life, "SIGKILL", life.frontEnds())),
  },
  {
    name: "another policy",
    about: ["turns"],
    weight: 2,
    inflict: async (life) => {
      const policy = life.random.pick(POLICIES);
      await life.send("root", (service, caller) => service.setPolicy(caller, policy));
    },
  },
  {
    name: "drain with a kill in it",
    about: ["records"],
    inflict: (life) =>
      whileNothingStarts(
        life,
        () => life.send("root", (service, caller) => service.setDrain(caller, {})),
        () => life.send("root", (service, caller) => service.setDrain(caller, undefined)),
      ),
  },
  {
    name: "window with a kill in it",
    about: ["records"],
    inflict: (life) => {
      const window = { name: `w${life.random.below(1e9)}`, untilMs: Math.ceil(life.unixMs) + 48 * HOUR_MS };
      return whileNothingStarts(
        life,
        () => life.send("root", (service, caller) => service.reserve(caller, window)),
        () => life.send("root", (service, caller) => service.unreserve(caller, window.name)),
      );
    },
  },
  { name: "clock set forward, and right again", about: ["clock"], inflict: (life) => setClock(life, 1) },
  { name: "clock set back, and right again", about: ["clock"], inflict: (life) => setClock(life, -1) },
  { name: "clock set forward", about: ["clock"], inflict: (life) => setClockForGood(life, 1) },
  { name: "clock set back", about: ["clock"], inflict: (life) => setClockForGood(life, -1) },
  {
    name: "machine suspended",
    about: ["clock"],
    inflict: (life) => {
      const { random } = life;
      life.suspend(random.chance(0.5) ? random.between(500, 60_000) : random.between(60_000, 8 * HOUR_MS));
    },
  },
  { name: "power cut", about: ["disk", "restores"], inflict: cutPower },
  {
    name: "power cut just when something happens",
    about: ["disk", "starts"],
    weight: 2,
    inflict: async (life) => {
      await moment(life);
      await cutPower(life);
    },
  },
  {
    name: "power cut in the middle of something",
    about: ["disk"],
    weight: 2,
    inflict: async (life) => {
      if (await inStep(life, pullPlug)) await whilePowerIsOff(life, () => untilBoot(life));
    },
  },
  { name: "power cut at a write", about: ["disk"], weight: 2, inflict: cutPowerAtWrite },
  { name: "disk full", about: ["disk"], inflict: (life) => spoilDisk(life, "full") },
  { name: "disk read-only", about: ["disk"], inflict: (life) => spoilDisk(life, "read-only") },
  { name: "writes fail", about: ["disk"], inflict: (life) => spoilDisk(life, "broken") },
  { name: "state moved away and back", about: ["disk", "ends"], inflict: moveState },
  { name: "older backup restored", about: ["restores"], inflict: restoreBackup },
  { name: "jobs paused with a kill in it", about: ["turns"], weight: 2, inflict: pauseSome },
];

export function kill(life: Life, signal: string, processes: readonly Process[]): void {
  for (const process of processes) life.signal(process, signal);
}

function killAny(life: Life): void {
  const who = life.random.below(7);
  if (who < 4) kill(life, "SIGKILL", life.conductors());
  if (who > 1 && who < 6) kill(life, "SIGKILL", life.frontEnds());
  if (who === 6) kill(life, "SIGKILL", life.hookRunners());
}

/** A program in the middle of something, and perhaps another one with it. */
function killWithOthers(life: Life, process: Process): void {
  kill(life, "SIGKILL", [process]);
  if (life.random.chance(0.3)) killAny(life);
}

/** Between a request and its answer, a shim and its claim, a signal and its note, an end and its report. */
async function moment(life: Life): Promise<void> {
  const { random } = life;
  if (life.moments.length > 0) await life.moment(random.pick(life.moments), WAIT_MS);
  await life.sleep(random.unit() * random.pick(SOON_MS));
}

async function killAtMoment(life: Life): Promise<void> {
  await moment(life);
  killAny(life);
}

/**
 * Kinds of steps are drawn, not steps: a program makes more changes of files than all others.
 * @returns whether a program was about to do something, and has done it only in part
 */
async function inStep(life: Life, act: (life: Life, process: Process) => void): Promise<boolean> {
  const { random } = life;
  const conductors = life.conductors();
  const running = [...life.frontEnds(), ...conductors, ...conductors, ...life.hookRunners()].filter(
    (one) => life.stepsOf(one).length > 0,
  );
  if (running.length === 0) return false;
  const process = random.pick(running);
  const count = random.between(1, random.pick(STEPS_AHEAD));
  return life.atStep(process, random.pick(life.stepsOf(process)), count, WAIT_MS, () => act(life, process));
}

/** Of an attempt that may run, begin or end just now. */
function killShim(life: Life): void {
  const shims = life.shims();
  if (shims.length === 0) return;
  const { process, job, attempt } = life.random.pick(shims);
  life.lost.add(nameOf({ job, attempt }));
  life.signal(process, "SIGKILL");
}

/** Up to the time after which the guardian acts, or far beyond it. */
function stop(life: Life, processes: readonly Process[], meanwhile = () => {}): Promise<void> {
  return whileStopped(life, processes, async () => {
    await life.sleep(life.random.between(200, life.random.pick([1500, 7000, 60_000])));
    meanwhile();
    await life.sleep(life.random.below(500));
  });
}

export async function whileStopped(
  life: Life,
  processes: readonly Process[],
  last: () => Promise<unknown>,
): Promise<void> {
  kill(life, "SIGSTOP", processes);
  await last();
  kill(life, "SIGCONT", processes);
}

/** A drain or a window: when all starts under way have begun, something is killed, and nothing may begin. */
async function whileNothingStarts(
  life: Life,
  begin: () => Promise<{ readonly refusal?: string }>,
  end: () => Promise<{ readonly refusal?: string }>,
): Promise<void> {
  const { refusal } = await begin();
  if (refusal !== undefined) return life.problem(`a drain or window was refused: ${refusal}`);
  const fromMs = await life.allHaveBegun();
  killAny(life);
  await life.sleep(life.random.below(120_000));
  if (fromMs !== undefined) life.quiet.push({ fromMs, toMs: life.trueMs });
  await end();
}

function setClock(life: Life, sign: 1 | -1): Promise<void> {
  const { random } = life;
  const offsetMs = sign * random.between(1000, random.pick([5000, 2 * HOUR_MS, 240 * HOUR_MS]));
  return whileClockIsWrong(life, offsetMs, async () => {
    await life.sleep(random.below(60_000));
    if (random.chance(0.5)) killAny(life);
    await life.sleep(random.below(5000));
  });
}

export async function whileClockIsWrong(
  life: Life,
  offsetMs: number,
  last: () => Promise<unknown>,
): Promise<void> {
  life.setClock(offsetMs);
  await last();
  life.setClock(-offsetMs);
}

function setClockForGood(life: Life, sign: 1 | -1): void {
  const offsetMs = life.unixMs - life.trueMs;
  const byMs = sign * life.random.between(1000, life.random.pick([5000, 2 * HOUR_MS]));
  // Jobs that wait for a time of a clock which is days behind only make the life longer.
  life.setClock(Math.abs(offsetMs + byMs) > FARTHEST_MS ? -Math.round(offsetMs) : byMs);
}

function cutPower(life: Life): Promise<void> {
  pullPlug(life);
  return whilePowerIsOff(life, () => untilBoot(life));
}

export function pullPlug(life: Life): void {
  life.machine.cutPower();
}

function untilBoot(life: Life): Promise<void> {
  return life.sleep(life.random.between(5000, life.random.pick([20_000, 600_000])));
}

export async function whilePowerIsOff(life: Life, last: () => Promise<unknown>): Promise<void> {
  life.loseMemory();
  await last();
  life.boot();
}

/** In the middle of something, or at any time. */
async function spoilDisk(life: Life, how: "full" | "read-only" | "broken"): Promise<void> {
  if (life.random.chance(0.5)) await inStep(life, () => life.spoilDisk(how));
  await whileDiskIs(life, how, async () => {
    await life.sleep(life.random.between(500, 60_000));
    if (life.random.chance(0.3)) killAny(life);
    await life.sleep(life.random.below(5000));
  });
}

export async function whileDiskIs(
  life: Life,
  how: "full" | "read-only" | "broken",
  last: () => Promise<unknown>,
): Promise<void> {
  life.spoilDisk(how);
  await last();
  life.repairDisk();
}

async function moveState(life: Life): Promise<void> {
  const { files, state, root } = life;
  // A scheduler that is just starting might make another one.
  if (life.service === undefined) return;
  life.wasAway = true;
  life.isAway = true;
  const move = (from: string, to: string) => {
    files.rename(root, from, to);
    // A power cut must not undo what an administrator has seen.
    const folder = files.open(root, state.slice(0, state.lastIndexOf("/")), 0);
    files.sync(root, folder);
    files.close(root, folder);
  };
  move(state, `${state}.away`);
  await life.sleep(life.random.below(life.random.pick([2000, 60_000])));
  move(`${state}.away`, state);
  life.isAway = false;
}

/** Pauses some running jobs, and resumes them when something was killed. */
async function pauseSome(life: Life): Promise<void> {
  const running = (await life.listed(["running"])) ?? [];
  const chosen = running.filter(({ job }) => !life.paused.has(job) && life.random.chance(0.5));
  for (const { job } of chosen) {
    life.paused.add(job);
    // It may have ended in the meantime.
    await life.change({ action: "pause" }, job);
  }
  killAny(life);
  await life.sleep(life.random.below(60_000));
  for (const { job } of chosen) await resumePaused(life, job);
}
