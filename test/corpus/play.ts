/**
 * Opens a recorded state in a front end, at its instant, and writes down as texts what the front end says:
 * exports, forecasts, timeline, reasons, lists, sums, events. Equal states give equal texts, at any time and
 * in any time zone.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { readConfig } from "@tutti/live/daemon/config/config.ts";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import type { Connected, Report } from "@tutti/live/daemon/executor/executor.ts";
import { FakeMachine } from "@tutti/live/daemon/front-end/fake-machine-for-tests.ts";
import { type Bench, makeBench, ROOT, request } from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import type { Event, Job, WhyAnswer } from "@tutti/protocol/answers.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { eventSentence } from "@tutti/words/event-sentences.ts";
import { eventDetails } from "@tutti/words/events.ts";
import { whySentences } from "@tutti/words/why.ts";
import type { RecordedState } from "./state.ts";

/** The texts of a state by name. */
export type Texts = Readonly<Record<string, string>>;

const HOUR_MS = 3_600_000;
/** News that is noted when the state is opened gets random digits. */
const NEWS_ID = /"id": "(\d{14})-[0-9a-f]{24}"/g;
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  anna: ["physics", "all"],
  ben: ["physics"],
  carl: ["chemistry", "all"],
};

export function groupsOf({ user }: { readonly user: string }): readonly string[] {
  return GROUPS[user] ?? [];
}

/** Says what was recorded, and does nothing. */
class RecordedMachine extends FakeMachine {
  readonly #connected: Connected | undefined;
  #listeners: ((report: Report) => void)[] = [];

  constructor(clock: FakeClock, connected: Connected | undefined) {
    super({ clock, runMs: () => Number.POSITIVE_INFINITY });
    this.#connected = connected;
  }

  override apply(): void {}

  override listen(onReport: (report: Report) => void): () => void {
    this.#listeners.push(onReport);
    return () => {};
  }

