/** Makes outages, stops and resources for the tests of policies, machines and checker. */
import { checkOutages, type Interruptions, type Outage } from "../core/interruptions.ts";
import type { Instance } from "../core/jobs.ts";
import { Random } from "../core/random.ts";

/** One announced outage. @param first its first processor */
export function window(
  fromS: number,
  untilS: number,
  processors: number,
  first = 0,
  announcedS = -1,
): Outage {
  return { first, processors, fromS, untilS, announcedS };
}

/** One outage that was not announced. */
export function loss(fromS: number, untilS: number, processors: number, first = 0): Outage {
  return { first, processors, fromS, untilS };
}

export function interrupted(instance: Instance, interruptions: Partial<Interruptions>): Instance {
  const { outages = [], stops = [] } = interruptions;
  checkOutages(outages, instance.processors);
  return { ...instance, interruptions: { outages, stops } };
}

/**
 * The instance with outages of all kinds and stops of every tenth job, over the time of its submits and
 * slightly longer.
 */
export function drawnInterruptions(instance: Instance, seed: number, outageCount = 30): Instance {
  const random = new Random(seed, "interruptions");
  const { processors, count, submitS } = instance;
  const spanS = 60 + Math.ceil(1.2 * (submitS[count - 1] ?? 0));
  const outages: Outage[] = [];
  for (let i = 0; i < outageCount; i++) {
    const first = random.below(processors);
    const fromS = random.below(spanS);
    const drawn = {
      first,
      processors:
        1 + random.below(random.uniform() < 0.3 ? processors - first : Math.min(3, processors - first)),
      fromS,
      untilS: fromS + 1 + random.below(Math.ceil(spanS / 5)),
      ...(random.uniform() < 0.6 && {
        announcedS: random.uniform() < 0.5 ? -1 : Math.floor(fromS * random.uniform()),
      }),
    };
    try {
      checkOutages([...outages, drawn], processors);
      outages.push(drawn);
    } catch {
      // It would overlap with another outage.
    }
  }
  const stops = Array.from({ length: Math.floor(count / 10) }, () => {
    const job = random.below(count);
    const fromS = Math.floor(submitS[job]) + random.below(60);
    return { job, fromS, untilS: fromS + 1 + random.below(100) };
  });
  return interrupted(instance, { outages, stops });
}

/** The instance on a machine with GPUs and a license, which half of the jobs need. */
export function drawnResources(instance: Instance, seed: number): Instance {
  const random = new Random(seed, "resources");
  const gpus = 1 + Math.floor(instance.processors / 4);
  const needs = (most: number) =>
    instance.size.map(() => (random.below(2) === 0 ? 0 : random.below(most + 1)));
  return {
    ...instance,
    resources: [
      { name: "gpu", amount: gpus },
      { name: "licence", amount: 3 },
    ],
    demand: [needs(gpus), needs(3)],
  };
}

/** The instance with moldable jobs; every third job can run only on its own size. */
export function drawnMolding(instance: Instance, seed: number): Instance {
  const random = new Random(seed, "molding");
  const { size, processors } = instance;
  const isFixed = size.map((_, job) => (job % 3 === 0 ? 1 : 0));
  return {
    ...instance,
    molding: {
      minSize: size.map((own, job) => (isFixed[job] ? own : 1 + random.below(own))),
      maxSize: size.map((own, job) => (isFixed[job] ? own : own + random.below(processors - own + 1))),
      serialShare: Float64Array.from(size, () => random.uniform()),
    },
  };
}

/** Kinds of what reaches jobs from outside, besides outages and stops. */
export const EVENT_KINDS = ["drains", "holds", "edits", "pauses", "limits"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** The instance with events of these kinds at random instants, some of them within a slot of one second. */
export function drawnEvents(instance: Instance, seed: number, kinds: readonly EventKind[]): Instance {
  const random = new Random(seed, "events");
  const { processors, count, submitS, interruptions, workload } = instance;
  const spanS = 60 + (submitS[count - 1] ?? 0);
  const atS = () => random.below(4 * spanS) / 4;
  const some = <One>(kind: EventKind, many: number, make: (job: number, fromS: number) => One): One[] =>
    Array.from({ length: kinds.includes(kind) ? many : 0 }, () => {
      const job = random.below(count);
      // Jobs wait soon after their submit, if ever.
      return make(job, random.below(2) === 0 ? atS() : submitS[job] + random.below(40) / 4);
    });
  const withdrawals = [
    ...some("holds", count / 3, (job, fromS) => ({ job, fromS, untilS: fromS + random.below(200) / 4 })),
    ...some("edits", count / 3, (job, fromS) => ({
      job,
      fromS,
      untilS: fromS,
      change: { size: 1 + random.below(processors), estimateS: instance.runS[job] + random.below(60) },
    })),
  ];
  const drains = some("drains", 1, () => 0).flatMap(() =>
    [0.2, 0.5, 0.8].map((share) => ({ fromS: share * spanS, untilS: (share + 0.1) * spanS })),
  );
  const pause = (job: number, fromS: number) => ({ job, fromS, untilS: fromS + (1 + random.below(200)) / 4 });
  const freezes = [...some("pauses", count / 2, pause), ...some("pauses", count / 10, pause)];
  const events = { outages: [], stops: [], ...interruptions };
  const made = { ...instance, interruptions: { ...events, withdrawals, drains, freezes } };
  if (!kinds.includes("limits")) return made;
  const notes = Array.from({ length: count }, (_, i) => ({
    user: `u${i % 5}`,
    queue: i % 3 ? "day" : "night",
  }));
  const limits = {
    runningJobs: 3,
    groups: { lab: { runningCpus: processors + 4, users: ["u1", "u2"] } },
    queues: { night: { runningJobs: 2 } },
  };
  return { ...made, workload: { ...workload, notes, limits } };
}
