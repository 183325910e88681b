/** Two users with shares 3 : 1 who always have jobs waiting get them, under policies of both kinds. */

import type { ShareSettings } from "@tutti/kernel/core/fair-share.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { JsonlReader } from "@tutti/kernel/workload/traces/jsonl.ts";
import { describe, expect, test } from "vitest";

const HOUR_S = 3600;
const PROCESSORS = 16;
const DAY_S = 86_400;

interface Line {
  readonly user: string;
  readonly runS: number;
  readonly tasks: number;
  readonly submitS?: number;
}

function workloadOf(jobs: readonly Line[], shares: ShareSettings) {
  const reader = new JsonlReader("shares.jsonl");
  const head = { schema: "tutti.workload-file/1", processors: PROCESSORS, shares };
  const lines = jobs.map((job, i) => ({ job: i + 1, submitS: 0, limitS: job.runS, ...job }));
  reader.push(new TextEncoder().encode([head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("")));
  return reader.end();
}

/** More work of each user than the machine does in an hour: jobs of 20 to 100 s on 1 to 4 processors. */
function load(users: readonly string[]): Line[] {
  const random = new Random(14, "shares");
  return users.flatMap((user) => {
    const jobs: Line[] = [];
    for (let cpuS = 0; cpuS < 1.2 * HOUR_S * PROCESSORS; cpuS += jobs.at(-1)!.runS * jobs.at(-1)!.tasks)
      jobs.push({ user, runS: 20 + random.below(81), tasks: 1 + random.below(4) });
    return jobs;
  });
}

/** CPU seconds of each user's jobs in the first hour. */
function usedInAnHour(policy: string, jobs: readonly Line[], shares: ShareSettings): Map<string, number> {
  const instance = prepare(workloadOf(jobs, shares), PROCESSORS, DEFAULT_RULES);
  const { startS, endS } = simulate(instance, choosePolicy(policy), { slotS: 1, switchS: 0 });
  const used = new Map<string, number>();
  jobs.forEach(({ user, runS, tasks }, i) => {
    const tookS = endS[i] - startS[i];
    const inHourS = Math.max(0, Math.min(endS[i], HOUR_S) - startS[i]);
    used.set(user, (used.get(user) ?? 0) + tasks * runS * (inHourS / tookS));
  });
  return used;
}

const POLICIES = [
  "fcfs:order=fair-share",
  "easy:order=fair-share",
  "first-fit:order=fair-share",
  "wlv:rows=4:queueOrder=fair-share",
  "brmms:rows=4:queueOrder=fair-share",
];

describe.each(POLICIES)("%s", (policy) => {
  test("gives two users with shares 3 : 1 three quarters and one quarter of an hour, within 5 %", () => {
    const shares = { halfLifeS: 7 * DAY_S, users: { anna: 3, ben: 1 }, groups: {} };
    const used = usedInAnHour(policy, load(["ben", "anna"]), shares);
    const total = used.get("anna")! + used.get("ben")!;
    expect(total).toBeGreaterThan(0.8 * HOUR_S * PROCESSORS);
    expect(Math.abs(used.get("anna")! / total / 0.75 - 1)).toBeLessThan(0.05);
    expect(Math.abs(used.get("ben")! / total / 0.25 - 1)).toBeLessThan(0.05);
  });
});

test("groups with shares 3 : 1 get what the classic formula makes of it: 2 : 1 if the first has two users", () => {
  // By hand: a user of the first group bears half of what the other used, so the effective usage is ¾ of
  // that of the group, for ½ of its share. Levels are equal if 1.5 × usage ÷ 3 of the first is usage ÷ 1 of
  // the other.
  const groups = {
    physics: { shares: 3, users: { anna: 1, ben: 1 } },
    maths: { shares: 1, users: { carl: 1 } },
  };
  const used = usedInAnHour("fcfs:order=fair-share", load(["carl", "ben", "anna"]), {
    halfLifeS: 7 * DAY_S,
    users: {},
    groups,
  });
  const [anna, ben, carl] = ["anna", "ben", "carl"].map((user) => used.get(user)!);
  const total = anna + ben + carl;
  for (const cpuS of [anna, ben, carl]) expect(Math.abs((cpuS / total) * 3 - 1)).toBeLessThan(0.05);
});

test("a user who is back after a half-life goes first only until the usage that still counts is equal", () => {
  // One processor job at a time: anna uses 100 s alone; ben comes when only 50 s of it still count.
  const jobs = [
    { user: "anna", runS: 100, tasks: PROCESSORS, submitS: 0 },
    ...Array.from({ length: 4 }, () => ({ user: "anna", runS: 10, tasks: PROCESSORS, submitS: 1100 })),
    ...Array.from({ length: 7 }, () => ({ user: "ben", runS: 10, tasks: PROCESSORS, submitS: 1100 })),
  ];
  const shares = { halfLifeS: 1000, users: {}, groups: {} };
  const instance = prepare(workloadOf(jobs, shares), PROCESSORS, DEFAULT_RULES);
  const { startS } = simulate(instance, choosePolicy("fcfs:order=fair-share"), { slotS: 1, switchS: 0 });
  const order = [...startS.keys()].sort((a, b) => startS[a] - startS[b]).map((row) => jobs[row].user);
  // At 1100 s, anna's 100 s are 1050 s old in the mean, so they count 48.3 s. After 5 jobs of ben's, 49.1 s
  // of his count and 46.6 s of hers; after one more of hers 48.8 s and 56.3 s; and so on in turn.
  expect(order).toEqual([
    "anna",
    ...["ben", "ben", "ben", "ben", "ben"],
    ...["anna", "ben", "anna", "ben", "anna", "anna"],
  ]);
});

test("jobs of users with equal levels, and of one user, start in order of arrival", () => {
  const jobs = ["anna", "ben", "anna", "ben"].map((user) => ({ user, runS: 10, tasks: PROCESSORS }));
  const instance = prepare(
    workloadOf(jobs, { halfLifeS: DAY_S, users: {}, groups: {} }),
    PROCESSORS,
    DEFAULT_RULES,
  );
  const { startS } = simulate(instance, choosePolicy("fcfs:order=fair-share"), { slotS: 1, switchS: 0 });
  expect([...startS]).toEqual([0, 10, 20, 30]);
});
