/**
 * Simulates sites a second time, plainly: the rules of machine and policies over arrays of objects. It counts
 * everything again each time and looks at all processors for each event, so it is slow. `--audit` and tests
 * compare the start and end of every job; it shares no code with the machine and the policies.
 */
import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import type { SitesInstance, SitesRules, SitesSchedule } from "./contract.ts";
import type { RemainingRule } from "./simulate.ts";

/**
 * Compares a schedule with that of the naive simulation; returns how many starts and ends it has.
 * @throws RuleViolation at the first job that starts or ends at another time
 */
export function requireSameAsNaive(
  instance: SitesInstance,
  rules: SitesRules,
  schedule: SitesSchedule,
  remaining: RemainingRule = "exact",
  completions = Number.POSITIVE_INFINITY,
): number {
  const naive = naiveSites(instance, rules, remaining, completions);
  for (const what of ["startS", "endS", "split"] as const) {
    const job = naive[what].findIndex((value, i) => !Object.is(value, schedule[what][i]));
    if (job < 0) continue;
    const [found, expected] = [schedule, naive].map((one) =>
      Number.isNaN(one[what][job]) ? "none" : one[what][job],
    );
    refuse(job, `${what} is ${found}, expected ${expected}`, schedule.stopS);
  }
  for (const [site, busyS] of naive.busyS.entries())
    if (Math.abs(schedule.busyS[site] - busyS) > 1e-6 * (1 + busyS))
      refuse(-1, `site ${site} is busy for ${schedule.busyS[site]} s, expected ${busyS} s`, schedule.stopS);
  const ended = naive.endS.filter((timeS) => !Number.isNaN(timeS)).length;
  if (schedule.completed !== ended)
    refuse(-1, `${schedule.completed} jobs ended, expected ${ended}`, schedule.stopS);
  return naive.startS.filter((timeS) => !Number.isNaN(timeS)).length + ended;
}

function refuse(job: number, why: string, timeS: number): never {
  const text = `Broken rule other-schedule${job < 0 ? "" : `, job row ${job}`}: ${why}`;
  throw new RuleViolation("other-schedule", job, timeS, text);
}

interface Processor {
  readonly site: number;
  job: number | undefined;
  expectedEndS: number;
  gang: number | undefined;
  locals: number[];
}

