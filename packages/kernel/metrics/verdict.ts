/**
 * Compares a simulated schedule with what the log says happened: what another policy would have done, and
 * who gains by it. The measure is the response, the time from a job's arrival to its end, because gangs start
 * early and run slowly.
 */
import { type Instance, UNKNOWN } from "../core/jobs.ts";
import type { Schedule } from "../core/schedule.ts";
import { NARROW_WIDE_SHORT_LONG } from "./classes.ts";
import { CompensatedSum } from "./compensated-sum.ts";
import type { MeasuredWindow } from "./window.ts";

/** Times in seconds. A negative change is a gain. */
export interface Verdict {
  /** Counted jobs whose wait the log knows and that ended in the simulation. */
  readonly jobs: number;
  /** Mean responses of these jobs. */
  readonly loggedS: number;
  readonly simulatedS: number;
  /** The difference of the means; 0 below a second. */
  readonly changeS: number;
  /** The class of jobs whose mean response becomes shorter by most; undefined: none becomes shorter. */
  readonly gainer: ClassChange | undefined;
  /** The class whose mean response becomes longer by most. */
  readonly loser: ClassChange | undefined;
  /** Users by the change of the mean response of their jobs; the others' changes by less than a second. */
  readonly users: { readonly all: number; readonly gain: number; readonly lose: number };
}

interface ClassChange {
  readonly label: string;
  readonly changeS: number;
}

/** Logs count in whole seconds. */
const SAME_S = 1;

/** @returns undefined if the log knows no waits */
export function verdictOf(
  { workload, submitS, workloadRow }: Instance,
  { endS }: Schedule,
  { firstJob, countedJobs }: Pick<MeasuredWindow, "firstJob" | "countedJobs">,
): Verdict | undefined {
  const { trace, jobs } = workload;
  if (trace === undefined) return undefined;
  const scheme = NARROW_WIDE_SHORT_LONG;
  const [logged, simulated] = [new CompensatedSum(), new CompensatedSum()];
  const byClass = scheme.classes.map(() => new Mean());
  const byUser = new Map<number, Mean>();
  let count = 0;
  for (let job = firstJob; job < firstJob + countedJobs; job++) {
    const row = workloadRow === undefined ? job : workloadRow[job];
    const isKnown = trace.waitS[row] !== UNKNOWN && endS[job] >= 0;
    if (!isKnown) continue;
    const loggedS = trace.waitS[row] + jobs.runS[row];
    const simulatedS = endS[job] - submitS[job];
    logged.add(loggedS);
    simulated.add(simulatedS);
    byClass[scheme.classOf(jobs.size[row], jobs.runS[row])].add(simulatedS - loggedS);
    const user = trace.user[row];
    if (!byUser.has(user)) byUser.set(user, new Mean());
    byUser.get(user)!.add(simulatedS - loggedS);
    count++;
  }
  if (count === 0) return undefined;
  const changes = byClass
    .map(({ mean }, i) => ({ label: scheme.classes[i].label, changeS: mean }))
    .filter(({ changeS }) => Math.abs(changeS) >= SAME_S)
    .sort((a, b) => a.changeS - b.changeS);
  byUser.delete(UNKNOWN);
  const changeS = (simulated.value - logged.value) / count;
  const users = [...byUser.values()].map(({ mean }) => mean);
  const [gainer, loser] = [changes[0], changes.at(-1)];
  return {
    jobs: count,
    loggedS: logged.value / count,
    simulatedS: simulated.value / count,
    changeS: Math.abs(changeS) < SAME_S ? 0 : changeS,
    gainer: gainer !== undefined && gainer.changeS < 0 ? gainer : undefined,
    loser: loser !== undefined && loser.changeS > 0 ? loser : undefined,
    users: {
      all: users.length,
      gain: users.filter((changeS) => changeS <= -SAME_S).length,
      lose: users.filter((changeS) => changeS >= SAME_S).length,
    },
  };
}

class Mean {
  readonly #sum = new CompensatedSum();
  #count = 0;

  add(value: number): void {
    this.#sum.add(value);
    this.#count++;
  }

  /** 0 without values. */
  get mean(): number {
    return this.#count === 0 ? 0 : this.#sum.value / this.#count;
  }
}
