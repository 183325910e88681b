/** Answers users' questions about the state without changing it. */

import { plural } from "@tutti/kernel/core/format.ts";
import { rulesInForce, setNumber } from "@tutti/kernel/core/policy.ts";
import { tasksText } from "@tutti/protocol/job-size.ts";
import { GPU, ofKind } from "@tutti/protocol/resources.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { hasProcess, isEnded, JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import { limitsOf } from "../book/job-limits.ts";
import { hookCount } from "../contract/job-news.ts";
import { infoOf, type JobRecord, shownCpus } from "../contract/record.ts";
import type { Caller, Matrix, Status } from "../contract/service.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { freeUnits } from "../scheduling/units.ts";
import type { WindowKeeper } from "../windows.ts";
import { isStopped, ranMsOf } from "./pending-reason.ts";

/** A clock whose offset is known less exactly than this share of a slot is reported. */
const UNCERTAIN_SHARE = 0.1;

export class Queries {
  readonly #context: FrontEndParts;
  readonly #dispatcher: Dispatcher;
  readonly #windows: WindowKeeper;

  constructor(context: FrontEndParts, dispatcher: Dispatcher, windows: WindowKeeper) {
    this.#context = context;
    this.#dispatcher = dispatcher;
    this.#windows = windows;
  }

  info(record: JobRecord): Job {
    const { book } = this.#context;
    const waitsFor = record.state === "queued" ? book.waitsFor(record) : [];
    const reason =
      waitsFor.length > 0
        ? `waits for job ${waitsFor.join(", ")}`
        : book.waitsForArray(record)
          ? `at most ${record.arrayLimit} jobs of array ${record.array} run at a time`
          : (this.#limitReason(record) ??
            this.#machineReason(record) ??
            this.#standstill(record) ??
            record.reason);
    const info = infoOf(record, ranMsOf(record, this.#context), reason);
    const hasGpus = hasProcess(record.state) && ofKind(record.units, GPU) !== undefined;
    const usage = hasGpus ? this.#dispatcher.gpus.useOf(record.job) : undefined;
    const more = usage === undefined ? info : { ...info, usage };
    return hookCount(record) > 0 ? { ...more, news: [...this.#context.news.outcomesOf(record)] } : more;
  }

  #limitReason(record: JobRecord): string | undefined {
    const { book, shares } = this.#context;
    const quota = record.state === "queued" ? shares.quotas.reachedBy(record)[0] : undefined;
    if (quota !== undefined) return `waits for the quota of CPU time of ${quota.of} ${quota.name}`;
    const waits = book.waitsForLimit(record) ? book.limits.waitsFor(record) : undefined;
    if (waits === undefined) return undefined;
    const { of, name } = waits.limit;
    return `waits for a limit on the jobs ${of === "queue" ? "in" : "of"} ${of} ${name}`;
  }

  /** Why a job that has started does not run, although it is not paused. */
  #standstill(record: JobRecord): string | undefined {
    const { executor, scheduler } = this.#context;
    const hindrance = hasProcess(record.state) ? executor.hindrance?.(record) : undefined;
    if (hindrance?.kind === "nodes") return hindrance.message;
    // Without an executor, no job has a place.
    const isKnown = this.#dispatcher.health.trouble === undefined;
    return isKnown && isStopped(record, scheduler) ? "stopped: no room now" : undefined;
  }

  /** Why the machine as it is now keeps the job waiting, whatever the policy is. */
  #machineReason(record: JobRecord): string | undefined {
    const { scheduler, clock } = this.#context;
    const obstacle = record.state === "queued" ? scheduler.obstacle(record, clock.nowMs()) : undefined;
    switch (obstacle?.kind) {
      case "capacity":
        return `waits for ${plural(obstacle.needed, "CPU")}; ${this.#presentText(obstacle)}`;
      case "capacity-threads":
        return `waits for nodes for ${tasksText(obstacle)}; there is room for ${obstacle.present} of them now`;
      case "capacity-memory":
        return `waits for more memory than ${obstacle.parts === undefined ? "the nodes have for it" : "a pilot has"} now`;
      case "capacity-units": {
        const { resource, needed, present, configured } = obstacle;
        return configured < needed
          ? `cannot start: needs ${needed} ${resource}, and the configuration names ${configured}`
          : `waits for ${needed} ${resource}; jobs that are stopped leave ${present}`;
      }
      case "capacity-time":
        return "cannot start: its time limit is longer than any CPUs are there";
      case "never":
        return `cannot start: ${obstacle.message}`;
      case "drain":
        return "waits for the next CPUs, because it might not end before these are taken away";
      case "drained":
        return `nothing starts: the scheduler is drained${obstacle.reason === undefined ? "" : ` (${obstacle.reason})`}`;
      case "window":
        return obstacle.leftMs === undefined
          ? `nothing but what it names starts in window ${obstacle.name}`
          : `might still run when window ${obstacle.name} begins`;
      case "handover":
        return `waits until job ${obstacle.jobs.join(", ")} has ended, so that the policy can take over`;
      default:
        return undefined;
    }
  }

  /** How many CPUs a job can have now, or what is on its way. */
  #presentText({ present, parts }: { readonly present: number; readonly parts?: number }): string {
    const coming = present === 0 ? this.#context.executor.nodeSource?.coming : undefined;
    if (coming !== undefined) return coming;
    return `${parts === undefined ? "the scheduler" : "the largest pilot"} has ${present} now`;
  }

