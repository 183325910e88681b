/**
 * Tests limits on the jobs of users, groups and queues. What runs is counted on the fake machine, with what
 * the test itself knows about its jobs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type Config, readConfig } from "../config/config.ts";
import type { Caller } from "../contract/service.ts";
import { FakeMachine } from "../front-end/fake-machine-for-tests.ts";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-limits-"));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true }));

function settings(toml: string): Config {
  return readConfig(toml, "test.toml").config;
}

async function submit(
  { clock, frontEnd }: Bench,
  caller: Caller,
  fields: Partial<SubmitJob>,
): Promise<number> {
  const answer = await answerOf(clock, frontEnd.submit(caller, [request(fields)]));
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer.jobs[0].job;
}

const running = ({ frontEnd }: Bench) =>
  frontEnd.jobs(ROOT, { states: ["starting", "running", "paused"] }).map(({ job }) => job);

describe("a user whose jobs may run on 8 CPUs at once", () => {
  const config = settings('policy = "fcfs"\n[limits]\nrunningCpus = 8\n[limits.users.ben]\nrunningCpus = 16');

  test("others pass jobs that wait for it, and tutti why says the numbers", async () => {
    const bench = makeBench({ config, cpus: 16, runMs: (job) => 1000 * job });
    const [first, second, bens] = [
      await submit(bench, ANNA, { tasks: 6 }),
      await submit(bench, ANNA, { tasks: 4 }),
      await submit(bench, BEN, { tasks: 10 }),
    ];
    expect(running(bench)).toEqual([first, bens]);
    expect(await bench.frontEnd.why(ANNA, second)).toMatchObject({
      obstacles: [
        { kind: "limit", of: "user", name: "anna", counts: "cpus", most: 8, needed: 4, running: 6, next: 0 },
      ],
    });
    expect(bench.frontEnd.job(ANNA, second)).toMatchObject({
      reason: "waits for a limit on the jobs of user anna",
    });
    bench.clock.advanceTo(1000);
    expect(running(bench)).toEqual([second, bens]);
  });

  test("a job that needs more is refused, and one of an earlier limit keeps nobody waiting", async () => {
    const path = join(folder, `${files++}.db`);
    const options = { cpus: 16, path, clock: new FakeClock() };
    const machine = new FakeMachine({ clock: options.clock, runMs: () => 1000 });
    const before = makeBench({ ...options, machine, config: settings('policy = "fcfs"') });
    await submit(before, BEN, { tasks: 16 });
    const large = await submit(before, ANNA, { tasks: 9 });
    before.kill();
    const bench = makeBench({ ...options, machine, config });
    const answer = await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks: 9 })]));
    expect(answer).toMatchObject({
      refused: "too-large",
      message:
        'Cannot submit this job: it asks for 9 CPUs and could never start, because jobs of user "anna" may run on 8 at once (runningCpus); ask for 8 or fewer',
    });
    const small = await submit(bench, ANNA, { tasks: 8 });
    runToEnd(bench.clock);
    expect(bench.frontEnd.job(ANNA, small)).toMatchObject({ state: "done" });
    expect(await bench.frontEnd.why(ANNA, large)).toMatchObject({
      obstacles: [{ kind: "limit", most: 8, needed: 9 }],
    });
    const update = { action: "update", update: { tasks: 8 } } as const;
    await answerOf(bench.clock, bench.frontEnd.change(ANNA, update, [large]));
    runToEnd(bench.clock);
    expect(bench.frontEnd.job(ANNA, large)).toMatchObject({ state: "done" });
    bench.kill();
  });

  test("paused jobs count, also without their CPUs", async () => {
    const bench = makeBench({ config, cpus: 16, runMs: () => 10_000 });
    const paused = await submit(bench, ANNA, { tasks: 8 });
    await answerOf(bench.clock, bench.frontEnd.change(ANNA, { action: "pause", release: true }, [paused]));
    const next = await submit(bench, ANNA, { tasks: 1 });
    bench.clock.advanceTo(5000);
    expect(running(bench)).toEqual([paused]);
    await answerOf(bench.clock, bench.frontEnd.change(ANNA, { action: "resume" }, [paused]));
    runToEnd(bench.clock);
    expect(bench.frontEnd.job(ANNA, next)).toMatchObject({ state: "done" });
  });

  test("all rows count", async () => {
    const bench = makeBench({ config: { ...config, policy: "gang" }, cpus: 8, runMs: () => 1000 });
    const jobs = [];
    for (let i = 0; i < 3; i++) jobs.push(await submit(bench, ANNA, { tasks: 4 }));
    expect(running(bench)).toEqual(jobs.slice(0, 2));
  });

  test("after a restart with a lower limit, what runs goes on, and nothing starts until there is room", async () => {
    const clock = new FakeClock();
    const machine = new FakeMachine({ clock, runMs: (job) => 1000 * job });
    const options = { cpus: 16, clock, machine, path: join(folder, `${files++}.db`) };
    const before = makeBench({ ...options, config });
    const jobs = [];
    for (const tasks of [4, 4, 2]) jobs.push(await submit(before, ANNA, { tasks }));
    before.kill();
    const bench = makeBench({ ...options, config: settings('policy = "fcfs"\n[limits]\nrunningCpus = 4') });
    expect(running(bench)).toEqual(jobs.slice(0, 2));
    clock.advanceTo(1000);
    expect(running(bench)).toEqual([jobs[1]]);
    clock.advanceTo(2000);
    expect(running(bench)).toEqual([jobs[2]]);
    bench.kill();
  });

  test("an array is limited by both limits, a cycle that was rolled back keeps them", async () => {
    const bench = makeBench({ config, cpus: 16, runMs: () => 1000 });
    await submit(bench, ANNA, { tasks: 2, array: "1-9%3" });
    expect(running(bench)).toEqual([1, 2, 3]);
    const { store } = bench;
    const commit = store.commit.bind(store);
    store.commit = () => {
      throw new Error("database or disk is full");
    };
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 2));
    expect(running(bench)).toEqual([1, 2, 3]);
    store.commit = commit;
    runToEnd(bench.clock);
    expect(bench.frontEnd.jobs(ROOT, { states: ["done"] })).toHaveLength(9);
  });
});

describe("limits on waiting jobs", () => {
  const config = settings(
    '[limits]\nrunningJobs = 1\nwaitingJobs = 3\n[[queues]]\nname = "q"\nwaitingJobs = 4',
  );

  test("too many are refused with the numbers, also for a queue of several users", async () => {
    const bench = makeBench({ config, runMs: () => 1000 });
    await submit(bench, ANNA, {});
    await submit(bench, ANNA, { array: "1-2" });
    expect(
      await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ array: "1-2" })])),
    ).toMatchObject({
      refused: "full",
      message:
        'Cannot accept 2 jobs: 2 wait, and at most 3 jobs of user "anna" may wait at a time (waitingJobs); try again when some have started',
    });
    await submit(bench, ANNA, { held: true });
    await submit(bench, BEN, {});
    expect(
      await answerOf(bench.clock, bench.frontEnd.submit(BEN, [request({ array: "1-2" })])),
    ).toMatchObject({
      message: expect.stringContaining('3 wait, and at most 4 jobs in queue "q" may wait'),
    });
  });
});

describe("a queue with two jobs at once", () => {
  const config = settings(
    'policy = "fcfs"\n[[queues]]\nname = "one"\nrunningJobs = 2\n[[queues]]\nname = "many"',
  );

  test("starts the third when one has ended, also of other users, and shows the limit", async () => {
    const bench = makeBench({ config, cpus: 16, runMs: (job) => 1000 * job });
    for (const caller of [ANNA, BEN, ANNA]) await submit(bench, caller, { queue: "one" });
    await submit(bench, ANNA, { queue: "many" });
    expect(running(bench)).toEqual([1, 2, 4]);
    expect(await bench.frontEnd.why(ANNA, 3)).toMatchObject({
      obstacles: [
        { kind: "limit", of: "queue", name: "one", counts: "jobs", most: 2, running: 1, others: true },
      ],
    });
    expect(bench.frontEnd.queues(ANNA).queues[0]).toMatchObject({ limits: { runningJobs: 2 } });
    bench.clock.advanceTo(1000);
    expect(running(bench)).toEqual([2, 3, 4]);
  });
});

/** Users of the property, with their groups. */
const GROUPS = { anna: ["lab"], ben: ["lab", "course"], cid: ["course"] };
const CID: Caller = { uid: 1003, user: "cid", isAdministrator: false };
const CALLERS = [ANNA, BEN, CID];
const CPUS = 6;
const LIMITS = `
slotMs = 100
maxRows = 3
[limits]
runningCpus = 5
[limits.users.cid]
runningJobs = 2
[limits.groups.lab]
runningCpus = 6
[limits.groups.course]
runningJobs = 3
[[queues]]
name = "narrow"
runningJobs = 2
runningCpus = 4
[[queues]]
name = "wide"
`;
const MAX_CPUS = {
  ...{ "user anna": 5, "user ben": 5, "user cid": 5, "group lab": 6, "queue narrow": 4 },
} as Readonly<Record<string, number>>;
const MAX_JOBS = { "user cid": 2, "group course": 3, "queue narrow": 2 } as Readonly<Record<string, number>>;

