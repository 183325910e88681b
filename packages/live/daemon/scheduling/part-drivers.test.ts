/** On which part of the machine a new job comes first under time sharing, against a naive account. */
import { NodeTable } from "@tutti/kernel/core/machine.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { expect, test } from "vitest";
import type { LiveDriver, LiveJob } from "./live-driver.ts";
import { PartDrivers } from "./part-drivers.ts";

const NODES = [4, 8].map((count, i) => ({
  node: `n${i}`,
  cpus: Array.from({ length: count }, (_, cpu) => cpu),
}));

/** A driver that starts what it is given at once, or never, and writes down what arrives. */
function driver(starts: boolean, arrived: number[]): LiveDriver {
  let waiting: number[] = [];
  const known: Partial<LiveDriver> = {
    canWithdraw: true,
    isFull: false,
    arrive: ({ job }) => {
      waiting.push(job);
      arrived.push(job);
    },
    withdraw: () => {},
    depart: () => {},
    decide: () => {
      const decided = starts ? waiting : [];
      waiting = [];
      return { starts: decided.map((job) => ({ job, processors: [0], rule: "" })), notes: [] } as never;
    },
  };
  return known as LiveDriver;
}

const jobOf = (job: number, size: number) => ({ job, size }) as LiveJob;

test("of 40,000 jobs, each is first on the part where its share is largest by what was offered and runs", () => {
  const random = new Random(1, "lightest");
  const arrived: [number[], number[]] = [[], []];
  const parts = NODES.map((node, i) => ({
    driver: driver(true, arrived[i]),
    nodes: new NodeTable([node]),
    running: [],
  }));
  const drivers = new PartDrivers(parts, new NodeTable(NODES), "time");
  // One that runs has one processor, as the driver gives it.
  const loads = [new Map<number, number>(), new Map<number, number>()];
  const used = [0, 0];
  const set = (at: number, job: number, size: number | undefined) => {
    used[at] += (size ?? 0) - (loads[at].get(job) ?? 0);
    if (size === undefined) loads[at].delete(job);
    else loads[at].set(job, size);
  };
  for (let job = 1; job <= 40_000; job++) {
    const size = 1 + random.below(4);
    const rows = NODES.map(({ cpus }, i) => (used[i] + size) / cpus.length);
    const best = rows[1] < rows[0] ? 1 : 0;
    drivers.offer([jobOf(job, size), jobOf(job, size)], 0);
    expect(arrived[best].at(-1), `job ${job}`).toBe(job);
    expect(arrived[1 - best].at(-1)).not.toBe(job);
    set(best, job, size);
    if (job % 20_000 !== 0) continue;
    drivers.decide(0);
    for (const [at, load] of loads.entries()) for (const one of load.keys()) set(at, one, 1);
    for (const [at, load] of loads.entries())
      for (const one of [...load.keys()].filter((gone) => gone % 3 === 0)) {
        drivers.depart(one, 0);
        set(at, one, undefined);
      }
  }
});
