/**
 * Guards the machine against a user's own policy. The policy gets only the members of the contract and a job
 * table of its own, so it cannot read run times, change a clock, or change what other policies see. Tutti's
 * own policies use the machine directly, which is faster.
 */
import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import type { JobIndex, JobsView } from "@tutti/kernel/core/jobs.ts";
import type { GangMachine, Guarantees, Policy, PolicyDefinition, Pool } from "@tutti/kernel/core/policy.ts";

/** The user's own policy failed. */
export class PolicyError extends Error {
  override name = "PolicyError";
}

/** Runs a call of the policy within a time limit. */
export type Limit = <Result>(run: () => Result) => Result;

const HOOKS = ["depart", "decide", "withdraw", "restore"] as const;

/** In older contracts, policies have a hook for arrivals. This hook is still called, just before `decide`. */
type OwnPolicy = Policy & { arrive?(job: JobIndex): void };

/** File of the own policy whose code is running. */
let atWork: string | undefined;

/** File of the own policy whose code is running; undefined if no such code is running. */
export function policyAtWork(): string | undefined {
  return atWork;
}

/**
 * The definition with a `make` that puts a guard between machine and policy.
 * @param path the policy's file, for messages
 * @param limit runs each call, and aborts it if it takes too long; left out: no limit
 */
export function guardedPolicy(definition: PolicyDefinition, path: string, limit?: Limit): PolicyDefinition {
  const make = (machine: never, jobs: JobsView, parameters: object): Policy => {
    const arrivals: Arrivals = { count: 0 };
    const given =
      definition.sharing === "space"
        ? poolFacade(machine as Pool, arrivals)
        : gangFacade(machine as GangMachine, arrivals);
    const shown = jobsFacade(jobs, arrivals);
    const run = () => definition.make(given as never, shown, Object.freeze({ ...parameters }) as never);
    const { withdraw = false, restore = false } = definition.capabilities ?? {};
    const needed = { depart: true, decide: true, withdraw, restore };
    const hooks = HOOKS.filter((hook) => needed[hook]);
    return guardHooks(path, working(path, run, limit), hooks, limit, arrivals);
  };
  // The check of jobs would see jobs that have not arrived.
  return { ...definition, make, guarantees: once(definition), jobCheck: undefined } as PolicyDefinition;
}

/**
 * Claims are asked for once, so that a policy cannot claim more where it is shown than where it is checked.
 */
function once(definition: PolicyDefinition): PolicyDefinition["guarantees"] {
  const claims = new Map<string, Guarantees>();
  return (parameters) => {
    const key = JSON.stringify(parameters);
    const known = claims.get(key);
    if (known !== undefined) return known;
    const claimed = Object.freeze({ ...definition.guarantees(Object.freeze({ ...parameters })) });
    claims.set(key, claimed);
    return claimed;
  };
}

function guardHooks(
  path: string,
  policy: OwnPolicy,
  hooks: readonly (keyof Policy)[],
  limit: Limit | undefined,
  arrivals: Arrivals,
): Policy {
  for (const hook of hooks) {
    if (typeof (policy as Partial<Policy> | null | undefined)?.[hook] === "function") continue;
    throw new PolicyError(
      `Cannot run policy "${path}": the object that make() returns has no function ${hook}, expected depart(job) and decide(arrived)`,
    );
  }
  const call = (hook: keyof Policy, run: () => unknown): void => done(path, hook, working(path, run, limit));
  return {
    depart: (job) => call("depart", () => policy.depart(job)),
    decide: (arrived) => {
      // Live, a job whose gang was removed arrives more than once.
      for (const job of arrived) arrivals.count = Math.max(arrivals.count, job + 1);
      call("decide", () => {
        const { arrive } = policy;
        if (arrive === undefined) return policy.decide([...arrived]);
        for (const job of arrived) done(path, "arrive", policy.arrive!(job));
        try {
          return policy.decide([...arrived]);
        } catch (error) {
          throw toldTwice(error);
        }
      });
    },
    withdraw: (job) => call("withdraw", () => policy.withdraw?.(job)),
    restore: (job, startS) => {
      arrivals.count = Math.max(arrivals.count, 1 + job);
      call("restore", () => policy.restore?.(job, startS));
    },
  };
}

/** A policy with both hooks may take every job into its queue twice. */
function toldTwice(error: unknown): unknown {
  const full = error instanceof Error ? (FULL_REFUSALS.get(error) ?? error) : error;
  if (!(full instanceof RuleViolation) || full.rule !== "started-twice") return error;
  const message = `${full.message}; the policy has arrive(job) and decide(arrived), and every job goes to both: expected only one of them to put it into the queue`;
  return new RuleViolation(full.rule, full.job, full.timeS, message);
}

