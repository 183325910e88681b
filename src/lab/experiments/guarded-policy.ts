/**
 * A policy of the user's own in front of the machine: it is given the members of the contract and copies of the columns, nothing else, so that
 * it can neither read run times, nor change a clock, nor change what other policies are given. Policies of Tutti's have the
 * machine itself, which is faster.
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { GangMachine, Policy, PolicyDefinition, Pool } from "../../core/policy.ts";

/** The user's own policy threw something while it was asked to decide. */
export class PolicyError extends Error {
  override name = "PolicyError";
}

const HOOKS = ["depart", "decide"] as const;

/** Policies written for releases before this contract are told of each arrival by a hook of its own, just before they decide. */
type OwnPolicy = Policy & { arrive?(job: JobIndex): void };

/** Who is at work: the file of a policy while its code runs. */
let atWork: string | undefined;

/** The file of the own policy whose code runs now; undefined when none does. */
export function policyAtWork(): string | undefined {
  return atWork;
}

/**
 * The definition with a `make` that stands between machine and policy.
 * @param path the policy's file, for messages
 */
export function guardedPolicy(definition: PolicyDefinition, path: string): PolicyDefinition {
  const make = (machine: never, jobs: JobsView, parameters: object): Policy => {
    const given =
      definition.sharing === "space" ? poolFacade(machine as Pool) : gangFacade(machine as GangMachine);
    return guardHooks(
      path,
      working(path, () =>
        definition.make(given as never, copyOf(jobs), Object.freeze({ ...parameters }) as never),
      ),
    );
  };
  return { ...definition, make } as PolicyDefinition;
}

function guardHooks(path: string, policy: OwnPolicy): Policy {
  for (const hook of HOOKS) {
    if (typeof (policy as Partial<Policy> | null | undefined)?.[hook] === "function") continue;
    throw new PolicyError(
      `Cannot run policy "${path}": what its make() returns has no function ${hook}, expected depart(job) and decide(arrived)`,
    );
  }
  const call = (hook: "arrive" | "depart" | "decide", run: () => unknown): void =>
    done(path, hook, working(path, run));
  return {
    depart: (job) => call("depart", () => policy.depart(job)),
    decide: (arrived) => {
      if (policy.arrive !== undefined) for (const job of arrived) call("arrive", () => policy.arrive?.(job));
      call("decide", () => policy.decide([...arrived]));
    },
  };
}

function working<Result>(path: string, run: () => Result): Result {
  const before = atWork;
  atWork = path;
  try {
    return run();
  } catch (error) {
    if (error instanceof Error) throw error;
    throw new PolicyError(`Cannot go on with policy "${path}": it threw ${shown(error)}, expected an Error`);
  } finally {
    atWork = before;
  }
}

/** As `working`, for code that is waited for. */
export async function workingAsync<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
  atWork = path;
  try {
    return await run();
  } finally {
    atWork = undefined;
  }
}

/** What was thrown, when it may be anything. */
export function shown(thrown: unknown): string {
  if (thrown instanceof Error) return `${thrown.name}: ${String(thrown.message).split("\n")[0]}`;
  try {
    return typeof thrown === "string" ? JSON.stringify(thrown) : String(thrown);
  } catch {
    return "something that cannot be shown";
  }
}

/** A decision that comes later would come at no instant of the simulation. */
function done(path: string, hook: string, result: unknown): void {
  if (typeof result !== "object" || result === null || !("then" in result)) return;
  Promise.resolve(result).catch(() => {}); // what it fails with comes too late to matter
  throw new PolicyError(
    `Cannot run policy "${path}": its ${hook} returns a promise, expected one that has decided when it returns`,
  );
}

function poolFacade(pool: Pool): Pool {
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
    start: (job, rule) => pool.start(job, rule),
    promise: (job, startS) => pool.promise(job, startS),
    wakeAt: (timeS) => pool.wakeAt(timeS),
  } satisfies Pool);
}

function gangFacade(machine: GangMachine): GangMachine {
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
    ...(machine.switchS === undefined ? {} : { switchS: machine.switchS }),
    rowAt: (position) => machine.rowAt(position),
    positionOf: (row) => machine.positionOf(row),
    firstRun: (row) => machine.firstRun(row),
    nextRun: (run) => machine.nextRun(run),
    runBefore: (row, processor) => machine.runBefore(row, processor),
    runJob: (run) => machine.runJob(run),
    runRow: (run) => machine.runRow(run),
    runFirst: (run) => machine.runFirst(run),
    runSize: (run) => machine.runSize(run),
    nextStretch: (run) => machine.nextStretch(run),
    firstRunOfJob: (job) => machine.firstRunOfJob(job),
    nextRunOfJob: (run) => machine.nextRunOfJob(run),
    slotsOf: (job) => machine.slotsOf(job),
    isIdle: (row, first, end) => machine.isIdle(row, first, end),
    addRow: () => machine.addRow(),
    deleteRow: (row) => machine.deleteRow(row),
    place: (job, row, first) => machine.place(job, row, first),
    placeStretches: (job, row, stretches, count) => machine.placeStretches(job, row, stretches, count),
    release: (job, row) => machine.release(job, row),
    exchange: (a, b, first, end) => machine.exchange(a, b, first, end),
    ...(machine.migrate === undefined
      ? {}
      : { migrate: (job: number, row: number, first: number) => machine.migrate?.(job, row, first) }),
    ...(machine.servedSlots === undefined
      ? {}
      : { servedSlots: (job: number) => machine.servedSlots?.(job) as number }),
    ...(machine.promise === undefined
      ? {}
      : { promise: (job: number, startS: number) => machine.promise?.(job, startS) }),
  };
  return Object.freeze(facade);
}

function copyOf({ count, size, submitS, estimateS, shape, memoryKB }: JobsView): JobsView {
  return Object.freeze({
    count,
    size: Int32Array.from(size),
    submitS: Float64Array.from(submitS),
    estimateS: Float64Array.from(estimateS),
    shape: shape && {
      processes: Int32Array.from(shape.processes),
      threads: Int32Array.from(shape.threads),
      queue: Int32Array.from(shape.queue),
    },
    memoryKB: memoryKB && Float64Array.from(memoryKB),
  });
}