  matrix(): Matrix {
    const { scheduler, config, book } = this.#context;
    const { nodes: table } = scheduler.machine;
    const { rows, slot } = scheduler.layout();
    return {
      sequence: this.#dispatcher.matrix.sequence,
      policy: scheduler.choice.label,
      sharing: scheduler.sharing,
      slotMs: config.slotMs,
      mode: config.mode,
      cpus: table.nodes.flatMap(({ cpus }) => cpus),
      nodes: table.nodes,
      // It is the first row's turn in `slot`.
      epochMs: scheduler.epochMs + slot * config.slotMs,
      rows: rows.map((placements) =>
        placements
          .filter(({ job }) => book.live(job)?.state !== "paused")
          .map(({ job, processors }) => ({
            job,
            // The job has ended, but the matrix without it is not in force yet.
            name: book.live(job)?.name ?? "(ended)",
            ...shownCpus(table.cpusAt(processors)),
          })),
      ),
    };
  }

  policy() {
    const { scheduler, config } = this.#context;
    const { definition, label } = scheduler.choice;
    const { parameters } = scheduler;
    const rows = setNumber(parameters.rows) ?? config.maxRows;
    const { own, inherited } = rulesInForce(definition.rules, { ...parameters, rows });
    const mostRows = definition.sharing === "space" ? 1 : config.maxRows;
    return { policy: label, rules: [...own, ...inherited], ownRules: own.length, mostRows };
  }

  queues(caller?: Caller) {
    const { book, config, scheduler, shares } = this.#context;
    const counts = new Map<string, { queued: number; running: number }>();
    for (const { queue, state } of book.all()) {
      const count = counts.get(queue) ?? { queued: 0, running: 0 };
      if (state === "queued" || state === "held") count.queued++;
      else count.running++;
      counts.set(queue, count);
    }
    const queues = config.queues.map(
      ({ queueClass: { name, processors, elapsedBelowS }, aliases, limits }) => ({
        name,
        aliases,
        queued: counts.get(name)?.queued ?? 0,
        running: counts.get(name)?.running ?? 0,
        mostCpus: Math.min(processors, scheduler.machine.mostProcessors),
        ...(elapsedBelowS !== undefined && { limitMs: elapsedBelowS * 1000 }),
        limits,
      }),
    );
    const usedCpuMs = ({ user }: Caller): number => {
      shares.update();
      return shares.usedCpuMs(user);
    };
    const yours =
      caller === undefined ? [] : limitsOf(caller, book.limits, book.all(), () => usedCpuMs(caller));
    return { queues, ...(yours.length > 0 && { yours }) };
  }