function working<Result>(path: string, run: () => Result, limit?: Limit): Result {
  const before = atWork;
  atWork = path;
  try {
    return limit === undefined ? run() : limit(run);
  } catch (error) {
    if (error instanceof Error) throw FULL_REFUSALS.get(error) ?? error;
    throw new PolicyError(
      `Cannot continue with policy "${path}": it threw ${describeThrown(error)}, expected it to throw only Errors`,
    );
  } finally {
    atWork = before;
  }
}

/** `working` for asynchronous code. */
export async function workingAsync<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
  atWork = path;
  try {
    return await run();
  } finally {
    atWork = undefined;
  }
}

/** Text of a thrown value, which may be anything. */
export function describeThrown(thrown: unknown): string {
  if (thrown instanceof Error) return `${thrown.name}: ${String(thrown.message).split("\n")[0]}`;
  try {
    return typeof thrown === "string" ? JSON.stringify(thrown) : String(thrown);
  } catch {
    return "something that cannot be shown";
  }
}

/** Refuses promises: a decision that comes later would belong to no instant of the simulation. */
function done(path: string, hook: string, result: unknown): void {
  if (typeof result !== "object" || result === null || !("then" in result)) return;
  Promise.resolve(result).catch(() => {}); // its rejection comes too late to matter
  throw new PolicyError(
    `Cannot run policy "${path}": its ${hook} returns a promise, expected a synchronous function`,
  );
}

/** Jobs 0 … count − 1 have arrived; jobs arrive in the order of their rows. */
interface Arrivals {
  count: number;
}

/** Whether it is the row of a job that has arrived. A machine may answer otherwise about −1 or 0.5. */
function hasArrived({ count }: Arrivals, job: JobIndex): boolean {
  return Number.isInteger(job) && job >= 0 && job < count;
}

/** For each refusal that the policy received, the machine's own refusal that it replaced. */
const FULL_REFUSALS = new WeakMap<Error, Error>();

/**
 * A number that the policy hands to the machine. An object with a conversion of its own could be one number
 * where the machine tests it and another where it is used, and a name such as "constructor" would reach into
 * the machine's own lists.
 */
function plain<Value extends number | undefined>(value: Value): Value {
  if (typeof value === "number" || value === undefined) return value;
  const given = typeof value === "object" || typeof value === "function" ? "an object" : `a ${typeof value}`;
  throw new TypeError(`Cannot call the machine with ${given} in place of a number, expected numbers`);
}

/**
 * Calls the machine about a job. Hides refusals about future jobs, which could reveal them, and about jobs
 * that cannot exist, which say how many there are.
 */
function about(job: JobIndex, arrivals: Arrivals, nowS: number, call: () => void): void {
  plain(job);
  if (hasArrived(arrivals, job)) {
    call();
    return;
  }
  try {
    call();
  } catch (error) {
    const message = `Cannot decide about job row ${String(job)}: it has not arrived`;
    const refusal = new RuleViolation("start-before-arrival", job, nowS, message);
    FULL_REFUSALS.set(refusal, error as Error);
    throw refusal;
  }
}

const copies = new WeakMap<readonly object[], readonly object[]>();

/** The same copy for the same list: the machine's own lists must stay as they are. */
function frozenCopy<Item extends object>(list: readonly Item[]): readonly Item[] {
  const copy = copies.get(list) ?? Object.freeze(list.map((item) => Object.freeze({ ...item })));
  copies.set(list, copy);
  return copy as readonly Item[];
}

/**
 * The policy's own view of the job table. It gets the columns themselves, which only the policy reads, but no
 * object that the program calls.
 */
