/** The kinds of jobs of the kill loop: what each asks for, how it ends, and what the test does with it. */
import { availableParallelism } from "node:os";
import type { Random } from "@tutti/kernel/core/random.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { type Asked, type JudgedJob, LIMIT } from "@tutti/torture/judge/history.ts";
import type { Story } from "./story.ts";

/** Where a job writes its starts, the test that it may end, and its processes and hooks what they do. */
export type Folder = "ran" | "go" | "beats" | "hooks";
type File = (folder: Folder) => string;

export interface Kind {
  readonly name: string;
  readonly ends?: (random: Random) => readonly string[];
  readonly asks?: (random: Random) => Partial<Asked>;
  /** What it asks for besides. */
  readonly request?: (random: Random) => Partial<SubmitJob>;
  /** What a start does between its lines; default: it sleeps for a moment. */
  readonly body?: (file: File, random: Random) => string;
  readonly judged?: Partial<Pick<JudgedJob, "hooks" | "most" | "signalMs">>;
  /** Another job of the same submit that waits for it in this way. */
  readonly before?: "ok" | "notok" | "any";
  readonly hasNoKey?: true;
  /** What happens after its submit, until it may end. */
  readonly story?: (story: Story) => Promise<void>;
}

/** Processes of a job that is paused. */
export const PROCESSES = 3;
const HOUR_MS = 3_600_000;
const SIGNALS = ["SIGKILL", "SIGBUS", "SIGTERM", "SIGUSR2"] as const;
const ENDS = ["3", "75", "SIGKILL", "SIGBUS"] as const;
const RETRY_ON = [["fail"], ["75", "SIGKILL"], ["3", "SIGBUS", "75"]] as const;
/** Only if its shim is killed: none of them ends in this way. */
export const NEVER_RETRIED = { retries: 1, retryOn: ["SIGXCPU"] } as const;
const SIGNAL_LIMIT = { limitMs: 2500, signalMs: 800 };
const ODD_NAME = `a "name" with $HOME, 'quotes' & ünïcode`;
const ODD_VARIABLES = { "odd.name": "a  b", "BASH_FUNC_f%%": "() {  echo x\n}", "MINUS-SIGN": "=x=" };

const oneOf = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)];
const code = (random: Random) => String(1 + random.below(255));
const untilGo = (file: File) => `until [ -e ${file("go")} ]; do sleep 0.02; done`;
const someEnds = (random: Random, most: number) =>
  Array.from({ length: random.below(most + 1) }, () => oneOf(random, ENDS));
/** Each process writes until the job may end, so the test sees whether it moves. */
const beat = (file: File) =>
  `p=0; while [ $p -lt ${PROCESSES} ]; do (until [ -e ${file("go")} ]; do echo >>${file("beats")}.$p; sleep 0.05; done) & p=$((p+1)); done; wait`;

