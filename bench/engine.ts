/**
 * Measures the speed of the simulation itself, on traces and on a generated workload: jobs per second for
 * each policy. It also prints a hash of all start times, so a change that is faster but wrong is noticed.
 *
 *   npm run bench:engine                 all traces that are there, and 1,000,000 generated jobs
 *   npm run bench:engine -- --quick      small, as in the tests
 */
import "@tutti/lab/experiments/no-maglev.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { traceFile } from "@tutti/kernel/workload/traces-for-tests.ts";
import { openSource } from "@tutti/lab/experiments/source.ts";
import { printTable, show, time } from "./measure.ts";

const quick = process.argv.includes("--quick");
const generated = quick ? "downey:jobs=2000" : "downey:jobs=1000000:processors=1000:load=0.9";
const traces = quick ? [] : ["KTH-SP2", "SDSC-SP2", "HPC2N"];
const policies = ["fcfs", "first-fit", "easy", "easy:order=shortest", "conservative"];

const rows: string[][] = [];
for (const source of [...traces, generated]) {
  const file = source === generated ? source : traceFile(source);
  if (file === undefined) {
    console.log(`skipped: trace ${source}; set TUTTI_TRACES to the folder of the traces`);
    continue;
  }
  const workload = await openSource(file, 1);
  const processors = workload.processors ?? 128;
  const instance = prepare(workload, processors, DEFAULT_RULES);
  for (const name of policies) {
    let hash = "";
    const timing = time(quick ? 1 : 5, () => {
      const schedule = simulate(instance, choosePolicy(name), { slotS: 60, switchS: 0 });
      hash = hashColumns(schedule.startS);
    });
    const jobsPerS = Math.round((instance.count / timing.medianMs) * 1000);
    rows.push([
      source.slice(0, 40),
      name,
      String(instance.count),
      show(timing),
      jobsPerS.toLocaleString("en"),
      hash,
    ]);
  }
}
printTable(["workload", "policy", "jobs", "median (min … max)", "jobs/s", "hash of starts"], rows);
