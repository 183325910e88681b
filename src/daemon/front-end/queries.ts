/** Answers users' questions about the state without changing it. */
import type { Job } from "../../protocol/schema.ts";
import { isEnded, JOB_STATES, type JobState } from "../../protocol/states.ts";
import { infoOf, type JobRecord, shownCpus } from "../contract/record.ts";
import type { Caller, Matrix, Status } from "../contract/service.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

export class Queries {
  readonly #context: FrontEndParts;
  readonly #dispatcher: Dispatcher;

  constructor(context: FrontEndParts, dispatcher: Dispatcher) {
    this.#context = context;
    this.#dispatcher = dispatcher;
  }

  info(record: JobRecord): Job {
    const { book, scheduler, clock } = this.#context;
    const ranMs = isEnded(record.state) ? record.ranMs : scheduler.ranMs(record.job, clock.nowMs());
    const waitsFor = record.state === "queued" ? book.waitsFor(record) : [];
    const reason =
      waitsFor.length > 0
        ? `waits for job ${waitsFor.join(", ")}`
        : book.waitsForArray(record)
          ? `at most ${record.arrayLimit} jobs of array ${record.array} run at a time`
          : record.reason;
    return infoOf(record, ranMs, reason);
  }

  matrix(): Matrix {
    const { scheduler, config, book } = this.#context;
    const { nodes: table } = scheduler.options;
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
        placements.map(({ job, processors }) => ({
          job,
          // The job has ended, but the matrix without it is not in force yet.
          name: book.live(job)?.name ?? "(ended)",
          ...shownCpus(table.cpusAt(processors)),
        })),
      ),
    };
  }

  queues() {
    const { book, config, scheduler } = this.#context;
    const counts = new Map<string, { queued: number; running: number }>();
    for (const { queue, state } of book.all()) {
      const count = counts.get(queue) ?? { queued: 0, running: 0 };
      if (state === "queued" || state === "held") count.queued++;
      else count.running++;
      counts.set(queue, count);
    }
    return config.queues.map(({ queueClass: { name, processors, elapsedBelowS } }) => ({
      name,
      queued: counts.get(name)?.queued ?? 0,
      running: counts.get(name)?.running ?? 0,
      mostCpus: Math.min(processors, scheduler.options.nodes.processors),
      ...(elapsedBelowS !== undefined && { limitMs: elapsedBelowS * 1000 }),
    }));
  }

  status(
    caller: Caller,
    startedAtMs: number,
    trouble: string | undefined,
    forecasts: Status["forecasts"] | undefined,
  ) {
    const { scheduler, store } = this.#context;
    const keptSinceMs = store.kept.sinceMs(caller.isAdministrator ? undefined : caller.uid);
    const placements = scheduler.layout().rows.flat();
    return {
      startedAtMs,
      cpus: scheduler.options.nodes.processors,
      busyCpus: new Set(placements.flatMap(({ processors }) => processors)).size,
      counts: this.#counts(caller),
      conductor: this.#dispatcher.health.status(),
      ...(trouble !== undefined && { trouble }),
      ...(keptSinceMs !== undefined && { keptSinceMs: Math.ceil(keptSinceMs) }),
      ...(forecasts !== undefined && { forecasts }),
      residentBytes: process.memoryUsage.rss(),
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
