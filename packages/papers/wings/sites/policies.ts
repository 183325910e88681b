/**
 * The two-level schedulers of Dimitriadou and Karatza 2009 ("Job scheduling in a distributed system using
 * backfilling with inaccurate runtime computations"): a grid scheduler that sends gangs to sites, and local
 * schedulers that send local jobs to queues. A scheduler is a dispatch rule × an order of the grid's queue ×
 * a backfilling rule; the paper's two approaches differ only in the dispatch rule. Several sites of any
 * sizes, site choice by speed, and critical gangs are extensions.
 */
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import { NO_JOB } from "@tutti/kernel/core/jobs.ts";
import { choice, number } from "@tutti/kernel/core/parameters.ts";
import {
  type Condition,
  type ParameterSpec,
  type ParameterValues,
  type Policy,
  type Rule,
  when,
} from "@tutti/kernel/core/policy.ts";
import type {
  ProcessorId,
  SitesJobsView,
  SitesMachine,
  SitesPolicyDefinition,
  SitesRules,
} from "./contract.ts";
import { GRID, NO_PROCESSOR } from "./contract.ts";
import { GangDispatch, GangQueue } from "./gangs.ts";
import { LocalScheduler } from "./locals.ts";

class TwoLevelScheduler implements Policy {
  readonly #machine: SitesMachine;
  readonly #jobs: SitesJobsView;
  readonly #dispatch: GangDispatch;
  readonly #locals: LocalScheduler;
  readonly #queue: GangQueue;
  /** Critical gangs that found no room, oldest first; undefined if they are treated like others. */
  readonly #critical: JobIndex[] | undefined;
  readonly #largestFirst: boolean;
  readonly #freed: ProcessorId[] = [];

  constructor(machine: SitesMachine, jobs: SitesJobsView, acrossSites: boolean, parameters: ParameterValues) {
    this.#machine = machine;
    this.#jobs = jobs;
    this.#dispatch = new GangDispatch(machine, jobs, acrossSites, parameters);
    this.#locals = new LocalScheduler(machine, jobs, thresholdOf(parameters));
    let largest = 1;
    for (let job = 0; job < jobs.count; job++) if (jobs.size[job] > largest) largest = jobs.size[job];
    this.#queue = new GangQueue(jobs, largest);
    this.#critical = parameters.critical === "ahead" ? [] : undefined;
    this.#largestFirst = parameters.order === "largest";
  }

  depart(job: JobIndex): void {
    const machine = this.#machine;
    for (let p = machine.firstProcessor[job]; p !== NO_PROCESSOR; p = machine.nextProcessor[p]) {
      this.#freed.push(p);
    }
  }

