/**
 * The kill loop: real jobs of all kinds run on a real scheduler, while faults of all kinds happen to it.
 * packages/torture/judge says what went wrong. What is drawn depends on the seed only; when a fault hits is
 * up to the machine.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Random } from "@tutti/kernel/core/random.ts";
import type { Event, Job, JobAnswer } from "@tutti/protocol/schema.ts";
import { type Report, readReports } from "@tutti/torture/judge/history.ts";
import { judge } from "@tutti/torture/judge/judge.ts";
import { makeAccount, removeAccounts } from "../accounts.ts";
import { FAULTS } from "./faults.ts";
import { KINDS } from "./kinds.ts";
import { MOST_JOBS, type Settings, sleep } from "./scheduler.ts";
import { Story } from "./story.ts";
import { LOOK_MS, read, World } from "./world.ts";

export interface KillPlan {
  readonly seed: number;
  readonly faults: number;
  /** Only faults with this in their name; "": all kinds. */
  readonly only: string;
}

export interface KillCounts extends Settings {
  readonly faults: Readonly<Record<string, number>>;
  readonly jobs: Readonly<Record<string, number>>;
  readonly starts: number;
  readonly changed: Readonly<Record<string, number>>;
  /** Requests that the front end may have received when it died. */
  readonly cutOff: number;
  readonly hooks: number;
  readonly webhooks: number;
  readonly shimsKilled: number;
  /** Cancelled after a restore, because the store did not know that they had run. */
  readonly forgotten: number;
  readonly foundStopped: number;
  readonly slowestThawMs: number;
  /** Descriptions of everything that went wrong. */
  readonly problems: readonly string[];
}

/** Stories that go on at the same time. */
const AT_ONCE = 10;
const JOBS_PER_FAULT = 2;
/** Longest time between two faults. */
const BETWEEN_MS = 900;
/** Longest wait for a change to kill in, and for its answer. */
const AIM_MS = 1000;
const ANSWER_MS = 10;
/** Longest time for which something is stopped, in a long run and in a short one. */
const STOPPED_MS = [6000, 1500] as const;
const LONG_RUN = 30;
const END_MS = 120_000;

/** Runs everything and leaves nothing behind. */
export async function runKillLoop(
  plan: KillPlan,
  settings: Settings,
  log: (line: string) => void,
): Promise<KillCounts> {
  const users = settings.mode === "shared" ? ["ada", "bob", "eve"].map((one) => makeAccount(one)) : [];
  const world = new World(plan.seed, settings, users);
  const reports: Report[] = [];
  const receiver = createServer(async (request, answer) => {
    let text = "";
    for await (const piece of request.setEncoding("utf8")) text += piece;
    const { event, job, attempt, id, state } = JSON.parse(text) as Report;
    reports.push({ hook: "webhook", event, job, attempt, id, state });
    answer.end();
  });
  try {
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const webhook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    return await runIn(world, plan, settings, webhook, reports, log);
  } finally {
    world.end();
    await world.scheduler.clear();
    receiver.closeAllConnections();
    receiver.close();
    removeAccounts();
  }
}

async function runIn(
  world: World,
  plan: KillPlan,
  settings: Settings,
  webhook: string,
  reports: Report[],
  log: (line: string) => void,
): Promise<KillCounts> {
  const { scheduler, random, sender } = world;
  const jobs = plan.faults * JOBS_PER_FAULT;
  let released = AT_ONCE / 2;
  let next = 0;
  const tell = async () => {
    while (!world.isOver && next < jobs) {
      if (next < released)
        await new Story(world, KINDS[(plan.seed * jobs + next++) % KINDS.length], webhook).tell();
      else await sleep(LOOK_MS);
    }
  };
  await scheduler.isUp();
  const looks = world.look();
  const stories = Promise.all(Array.from({ length: AT_ONCE }, tell));
  const faults = deal(plan);
  const counts: Record<string, number> = {};
  for (const [i, fault] of faults.entries()) {
    const isAimed = random.below(2) === 0;
    await sleep(random.below(BETWEEN_MS));
    await scheduler.isUp();
    released = (i + 1) * JOBS_PER_FAULT + AT_ONCE / 2;
    if (isAimed) await amidChanges(world);
    log(`${new Date().toISOString().slice(11, 23)} ${fault.name}`);
    await fault.inflict(world, STOPPED_MS[plan.faults < LONG_RUN ? 1 : 0]);
    counts[fault.name] = (counts[fault.name] ?? 0) + 1;
  }
  released = jobs;
  await scheduler.within(END_MS, "all jobs had ended", Promise.all([stories, allHaveEnded(world)]));
  await scheduler.within(END_MS, "all hooks had run", hooksHaveRun(world));
  world.records = (await sender.send<{ jobs: Job[] }>("GET", "/v1/jobs?last=1000")).value?.jobs ?? [];
  const { events, noted, exported } = await readBooks(world);
  for (const { index } of world.jobs) reports.push(...readReports(read(world.file("hooks", index))));
  world.end();
  await looks;
  const mostJobs = settings.mode === "shared" ? MOST_JOBS : Number.POSITIVE_INFINITY;
  const found = judge(world.history({ reports, noted, exported, mostJobs }));
  const numbers = new Set(found.flatMap((problem) => /^job (\d+)/.exec(problem)?.slice(1).map(Number) ?? []));
  const lines = events.filter(({ job = 0 }) => numbers.has(job)).map((event) => JSON.stringify(event));
  scheduler.problems.push(...found, ...lines);
  await scheduler.checkEnd();
  await scheduler.shutDown();
  const { problems, foundStopped, slowestThawMs } = scheduler;
  return {
    ...settings,
    faults: counts,
    jobs: countBy(world.jobs.map(({ kind }) => kind)),
    starts: world.starts().length,
    changed: world.changed,
    cutOff: sender.cutOff,
    hooks: reports.filter(({ hook }) => hook !== "webhook").length,
    webhooks: reports.filter(({ hook }) => hook === "webhook").length,
    shimsKilled: world.lost.size,
    forgotten: world.forgotten.size,
    ...{ foundStopped, slowestThawMs, problems },
  };
}

