/** Small problems for tests of pilots, and a naive second simulation of first come, first served. */
import { type NodeKind, nextRequest } from "@tutti/kernel/core/node-plan.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { easy } from "@tutti/kernel/policies/space/easy.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import type { PilotAsks, PilotSettings, PilotSite, PilotsInstance } from "./contract.ts";

/** A job by its submit time, size, run time and limit. */
type Job = readonly [submitS: number, size: number, runS: number, limitS: number];

export const SITE: PilotSite = {
  ...{ nodes: 8, cpusPerNode: 2, waitS: 3, startS: 3, stopBeforeS: 60, drainS: 300 },
};

export function instanceWith(jobs: readonly Job[], site: Partial<PilotSite> = {}): PilotsInstance {
  const whole = { ...SITE, ...site };
  const processors = whole.nodes * whole.cpusPerNode;
  const workload = {
    ...{ name: "a test", count: jobs.length, processors, trace: undefined, header: [], diagnostics: [] },
    jobs: {
      id: Int32Array.from(jobs, (_, i) => i + 1),
      submitS: Float64Array.from(jobs, ([submitS]) => submitS),
      runS: Float64Array.from(jobs, ([, , runS]) => runS),
      size: Int32Array.from(jobs, ([, size]) => size),
      estimateS: Float64Array.from(jobs, ([, , , limitS]) => limitS),
    },
  };
  return { site: whole, jobs: prepare(workload, processors, DEFAULT_RULES) };
}

export function kind(name: string, min: number, max: number, minS: number, maxS = minS): NodeKind {
  return { name, nodes: { min, max }, cpus: { min: 2, max: 2 }, timeS: { min: minS, max: maxS } };
}

export function settingsWith(asks: Partial<PilotAsks>, queue = makeChoice(easy)): PilotSettings {
  const usual = { kinds: [kind("any", 1, 8, 600, 36_000)], maxNodes: 8, maxNodeS: Number.POSITIVE_INFINITY };
  return { queue, asks: { ...usual, idleS: 30, ...asks } };
}

/** Limits are multiples of 2 minutes, so that with up to 6 nodes all times are whole seconds. */
export function randomPilots(seed: number): { instance: PilotsInstance; asks: PilotAsks } {
  const random = new Random(seed, "pilots for tests");
  const among = <T>(values: readonly T[]): T => values[random.below(values.length)];
  const upTo = (most: number) => random.below(most + 1);
  const nodes = 3 + upTo(3);
  let submitS = 0;
  const jobs = Array.from({ length: 4 + upTo(12) }, (): Job => {
    submitS += among([0, 0, 7, 60, 400, 2000]);
    const limitS = 120 * (1 + upTo(9));
    return [
      submitS,
      1 + upTo(among([1, 3, 2 * nodes - 1])),
      among([1, 1 + upTo(limitS - 1), limitS]),
      limitS,
    ];
  });
  const site = { nodes, waitS: upTo(5), startS: upTo(5), drainS: among([61, 300]) };
  const narrow = kind("narrow", 1, 1 + upTo(1), 720, 1320);
  const wide = kind("wide", 1 + upTo(nodes - 2), nodes, 600, 720 + 120 * upTo(12));
  return {
    instance: instanceWith(jobs, site),
    asks: {
      kinds: among([[wide], [wide], [narrow, wide]]),
      maxNodes: among([nodes, nodes, nodes - 1]),
      maxNodeS: among([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 12_000]),
      idleS: among([0, 30, 300, Number.POSITIVE_INFINITY]),
    },
  };
}

/** A pilot of the naive simulation. */
interface PlainPilot {
  readonly kind: string;
  readonly nodes: number;
  readonly timeS: number;
  readonly askedS: number;
  runsS: number;
  idleSinceS: number;
}

/**
 * Goes through all seconds, and at each through all jobs and pilots, until nothing more happens in it. Only
 * the requests are those of the kernel, which have tests of their own.
 * @returns the start of each job; NaN: it never started
 */
