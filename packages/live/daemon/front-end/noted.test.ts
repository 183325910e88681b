/**
 * What happens while no front end is there is known afterwards as if one had been there: a random history is
 * played with and without one. And a store that is older follows what the conductor has noted.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { lineFile, NumbersFile } from "../state/numbers.ts";
import { FakeMachine, type FakeMachineOptions } from "./fake-machine-for-tests.ts";
import { ANNA, answerOf, type Bench, makeBench, ROOT, request, runToEnd } from "./front-end-for-tests.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-noted-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const config = { policy: "fcfs" };

type Act = "none" | "pause" | "cancel";
interface Fate {
  readonly beginMs: number;
  readonly runMs: number;
  readonly end: { readonly code: number } | { readonly signal: string };
  /** What its user does once all jobs have been submitted, before the front end goes away. */
  readonly act: Act;
}

const fate: fc.Arbitrary<Fate> = fc.record({
  beginMs: fc.constantFrom(0, 50, 400, 1600),
  runMs: fc.integer({ min: 1, max: 2500 }),
  end: fc.oneof(
    fc.record({ code: fc.constantFrom(0, 1, 137) }),
    fc.record({ signal: fc.constant("SIGTERM") }),
  ),
  act: fc.constantFrom<Act>("none", "none", "none", "pause", "cancel"),
});

/** Everything that people, exports and hooks learn. */
function knownBy({ frontEnd, store }: Bench) {
  const apart = ["recovered", "conductor", "matrix", "policy", "placed"];
  const events = [...store.eventsAfter(0, 10_000)]
    .map(({ event: { sequence: _, ...event } }) => event)
    .filter(({ kind }) => !apart.includes(kind))
    .sort((a, b) => (a.job ?? 0) - (b.job ?? 0));
  const news = store.news
    .turns()
    .flatMap((turn) => store.news.next(turn, 10_000))
    .map(({ id: _, sequence: __, dueMs: ___, ...one }) => one);
  const place = ({ job, event, hook }: (typeof news)[number]) =>
    `${job} ${event === "start" ? 0 : 1} ${hook}`;
  const inOrder = news.sort((a, b) => place(a).localeCompare(place(b)));
  const lines = (text: Iterable<string>) => [...text].filter((line) => !line.startsWith(";"));
  return {
    // Until a job has ended, its running time is the front end's estimate.
    jobs: frontEnd.jobs(ROOT, {}).map(({ news: _, ranMs, ...job }) => ({
      ...job,
      ...(isEnded(job.state) && { ranMs }),
    })),
    events,
    news: inOrder,
    swf: lines(frontEnd.exportSwf(ROOT)),
  };
}

/** @param away when the front end goes away and comes back; undefined: it stays */
async function play(fates: readonly Fate[], away?: readonly [fromMs: number, toMs: number]) {
  const clock = new FakeClock();
  const machine = new FakeMachine({
    clock,
    runMs: (job) => fates[job - 1].runMs,
    beginMs: (job) => fates[job - 1].beginMs,
    ends: (job) => fates[job - 1].end,
  });
  const path = join(folder, `${++files}.db`);
  const options = { config, clock, machine, path, cpus: fates.length };
  let bench = makeBench(options);
  const hooks = { onStart: "s", onEnd: "e", onFail: "f", webhook: "http://localhost/" };
  const jobs = fates.map(() => request({ ...hooks, notify: ["start", "end"] }));
  await answerOf(clock, bench.frontEnd.submit(ANNA, jobs));
  clock.advanceTo(100);
  for (const [i, { act }] of fates.entries()) {
    if (act !== "none") await answerOf(clock, bench.frontEnd.change(ANNA, { action: act }, [i + 1]));
  }
  if (away !== undefined) {
    clock.advanceTo(away[0]);
    bench.kill();
    clock.advanceTo(away[1]);
    bench = makeBench(options);
  }
  clock.advanceTo(6000);
  return bench;
}

test("a history has the same jobs, events, news and exports without a front end as with one", async () => {
  const span = fc.tuple(fc.integer({ min: 100, max: 1500 }), fc.integer({ min: 1, max: 5000 }));
  let late = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { minLength: 1, maxLength: 5 }), span, async (fates, [fromMs, forMs]) => {
      const there = knownBy(await play(fates));
      const gone = knownBy(await play(fates, [fromMs, fromMs + forMs]));
      expect(gone).toEqual(there);
      late += fates.filter(
        ({ act, beginMs, runMs }) => act === "none" && beginMs > fromMs && beginMs + runMs < fromMs + forMs,
      ).length;
    }),
    { numRuns: 30 },
  );
  // Otherwise nothing has begun and ended meanwhile.
  expect(late).toBeGreaterThan(5);
});

interface Past {
  readonly clock: FakeClock;
  readonly machine: FakeMachine;
  readonly path: string;
  readonly numbers: () => NumbersFile;
}

