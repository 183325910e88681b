/**
 * Measures how the time per job under EASY grows with the standing queue (the number of waiting jobs), with
 * the processors and with the number of jobs. A closed loop keeps the queue at the same length: K jobs wait
 * from the start, and each start admits the next job, until the jobs run out.
 *
 *   npm run bench:growth                 up to 1,000,000 jobs
 *   npm run bench:growth -- --huge       also 10,000,000 jobs on 100,000 processors, with the memory it took
 *   npm run bench:growth -- --quick      small, as in the tests
 */
import "@tutti/lab/experiments/compiler-flag.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { openSource } from "@tutti/lab/experiments/source.ts";
import { printTable, show, summarise } from "./measure.ts";

const quick = process.argv.includes("--quick");
const options = { slotS: 60, switchS: 0 };
const easy = choosePolicy("easy");

async function generated(jobs: number, processors: number, load: number): Promise<Instance> {
  const workload = await openSource(`downey:jobs=${jobs}:processors=${processors}:load=${load}`, 1);
  return prepare(workload, processors, DEFAULT_RULES);
}

/** The same jobs with submit times such that about `waiting` of them wait at any time. */
function closedLoop(instance: Instance, waiting: number): Instance {
  const allAtOnce = { ...instance, submitS: new Float64Array(instance.count) };
  const startsS = simulate(allAtOnce, easy, options).startS.toSorted();
  const submitS = Float64Array.from(startsS, (_, job) => (job < waiting ? 0 : startsS[job - waiting]));
  return { ...instance, submitS };
}

const rows: string[][] = [];

/** Measures variants in turn, so that a drift of the machine's speed affects all of them. */
function compare(
  what: string,
  variants: readonly { name: string; instance: Instance; from: number; to: number }[],
): void {
  const ms: number[][] = variants.map(() => []);
  const hashes = variants.map(() => "");
  for (let round = 0; round < (quick ? 2 : 6); round++) {
    variants.forEach(({ instance, from, to }, v) => {
      // Only arrivals from … to − 1 are timed: the loop is then in its steady state.
      let beganAt = performance.now();
      let endedAt = beganAt;
      const observer = {
        arrived(_: number, job: number) {
          if (job === from) beganAt = performance.now();
          if (job === to - 1) endedAt = performance.now();
        },
      };
      const schedule = simulate(instance, easy, { ...options, observer });
      if (round > 0) ms[v].push(endedAt - beganAt);
      hashes[v] = hashColumns(schedule.startS);
    });
  }
  const first = summarise(ms[0]).medianMs / (variants[0].to - variants[0].from);
  variants.forEach(({ name, from, to }, v) => {
    const timing = summarise(ms[v]);
    const perJob = timing.medianMs / (to - from);
    rows.push([
      what,
      name,
      show(timing),
      `${(1000 * perJob).toFixed(2)} µs`,
      `× ${(perJob / first).toFixed(2)}`,
      hashes[v],
    ]);
  });
}

const jobs = quick ? 3000 : 300_000;
const base = await generated(jobs, 1000, 0.9);
const queues = quick ? [10, 100] : [100, 1000, 10_000, 100_000];
compare(
  "standing queue",
  queues.map((waiting) => {
    const from = Math.min(2 * waiting, jobs / 2);
    return { name: `${waiting} waiting`, instance: closedLoop(base, waiting), from, to: jobs };
  }),
);
const machines = quick ? [128, 1000] : [128, 1000, 10_000, 100_000];
const onMachines = [];
for (const processors of machines) {
  onMachines.push({
    name: `${processors} processors`,
    instance: await generated(jobs, processors, 0.9),
    from: 0,
    to: jobs,
  });
}
compare("processors", onMachines);
const counts = quick ? [1000, 3000] : [10_000, 100_000, 1_000_000];
const ofCounts = [];
for (const count of counts) {
  ofCounts.push({ name: `${count} jobs`, instance: await generated(count, 1000, 0.9), from: 0, to: count });
}
compare("jobs", ofCounts);
printTable(["growth with", "case", "median (min … max)", "per job", "ratio", "hash of starts"], rows);

if (process.argv.includes("--huge")) {
  const from = performance.now();
  const instance = await generated(10_000_000, 100_000, 0.9);
  const generatedAt = performance.now();
  const schedule = simulate(instance, easy, options);
  const simulatedAt = performance.now();
  console.log(
    `10,000,000 jobs on 100,000 processors: generated in ${((generatedAt - from) / 1000).toFixed(1)} s, simulated in ` +
      `${((simulatedAt - generatedAt) / 1000).toFixed(1)} s, peak memory ${(process.resourceUsage().maxRSS / 1e6).toFixed(2)} GB, ` +
      `hash ${hashColumns(schedule.startS)}`,
  );
}