export function plainStarts({ site, jobs }: PilotsInstance, asks: PilotAsks, untilS: number): number[] {
  const { count, submitS, size, runS, estimateS } = jobs;
  const startS = new Array<number>(count).fill(Number.NaN);
  const on = new Array<PlainPilot | undefined>(count).fill(undefined);
  let pilots: PlainPilot[] = [];
  let goneNodeS = 0;
  let quietSinceS = Infinity;
  const all = Array.from({ length: count }, (_, job) => job);
  for (let nowS = submitS[0]; nowS <= untilS; nowS++) {
    const serves = ({ runsS }: PlainPilot) => nowS >= runsS + site.startS;
    const drains = ({ runsS, timeS }: PlainPilot) => nowS >= runsS + timeS - site.drainS;
    const stopS = ({ runsS, timeS }: PlainPilot) => runsS + timeS - site.stopBeforeS;
    const isRunning = (job: number) => startS[job] + runS[job] > nowS;
    const takes = (pilot: PlainPilot, job: number) =>
      serves(pilot) && size[job] <= pilot.nodes * site.cpusPerNode && nowS < stopS(pilot) - estimateS[job];
    const freeOf = (pilot: PlainPilot) =>
      all.reduce(
        (free, job) => free - (on[job] === pilot && isRunning(job) ? size[job] : 0),
        pilot.nodes * site.cpusPerNode,
      );
    const boundsWith = (leftNodeS: number) => ({
      ...{ maxNodes: asks.maxNodes, leftNodeS, stopBeforeS: site.stopBeforeS, beginS: 60 },
      wantsAny: asks.idleS === Infinity,
    });
    const wish = (job: number, isTaken: boolean) => ({ tasks: size[job], limitS: estimateS[job], isTaken });
    const canEver = (job: number) =>
      nextRequest([wish(job, false)], asks.kinds, [], { ...boundsWith(Infinity), wantsAny: false });
    // A job of no length ends within the second in which it starts.
    let hasChanged = true;
    while (hasChanged) {
      hasChanged = false;
      const waiting = () =>
        all.filter((job) => submitS[job] <= nowS && Number.isNaN(startS[job]) && canEver(job) !== undefined);
      for (const pilot of pilots) {
        const freeNodes = pilots.reduce(
          (free, { nodes, runsS }) => free - (Number.isNaN(runsS) ? 0 : nodes),
          site.nodes,
        );
        const isNext = pilots.find(({ runsS }) => Number.isNaN(runsS)) === pilot;
        if (!isNext || nowS < pilot.askedS + site.waitS || pilot.nodes > freeNodes) continue;
        pilot.runsS = nowS;
        hasChanged = true;
      }
      for (let hasStarted = true; hasStarted; ) {
        hasStarted = false;
        for (const pilot of pilots)
          for (const job of waiting().filter((one) => takes(pilot, one))) {
            if (size[job] > freeOf(pilot)) break;
            startS[job] = nowS;
            on[job] = pilot;
            hasStarted = true;
            hasChanged = true;
          }
      }
      const isOver = all.every((job) => submitS[job] <= nowS && !isRunning(job)) && waiting().length === 0;
      if (isOver) return startS;
      for (let mayAsk = true; mayAsk; ) {
        mayAsk = false;
        const isBusy = (pilot: PlainPilot) => all.some((job) => on[job] === pilot && isRunning(job));
        const isUsed = (pilot: PlainPilot) =>
          !serves(pilot) || isBusy(pilot) || waiting().some((job) => takes(pilot, job));
        for (const pilot of pilots)
          pilot.idleSinceS = isUsed(pilot) ? Infinity : Math.min(pilot.idleSinceS, nowS);
        const isQuiet = waiting().length === 0 && !pilots.some(isBusy);
        quietSinceS = isQuiet ? Math.min(quietSinceS, nowS) : Infinity;
        const areOthersWanted = waiting().some((job) => !pilots.some((pilot) => takes(pilot, job)));
        const leaving = pilots.filter((pilot) => {
          if (Number.isNaN(pilot.runsS)) return nowS >= quietSinceS + asks.idleS;
          if (!serves(pilot) || isBusy(pilot)) return false;
          const hasNext = pilots.some((one) => one !== pilot && !Number.isNaN(one.runsS) && !drains(one));
          return (
            nowS >= pilot.idleSinceS + asks.idleS ||
            (areOthersWanted && !isUsed(pilot)) ||
            (drains(pilot) && hasNext) ||
            nowS >= stopS(pilot)
          );
        });
        if (leaving.length > 0) {
          for (const { nodes, runsS } of leaving)
            goneNodeS += Number.isNaN(runsS) ? 0 : nodes * (nowS - runsS);
          pilots = pilots.filter((pilot) => !leaving.includes(pilot));
          mayAsk = true;
          hasChanged = true;
          continue;
        }
        const request = nextRequest(
          waiting().map((job) =>
            wish(
              job,
              pilots.some((pilot) => takes(pilot, job)),
            ),
          ),
          asks.kinds,
          pilots.map((pilot) =>
            serves(pilot)
              ? { nodes: pilot.nodes, isEnding: drains(pilot) }
              : { nodes: pilot.nodes, isEnding: false, awaited: { kind: pilot.kind, timeS: pilot.timeS } },
          ),
          boundsWith(asks.maxNodeS - goneNodeS - pilots.reduce((sum, one) => sum + one.nodes * one.timeS, 0)),
        );
        if (request === undefined || request === "exhausted") continue;
        const { kind: asked, nodes, timeS } = request;
        pilots.push({
          ...{ kind: asked.name, nodes, timeS, askedS: nowS, runsS: Number.NaN, idleSinceS: Infinity },
        });
        mayAsk = true;
        hasChanged = true;
      }
    }
  }
  return startS;
}