interface Known {
  readonly user: keyof typeof GROUPS;
  readonly queue: string;
  readonly tasks: number;
}

const limitsOf = ({ user, queue }: Known) => [
  `user ${user}`,
  ...GROUPS[user].map((group) => `group ${group}`),
  `queue ${queue}`,
];

/** What these jobs use of a limit. */
function useOf(jobs: readonly Known[], key: string) {
  const counted = jobs.filter((job) => limitsOf(job).includes(key));
  return { cpus: counted.reduce((sum, { tasks }) => sum + tasks, 0), jobs: counted.length };
}

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("submit" as const),
      caller: fc.constantFrom(...CALLERS),
      queue: fc.constantFrom("narrow", "wide"),
      tasks: fc.integer({ min: 1, max: 4 }),
      limitS: fc.integer({ min: 1, max: 4 }),
      priority: fc.constantFrom(0, 0, -1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 1500 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(["cancel", "hold", "release", "requeue", "pause", "resume", "lower"] as const),
      ),
      job: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom("drain" as const, "undrain" as const) }),
  },
);

const SIZE = { minLength: 10, maxLength: 40 };

/** The front end is killed between two steps, too. */
const deadlyStep = fc.oneof(
  { weight: 10, arbitrary: step },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const) }) },
);
/** Policies under which it is, because a store on disk takes most of the time of the test. */
const DEADLY: ReadonlySet<string> = new Set(["easy", "wlv"]);

