/** The jobs of change-run.ts: what they ask for, how they end, and scripts that write down what they do. */
import { availableParallelism } from "node:os";
import type { Random } from "../src/core/random.ts";
import type { Asked, JudgedJob } from "./change-judge.ts";

const STORIES = [
  "retried",
  "edited while held",
  "begin edited",
  "begins later",
  "edited while it may start",
  "edited while it runs",
  "paused",
  "retried",
] as const;
export type Story = (typeof STORIES)[number];

/** Where a job writes its starts, where the test writes that it may end, and where its processes write. */
export type Folder = "ran" | "go" | "beats";

/** Processes of a job that is paused. */
export const PROCESSES = 3;
const HOUR_MS = 3_600_000;
const ENDS = ["3", "75", "SIGKILL", "SIGBUS"] as const;
const RETRY_ON = [["fail"], ["75", "SIGKILL"], ["3", "SIGBUS", "75"]] as const;

export function makeJob(random: Random, i: number): JudgedJob {
  const story: Story = STORIES[i % STORIES.length];
  const most = story === "retried" ? 3 : story === "edited while it runs" ? 2 : 0;
  const ends = Array.from({ length: random.below(most + 1) }, () => ENDS[random.below(ENDS.length)]);
  return { story, ends, possible: [makeAsked(random, `story-${i}-0`)], formerNames: [], reruns: [] };
}

export function makeAsked(random: Random, name: string): Asked {
  return {
    name,
    tasks: 1 + random.below(availableParallelism()),
    limitMs: HOUR_MS + random.below(1000),
    retries: 1 + random.below(3),
    retryOn: RETRY_ON[random.below(RETRY_ON.length)],
    retryDelayMs: 1000 + random.below(300),
  };
}

export function scriptOf(
  random: Random,
  { ends, story }: JudgedJob,
  file: (folder: Folder) => string,
): string {
  const mayEnd = `[ -e ${file("go")} ]`;
  const beat = `(until ${mayEnd}; do echo >>${file("beats")}.$p; sleep 0.05; done) &`;
  const waits: Partial<Record<string, string>> = {
    "edited while it runs": `until ${mayEnd}; do sleep 0.02; done`,
    paused: `p=0; while [ $p -lt ${PROCESSES} ]; do ${beat} p=$((p+1)); done; wait`,
  };
  const exits = ends.map(
    (end, k) => `${k + 1}) ${end.startsWith("SIG") ? `kill -${end.slice(3)} $$` : `exit ${end}`};;`,
  );
  return `run="$TUTTI_JOB_ID $TUTTI_ATTEMPT"
echo "b $run $TUTTI_NTASKS $TUTTI_JOB_NAME $(date +%s%3N)" >>${file("ran")}
${waits[story] ?? ""}
sleep ${(random.below(600) / 1000).toFixed(3)}
echo "e $run $(date +%s%3N)" >>${file("ran")}
case $TUTTI_ATTEMPT in ${exits.join(" ")} *) exit 0;; esac`;
}