  status(
    caller: Caller,
    startedAtMs: number,
    trouble: string | undefined,
    forecasts: Status["forecasts"] | undefined,
  ) {
    const { scheduler, store, executor, news } = this.#context;
    const { features } = this.#context.config;
    const keptSinceMs = store.kept.sinceMs(caller.isAdministrator ? undefined : caller.uid);
    const placements = scheduler.layout().rows.flat();
    const windows = this.#windows.first();
    const gpus = this.#dispatcher.gpus.now();
    const { own } = scheduler.machine.capacity;
    const hasCpu = (place: number) => scheduler.machine.nodes.processorAt(place) !== undefined;
    return {
      startedAtMs,
      cpus: scheduler.machine.processors,
      busyCpus: new Set(placements.flatMap(({ processors }) => processors).filter(hasCpu)).size,
      counts: this.#counts(caller),
      conductor: this.#dispatcher.health.status(),
      ...(own !== undefined && {
        machine: { sockets: own.sockets, cores: own.cores, unusedCpus: [...own.unused] },
      }),
      ...(this.#resources() ?? {}),
      ...(features.length > 0 && { features }),
      ...(gpus.length > 0 && { gpus }),
      ...(this.#nodes() ?? {}),
      ...(executor.nodeSource?.bill && { bill: executor.nodeSource.bill }),
      ...(executor.capabilities.tasksRunEach && { tasksRunEach: true as const }),
      ...(executor.capabilities.takesInput && { takesInput: true as const }),
      ...(news.sendsMail && { sendsMail: true as const }),
      trouble,
      drain: scheduler.machine.drain,
      ...(windows.length > 0 && { windows }),
      ...(keptSinceMs !== undefined && { keptSinceMs: Math.ceil(keptSinceMs) }),
      forecasts,
      residentBytes: process.memoryUsage.rss(),
    };
  }

  #resources(): Pick<Status, "resources"> | undefined {
    const { scheduler, book } = this.#context;
    const present = scheduler.machine.resources.filter(({ units }) => units.length > 0);
    if (present.length === 0) return undefined;
    const holders = [...book.withProcess()];
    return {
      resources: present.map((resource) => ({
        name: resource.name,
        units: [...resource.units],
        held: resource.units.length - freeUnits(resource, holders).length,
        ...(resource.isShared && { shared: true as const }),
        ...(resource.isPerNode && { perNode: true as const }),
      })),
    };
  }

  /** The nodes of a cluster, in the order of the matrix, lost ones last. */
  #nodes(): Pick<Status, "nodes"> | undefined {
    const { scheduler, config, executor } = this.#context;
    const { health } = this.#dispatcher.nodes;
    if (!executor.capabilities.hasNodes) return undefined;
    const present = scheduler.machine.nodes.nodes;
    const known = new Map(health.map((entry) => [entry.node, entry]));
    const names = new Set([...present.map(({ node }) => node), ...known.keys()]);
    const awaited = (executor.nodeSource?.awaited ?? []).map(
      (node) => ({ node, state: "silent", cpus: 0, isAwaited: true }) as const,
    );
    return {
      nodes: [
        ...[...names].map((node) => {
          const entry = known.get(node) ?? { node, state: "up" as const };
          const isUncertain = (entry.uncertaintyMs ?? 0) > UNCERTAIN_SHARE * config.slotMs;
          return {
            ...entry,
            cpus: present.find((other) => other.node === node)?.cpus.length ?? 0,
            ...(isUncertain && { isUncertain }),
          };
        }),
        ...awaited,
      ],
    };
  }

  /** All users may see how long the queue is, but not how jobs of other users ended. */
  #counts(caller: Caller): Readonly<Record<JobState, number>> {
    const { book } = this.#context;
    const counts = { ...book.counts };
    if (caller.isAdministrator) return counts;
    for (const state of JOB_STATES) {
      if (isEnded(state)) counts[state] = book.ended.inState(caller.uid, state);
    }
    return counts;
  }
}