class Watched {
  readonly known = new Map<number, Known>();
  readonly machine: FakeMachine;
  readonly clock = new FakeClock();
  bench: Bench;
  readonly #options: Parameters<typeof makeBench>[0];

  constructor(policy: string) {
    const { clock } = this;
    this.machine = new FakeMachine({ clock, runMs: (job) => 300 * (1 + (job % 5)) });
    this.#options = {
      ...{ clock, machine: this.machine, cpus: CPUS, policy },
      config: settings(LIMITS),
      path: DEADLY.has(policy) ? join(folder, `${files++}.db`) : ":memory:",
      // Forecasts would take most of the time.
      forecastEngine: async () => [],
      groupsOf: ({ user }) => GROUPS[user as keyof typeof GROUPS] ?? [],
    };
    this.bench = makeBench(this.#options);
  }

  restart(): void {
    this.bench.kill();
    this.bench = makeBench(this.#options);
  }

  async submit(caller: Caller, fields: Pick<Known, "queue" | "tasks"> & Partial<SubmitJob>): Promise<void> {
    const job = await submit(this.bench, caller, { ...fields, retries: 1 });
    const { queue, tasks } = fields;
    this.known.set(job, { user: caller.user as Known["user"], queue, tasks });
  }

  /** Lets time pass, and looks at every instant at which something happens. */
  pass(ms: number): void {
    const { clock } = this;
    const untilMs = clock.nowMs() + ms;
    for (let nextMs = clock.nextMs(); nextMs < Infinity && nextMs <= untilMs; nextMs = clock.nextMs()) {
      clock.advanceTo(nextMs);
      this.expectLimits();
    }
    if (Number.isFinite(untilMs)) clock.advanceTo(untilMs);
  }

  expectLimits(): void {
    const alive = [...this.machine.attempts.values()].filter(({ phase }) => phase !== "ended");
    const jobs = [...new Set(alive.map(({ job }) => job))].map((job) => this.known.get(job)!);
    for (const [key, most] of Object.entries(MAX_CPUS))
      expect(useOf(jobs, key).cpus).toBeLessThanOrEqual(most);
    for (const [key, most] of Object.entries(MAX_JOBS))
      expect(useOf(jobs, key).jobs).toBeLessThanOrEqual(most);
  }

  /** What `tutti why` says about limits is true of the jobs that the administrator sees. */
  async expectTrueReasons(): Promise<void> {
    const { frontEnd } = this.bench;
    const listed = frontEnd.jobs(ROOT, {});
    const queued = listed.filter(({ state }) => state === "queued").map(({ job }) => job);
    const reasons = new Map<number, Obstacle | undefined>();
    for (const job of queued) {
      const why = await answerOf(this.clock, frontEnd.why(ROOT, job));
      if (isRefusal(why)) throw new Error(why.message);
      reasons.set(
        job,
        why.obstacles.find((one) => one.kind === "limit"),
      );
    }
    const started = listed.filter(({ state }) => STARTED.has(state)).map(({ job }) => this.known.get(job)!);
    const next = queued.filter((job) => reasons.get(job) === undefined).map((job) => this.known.get(job)!);
    for (const [job, obstacle] of reasons) {
      if (obstacle === undefined) continue;
      const { of, name, counts, most, needed, isKept, keptFor } = obstacle;
      const key = `${of} ${name}`;
      const known = this.known.get(job)!;
      expect(limitsOf(known)).toContain(key);
      expect(most).toBe((counts === "cpus" ? MAX_CPUS : MAX_JOBS)[key]);
      expect(needed).toBe(counts === "cpus" ? known.tasks : 1);
      expect(obstacle.running).toBe(useOf(started, key)[counts]);
      expect(obstacle.next).toBeLessThanOrEqual(useOf(next, key)[counts]);
      if (isKept !== true) expect(obstacle.running + obstacle.next + needed).toBeGreaterThan(most);
      else {
        expect(limitsOf(this.known.get(keptFor!)!)).toContain(key);
        expect(reasons.get(keptFor!)).toBeDefined();
      }
    }
  }
}

const STARTED: ReadonlySet<string> = new Set(["starting", "running", "paused", "ending"]);
type Obstacle = Extract<
  Extract<
    Awaited<ReturnType<Bench["frontEnd"]["why"]>>,
    { readonly obstacles: unknown }
  >["obstacles"][number],
  { readonly kind: "limit" }
>;

describe("whatever three users in two groups and two queues do", () => {
  test.each(POLICIES.map(({ name }) => name))(
    "under %s, no limit is exceeded, and all jobs end",
    async (policy) => {
      await fc.assert(
        fc.asyncProperty(fc.array(DEADLY.has(policy) ? deadlyStep : step, SIZE), async (steps) => {
          const watched = new Watched(policy);
          for (const one of steps) {
            const { bench, clock } = watched;
            if (one.kind === "submit") {
              const { caller, queue, tasks, limitS, priority } = one;
              await watched.submit(caller, { queue, tasks, limitMs: 1000 * limitS, priority });
            } else if (one.kind === "pass") watched.pass(one.ms);
            else if (one.kind === "kill") watched.restart();
            else if (one.kind === "drain") await answerOf(clock, bench.frontEnd.setDrain(ROOT, {}));
            else if (one.kind === "undrain") await answerOf(clock, bench.frontEnd.setDrain(ROOT, undefined));
            else if (!("job" in one)) throw new Error(one.kind);
            else if (one.kind === "lower")
              await answerOf(clock, bench.frontEnd.setPriority(ROOT, one.job, -one.job));
            else await answerOf(clock, bench.frontEnd.change(ROOT, { action: one.kind }, [one.job]));
            clock.settle();
            watched.expectLimits();
          }
          await watched.expectTrueReasons();
          const { frontEnd } = watched.bench;
          await answerOf(watched.clock, frontEnd.setDrain(ROOT, undefined));
          const all = [...watched.known.keys()];
          await answerOf(watched.clock, frontEnd.change(ROOT, { action: "resume" }, all));
          await answerOf(watched.clock, frontEnd.change(ROOT, { action: "release" }, all));
          watched.pass(Number.POSITIVE_INFINITY);
          expect(frontEnd.jobs(ROOT, { states: ["queued", "held", "running", "paused"] })).toEqual([]);
          watched.bench.kill();
        }),
        { numRuns: 10, seed: 14 },
      );
    },
  );
});
