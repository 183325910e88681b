/**
 * Tests quotas of CPU time. Instants are worked by hand from the formula of decay, and a naive twin computes
 * usage from all jobs that have ever run.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { JsonlReader } from "@tutti/kernel/workload/traces/jsonl.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { whySentences } from "@tutti/words/why.ts";
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
  type BenchOptions,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";
import { Store } from "../store/store.ts";

const HOUR_MS = 3_600_000;
const CID: Caller = { uid: 1003, user: "cid", isAdministrator: false };
const folder = mkdtempSync(join(tmpdir(), "tutti-quotas-"));
let files = 0;
afterAll(() => rmSync(folder, { recursive: true }));

function settings(limits: string, policy = "fcfs"): Config {
  const text = `policy = "${policy}"\nslotMs = 1000\n${limits}\n[shares]\nhalfLifeDays = ${1 / 24}\n`;
  return readConfig(text, "test.toml").config;
}

async function submit({ clock, frontEnd }: Bench, caller: Caller, fields: Partial<SubmitJob> = {}) {
  const answer = await answerOf(clock, frontEnd.submit(caller, [request(fields)]));
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer.jobs[0].job;
}

/** A store with CPU hours that were used at instant 0. */
function storeWith(hours: Readonly<Record<string, number>>): Store {
  const store = new Store(":memory:", 0);
  for (const { uid, user } of [ANNA, BEN, CID])
    store.setShareUsage({ uid, user, cpuMs: (hours[user] ?? 0) * HOUR_MS, atMs: 0 });
  return store;
}

const startedAtMs = ({ frontEnd }: Bench, job: number) => (frontEnd.job(ROOT, job) as Job).startedAtMs;

const quotaOf = (config: Config, more: Partial<BenchOptions> = {}) =>
  makeBench({ config, cpus: 4, runMs: () => HOUR_MS / 2, ...more });

describe("the instant at which jobs start again", () => {
  test("is two half-lives later for four times the quota", async () => {
    const bench = quotaOf(settings("[limits]\ncpuHours = 2"), { store: storeWith({ anna: 8, ben: 1.9 }) });
    const [annas, bens] = [await submit(bench, ANNA), await submit(bench, BEN)];
    expect(startedAtMs(bench, bens)).toBe(0);
    const why = await bench.frontEnd.why(ANNA, annas);
    expect(why).toMatchObject({
      obstacles: [
        {
          kind: "quota",
          of: "user",
          name: "anna",
          usedCpuMs: 8 * HOUR_MS,
          cpuHours: 2,
          halfLifeMs: HOUR_MS,
          againAtMs: 2 * HOUR_MS,
        },
      ],
    });
    if (isRefusal(why)) throw new Error(why.message);
    const answer = { schema: "tutti.why/1", ...why } as const;
    expect(whySentences(answer, bench.frontEnd.job(ANNA, annas) as Job)[1]).toBe(
      "User anna has used 8 of 2 CPU hours; usage counts half after 1 h. Jobs start again at about 1970-01-01 02:00:00, if nothing more is used. There is no forecast while it waits for this.",
    );
    expect(bench.frontEnd.job(ANNA, annas)).toMatchObject({
      state: "queued",
      reason: "waits for the quota of CPU time of user anna",
    });
    bench.clock.advanceTo(2 * HOUR_MS - 1);
    expect(startedAtMs(bench, annas)).toBeUndefined();
    bench.clock.advanceTo(2 * HOUR_MS + 2);
    expect(startedAtMs(bench, annas)! / HOUR_MS).toBeCloseTo(2, 6);
  });

  test("follows a wall clock that is set forward", async () => {
    const bench = quotaOf(settings("[limits]\ncpuHours = 2"), { store: storeWith({ anna: 8 }) });
    const job = await submit(bench, ANNA);
    bench.clock.unixOffsetMs = 2 * HOUR_MS;
    bench.clock.advanceTo(60_000);
    expect(bench.frontEnd.job(ROOT, job)).toMatchObject({ state: "running" });
  });

  test("is later while jobs run: usage tends to what they use in a half-life ÷ ln 2", async () => {
    // One CPU for ever keeps 1 ÷ ln 2 = 1.4427 CPU hours. From 3 to 2 with it:
    // ln((3 − 1.4427) ÷ (2 − 1.4427)) ÷ ln 2 = 1.4824 half-lives; without it, 0.585.
    const clock = new FakeClock();
    const machine = new FakeMachine({ clock, runMs: () => 10 * HOUR_MS });
    const options = { clock, machine, path: join(folder, `${files++}.db`) };
    const before = quotaOf(settings(""), options);
    before.store.setShareUsage({ uid: ANNA.uid, user: "anna", cpuMs: 3 * HOUR_MS, atMs: 0 });
    await submit(before, ANNA);
    before.kill();
    const bench = quotaOf(settings("[limits]\ncpuHours = 2"), options);
    const job = await submit(bench, ANNA);
    expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({ state: "running" });
    clock.advanceTo(Math.floor(1.482 * HOUR_MS));
    expect(startedAtMs(bench, job)).toBeUndefined();
    clock.advanceTo(Math.ceil(1.483 * HOUR_MS));
    expect(startedAtMs(bench, job)! / HOUR_MS).toBeCloseTo(Math.log2(1.5573 / 0.5573), 3);
    bench.kill();
  });
});