function jobsFacade(jobs: JobsView, arrivals: Arrivals): JobsView {
  const groups = new Map<unknown, { readonly capacity: number; readonly copy: unknown }>();
  /** The columns of a group, copied again only after they have grown. */
  const frozen = <Group extends object | undefined>(
    name: "molding" | "shape" | "origin" | "demand",
  ): Group => {
    const { capacity } = jobs;
    const known = groups.get(name);
    if (known?.capacity === capacity) return known.copy as Group;
    const group = jobs[name];
    const copy = Array.isArray(group) ? Object.freeze([...group]) : group && Object.freeze({ ...group });
    groups.set(name, { capacity, copy });
    return copy as Group;
  };
  const { shares } = jobs;
  const ownShares =
    shares &&
    Object.freeze({
      update: () => shares.update(),
      level: (job: JobIndex) => (hasArrived(arrivals, job) ? shares.level(job) : 0),
      user: (job: JobIndex) => (hasArrived(arrivals, job) ? shares.user(job) : undefined),
    });
  return Object.freeze({
    get capacity() {
      return jobs.capacity;
    },
    get size() {
      return jobs.size;
    },
    get submitS() {
      return jobs.submitS;
    },
    get estimateS() {
      return jobs.estimateS;
    },
    get memoryKB() {
      return jobs.memoryKB;
    },
    get molding() {
      return frozen<JobsView["molding"]>("molding");
    },
    get shape() {
      return frozen<JobsView["shape"]>("shape");
    },
    get origin() {
      return frozen<JobsView["origin"]>("origin");
    },
    get demand() {
      return frozen<JobsView["demand"]>("demand");
    },
    shares: ownShares,
  } satisfies JobsView);
}

function poolFacade(pool: Pool, arrivals: Arrivals): Pool {
  return Object.freeze({
    get processors() {
      return pool.processors;
    },
    get free() {
      return pool.free;
    },
    get nowS() {
      return pool.nowS;
    },
    get outages() {
      return frozenCopy(pool.outages);
    },
    resources: frozenCopy(pool.resources),
    fits: (job, size) => hasArrived(arrivals, plain(job)) && pool.fits(job, plain(size)),
    start: (job, rule, size) =>
      about(job, arrivals, pool.nowS, () => pool.start(job, plain(rule), plain(size))),
    promise: (job, startS) => pool.promise(plain(job), plain(startS)),
    wakeAt: (timeS) => pool.wakeAt(plain(timeS)),
  } satisfies Pool);
}

/** Answers about future jobs do not reveal whether these jobs will exist. */
function gangFacade(machine: GangMachine, arrivals: Arrivals): GangMachine {
  const isKnown = (job: JobIndex): boolean => hasArrived(arrivals, job);
  const asking = (job: JobIndex, call: () => void) => about(job, arrivals, machine.nowS, call);
  const facade: GangMachine = {
    get processors() {
      return machine.processors;
    },
    get rowCount() {
      return machine.rowCount;
    },
    get nowS() {
      return machine.nowS;
    },
    slotS: machine.slotS,
    switchS: machine.switchS,
    movesGangs: machine.movesGangs,
    rowAt: (position) => machine.rowAt(plain(position)),
    positionOf: (row) => machine.positionOf(plain(row)),
    firstRun: (row) => machine.firstRun(plain(row)),
    nextRun: (run) => machine.nextRun(plain(run)),
    runBefore: (row, processor) => machine.runBefore(plain(row), plain(processor)),
    runJob: (run) => machine.runJob(plain(run)),
    runRow: (run) => machine.runRow(plain(run)),
    runFirst: (run) => machine.runFirst(plain(run)),
    runSize: (run) => machine.runSize(plain(run)),
    nextStretch: (run) => machine.nextStretch(plain(run)),
    firstRunOfJob: (job) => (isKnown(job) ? machine.firstRunOfJob(job) : -1),
    nextRunOfJob: (run) => machine.nextRunOfJob(plain(run)),
    slotsOf: (job) => (isKnown(job) ? machine.slotsOf(job) : 0),
    firstIdle: (processor) => machine.firstIdle(plain(processor)),
    isIdle: (row, first, end) => machine.isIdle(plain(row), plain(first), plain(end)),
    addRow: () => machine.addRow(),
    deleteRow: (row) => machine.deleteRow(plain(row)),
    place: (job, row, first, size) =>
      asking(job, () => machine.place(job, plain(row), plain(first), plain(size))),
    placeStretches: (job, row, stretches, count) => {
      const copy = Array.from({ length: 2 * plain(count) }, (_, i) => plain(stretches[i]));
      asking(job, () => machine.placeStretches(job, plain(row), copy, count));
    },
    release: (job, row) => asking(job, () => machine.release(job, plain(row))),
    exchange: (a, b, first, end) => machine.exchange(plain(a), plain(b), plain(first), plain(end)),
    migrate: (job, row, first) => asking(job, () => machine.migrate(job, plain(row), plain(first))),
    servedSlots: (job) => (isKnown(job) ? machine.servedSlots(job) : 0),
    promise: (job, startS) => machine.promise(plain(job), plain(startS)),
  };
  return Object.freeze(facade);
}