function naiveSites(
  instance: SitesInstance,
  rules: SitesRules,
  remainingRule: RemainingRule,
  completions: number,
): Pick<SitesSchedule, "busyS"> & Record<"startS" | "endS" | "split", number[]> {
  const { sites, count, submitS, serviceS, predictedS, size, home, drawn } = instance;
  const startS: number[] = new Array(count).fill(Number.NaN);
  const endS: number[] = new Array(count).fill(Number.NaN);
  const split: number[] = new Array(count).fill(0);
  /** The job and the site of every processor that a job has had. */
  const spells: { job: number; site: number }[] = [];
  const cpus: Processor[] = sites.flatMap((site, s) =>
    Array.from({ length: site.processors }, () => ({
      site: s,
      job: undefined,
      expectedEndS: 0,
      gang: undefined,
      locals: [],
    })),
  );
  /** Jobs in service, in the order in which they started. */
  let service: { job: number; untilS: number; on: Processor[] }[] = [];
  let grid: number[] = [];
  const critical: number[] = [];
  let now = 0;

  const at = (site: number) => cpus.filter((c) => c.site === site);
  const isEmpty = (c: Processor) => c.gang === undefined && c.locals.length === 0;
  const isFree = (c: Processor) => isEmpty(c) && c.job === undefined;
  const isHeld = (c: Processor) => rules.takesHeld && c.job === undefined && c.gang !== undefined;
  /** Where a gang may start at once, free processors first. */
  const idle = (site: number) => [...at(site).filter(isFree), ...at(site).filter(isHeld)];
  const remaining = (c: Processor) => (c.job === undefined ? 0 : Math.max(0, c.expectedEndS - now));
  const claims = new Map<number, Processor[]>();
  const claimedBy = (gang: number) => claims.get(gang)!;
  const pick = <T>(choices: T[], job: number): T => choices[Math.floor(drawn[job] * choices.length)];
  const speed = (site: number) => sites[site].speed;
  const needs = (job: number, site: number) => predictedS[job] / speed(site);
  const leeway = (gang: number) => Math.max(...claimedBy(gang).map(remaining)) + rules.thresholdS;

  function run(job: number, on: Processor[]): void {
    const used = [...new Set(on.map((c) => c.site))];
    const slowest = Math.min(...used.map(speed));
    const stretch = used.length > 1 ? 1 + instance.splitOverhead : 1;
    const untilS = now + (serviceS[job] * stretch) / slowest;
    startS[job] = now;
    split[job] = used.length > 1 ? 1 : 0;
    service.push({ job, untilS, on });
    for (const c of on) {
      spells.push({ job, site: c.site });
      c.job = job;
      c.expectedEndS = remainingRule === "exact" ? untilS : now + (predictedS[job] * stretch) / slowest;
      if (c.gang === job) c.gang = undefined;
      c.locals = c.locals.filter((l) => l !== job);
    }
  }

  function wait(gang: number, on: Processor[]): void {
    claims.set(gang, on);
    for (const c of on) c.gang = gang;
  }

  function chooseSite(gang: number, counts: number[]): number | undefined {
    const suitable = counts.map((_, s) => s).filter((s) => counts[s] >= size[gang]);
    if (suitable.length === 0) return undefined;
    if (!rules.fastest) return pick(suitable, gang);
    const best = Math.max(...suitable.map(speed));
    return suitable.find((s) => speed(s) === best);
  }

  function startOnOneSite(gang: number): boolean {
    const site = chooseSite(
      gang,
      sites.map((_, s) => idle(s).length),
    );
    if (site === undefined) return false;
    run(gang, idle(site).slice(0, size[gang]));
    return true;
  }

  function toOneSite(gang: number): boolean {
    if (startOnOneSite(gang)) return true;
    const site = chooseSite(
      gang,
      sites.map((_, s) => at(s).filter(isEmpty).length),
    );
    if (site === undefined) return false;
    const here = at(site);
    const from = Math.floor(drawn[gang] * here.length);
    const busy = [...here.slice(from), ...here.slice(0, from)].filter((c) => isEmpty(c) && !isFree(c));
    wait(gang, [...here.filter(isFree), ...busy].slice(0, size[gang]));
    return true;
  }

  function startSplit(gang: number): boolean {
    const bySite = sites.map((_, s) => idle(s)).sort((a, b) => b.length - a.length);
    const all = bySite.flat();
    if (!rules.acrossSites || all.length < size[gang]) return false;
    run(gang, all.slice(0, size[gang]));
    return true;
  }

  function sendCritical(gang: number): boolean {
    if (startOnOneSite(gang) || startSplit(gang)) return true;
    let best: { whenS: number; on: Processor[] } | undefined;
    for (let s = 0; s < sites.length; s++) {
      const open = at(s).filter((c) => c.gang === undefined);
      open.sort((a, b) => remaining(a) - remaining(b));
      const last = open[size[gang] - 1];
      if (last !== undefined && (best === undefined || remaining(last) < best.whenS)) {
        best = { whenS: remaining(last), on: open.slice(0, size[gang]) };
      }
    }
    if (best !== undefined) wait(gang, best.on);
    return best !== undefined;
  }

  function searchGrid(): void {
    while (critical.length > 0 && sendCritical(critical[0])) critical.shift();
    for (let sent = true; sent && critical.length === 0 && grid.length > 0; ) {
      const order =
        rules.order === "largest" ? [...grid].sort((a, b) => size[b] - size[a] || a - b) : [grid[0]];
      const gang = order.find((g) => toOneSite(g)) ?? order.find((g) => startSplit(g));
      sent = gang !== undefined;
      grid = grid.filter((g) => g !== gang);
    }
  }

  function serve(c: Processor): void {
    if (c.job !== undefined) return;
    const { gang } = c;
    if (gang === undefined) {
      if (c.locals.length > 0) run(c.locals[0], [c]);
    } else if (claimedBy(gang).every((other) => other.job === undefined)) run(gang, claimedBy(gang));
    else if (rules.thresholdS >= 0) {
      const local = c.locals.find((l) => needs(l, c.site) <= leeway(gang));
      if (local !== undefined) run(local, [c]);
    }
  }

  function placeLocal(local: number): void {
    const here = at(home[local]);
    const free = here.filter(isFree);
    if (free.length > 0) {
      run(local, [pick(free, local)]);
      return;
    }
    const passing = here.filter(
      (c) =>
        rules.thresholdS >= 0 &&
        c.job === undefined &&
        c.gang !== undefined &&
        needs(local, c.site) <= leeway(c.gang),
    );
    if (passing.length > 0) {
      run(local, [pick(passing, local)]);
      return;
    }
    const load = (c: Processor) =>
      c.locals.length + (c.job === undefined ? 0 : 1) + (c.gang === undefined ? 0 : 1);
    const least = Math.min(...here.map(load));
    pick(
      here.filter((c) => load(c) === least),
      local,
    ).locals.push(local);
  }

  function arriveGang(gang: number): void {
    if (rules.criticalAhead && instance.critical[gang] === 1) {
      if (critical.length > 0 || !sendCritical(gang)) critical.push(gang);
      return;
    }
    const mayGo = critical.length === 0 && (rules.order === "largest" || grid.length === 0);
    if (!(mayGo && (toOneSite(gang) || startSplit(gang)))) grid.push(gang);
  }

  let ended = 0;
  let next = 0;
  while (ended < completions && (next < count || service.length > 0)) {
    now = Math.min(next < count ? submitS[next] : Number.POSITIVE_INFINITY, ...service.map((s) => s.untilS));
    const over = service.filter((s) => s.untilS === now);
    service = service.filter((s) => s.untilS !== now);
    for (const { job, on } of over) {
      endS[job] = now;
      ended++;
      for (const c of on) c.job = undefined;
    }
    const arrivals: number[] = [];
    while (next < count && submitS[next] === now) arrivals.push(next++);
    for (const { on } of over) for (const c of on) serve(c);
    if (over.length > 0) searchGrid();
    for (const job of arrivals) {
      if (home[job] < 0) arriveGang(job);
      else placeLocal(job);
    }
  }
  const busyS = sites.map(() => 0);
  for (const { job, site } of spells)
    busyS[site] += (Number.isNaN(endS[job]) ? now : endS[job]) - startS[job];
  return { startS, endS, split, busyS };
}