describe("when running jobs reach the quota", () => {
  // Two CPUs from 0 on count (2 ÷ ln 2)·(1 − 2^−t): one CPU hour after −log2(1 − ln 2 ÷ 2) = 0.614 hours.
  const REACHED_MS = -Math.log2(1 - Math.LN2 / 2) * HOUR_MS;

  test.each(["fcfs", "easy", "fcfs:order=fair-share", "conservative"])(
    "under %s, they go on, and a waiting job gives way to those of others at once",
    async (policy) => {
      const config = settings("[limits.users.anna]\ncpuHours = 1", policy);
      const bench = quotaOf(config, { runMs: (job) => (job === 3 ? HOUR_MS / 4 : HOUR_MS) });
      const limitMs = 2 * HOUR_MS;
      const first = await submit(bench, ANNA, { tasks: 2, limitMs });
      const large = await submit(bench, ANNA, { tasks: 4, limitMs });
      const bens = await submit(bench, BEN, { tasks: 2, limitMs: 3 * HOUR_MS });
      bench.clock.advanceTo(Math.floor(REACHED_MS) - 1);
      expect(bench.frontEnd.job(ROOT, large)).toMatchObject({ state: "queued" });
      bench.clock.advanceTo(Math.ceil(REACHED_MS) + 2);
      expect(bench.frontEnd.job(ANNA, first)).toMatchObject({ state: "running" });
      if (policy !== "fcfs:order=fair-share")
        expect(startedAtMs(bench, bens)! / REACHED_MS).toBeCloseTo(1, 5);
      expect(await bench.frontEnd.why(ANNA, large)).toMatchObject({
        obstacles: [{ kind: "quota", name: "anna" }],
      });
      // What counts after an hour, 1.4427, counts one CPU hour after log2(1.4427) hours more.
      runToEnd(bench.clock);
      expect(startedAtMs(bench, large)! / HOUR_MS).toBeCloseTo(1 + Math.log2(1 / Math.LN2), 4);
    },
  );
});

describe("a group", () => {
  const config = settings("[limits.groups.lab]\ncpuHours = 3\n[limits.users.cid]\ncpuHours = 100");
  const groupsOf = ({ user }: { readonly user: string }) => (user === "cid" ? [] : ["lab"]);

  test("uses what its members used together, and only administrators see the sum before it is reached", async () => {
    const store = storeWith({ anna: 4, ben: 1.9, cid: 50 });
    const bench = quotaOf(config, { store, groupsOf });
    const [bens, cids] = [await submit(bench, BEN), await submit(bench, CID)];
    expect(startedAtMs(bench, cids)).toBe(0);
    expect(await bench.frontEnd.why(BEN, bens)).toMatchObject({
      obstacles: [{ kind: "quota", of: "group", name: "lab", usedCpuMs: 5.9 * HOUR_MS, cpuHours: 3 }],
    });
    expect(bench.frontEnd.shares(ROOT).quotas).toEqual([
      { of: "group", name: "lab", cpuHours: 3, usedCpuMs: 5.9 * HOUR_MS },
      { of: "user", name: "cid", cpuHours: 100, usedCpuMs: 50 * HOUR_MS },
    ]);
    expect(bench.frontEnd.shares(BEN).quotas).toBeUndefined();
    expect(bench.frontEnd.shares(CID).quotas).toEqual([
      { of: "user", name: "cid", cpuHours: 100, usedCpuMs: 50 * HOUR_MS },
    ]);
    expect(bench.frontEnd.queues(BEN).yours).toMatchObject([
      { of: "group", name: "lab", cpuHours: 3, usedCpuMs: 1.9 * HOUR_MS },
    ]);
    runToEnd(bench.clock);
    expect(startedAtMs(bench, bens)! / HOUR_MS).toBeCloseTo(Math.log2(5.9 / 3), 6);
  });
});

