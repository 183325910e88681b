/** The kinds of jobs of a life: what each asks for, how it ends, and what its user does meanwhile. */
import { LIMIT } from "../judge/history.ts";
import type { Random } from "../world/contract.ts";
import { type Kind, NEVER_MS, NO_LIMIT_MS } from "./story.ts";

const SIGNALS = ["SIGKILL", "SIGBUS", "SIGTERM", "SIGUSR2"] as const;
const ENDS = ["3", "75", "SIGKILL", "SIGBUS"] as const;
/** Only if it is lost: none of them ends in this way. */
const NEVER_RETRIED = { retries: 1, retryOn: ["SIGXCPU"] } as const;

const MINUTE_MS = 60_000;

const code = (random: Random) => String(random.between(1, 255));
const someEnds = (random: Random, most: number) =>
  Array.from({ length: random.below(most + 1) }, () => random.pick(ENDS));

export const KINDS: readonly Kind[] = [
  { name: "exit code 0", about: ["starts", "records", "disk", "restores"], weight: 3 },
  { name: "exit code", about: ["starts", "disk", "restores"], ends: (random) => [code(random)] },
  { name: "signal", about: ["disk", "restores"], ends: (random) => [random.pick(SIGNALS)] },
  { name: "computes", about: ["turns", "records"], weight: 2, plan: () => ({ computes: true }) },
  {
    name: "several processes",
    about: ["turns", "starts"],
    plan: (random) => ({ computes: true, processes: random.between(2, 4) }),
  },
  {
    name: "knows its time",
    about: ["records"],
    asks: (random, _, ms) => ({
      limitMs: 5000 + Math.ceil(ms * (1.2 + 3 * random.unit())),
      ...NEVER_RETRIED,
    }),
  },
  {
    name: "ends before its limit",
    about: ["ends"],
    asks: (_, __, ms) => ({ limitMs: 1500 + Math.ceil(ms), ...NEVER_RETRIED }),
  },
  { name: "leaves a process", about: ["ends", "turns"], plan: () => ({ leaves: true }) },
  { name: "without a key", about: ["records", "disk"], hasNoKey: true, ends: (random) => [code(random)] },
  {
    name: "retried",
    about: ["starts", "ends", "hooks", "disk", "restores"],
    weight: 2,
    ends: (random) => someEnds(random, 3),
  },
  {
    name: "retried late",
    about: ["clock"],
    weight: 2,
    ends: () => ["75"],
    asks: (random) => ({
      ...{ retries: 1, retryOn: ["fail"] },
      retryDelayMs: random.between(1500, random.pick([60_000, 5 * MINUTE_MS])),
    }),
  },
  {
    name: "array",
    about: ["records", "starts"],
    weight: 2,
    request: () => ({ array: "1-5%2" }),
    judged: { most: 2 },
  },
  {
    name: "before ok",
    about: ["starts"],
    before: "ok",
    ends: (random) => [random.pick(["0", "9"])],
    asks: () => NEVER_RETRIED,
  },
  {
    name: "before notok",
    about: ["starts"],
    before: "notok",
    ends: (random) => [random.pick(["0", "9"])],
    asks: () => NEVER_RETRIED,
  },
  {
    name: "before any",
    about: ["starts"],
    before: "any",
    ends: (random) => [random.pick(SIGNALS)],
    asks: () => NEVER_RETRIED,
  },
  {
    name: "paused",
    about: ["turns"],
    weight: 2,
    plan: () => ({ untilGo: true }),
    story: (story) => story.pause(false),
  },
  {
    name: "paused with release",
    about: ["turns"],
    plan: () => ({ untilGo: true }),
    story: (story) => story.pause(true),
  },
  {
    name: "begins later",
    about: ["clock"],
    weight: 2,
    asks: (random, nowMs, ms) => ({
      beginAtMs:
        nowMs + random.between(1, random.pick([Math.ceil(ms) + 5000, 10 * MINUTE_MS, 120 * MINUTE_MS])),
    }),
  },
  {
    name: "begin edited",
    about: ["clock"],
    asks: (_, nowMs) => ({ beginAtMs: nowMs + NEVER_MS }),
    story: (story) => story.edit("begin"),
  },
  {
    name: "gpu",
    about: ["records"],
    weight: 2,
    request: (random) => ({ use: { gpu: random.between(1, 2) } }),
  },
  {
    name: "licence",
    about: ["records"],
    weight: 2,
    request: (random) => ({ use: { licence: random.between(1, 3) } }),
  },
  {
    name: "hooks",
    about: ["hooks", "restores"],
    weight: 2,
    judged: { hooks: ["onStart", "onEnd", "onFail"] },
    ends: (random) => someEnds(random, 2),
  },
  {
    name: "signal before the limit",
    about: ["ends", "clock"],
    weight: 3,
    ends: () => ["5"],
    asks: (_, __, ms) => ({ limitMs: Math.ceil(ms), ...NEVER_RETRIED }),
    warnsMs: (ms) => Math.ceil(ms / 2),
    plan: () => ({ notes: "SIGUSR1" }),
  },
  {
    name: "time limit",
    about: ["ends", "clock", "disk"],
    weight: 3,
    ends: () => Array(9).fill(LIMIT),
    asks: (_, __, ms) => ({ limitMs: Math.ceil(ms), retries: 2, retryOn: ["SIGTERM", "7"] }),
    plan: (random) => ({
      ms: NO_LIMIT_MS,
      ...(random.chance(0.5) && { onTerm: random.pick([7, "ignore"]) }),
    }),
  },
  {
    name: "edited while held",
    about: ["records"],
    request: () => ({ held: true }),
    story: (story) => story.edit("held"),
  },
  { name: "edited while it may start", about: ["records"], story: (story) => story.edit("any time") },
  {
    name: "edited while it runs",
    about: ["records"],
    ends: (random) => someEnds(random, 2),
    plan: () => ({ untilGo: true }),
    story: (story) => story.edit("runs"),
  },
  {
    name: "held and released",
    about: ["clock"],
    asks: (random, nowMs) => ({ beginAtMs: nowMs + random.between(500, 20_000) }),
    story: (story) => story.hold(),
  },
  {
    name: "cancelled while it waits",
    about: ["records"],
    asks: (random, nowMs) => (random.chance(0.5) ? { beginAtMs: nowMs + NEVER_MS } : {}),
    request: () => ({ held: true }),
    story: (story) => story.cancel("waiting"),
  },
  {
    name: "cancelled while it runs",
    about: ["ends"],
    plan: (random) => ({ untilGo: true, ...(random.chance(0.3) && { onTerm: "ignore" as const }) }),
    story: (story) => story.cancel("running"),
  },
  {
    name: "requeued",
    about: ["ends"],
    asks: () => ({ retries: 3, retryOn: ["75"] }),
    plan: () => ({ untilGo: true }),
    story: (story) => story.requeue(),
  },
  {
    name: "run again",
    about: ["records"],
    ends: (random) => [code(random)],
    asks: () => NEVER_RETRIED,
    story: (story) => story.rerun(),
  },
  { name: "priority", about: ["records"], story: (story) => story.priority() },
];