export const KINDS: readonly Kind[] = [
  { name: "exit code 0" },
  { name: "exit code", ends: (random) => [code(random)] },
  { name: "signal", ends: (random) => [oneOf(random, SIGNALS)] },
  { name: "CPU time", body: () => "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done" },
  { name: "leaves a process", body: () => "setsid sleep 1000 & sleep 0.2" },
  { name: "without a key", hasNoKey: true, ends: (random) => [code(random)] },
  { name: "retried", ends: (random) => someEnds(random, 3) },
  {
    name: "retried late",
    ends: () => ["75"],
    asks: (random) => ({ retries: 1, retryOn: ["fail"], retryDelayMs: 1500 + random.below(1500) }),
  },
  { name: "array", request: () => ({ array: "1-5%2" }), judged: { most: 2 } },
  {
    name: "before ok",
    before: "ok",
    ends: (random) => [oneOf(random, ["0", "9"])],
    asks: () => NEVER_RETRIED,
  },
  {
    name: "before notok",
    before: "notok",
    ends: (random) => [oneOf(random, ["0", "9"])],
    asks: () => NEVER_RETRIED,
  },
  {
    name: "before any",
    before: "any",
    ends: (random) => [oneOf(random, SIGNALS)],
    asks: () => NEVER_RETRIED,
  },
  { name: "paused", body: beat, story: (story) => story.pauseAndWatch(false) },
  { name: "paused with release", body: beat, story: (story) => story.pauseAndWatch(true) },
  { name: "begins later", asks: (random) => ({ beginAtMs: Date.now() + 500 + random.below(2500) }) },
  {
    name: "begin edited",
    asks: () => ({ beginAtMs: Date.now() + HOUR_MS }),
    story: (story) => story.edit("begin"),
  },
  { name: "gpu", request: (random) => ({ use: { gpu: 1 + random.below(2) } }) },
  { name: "licence", request: (random) => ({ use: { licence: 1 + random.below(3) } }) },
  { name: "hooks", judged: { hooks: ["onStart", "onEnd", "onFail"] }, ends: (random) => someEnds(random, 2) },
  { name: "webhook", judged: { hooks: ["webhook"] }, ends: (random) => someEnds(random, 1) },
  {
    name: "signal before the limit",
    ends: () => ["5"],
    asks: () => ({ limitMs: SIGNAL_LIMIT.limitMs, ...NEVER_RETRIED }),
    request: () => ({
      limitSignal: {
        name: "SIGUSR1",
        beforeMs: SIGNAL_LIMIT.limitMs - SIGNAL_LIMIT.signalMs,
        batchOnly: true,
      },
    }),
    judged: { signalMs: SIGNAL_LIMIT.signalMs },
    body: (file) =>
      `got=; trap 'got=1; echo "s $run $(date +%s%3N)" >>${file("ran")}' USR1; while [ -z "$got" ]; do sleep 0.02; done`,
  },
  {
    name: "time limit",
    ends: () => Array(9).fill(LIMIT),
    asks: (random) => ({ limitMs: 700 + random.below(800), retries: 2, retryOn: ["SIGTERM", "7"] }),
    body: (_, random) => `${random.below(2) === 0 ? "trap 'exit 7' TERM;" : ""} while :; do sleep 0.05; done`,
  },
  { name: "edited while held", request: () => ({ held: true }), story: (story) => story.edit("held") },
  { name: "edited while it may start", story: (story) => story.edit("any time") },
  {
    name: "edited while it runs",
    ends: (random) => someEnds(random, 2),
    body: untilGo,
    story: (story) => story.edit("runs"),
  },
  {
    name: "held and released",
    asks: () => ({ beginAtMs: Date.now() + 1500 }),
    story: (story) => story.hold(),
  },
  {
    name: "cancelled while it waits",
    asks: (random) => (random.below(2) === 0 ? { beginAtMs: Date.now() + HOUR_MS } : {}),
    request: () => ({ held: true }),
    story: (story) => story.cancel("waiting"),
  },
  { name: "cancelled while it runs", body: untilGo, story: (story) => story.cancel("running") },
  {
    name: "requeued",
    asks: () => ({ retries: 3, retryOn: ["75"] }),
    body: untilGo,
    story: (story) => story.requeue(),
  },
  {
    name: "run again",
    ends: (random) => [code(random)],
    asks: () => NEVER_RETRIED,
    story: (story) => story.rerun(),
  },
  { name: "priority", story: (story) => story.priority() },
  {
    name: "odd names",
    asks: () => ({ name: ODD_NAME }),
    request: () => ({
      env: { PATH: process.env.PATH ?? "", ...ODD_VARIABLES },
      stdout: "/dev/null",
    }),
    // sh drops such variables from its own environment, so this reads what it was given.
    body: () => `tr '\\0\\n' '\\n ' </proc/$$/environ | grep -cxF "odd.name=a  b
MINUS-SIGN==x=
BASH_FUNC_f%%=() {  echo x }" | grep -qx 3 || exit 99`,
  },
  { name: "terminal", request: () => ({ input: "terminal" }), body: () => "[ -t 0 ] && [ -t 1 ] || exit 99" },
];

export function makeAsked(random: Random, name: string): Asked {
  return {
    name,
    tasks: 1 + random.below(availableParallelism()),
    limitMs: HOUR_MS + random.below(1000),
    retries: 1 + random.below(3),
    retryOn: oneOf(random, RETRY_ON),
    retryDelayMs: 1000 + random.below(300),
  };
}

/** A script that writes down when it begins and ends. */
export function scriptOf(random: Random, { body }: Kind, { ends }: JudgedJob, file: File): string {
  const exits = ends.map((end, k) => {
    const how = end.startsWith("SIG")
      ? `kill -${end.slice(3)} $$; sleep 9`
      : `exit ${end === LIMIT ? 98 : end}`;
    return `${k + 1}) ${how};;`;
  });
  return `run="$TUTTI_JOB_ID $TUTTI_ATTEMPT"
echo "b $run $TUTTI_NTASKS $(date +%s%3N) $TUTTI_GPUS,$TUTTI_LICENCE $TUTTI_JOB_NAME" >>${file("ran")}
${body?.(file, random) ?? `sleep ${(random.below(random.below(3) === 0 ? 2000 : 400) / 1000).toFixed(3)}`}
echo "e $run $(date +%s%3N)" >>${file("ran")}
case $TUTTI_ATTEMPT in ${exits.join(" ")} *) exit 0;; esac`;
}

/** A command that writes down what a hook gets. */
export function hookOf(hook: string, file: File): string {
  return `echo "${hook} $TUTTI_EVENT $TUTTI_JOB $TUTTI_ATTEMPT $TUTTI_EVENT_ID $TUTTI_JOB_STATE" >>${file("hooks")}`;
}