test("a job that would start at once has no forecast while its quota is reached", async () => {
  const bench = quotaOf(settings("[limits]\ncpuHours = 2"), { store: storeWith({ anna: 8 }) });
  const ask = (caller: Caller) =>
    answerOf(bench.clock, bench.frontEnd.dryRun(caller, [request({ limitMs: 1000 })]));
  const [annas, bens] = [await ask(ANNA), await ask(BEN)];
  expect(JSON.stringify(annas)).toContain('"limit"');
  expect(JSON.stringify(bens)).not.toContain('"limit"');
});

test("an exported workload says that its quotas are left out", () => {
  const codesOf = (limits: string) => {
    const bench = quotaOf(settings(limits));
    const reader = new JsonlReader("export");
    reader.push(new TextEncoder().encode([...bench.frontEnd.exportJsonl(ROOT)].join("")));
    return reader.end().diagnostics.map(({ code }) => code);
  };
  expect(codesOf("[limits]\ncpuHours = 2")).toEqual(["quotas-left-out"]);
  expect(codesOf("[limits]\nrunningJobs = 2")).toEqual([]);
});

/** Users of the property, with their groups and quotas in CPU hours. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  anna: ["lab"],
  ben: ["lab", "course"],
  cid: ["course"],
};
const CALLERS = [ANNA, BEN, CID];
const QUOTAS: Readonly<Record<string, number>> = { anna: 0.5, ben: 0.8, cid: 0.5, lab: 1, course: 1.1 };
const LIMITS = `
maxRows = 3
[limits]
cpuHours = 0.5
runningJobs = 3
[limits.users.ben]
cpuHours = 0.8
[limits.groups.lab]
cpuHours = 1
[limits.groups.course]
cpuHours = 1.1`;

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("submit" as const),
      caller: fc.constantFrom(...CALLERS),
      tasks: fc.integer({ min: 1, max: 4 }),
      hours: fc.constantFrom(0.1, 0.2, 0.5),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: HOUR_MS }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("cancel" as const, "hold" as const, "release" as const),
      job: fc.integer({ min: 1, max: 12 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const) }) },
);

/** Under these policies, the front end is killed, too: a store on disk takes most of the time of the test. */
const DEADLY: ReadonlySet<string> = new Set(["easy", "wlv:rows=3"]);

class Watched {
  readonly clock = new FakeClock();
  bench: Bench;
  /** How often a job waited for a quota at an instant that was looked at. */
  waits = 0;
  readonly #options: BenchOptions;
  /** Time in which the scheduler notices that there is room again. */
  readonly #roughMs: number;
  readonly #started = new Set<number>();

  constructor(policy: string) {
    const { clock } = this;
    const isShared = /^(gang|wlv)/.test(policy);
    this.#roughMs = isShared ? 1001 : 2;
    this.#options = {
      ...{ clock, cpus: 4, config: settings(LIMITS, policy) },
      path: DEADLY.has(policy) ? join(folder, `${files++}.db`) : ":memory:",
      machine: new FakeMachine({ clock, runMs: (job) => (HOUR_MS / 10) * (1 + (job % 5)) }),
      // Forecasts would take most of the time.
      forecastEngine: async () => [],
      groupsOf: ({ user }) => GROUPS[user],
    };
    this.bench = makeBench(this.#options);
  }

