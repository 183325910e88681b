/**
 * How much those tests do that draw many inputs, harm a scheduler many times, or wait: little in `npm
 * test`, which everybody runs, and all of it in `npm run soak`, which sets TUTTI_SOAK. Tests whose size is
 * not here always do all.
 */
export const SOAK = process.env.TUTTI_SOAK !== undefined;

function size(inTests: number, inSoak: number): number {
  return SOAK ? inSoak : inTests;
}

export const SIZES = {
  /** An eighth of the golden schedules is computed again; which ones depends on the sources. */
  goldenEvery: size(8, 1),
  /** Each policy is checked on every third workload with outages, another third than the policy before it. */
  interruptedEvery: size(3, 1),
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
  hostileNames: size(1000, 10_000),
  hostileAddresses: size(150, 10_000),
  hostileLogs: size(500, 10_000),
  /** Cells of each paper that Chromium computes as Node does. */
  cellsInChromium: size(8, 24),
  /** Workers of the laboratory's page, each new. */
  labWorkers: size(8, 200),
  /** Steps of ten seconds in which the live page follows a scheduler. */
  pageSteps: size(30, 2160),
  /** Seconds for which gangs on several nodes take turns. */
  turningS: size(20, 60),
  /** Jobs that arrive while pilots of a minute follow each other. */
  pilotJobs: size(16, 30),
} as const;
