/** Several sites under one grid scheduler (Dimitriadou and Karatza 2009). */
import { ModelError } from "@tutti/kernel/core/errors.ts";
import { choice, integer, list, number, numbersIn } from "@tutti/kernel/core/parameters.ts";
import type { ParameterSpec, ParameterValues, PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import { type Measure, measure, type Wing, type WingRun } from "../wing.ts";
import type { SitesInstance, SitesPolicyDefinition } from "./contract.ts";
import { type SitesJobNumbers, type SitesNumbers, summariseSites } from "./metrics.ts";
import { requireSameAsNaive } from "./naive.ts";
import { acrossSites, oneSite } from "./policies.ts";
import { type RemainingRule, SITES_RULES, simulateSites } from "./simulate.ts";
import { generateSites, UNIFORM_GANGS, withPredictionError } from "./workload.ts";

const PARAMETERS: readonly ParameterSpec[] = [
  list("sizes", "integer", { min: 1, max: 65_536, default: "16,16" }, "processors of each site"),
  list(
    "speeds",
    "number",
    { min: 0.001, max: 1000, default: "1" },
    "seconds of service that a processor of each site gives per second; a single number applies to all sites",
  ),
  number(
    "load",
    { min: 0.001, max: 100, default: 0.9 },
    "offered load: work that arrives per second ÷ what all processors can do per second",
  ),
  number(
    "gangShare",
    { min: 0, max: 1, default: 0.13 },
    "share of the load that comes from gangs; the rest comes from local jobs, at each site in proportion to its processors × speed",
  ),
  list(
    "gangs",
    "integer",
    { min: 1, max: 65_536, default: UNIFORM_GANGS.join(",") },
    "sizes of gangs, equally likely",
  ),
  number(
    "service",
    { min: 0.001, max: 1e6, default: 1, unit: "s" },
    "mean service time of a local job, and of a gang's task, at speed 1",
  ),
  number(
    "overhead",
    { min: 0, max: 10, default: 0.1 },
    "how much longer a gang on several sites takes, as a share of its service time",
  ),
  number("critical", { min: 0, max: 1, default: 0 }, "share of the gangs that are critical"),
  number(
    "error",
    { min: 0, max: 100, default: 0, unit: "%" },
    "largest error of a predicted service time (E)",
  ),
  choice(
    "remaining",
    ["exact", "predicted"],
    "how processors report the time that the job in service still needs",
  ),
  integer(
    "jobs",
    { min: 1, max: 10_000_000, default: 20_000 },
    "number of local jobs and gangs; all run to their end",
  ),
];

const WORKLOAD_RULES = [
  "workload: local jobs arrive at each site and gangs at the grid scheduler, each as a Poisson stream, with exponential service times",
  "bounded slowdown: a service time below a tenth of the mean counts as a tenth of the mean",
];

export const sites: Wing<SitesPolicyDefinition> = {
  name: "sites",
  title: "Several sites",
  summary: "Local jobs at each of several sites, and gangs that a grid scheduler sends to them.",
  machine: "processors with one queue each, grouped into sites under one grid scheduler",
  rules: [...WORKLOAD_RULES, ...SITES_RULES],
  source: "Dimitriadou and Karatza 2009, sections II and III",
  parameters: PARAMETERS,
  policies: [oneSite, acrossSites],
  simulate: simulateWing,
};

function simulateWing(
  parameters: ParameterValues,
  { definition, parameters: ofPolicy }: PolicyChoice<SitesPolicyDefinition>,
  seed: number,
  isAudited: boolean,
): WingRun {
  const instance = instanceOf(parameters, seed);
  const remaining = parameters.remaining as RemainingRule;
  const schedule = simulateSites(instance, definition, ofPolicy, { remaining });
  const compared = isAudited
    ? requireSameAsNaive(instance, definition.guarantees(ofPolicy), schedule, remaining)
    : undefined;
  const { submitS, serviceS, predictedS, size, home } = instance;
  return {
    jobs: instance.count,
    processors: instance.sites.reduce((sum, site) => sum + site.processors, 0),
    workloadHash: hashColumns(submitS, serviceS, predictedS, size, home),
    scheduleHash: hashColumns(schedule.startS, schedule.endS),
    left: instance.count - schedule.completed,
    measures: measuresOf(
      summariseSites(instance, schedule, Number(parameters.service) / 10),
      parameters.critical !== 0,
    ),
    checked: compared === undefined ? undefined : `${compared} starts and ends`,
  };
}

/** The jobs that the parameters describe. */
export function instanceOf(parameters: ParameterValues, seed: number): SitesInstance {
  const sizes = numbersIn(parameters.sizes);
  const speeds = numbersIn(parameters.speeds);
  if (speeds.length !== 1 && speeds.length !== sizes.length) {
    throw new ModelError(
      `Cannot use speeds=${parameters.speeds} with sizes=${parameters.sizes}: expected ${sizes.length} speeds, or one for all`,
    );
  }
  const list = sizes.map((processors, i) => ({ processors, speed: speeds[i] ?? speeds[0] }));
  const processors = sizes.reduce((sum, size) => sum + size, 0);
  const gangSizes = numbersIn(parameters.gangs);
  if (Math.max(...gangSizes) > processors) {
    throw new ModelError(
      `Cannot use gangs=${parameters.gangs} with sizes=${parameters.sizes}: expected gangs of at most ${processors} tasks, all processors together`,
    );
  }
  const [load, gangShare, serviceS] = [parameters.load, parameters.gangShare, parameters.service].map(Number);
  const perSecond = list.map((site) => site.processors * site.speed);
  const capacity = perSecond.reduce((sum, work) => sum + work, 0);
  const gangWorkS = (serviceS * gangSizes.reduce((sum, size) => sum + size, 0)) / gangSizes.length;
  const jobs = generateSites({
    sites: list,
    localEveryS: perSecond.map((work) => serviceS / (load * (1 - gangShare) * work)),
    gangEveryS: gangWorkS / (load * gangShare * capacity),
    gangSizes,
    serviceS,
    splitOverhead: Number(parameters.overhead),
    criticalShare: Number(parameters.critical),
    count: Number(parameters.jobs),
    seed,
    replication: 0,
  });
  return withPredictionError(jobs, Number(parameters.error));
}

function measuresOf(numbers: SitesNumbers, hasCritical: boolean): Measure[] {
  const { locals, gangs, critical, utilisation, siteUtilisation, gangsSplit, localsBackfilled } = numbers;
  return [
    ...measuresOfKind("local", "local jobs", locals, false),
    ...measuresOfKind("gang", "gangs", gangs, true),
    ...(hasCritical ? measuresOfKind("critical", "critical gangs", critical, true) : []),
    measure("gangs-split", "gangs split over sites", "share", gangsSplit),
    measure("local-backfilled", "local jobs backfilled", "share", localsBackfilled),
    measure("utilisation", "utilisation", "share", utilisation, true),
    ...siteUtilisation.map((value, site) =>
      measure(`utilisation-${site}`, `utilisation of site ${site}`, "share", value),
    ),
  ];
}

/** A local job has one task, so weights do not change its means. */
function measuresOfKind(name: string, title: string, of: SitesJobNumbers, isWeighted: boolean): Measure[] {
  const ofKind = (word: string, text: string, unit: Measure["unit"], value: number, isCompared = false) =>
    measure(`${name}-${word}`, `${title}: ${text}`, unit, value, isCompared);
  const measures = [
    ofKind("ended", "ended", "1", of.ended),
    ofKind("response", "mean response", "s", of.responseS, true),
    ofKind("median-response", "median response", "s", of.medianResponseS),
    ofKind("bounded-slowdown", "bounded slowdown", "1", of.boundedSlowdown, true),
    ofKind("median-slowdown", "median slowdown", "1", of.medianSlowdown),
  ];
  if (!isWeighted) return measures;
  return [
    ...measures,
    ofKind("weighted-response", "mean response, by size", "s", of.weightedResponseS),
    ofKind("weighted-slowdown", "bounded slowdown, by size", "1", of.weightedBoundedSlowdown),
  ];
}
