/** The kinds of faults of the kill loop. Each leaves a front end that has been started. */
import type { BatchAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { nameOf } from "@tutti/torture/judge/history.ts";
import { sleep } from "./scheduler.ts";
import { LOOK_MS, type World } from "./world.ts";

export interface Fault {
  readonly name: string;
  readonly inflict: (world: World, longestMs: number) => Promise<void>;
}

export const POLICIES = [
  "gang",
  "easy",
  "brmms:queue=first-fit",
  "conservative",
  "wlv:queue=first-fit",
  "fcfs",
  "brms",
  "first-fit",
  "easy:order=fair-share",
] as const;

/** Longest wait for a job that runs. */
const AIM_MS = 3000;
const HOUR_MS = 3_600_000;
const BUSY = "starting,running,paused,ending";

export const FAULTS: readonly Fault[] = [
  { name: "kill -9 of the front end", inflict: (world) => killFrontEnd(world) },
  { name: "TERM to the front end", inflict: (world) => killFrontEnd(world, "SIGTERM") },
  { name: "kill -9 of the conductor", inflict: ({ scheduler }) => scheduler.signalConductor("SIGKILL") },
  { name: "TERM to the conductor", inflict: ({ scheduler }) => scheduler.signalConductor("SIGTERM") },
  { name: "kill -9 of the guardian", inflict: ({ scheduler }) => scheduler.killGuardian() },
  { name: "kill -9 of a shim", inflict: killShim },
  { name: "kill -9 of the hook runner", inflict: async ({ scheduler }) => scheduler.killHookRunner() },
  {
    name: "kill -9 of front end and conductor",
    inflict: async ({ scheduler }) => {
      await scheduler.killBoth();
      scheduler.startFrontEnd();
    },
  },
  {
    name: "kill -9 of front end, conductor and guardian",
    inflict: async ({ scheduler }) => {
      await scheduler.killAll();
      scheduler.startFrontEnd();
    },
  },
  {
    name: "kill -9 of a front end that starts",
    inflict: async (world) => {
      await killFrontEnd(world);
      await sleep(world.random.below(600));
      await killFrontEnd(world);
    },
  },
  {
    name: "front end stopped",
    inflict: async ({ scheduler, random }, longestMs) => {
      scheduler.stopFrontEnd(true);
      await sleep(500 + random.below(longestMs - 500));
      scheduler.stopFrontEnd(false);
    },
  },
  {
    name: "conductor stopped",
    inflict: (world, longestMs) => stopConductor(world, longestMs, async () => {}),
  },
  {
    name: "front end killed while the conductor is stopped",
    inflict: (world, longestMs) =>
      stopConductor(world, longestMs, async () => {
        await world.scheduler.endFrontEnd("SIGKILL");
        await sleep(world.random.below(500));
        // Meanwhile jobs begin and end unseen.
        await world.scheduler.signalConductor("SIGCONT");
        await sleep(world.random.below(longestMs));
        world.scheduler.startFrontEnd();
      }),
  },
  {
    name: "another policy",
    inflict: async (world) => {
      const policy = POLICIES[world.random.below(POLICIES.length)];
      await world.sender.send("PUT", "/v1/policy", { policy });
      world.count("policy");
    },
  },
  {
    name: "drain with a kill in it",
    inflict: (world) =>
      whileNothingStarts(world, "drain", {
        begin: () => world.sender.send("PUT", "/v1/drain", {}),
        end: () => world.sender.send("DELETE", "/v1/drain"),
      }),
  },
  {
    name: "window with a kill in it",
    inflict: (world) => {
      const name = `w${world.random.below(1e9)}`;
      const body = { name, untilMs: Date.now() + HOUR_MS };
      return whileNothingStarts(world, "window", {
        begin: () => world.sender.send("POST", "/v1/windows", body),
        end: () => world.sender.send("DELETE", `/v1/windows/${name}`),
      });
    },
  },
  { name: "clock set forward, and right again", inflict: (world) => setClock(world, 1) },
  { name: "clock set back, and right again", inflict: (world) => setClock(world, -1) },
  { name: "older backup restored", inflict: restore },
  {
    name: "state moved away and back",
    inflict: (world) => {
      world.wasAway = true;
      return world.scheduler.moveState(world.random.below(2000));
    },
  },
  { name: "jobs paused with a kill in it", inflict: pauseSome },
  { name: "socket removed", inflict: async ({ scheduler }) => scheduler.removeSocket() },
];

async function killFrontEnd({ scheduler }: World, how: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
  await scheduler.endFrontEnd(how);
  scheduler.startFrontEnd();
}

/** Kills one or both at random. */
async function killAny(world: World): Promise<void> {
  const { scheduler, random } = world;
  const who = random.below(3);
  if (who > 0) await scheduler.signalConductor("SIGKILL");
  if (who < 2) await killFrontEnd(world);
}

/** Of an attempt that may run, begin or end just now. */
async function killShim(world: World): Promise<void> {
  const { scheduler, random, lost } = world;
  const untilMs = performance.now() + AIM_MS;
  while (performance.now() < untilMs) {
    const running = (await world.listed(BUSY)) ?? [];
    await sleep(random.below(LOOK_MS));
    if (running.length === 0) continue;
    const { job, attempt } = running[random.below(running.length)];
    if (scheduler.killShim(job, attempt, () => lost.add(nameOf({ job, attempt })))) return;
  }
}

async function stopConductor(
  { scheduler, random }: World,
  longestMs: number,
  meanwhile: () => Promise<void>,
): Promise<void> {
  await scheduler.signalConductor("SIGSTOP");
  await sleep(500 + random.below(longestMs - 500));
  await meanwhile();
  await scheduler.signalConductor("SIGCONT");
}

/** A drain or a window: when all starts under way have begun, something is killed, and nothing may begin. */
async function whileNothingStarts(
  world: World,
  what: string,
  { begin, end }: Readonly<Record<"begin" | "end", () => Promise<unknown>>>,
): Promise<void> {
  await begin();
  world.count(what);
  const fromMs = await allHaveBegun(world);
  await killAny(world);
  await sleep(world.random.below(1000));
  if (fromMs !== undefined) world.quiet.push({ fromMs, toMs: Date.now() });
  await end();
}

/** @returns a time at which every start that was under way had written its line */
async function allHaveBegun(world: World): Promise<number | undefined> {
  while (!world.isOver) {
    const busy = await world.listed(BUSY);
    const begun = new Set(world.starts().map(nameOf));
    if (busy?.every((job) => begun.has(nameOf(job)) || world.lost.has(nameOf(job)))) return Date.now();
    await sleep(LOOK_MS);
  }
  return undefined;
}

async function setClock(world: World, sign: 1 | -1): Promise<void> {
  const { scheduler, random, clocks } = world;
  const offsetMs = sign * (1000 + random.below(random.below(2) === 0 ? 5000 : 2 * HOUR_MS));
  const fromMs = Date.now();
  scheduler.setClock(offsetMs);
  await sleep(random.below(3000));
  if (random.below(2) === 0) await killAny(world);
  await sleep(random.below(1000));
  scheduler.setClock(0);
  clocks.push({ fromMs, toMs: Date.now(), offsetMs });
}

/** Nothing but pauses that was acknowledged is newer than the backup; what jobs did since then is. */
async function restore(world: World): Promise<void> {
  const { scheduler, sender, random, restores } = world;
  await scheduler.isUp();
  await sender.close();
  await scheduler.backup();
  await sleep(random.below(1500));
  await scheduler.endFrontEnd(random.below(2) === 0 ? "SIGKILL" : "SIGTERM");
  scheduler.restore();
  restores.push(Date.now());
  scheduler.startFrontEnd();
  // A change of a job that is held now would hide that.
  while (!world.isOver && !(await isConnected(world))) await sleep(LOOK_MS);
  await world.findForgotten();
  sender.open();
}

async function isConnected({ sender }: World): Promise<boolean> {
  return (await sender.once<StatusAnswer>("GET", "/v1/status")).value?.conductor.pid !== undefined;
}

/** Pauses some running jobs; the run's tidying resumes them until they have ended. */
async function pauseSome(world: World): Promise<void> {
  const { scheduler, random, watched, disturbed, sender } = world;
  const running = (await world.listed("running")) ?? [];
  const chosen = running.filter(({ job }) => !watched.has(job) && random.below(2) === 0);
  if (chosen.length === 0) return;
  for (const { job } of chosen) scheduler.mayStayStopped.add(job);
  const jobs = chosen.map(({ job }) => job).join();
  // Some may have ended in the meantime.
  await sender.send<BatchAnswer>("POST", "/v1/batch", { action: "pause", jobs });
  world.count("pause of others");
  await killAny(world);
  await sleep(random.below(1000));
  for (const { job } of chosen) disturbed.add(job);
}
