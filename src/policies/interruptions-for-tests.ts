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
