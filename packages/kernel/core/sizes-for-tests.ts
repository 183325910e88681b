/**
 * How much those tests do that draw many inputs, harm a scheduler many times, or wait: little in `npm
 * test`, which everybody runs, and all of it in `npm run soak`, which sets TUTTI_SOAK. Tests whose size is
 * not here always do all.
 */
export const SOAK = process.env.TUTTI_SOAK !== undefined;

/** For a test that judges times: a machine with other tests may stand still for longer than it allows. */
export const TRIES = { retry: SOAK ? 0 : 4 };

function size(inTests: number, inSoak: number): number {
  return SOAK ? inSoak : inTests;
}

/** Every `every`-th of the items, from another one on for each turn: as many turns take all of them. */
export function inTurn<Item>(items: readonly Item[], every: number, turn: number): Item[] {
  return items.filter((_, i) => i % every === turn % every);
}

export const SIZES = {
  /** A sixteenth of the golden schedules is computed again; which ones depends on the sources. */
  goldenEvery: size(16, 1),
  /**
   * Each policy is checked on all workloads, each of its settings on every fifth, in turn. Odd numbers,
   * because there are two settings of slots.
   */
  conformanceEvery: size(5, 1),
  /** The same for settings with gangs that migrate. */
  migratingEvery: size(5, 1),
  /** The same for settings with an admission queue, on three workloads. */
  admittedEvery: size(3, 1),
  /** The same for workloads with outages. */
  interruptedEvery: size(7, 1),
  /** Instants up to which the probes of an audit run, with an admission queue. */
  admittedInstants: size(600, 3000),
  /** Each real trace is audited under one of two policies, and compared with twins by one of two rules. */
  tracesEvery: size(2, 1),
  /** Each policy is followed live by every fourth policy, another fourth than the one before it. */
  followedEvery: size(4, 1),
  /** Jobs of each run that front end and simulator decide alike. */
  loopJobs: 150,
  /** Jobs before which policies cheat; for those whose cheating breaks a rule, 600. */
  cheatedJobs: size(300, 600),
  /** Histories of users with quotas, for each policy. */
  quotaHistories: size(2, 20),
  /** Histories of nodes that come and go, for each policy. */
  elasticHistories: size(20, 200),
  /** Requests to the API that are drawn or mutated. */
  fuzzedRequests: size(20_000, 1_000_000),
  /** Broken SWF files. */
  brokenTraces: size(20_000, 100_000),
  /** Kills of the front end while webhooks and mails wait. */
  hookKills: size(5, 50),
  runnerKills: size(3, 50),
  conductorKills: size(2, 20),
  /** Jobs whose start is compared with its forecast. */
  forecasts: size(10, 20),
  /** Hostile texts that the live page shows. */
  hostileNames: size(300, 10_000),
  hostileAddresses: size(60, 10_000),
  hostileLogs: size(500, 10_000),
  /** Cells of each paper that Chromium computes as Node does. */
  cellsInChromium: size(4, 24),
  /** Submits by many clients at once to a real scheduler, which is killed then. */
  burst: size(4000, 10_000),
  /** Instants at which the page's matrix is compared with the command's. */
  matrixInstants: size(40, 100),
  /** Workers of the laboratory's page, each new. */
  labWorkers: size(8, 200),
  /** Steps of ten seconds in which the live page follows a scheduler. */
  pageSteps: size(30, 2160),
  /** Seconds for which gangs on several nodes take turns. */
  turningS: size(20, 60),
  /** Switches of gangs on hosts that ssh reaches. */
  hostSwitches: size(100, 1000),
  /** Blows to such hosts, their network, disks and programs, while jobs run. */
  hostBlows: size(9, 100),
  /** Jobs that arrive while pilots of a minute follow each other. */
  pilotJobs: size(14, 30),
} as const;