/** A front end that is gone, and whose store is as it was at `backup`. */
async function restored(
  before: (bench: Bench) => Promise<unknown>,
  after: (bench: Bench) => Promise<unknown>,
  more: Partial<FakeMachineOptions> = {},
): Promise<Past> {
  const clock = new FakeClock();
  const machine = new FakeMachine({ clock, runMs: () => 10_000, ...more });
  const name = join(folder, String(++files));
  const numbers = () => new NumbersFile(lineFile(`${name}.numbers`), "boot");
  const bench = makeBench({ config, clock, machine, path: `${name}.db`, numbers: numbers() });
  await answerOf(clock, bench.frontEnd.submit(ANNA, [request({ retries: 2, limitMs: 60_000 })]));
  await before(bench);
  for (const part of ["", "-wal"]) copyFileSync(`${name}.db${part}`, `${name}.backup${part}`);
  clock.advanceTo(clock.nowMs() + 1000);
  await after(bench);
  bench.kill();
  for (const part of ["", "-wal"]) copyFileSync(`${name}.backup${part}`, `${name}.db${part}`);
  return { clock, machine, path: `${name}.db`, numbers };
}

const change = (action: "pause" | "resume" | "cancel" | "requeue") => (bench: Bench) =>
  answerOf(bench.clock, bench.frontEnd.change(ANNA, { action }, [1]));
const nothing = async (): Promise<void> => {};
const start = ({ numbers, ...past }: Past) => makeBench({ config, ...past, numbers: numbers() });

test("after a backup was restored, a job that was paused meanwhile stays paused, until its user resumes it", async () => {
  const past = await restored(nothing, change("pause"));
  const bench = start(past);
  runToEnd(bench.clock, 5000);
  expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({
    state: "paused",
    pausedAtMs: 1000,
    reason: "paused by a request that this older store does not have",
  });
  expect(past.machine.matrix?.paused).toEqual([{ job: 1, attempt: 1 }]);
  // Only once: from now on, requests count, also if the next front end comes before they are carried out.
  past.machine.connected = false;
  await change("resume")(bench);
  bench.kill();
  const next = start(past);
  runToEnd(next.clock, 9000);
  expect(next.frontEnd.job(ANNA, 1)).toMatchObject({ state: "running" });
  runToEnd(next.clock);
  expect(next.frontEnd.job(ANNA, 1)).toMatchObject({ state: "done", ranMs: 10_000, attempt: 1 });
});

test("the other way round, a job that was resumed after the backup goes on", async () => {
  const bench = start(await restored(change("pause"), change("resume")));
  runToEnd(bench.clock, 5000);
  expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({ state: "running" });
});

test("nothing is concluded from a conductor that keeps no record", async () => {
  const forgets = true;
  const paused = start(await restored(change("pause"), change("resume"), { forgets }));
  expect(paused.frontEnd.job(ANNA, 1)).toMatchObject({ state: "paused" });
  const running = start(await restored(nothing, change("pause"), { forgets }));
  expect(running.frontEnd.job(ANNA, 1)).toMatchObject({ state: "running" });
});

test("a store that is not older counts, although the conductor has not received its last command", async () => {
  const clock = new FakeClock();
  const machine = new FakeMachine({ clock, runMs: () => 10_000 });
  const past = { clock, machine, path: join(folder, `${++files}.db`) };
  const line = `${past.path}.numbers`;
  const numbers = () => new NumbersFile(lineFile(line), "boot");
  const bench = makeBench({ config, ...past, numbers: numbers() });
  await answerOf(clock, bench.frontEnd.submit(ANNA, [request()]));
  await change("pause")(bench);
  // The commit is on disk; the command is lost.
  machine.connected = false;
  await change("resume")(bench);
  bench.kill();
  const next = start({ ...past, numbers });
  expect(next.frontEnd.job(ANNA, 1)).toMatchObject({ state: "running" });
});

test("a job held because a later attempt runs says so, and when that has ended, how; also after a restart", async () => {
  const past = await restored(nothing, async (bench) => {
    await change("requeue")(bench);
    runToEnd(bench.clock, 2000);
  });
  expect(past.machine.launched).toEqual(["1/1", "1/2"]);
  const bench = start(past);
  expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({
    state: "held",
    reason: expect.stringMatching(/running/),
  });
  past.machine.end({ job: 1, attempt: 2 }, "none", { code: 3 });
  bench.clock.settle();
  const reason = expect.stringMatching(
    /attempt 2 .* has ended: exit code 3; release the job to run it again/,
  );
  expect(bench.frontEnd.job(ANNA, 1)).toMatchObject({ state: "held", reason });
  bench.kill();
  const next = start(past);
  expect(next.frontEnd.job(ANNA, 1)).toMatchObject({ state: "held", reason });
  await answerOf(next.clock, next.frontEnd.release(ANNA, 1));
  runToEnd(next.clock);
  expect(next.frontEnd.job(ANNA, 1)).toMatchObject({ state: "done", attempt: 3 });
});