  restart(): void {
    this.bench.kill();
    this.bench = makeBench(this.#options);
  }

  /** CPU hours that count now of a user or a group, from all jobs that have ever run. */
  usedHours(name: string, jobs: readonly Job[]): number {
    const nowMs = this.clock.unixMs();
    let hours = 0;
    for (const { user, tasks, startedAtMs: fromMs, endedAtMs = nowMs, ranMs } of jobs) {
      if (fromMs === undefined || ranMs === 0 || (user !== name && !GROUPS[user].includes(name))) continue;
      // ranMs of CPU time, spread evenly: the integral of 2^(−age) over the age, in half-lives.
      const [old, young] = [nowMs - endedAtMs + Math.max(ranMs, endedAtMs - fromMs), nowMs - endedAtMs];
      const density = (tasks * ranMs) / (old - young);
      hours += (density * (2 ** (-young / HOUR_MS) - 2 ** (-old / HOUR_MS))) / Math.LN2;
    }
    return hours;
  }

  /** The parts of used ÷ quota that count for a user's jobs. */
  #levels(user: string, jobs: readonly Job[]): number[] {
    return [user, ...GROUPS[user]].map((name) => this.usedHours(name, jobs) / QUOTAS[name]);
  }

  /** Jobs that wait for a quota although all their quotas have room. */
  #waitsInVain(jobs = this.bench.frontEnd.jobs(ROOT, {})): readonly number[] {
    const waiting = jobs.filter(({ reason }) => reason?.startsWith("waits for the quota of CPU time"));
    this.waits += waiting.length;
    return waiting
      .filter(({ user }) => this.#levels(user, jobs).every((level) => level < 1 - 1e-9))
      .map(({ job }) => job);
  }

  look(): void {
    const { frontEnd } = this.bench;
    const jobs = frontEnd.jobs(ROOT, {});
    for (const { job, user, startedAtMs: fromMs, state } of jobs) {
      if (fromMs === undefined || this.#started.has(job)) continue;
      this.#started.add(job);
      if (state === "cancelled") continue;
      expect(fromMs).toBe(this.clock.unixMs());
      for (const level of this.#levels(user, jobs)) expect(level).toBeLessThan(1 + 1e-9);
    }
    const early = this.#waitsInVain(jobs);
    if (early.length > 0) {
      this.clock.advanceTo(this.clock.nowMs() + this.#roughMs);
      const late = this.#waitsInVain();
      expect(early.filter((job) => late.includes(job))).toEqual([]);
    }
  }

  /** Lets time pass; looks at every instant at which something happens, and in between. */
  pass(ms: number): void {
    const { clock } = this;
    const untilMs = clock.nowMs() + ms;
    while (clock.nowMs() < untilMs) {
      const before = this.waits;
      this.look();
      // Between two looks of the scheduler at the wall clock, which are a minute apart.
      const stepMs = this.waits > before ? 20_000 : 100_000;
      clock.advanceTo(Math.min(clock.nextMs(), untilMs, clock.nowMs() + stepMs));
    }
    this.look();
  }
}

test.each([
  "fcfs",
  "easy",
  "easy:order=fair-share",
  "conservative",
  "wlv:rows=3",
  "wlv:rows=3:queueOrder=fair-share",
])("under %s, no job starts over a quota, and none waits for one with room", async (policy) => {
  let waits = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 40 }), async (steps) => {
      const watched = new Watched(policy);
      for (const one of steps) {
        const { bench, clock } = watched;
        if (one.kind === "submit") {
          const { caller, tasks, hours } = one;
          await submit(bench, caller, { tasks, limitMs: Math.round(hours * HOUR_MS) });
        } else if (one.kind === "pass") watched.pass(one.ms);
        else if (one.kind === "kill") {
          if (DEADLY.has(policy)) watched.restart();
        } else if ("job" in one)
          await answerOf(clock, bench.frontEnd.change(ROOT, { action: one.kind }, [one.job]));
        clock.settle();
        watched.look();
      }
      waits += watched.waits;
      watched.bench.kill();
    }),
    { numRuns: SIZES.quotaHistories, seed: 23 },
  );
  expect(waits).toBeGreaterThan(20);
});
