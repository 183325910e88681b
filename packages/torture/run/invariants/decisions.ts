/**
 * In a life that nothing disturbs, the scheduler decides as the simulator does on the same history: the same
 * jobs start at the same instants, if jobs arrive and end when the front end has seen that.
 */
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { JsonlReader } from "@tutti/kernel/workload/traces/jsonl.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import type { Life } from "../life.ts";

/** Of jobs of these kinds, all that a policy knows is when they arrive, their tasks, limit and end. */
export const COMPARABLE_KINDS: readonly string[] = ["exit code 0", "computes", "knows its time"];
/** Under the others, how long a job takes depends on its turns as well. */
export const COMPARABLE_POLICIES = ["easy", "conservative", "fcfs", "first-fit"] as const;
/** Sums of whole microseconds are exact. */
const US_PER_S = 1e6;

export function checkDecisions(life: Life): string[] {
  const { policy, cpus } = life.setting;
  if (!isComparable(life)) return [];
  const jobs = [...life.records.values()].sort((a, b) => a.job - b.job);
  const arrivedUs: number[] = [];
  const startedUs: number[] = [];
  const departedUs: number[] = [];
  for (const { what, timeS, row } of life.decisions) {
    const times = { arrived: arrivedUs, started: startedUs, departed: departedUs }[what];
    if (times[row] !== undefined)
      return [`job ${jobs[row]?.job} has ${what} twice in the life of one policy`];
    times[row] = Math.round(timeS * US_PER_S);
  }
  if (departedUs.filter((us) => us !== undefined).length !== jobs.length)
    return [`${jobs.length} jobs have ended, and the policy knows of ${departedUs.length} ends`];
  const lines = jobs.map(({ job, tasks, limitMs }, row) =>
    JSON.stringify({
      ...{ job, tasks, submitS: arrivedUs[row], runS: departedUs[row] - startedUs[row] },
      limitS: limitMs! * (US_PER_S / 1000),
    }),
  );
  const reader = new JsonlReader("history");
  const head = { schema: "tutti.workload-file/1", processors: cpus };
  reader.push(new TextEncoder().encode([JSON.stringify(head), ...lines, ""].join("\n")));
  const history = prepare(reader.end(), cpus, DEFAULT_RULES);
  const { startS } = simulate(history, choosePolicy(policy), { slotS: US_PER_S, switchS: 0 });
  return differences(jobs, startedUs, startS);
}

/** The first one: what follows from it differs, too. */
function differences(jobs: readonly Job[], live: readonly number[], simulated: ArrayLike<number>): string[] {
  let first: number | undefined;
  for (const [row, startUs] of live.entries()) {
    // Times since the first arrival, as workload files have them.
    const isSame = startUs === simulated[row] + 0;
    if (!isSame && (first === undefined || startUs < live[first])) first = row;
  }
  if (first === undefined) return [];
  const [here, there] = [live[first], simulated[first]].map((us) => us / US_PER_S);
  return [`job ${jobs[first].job} was started at ${here} s, and at ${there} s by the simulator`];
}

function isComparable({ setting, faults }: Life): boolean {
  const { cluster, olderStore, runningJobs, kinds, policy, only } = setting;
  return (
    faults.length === 0 &&
    [cluster, olderStore, runningJobs, only].every((one) => one === undefined) &&
    COMPARABLE_POLICIES.some((one) => one === policy) &&
    Object.entries(kinds).every(([name, weight]) => weight === 0 || COMPARABLE_KINDS.includes(name))
  );
}
