/**
 * Tests policies that can withdraw a waiting job: they continue when a job is cancelled, held or given
 * another priority, while other policies are rebuilt. The jobs start at the same times either way.
 */

import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

const FILE = "/etc/tutti/mine.ts";
const JOBS = 40;

/** A day of jobs that are submitted and changed: their starts, and the reasons of adoptions. */
async function story({ definition, parameters }: PolicyChoice, capabilities: boolean, seed: number) {
  const random = new Random(seed, "story");
  const own = {
    ...definition,
    name: FILE,
    parameters: definition.parameters.map((spec) => ({ ...spec, default: parameters[spec.name] })),
    capabilities: capabilities ? definition.capabilities : undefined,
  } as PolicyDefinition;
  const bench = makeBench({
    cpus: 8,
    config: { policy: FILE, slotMs: 125 },
    slotted: own.sharing === "time",
    ownPolicy: own,
    runMs: (job) => 125 * (4 + ((job * 13) % 29)),
  });
  const adopted: unknown[] = [];
  bench.frontEnd.listen(ROOT, 0, ({ kind, data }) => {
    if (kind === "policy") adopted.push(data?.adopted);
  });
  for (let i = 0; i < JOBS; i++) {
    const limitMs = 125 * (40 + random.below(40));
    const wanted = request({ tasks: 1 + random.below(8), limitMs, priority: 0 });
    await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [wanted]));
    await change(bench, random, 1 + random.below(i + 1));
    bench.clock.advanceTo(bench.clock.nowMs() + 125 * random.below(5));
  }
  for (let job = 1; job <= JOBS; job++) await answerOf(bench.clock, bench.frontEnd.release(ROOT, job));
  runToEnd(bench.clock);
  const { launched } = bench.machine;
  const ends = bench.frontEnd.jobs(ROOT, {}).map(({ job, state, startedAtMs }) => [job, state, startedAtMs]);
  return { launched, ends, adopted };
}

async function change({ frontEnd, clock }: Bench, random: Random, job: number): Promise<void> {
  const kind = random.below(6);
  if (kind === 0) await answerOf(clock, frontEnd.cancel(ROOT, job));
  else if (kind === 1) await answerOf(clock, frontEnd.hold(ROOT, job));
  else if (kind === 2) await answerOf(clock, frontEnd.release(ROOT, job));
  else if (kind < 5) await answerOf(clock, frontEnd.setPriority(ROOT, job, random.below(5)));
}

describe("jobs that are cancelled, held, released and given other priorities", () => {
  test.each(["fcfs", "first-fit", "fpmpfs", "easy", "easy:order=shortest", "dynp"])(
    "%s starts them as if it were rebuilt each time",
    async (name) => {
      for (let seed = 1; seed <= 6; seed++) {
        const taken = await story(choosePolicy(name), true, seed);
        const rebuilt = await story(choosePolicy(name), false, seed);
        expect(taken.ends).toEqual(rebuilt.ends);
        expect(taken.launched).toEqual(rebuilt.launched);
        expect(rebuilt.adopted.length).toBeGreaterThan(3);
        expect(taken.adopted).toEqual(["start"]);
      }
    },
  );

  test.each(["conservative", "gang:rows=2", "gang:rows=1:queue=easy", "wlv:rows=2", "random"])(
    "%s goes on and starts all of them",
    async (name) => {
      for (let seed = 1; seed <= 4; seed++) {
        const { ends, adopted } = await story(choosePolicy(name), true, seed);
        expect(adopted).toEqual(["start"]);
        for (const [job, state] of ends)
          expect([job, state]).toEqual([job, expect.stringMatching(/done|cancelled/)]);
      }
    },
  );
});

test("a job that is served before waiting jobs starts before them, under the same policy object", async () => {
  const bench = makeBench({ cpus: 4, config: { policy: "fcfs" }, runMs: () => 1000 });
  const submit = (priority: number) =>
    answerOf(bench.clock, bench.frontEnd.submit(ROOT, [request({ tasks: 4, priority })]));
  for (const priority of [0, 0, 1, 0, 2, 1]) await submit(priority);
  await answerOf(bench.clock, bench.frontEnd.setPriority(ROOT, 4, 3));
  await answerOf(bench.clock, bench.frontEnd.setPriority(ROOT, 5, 0));
  runToEnd(bench.clock);
  // The first job runs already.
  expect(bench.machine.launched).toEqual([1, 4, 3, 6, 2, 5].map((job) => `${job}/1`));
});
