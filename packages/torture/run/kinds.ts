/** The kinds of jobs of a life: what each asks for, how it ends, and what its user does meanwhile. */
import { LIMIT } from "../judge/history.ts";
import type { Random } from "../world/contract.ts";
import { type Kind, NO_LIMIT_MS } from "./story.ts";

const SIGNALS = ["SIGKILL", "SIGBUS", "SIGTERM", "SIGUSR2"] as const;
const ENDS = ["3", "75", "SIGKILL", "SIGBUS"] as const;
/** Only if it is lost: none of them ends in this way. */
const NEVER_RETRIED = { retries: 1, retryOn: ["SIGXCPU"] } as const;

const MINUTE_MS = 60_000;

const code = (random: Random) => String(random.between(1, 255));
const someEnds = (random: Random, most: number) =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(ENDS));

export const KINDS: readonly Kind[] = [
  { name: "exit code 0", weight: 3 },
  { name: "exit code", ends: (random) => [code(random)] },
  { name: "signal", ends: (random) => [random.pick(SIGNALS)] },
  { name: "computes", weight: 2, plan: () => ({ computes: true }) },
  { name: "several processes", plan: (random) => ({ computes: true, processes: random.between(2, 4) }) },
  { name: "leaves a process", plan: () => ({ leaves: true }) },
  { name: "without a key", hasNoKey: true, ends: (random) => [code(random)] },
  { name: "retried", weight: 2, ends: (random) => someEnds(random, 3) },
  {
    name: "retried late",
    weight: 2,
    ends: () => ["75"],
    asks: (random) => ({
      ...{ retries: 1, retryOn: ["fail"] },
      retryDelayMs: random.between(1500, random.pick([60_000, 5 * MINUTE_MS])),
    }),
  },
  { name: "array", weight: 2, request: () => ({ array: "1-5%2" }), judged: { most: 2 } },
  { name: "before ok", before: "ok", ends: (random) => [random.pick(["0", "9"])], asks: () => NEVER_RETRIED },
  {
    name: "before notok",
    before: "notok",
    ends: (random) => [random.pick(["0", "9"])],
    asks: () => NEVER_RETRIED,
  },
  {
    name: "before any",
    before: "any",
    ends: (random) => [random.pick(SIGNALS)],
    asks: () => NEVER_RETRIED,
  },
  { name: "paused", weight: 2, plan: () => ({ untilGo: true }), story: (story) => story.pause(false) },
  { name: "paused with release", plan: () => ({ untilGo: true }), story: (story) => story.pause(true) },
  {
    name: "begins later",
    weight: 2,
    asks: (random, nowMs, ms) => ({
      beginAtMs:
        nowMs + random.between(1, random.pick([Math.ceil(ms) + 5000, 10 * MINUTE_MS, 120 * MINUTE_MS])),
    }),
  },
  {
    name: "begin edited",
    asks: (_, nowMs) => ({ beginAtMs: nowMs + NO_LIMIT_MS }),
    story: (story) => story.edit("begin"),
  },
  { name: "gpu", weight: 2, request: (random) => ({ use: { gpu: random.between(1, 2) } }) },
  { name: "licence", weight: 2, request: (random) => ({ use: { licence: random.between(1, 3) } }) },
  {
    name: "hooks",
    weight: 2,
    judged: { hooks: ["onStart", "onEnd", "onFail"] },
    ends: (random) => someEnds(random, 2),
  },
  {
    name: "signal before the limit",
    weight: 2,
    ends: () => ["5"],
    asks: (_, __, ms) => ({ limitMs: Math.ceil(ms), ...NEVER_RETRIED }),
    warnsMs: (ms) => Math.ceil(ms / 2),
    plan: () => ({ notes: "SIGUSR1" }),
  },
  {
    name: "time limit",
    weight: 3,
    ends: () => Array(9).fill(LIMIT),
    asks: (_, __, ms) => ({ limitMs: Math.ceil(ms), retries: 2, retryOn: ["SIGTERM", "7"] }),
    plan: (random) => ({
      ms: NO_LIMIT_MS,
      ...(random.chance(0.5) && { onTerm: random.pick([7, "ignore"]) }),
    }),
  },
  { name: "edited while held", request: () => ({ held: true }), story: (story) => story.edit("held") },
  { name: "edited while it may start", story: (story) => story.edit("any time") },
  {
    name: "edited while it runs",
    ends: (random) => someEnds(random, 2),
    plan: () => ({ untilGo: true }),
    story: (story) => story.edit("runs"),
  },
  {
    name: "held and released",
    asks: (random, nowMs) => ({ beginAtMs: nowMs + random.between(500, 20_000) }),
    story: (story) => story.hold(),
  },
  {
    name: "cancelled while it waits",
    asks: (random, nowMs) => (random.chance(0.5) ? { beginAtMs: nowMs + NO_LIMIT_MS } : {}),
    request: () => ({ held: true }),
    story: (story) => story.cancel("waiting"),
  },
  {
    name: "cancelled while it runs",
    plan: (random) => ({ untilGo: true, ...(random.chance(0.3) && { onTerm: "ignore" as const }) }),
    story: (story) => story.cancel("running"),
  },
  {
    name: "requeued",
    asks: () => ({ retries: 3, retryOn: ["75"] }),
    plan: () => ({ untilGo: true }),
    story: (story) => story.requeue(),
  },
  {
    name: "run again",
    ends: (random) => [code(random)],
    asks: () => NEVER_RETRIED,
    story: (story) => story.rerun(),
  },
  { name: "priority", story: (story) => story.priority() },
];