  decide(arrived: readonly JobIndex[]): void {
    const freed = this.#freed;
    if (freed.length > 0) {
      for (let i = 0; i < freed.length; i++) {
        // A gang that waited for several of the freed processors has started on all of them.
        if (this.#machine.running[freed[i]] === NO_JOB) this.#locals.serve(freed[i]);
      }
      freed.length = 0;
      this.#searchQueue();
    }
    for (const job of arrived) {
      if (this.#jobs.home[job] === GRID) this.#arriveGang(job);
      else this.#locals.place(job);
    }
  }

  #arriveGang(gang: JobIndex): void {
    const critical = this.#critical;
    if (critical !== undefined && this.#jobs.critical[gang] === 1) {
      if (critical.length > 0 || !this.#dispatch.critical(gang)) critical.push(gang);
      return;
    }
    const mayGo =
      (critical === undefined || critical.length === 0) && (this.#largestFirst || this.#queue.length === 0);
    if (mayGo && (this.#dispatch.toOneSite(gang) || this.#dispatch.acrossSites(gang))) return;
    this.#queue.add(gang);
  }

  #searchQueue(): void {
    const critical = this.#critical;
    if (critical !== undefined) {
      while (critical.length > 0 && this.#dispatch.critical(critical[0])) critical.shift();
      if (critical.length > 0) return;
    }
    if (this.#queue.length === 0) return;
    if (this.#largestFirst) while (this.#sendLargest());
    else while (this.#sendOldest());
  }

  /** Steps 1 and 2 of the queuing discipline, once; false if no gang could be sent. */
  #sendLargest(): boolean {
    const queue = this.#queue;
    const dispatch = this.#dispatch;
    let gang = queue.largest(dispatch.largestForOneSite());
    if (gang !== NO_JOB) {
      queue.removeFirst(gang);
      return dispatch.toOneSite(gang);
    }
    gang = queue.largest(dispatch.largestAcrossSites());
    if (gang === NO_JOB) return false;
    queue.removeFirst(gang);
    return dispatch.acrossSites(gang);
  }

  #sendOldest(): boolean {
    const gang = this.#queue.oldest();
    if (gang === NO_JOB || !(this.#dispatch.toOneSite(gang) || this.#dispatch.acrossSites(gang)))
      return false;
    this.#queue.removeFirst(gang);
    return true;
  }
}

const PARAMETERS: readonly ParameterSpec[] = [
  choice(
    "order",
    ["largest", "oldest"],
    "which gang of the grid's queue goes first: the largest gang that finds room (as in the paper), or strictly the oldest",
  ),
  choice(
    "backfill",
    ["threshold", "none"],
    "whether local jobs may pass a waiting gang that they do not delay by more than the threshold",
  ),
  number(
    "threshold",
    { min: 0, max: 1e9, default: 0, unit: "s" },
    "longest time by which a local job that passes a gang may delay it (T)",
  ),
  choice(
    "idle",
    ["free", "held"],
    "on which idle processors a gang may start at once: only those for which no job waits (free), or also those for which another gang waits (held)",
  ),
  choice(
    "site",
    ["lot", "fastest"],
    "which of several suitable sites a gang gets: one at random (as in the paper), or the fastest (extension)",
  ),
  choice(
    "critical",
    ["ordinary", "ahead"],
    "critical gangs are treated like other gangs, or go ahead of all other gangs and of waiting local jobs (extension)",
  ),
];

function withValue(parameter: string, value: string): Condition {
  return (parameters) => parameters[parameter] === value;
}

const RULES_ONE_SITE: readonly (Rule | string)[] = [
  "an arriving gang starts at once on a site with enough idle processors",
  ...when(withValue("site", "lot"), ["site=lot: one of several such sites is drawn at random"]),
  ...when(withValue("site", "fastest"), ["site=fastest: the fastest of several such sites is taken"]),
  "otherwise, if a site has enough empty queues, each task joins one of them, those of idle processors first, and the gang starts when all of these processors are idle",
];
const RULE_ACROSS_SITES =
  "otherwise, if the idle processors of several sites together suffice, it starts on them at once, first on the site with the most idle processors; its service time grows by the overhead";
const RULES_COMMON: readonly (Rule | string)[] = [
  "otherwise it waits at the grid scheduler",
  ...when(withValue("order", "largest"), [
    "order=largest: after each departure the grid scheduler sends gangs as long as it can: the largest gang that finds room on one site, and among equals the oldest; if no gang does and gangs may be split, the largest gang that fits on the idle processors of all sites",
  ]),
  ...when(withValue("order", "oldest"), [
    "order=oldest: after each departure the grid scheduler sends gangs as long as it can, strictly in order of arrival; no gang passes an older one, not even when it has just arrived",
  ]),
  "a local job starts at once on a free processor of its site (idle, with an empty queue), drawn at random if there are several; otherwise it joins the queue with the fewest jobs, drawn at random among equals; the job in service counts as one job, and so does a waiting gang",
  ...when(withValue("backfill", "threshold"), [
    "backfill=threshold: queues are served in order, but a local job passes a waiting gang on an idle processor if its predicted service time is at most the time until the gang can start plus the threshold; the first job in the queue that is short enough passes",
    "backfill=threshold: an arriving local job that finds no free processor passes a waiting gang in the same way before it joins a queue",
    "the time until a gang can start is the longest remaining time of the jobs on its processors",
  ]),
  ...when(withValue("backfill", "none"), ["backfill=none: queues are served strictly in order"]),
  ...when(withValue("idle", "held"), [
    "idle=held: an idle processor for which another gang waits counts as idle, too, and is taken last",
  ]),
  ...when(withValue("critical", "ahead"), [
    "critical=ahead: a critical gang starts at once if it can; otherwise it waits, ahead of local jobs, for those processors of one site that become idle soonest and for which no other gang waits; until it finds such a site, no other gang is sent",
  ]),
];

export const oneSite = twoLevel({
  name: "sites-one",
  title: "Gangs on one site",
  acrossSites: false,
  summary:
    "Gangs wait for one site with enough empty queues; local jobs join the shortest queue and may pass waiting gangs.",
  rules: [...RULES_ONE_SITE, ...RULES_COMMON],
  source: "Dimitriadou and Karatza 2009, section III, approach 1",
});

export const acrossSites = twoLevel({
  name: "sites-across",
  title: "Gangs across sites",
  acrossSites: true,
  summary:
    "Like sites-one, but a gang may also start at once on the idle processors of several sites, at the cost of an overhead.",
  rules: [...RULES_ONE_SITE, RULE_ACROSS_SITES, ...RULES_COMMON],
  source: "Dimitriadou and Karatza 2009, section III, approach 2",
});

function twoLevel(
  description: Pick<SitesPolicyDefinition, "name" | "title" | "summary" | "rules" | "source"> & {
    readonly acrossSites: boolean;
  },
): SitesPolicyDefinition {
  const { acrossSites, ...words } = description;
  return {
    ...words,
    parameters: PARAMETERS,
    guarantees: (parameters): SitesRules => ({
      acrossSites,
      order: parameters.order as SitesRules["order"],
      thresholdS: thresholdOf(parameters),
      fastest: parameters.site === "fastest",
      takesHeld: parameters.idle === "held",
      criticalAhead: parameters.critical === "ahead",
    }),
    make: (machine, jobs, parameters) => new TwoLevelScheduler(machine, jobs, acrossSites, parameters),
  };
}

function thresholdOf(parameters: ParameterValues): number {
  return parameters.backfill === "none" ? -1 : Number(parameters.threshold);
}