/** Each kind equally often, in random order; runs of successive seeds go on where the last one ended. */
function deal({ seed, faults, only }: KillPlan) {
  const chosen = FAULTS.filter(({ name }) => name.includes(only));
  if (chosen.length === 0)
    throw new Error(
      `No fault has "${only}" in its name, expected a part of one of: ${FAULTS.map(({ name }) => name).join(", ")}`,
    );
  const dealt = Array.from({ length: faults }, (_, i) => chosen[(seed * faults + i) % chosen.length]);
  const random = new Random(seed, "order of faults");
  for (let i = dealt.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [dealt[i], dealt[j]] = [dealt[j], dealt[i]];
  }
  return dealt;
}

/** Waits for a moment at which the front end has not yet answered a change. */
async function amidChanges({ sender, random }: World): Promise<void> {
  const untilMs = performance.now() + AIM_MS;
  while (sender.unanswered === 0 && performance.now() < untilMs) await sleep(0);
  await sleep(random.below(ANSWER_MS));
}

async function allHaveEnded(world: World): Promise<void> {
  const hasEnded = ({ endedAtMs }: Job) => endedAtMs !== undefined;
  const all = () => world.jobs.every(({ numbers, isUnheard }) => isUnheard || numbers.length > 0);
  await world.until(() => all() && world.records.length > 0 && world.records.every(hasEnded));
}

async function hooksHaveRun(world: World): Promise<void> {
  for (const { numbers, reruns, hooks } of world.jobs) {
    for (const job of hooks.length === 0 ? [] : [...numbers, ...reruns]) {
      const hasRun = async () => {
        const { value } = await world.sender.once<JobAnswer>("GET", `/v1/jobs/${job}`);
        return value?.job.news?.every(({ state }) => state !== "waiting") ?? true;
      };
      while (!world.isOver && !(await hasRun())) await sleep(LOOK_MS);
    }
  }
}

/** What the scheduler's events and exports say. Checks that each export can be read, as a whole. */
async function readBooks({ scheduler }: World) {
  const events = await scheduler.tutti("events", "--json");
  const lines = events.stdout.split("\n").filter(Boolean);
  const parsed = lines.map((line) => JSON.parse(line) as Event);
  const started = parsed.filter(({ kind }) => kind === "started");
  const noted = new Set(started.map(({ job, data }) => `${job}.${data?.attempt}`));
  const swf = await scheduler.tutti("export", "--format", "swf");
  const inSwf = swf.stdout.split("\n").filter((line) => /^\s*\d/.test(line));
  const broken = inSwf.filter((line) => line.trim().split(/\s+/).length !== 18);
  scheduler.problems.push(
    ...broken.map((line) => `a line of the SWF export does not have 18 fields: ${line}`),
  );
  const jsonl = await scheduler.tutti("export", "--format", "jsonl");
  const inJsonl = new Set(
    jsonl.stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { job?: number }).job),
  );
  const numbers = inSwf.map((line) => Number(line.trim().split(/\s+/)[0]));
  return { events: parsed, noted, exported: new Set(numbers.filter((job) => inJsonl.has(job))) };
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