  override connect(): void {
    if (this.#connected === undefined) return;
    this.connected = true;
    for (const listener of this.#listeners) listener(this.#connected);
  }
}

export async function play(state: RecordedState): Promise<Texts> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-corpus-"));
  const { TZ } = process.env;
  const RealDate = globalThis.Date;
  // Sentences say times of day.
  process.env.TZ = "UTC";
  globalThis.Date = dateAt(state.unixMs);
  try {
    const path = join(folder, "tutti.db");
    writeFileSync(path, state.store);
    const bench = open(state, path);
    try {
      return await textsOf(bench, state);
    } finally {
      bench.frontEnd.stop();
      bench.kill();
    }
  } finally {
    globalThis.Date = RealDate;
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
    rmSync(folder, { recursive: true });
  }
}

/** The order of keys says nothing. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function dateAt(unixMs: number): DateConstructor {
  return class extends Date {
    constructor(...parameters: readonly unknown[]) {
      super(...((parameters.length === 0 ? [unixMs] : parameters) as [number]));
    }

    static override now = () => unixMs;
  } as unknown as DateConstructor;
}

function open(state: RecordedState, path: string): Bench {
  const { config, nowMs, unixMs, bootMs, bootId, nodes, memoryBytes, connected } = state;
  const clock = new FakeClock(nowMs);
  clock.suspend(bootMs - nowMs);
  clock.unixOffsetMs = unixMs - nowMs;
  const machine = new RecordedMachine(clock, connected);
  return makeBench({
    clock,
    machine,
    path,
    bootId,
    nodes,
    memoryBytes,
    groupsOf,
    config: readConfig(JSON.stringify(config), "corpus.json").config,
  });
}

async function textsOf({ frontEnd, clock }: Bench, { unixMs, name }: RecordedState): Promise<Texts> {
  const texts: Record<string, string> = {};
  const note = (what: string, value: unknown) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, inOrder, 1);
    texts[what] = text.replace(NEWS_ID, '"id": "$1"');
  };
  const all = [...frontEnd.list(ROOT, {})].flat();
  const callers = [ROOT, ...callersOf(all)];
  note("status", { ...frontEnd.status(ROOT), residentBytes: undefined });
  note("policy", frontEnd.policy());
  note("matrix", frontEnd.matrix());
  note("windows", frontEnd.windows());
  note("strays", frontEnd.strays(ROOT));
  for (const caller of callers) {
    const of = (what: string) => `${what} of ${caller.user}`;
    note(of("queues"), frontEnd.queues(caller));
    note(of("shares"), frontEnd.shares(caller));
    for (const by of [
      { user: false, queue: false },
      { user: true, queue: true },
    ])
      note(
        `${of("usage")}${by.user ? " by user and queue" : ""}`,
        lastOf(frontEnd.usage(caller, { by, fromMs: 0 })),
      );
    note(of("jobs"), [...frontEnd.list(caller, {})].flat());
    note(
      of("numbers of ended jobs"),
      lastOf(frontEnd.numbers(caller, { states: ["done", "failed", "cancelled"] })),
    );
    note(of("history"), [...frontEnd.list(caller, { lastEnded: 20 })].flat());
    note(of("export as JSONL"), [...frontEnd.exportJsonl(caller)].join(""));
    note(of("export as SWF"), [...frontEnd.exportSwf(caller)].join(""));
    const events: Event[] = [];
    frontEnd.listen(caller, 0, (event) => events.push(event));
    note(of("events"), events.map((event) => JSON.stringify(event)).join("\n"));
    note(of("events in words"), events.map(inWords).join("\n"));
  }
  const settled = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    clock.settle();
    return await answer;
  };
  for (const caller of callers) {
    const of = (what: string) => `${what} of ${caller.user}`;
    const span = { fromMs: unixMs - 12 * HOUR_MS, toMs: unixMs + 12 * HOUR_MS };
    const timeline = await settled(frontEnd.timeline(caller, span));
    note(of("timeline"), isRefusal(timeline) ? timeline : lastOf(timeline));
    note(of("forecast"), await settled(frontEnd.whatIf(caller, {})));
    const jobs = [{ tasks: 2, limitMs: HOUR_MS }, { limitMs: HOUR_MS / 4 }];
    note(of("what if"), await settled(frontEnd.whatIf(caller, { jobs })));
  }
  note("what if, another policy", await settled(frontEnd.whatIf(ROOT, { policy: otherPolicy(name) })));
  note("what if, fewer CPUs", await settled(frontEnd.whatIf(ROOT, { withoutCpus: 2 })));
  note("dry run", await settled(frontEnd.dryRun(USERS[1], [request({ tasks: 2, limitMs: HOUR_MS })])));
  const why: string[] = [];
  for (const caller of callers) {
    const own = caller === ROOT ? all : all.filter(({ user }) => user === caller.user);
    for (const job of [...own.filter(({ state }) => !isEnded(state)), ...own.filter(isEndedJob).slice(-3)]) {
      const answer = await settled(frontEnd.why(caller, job.job));
      why.push(`${caller.user}: ${JSON.stringify(answer, inOrder)}`);
      if (isRefusal(answer)) continue;
      const sentences = whySentences({ schema: "tutti.why/1", ...answer } as WhyAnswer, job);
      why.push(...sentences.map((sentence) => `  ${sentence}`));
    }
  }
  note("why", why.join("\n"));
  return texts;
}

function isEndedJob({ state }: Job): boolean {
  return isEnded(state);
}

/** Two users who have jobs. */
function callersOf(jobs: readonly Job[]): Caller[] {
  const names = new Set(jobs.map(({ user }) => user));
  return USERS.filter(({ user }) => names.has(user)).slice(0, 2);
}

/** No machine has accounts with these numbers, so it names none. */
export const USERS: readonly Caller[] = ["anna", "ben", "carl"].map((user, i) => ({
  uid: 61_001 + i,
  user,
  isAdministrator: false,
}));

function otherPolicy(name: string): string {
  return ["fcfs", "easy", "conservative"][name.length % 3];
}

function inWords(event: Event): string {
  const { job, user } = event;
  const who = job === undefined ? "" : `job ${job} (${user})`;
  return [event.sequence, eventSentence(event, who) ?? "-", ...eventDetails(event)].join(" | ");
}

/** What a generator returns at its end. */
function lastOf<Value>(generator: Generator<unknown, Value, void>): Value {
  for (;;) {
    const { done, value } = generator.next();
    if (done === true) return value as Value;
  }
}
