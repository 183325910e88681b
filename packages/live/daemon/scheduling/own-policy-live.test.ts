/**
 * Tests an administrator's own policy in the front end, correct or wrong. If it fails, jobs continue, and the
 * policy and the reason are reported.
 */

import type { PolicyDefinition, Pool } from "@tutti/kernel/core/policy.ts";
import { definePolicy } from "@tutti/kernel/policies/define-policy.ts";
import { guardedPolicy } from "@tutti/own-policies/guarded-policy.ts";
import { timeLimit } from "@tutti/own-policies/own-policy.ts";
import { expect, test } from "vitest";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

const FILE = "/etc/tutti/mine.ts";
const SIZES = [2, 4, 1, 3, 2, 1, 4, 2];
/** A busy machine may stand still during a right decision. */
const PATIENT_MS = 60_000;
const IMPATIENT_MS = 200;

/** First come, first served. From its third decision on, it does something wrong first. */
function ownPolicy(misdeed: (pool: Pool, first: number) => void, maxMs = PATIENT_MS): PolicyDefinition {
  const definition = definePolicy({
    name: FILE,
    sharing: "space",
    parameters: [{ name: "from", kind: "integer", min: 1, max: 99, default: 3, description: "decision" }],
    make(pool, jobs, { from }) {
      let waiting: number[] = [];
      let decisions = 0;
      return {
        depart() {},
        decide(arrived) {
          waiting.push(...arrived);
          while (waiting.length > 0 && jobs.size[waiting[0]] <= pool.free) pool.start(waiting.shift()!);
          if (++decisions >= Number(from)) misdeed(pool, waiting[0] ?? 0);
          waiting = [...waiting];
        },
      };
    },
  });
  return guardedPolicy(definition, FILE, timeLimit(FILE, maxMs));
}

async function benchOf(own: PolicyDefinition, policy = FILE): Promise<Bench> {
  const bench = makeBench({ config: { policy }, ownPolicy: own, runMs: (job) => 300 * job });
  for (const tasks of SIZES) {
    await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks })]));
    bench.clock.advanceTo(bench.clock.nowMs() + 100);
  }
  return bench;
}

function expectAllDone({ frontEnd, machine, clock }: Bench): void {
  runToEnd(clock);
  expect(frontEnd.jobs(ROOT, {}).map(({ state }) => state)).toEqual(SIZES.map(() => "done"));
  // No job was started twice, or stopped because of the change.
  expect(machine.launched).toHaveLength(SIZES.length);
}

/** The reasons that administrators see when policies fail. */
function failures({ frontEnd }: Bench): unknown[] {
  const found: unknown[] = [];
  frontEnd.listen(ROOT, 0, ({ kind, data }) => {
    if (kind === "policy" && data !== undefined && "because" in data) found.push(data);
  })();
  return found;
}

test("decides, is shown under its path, and is not replaced while it obeys the contract", async () => {
  const bench = await benchOf(ownPolicy(() => {}));
  expectAllDone(bench);
  expect(bench.frontEnd.policy().policy).toBe(FILE);
  expect(failures(bench)).toEqual([]);
  expect(bench.frontEnd.status().trouble).toBeUndefined();
});

const MISDEEDS: readonly (readonly [string, (pool: Pool, first: number) => void, RegExp, number])[] = [
  [
    "throws",
    () => {
      throw new TypeError("no such row");
    },
    /mine\.ts failed: no such row/,
    PATIENT_MS,
  ],
  [
    "starts a job for which there is no room",
    (pool, first) => pool.start(first),
    /mine\.ts failed: Cannot start/,
    PATIENT_MS,
  ],
  [
    "makes endless decisions",
    () => {
      for (;;);
    },
    /mine\.ts failed: .*it took more than 0\.2 s/,
    IMPATIENT_MS,
  ],
];

test.each(MISDEEDS)("one that %s is replaced by a plain one", async (_, misdeed, because, maxMs) => {
  const bench = await benchOf(ownPolicy(misdeed, maxMs));
  expectAllDone(bench);
  expect(bench.frontEnd.policy().policy).toBe("fcfs");
  expect(failures(bench)).toEqual([{ after: "fcfs", because: expect.stringMatching(because) }]);
  expect(bench.frontEnd.status().trouble).toBe(
    `the policy ${FILE} failed and was replaced by fcfs; tutti events shows why`,
  );
});

test.each(MISDEEDS)(
  "one that was switched to and %s is replaced by the one before it",
  async (_, misdeed, __, maxMs) => {
    const bench = await benchOf(ownPolicy(misdeed, maxMs), "easy:order=shortest");
    const asked = `${FILE}:from=1`;
    await answerOf(bench.clock, bench.frontEnd.setPolicy(ROOT, asked));
    expect(bench.frontEnd.policy().policy).toBe("easy:order=shortest");
    expect(failures(bench)).toEqual([
      { after: "easy:order=shortest", because: expect.stringContaining(`${asked} failed`) },
    ]);
    expectAllDone(bench);
    await answerOf(bench.clock, bench.frontEnd.setPolicy(ROOT, "fcfs"));
    expect(bench.frontEnd.status().trouble).toBeUndefined();
  },
);

test("no other file is accepted, from any user", async () => {
  const bench = await benchOf(ownPolicy(() => {}));
  for (const file of ["/tmp/mine.ts", "./mine.ts", "mine.mjs:from=2"]) {
    const refused = {
      refused: "invalid",
      message: expect.stringContaining("only the file named in the configuration"),
    };
    expect(await answerOf(bench.clock, bench.frontEnd.setPolicy(ROOT, file))).toMatchObject(refused);
    expect(await bench.frontEnd.whatIf(ANNA, { policy: file })).toMatchObject(refused);
  }
  expect(await bench.frontEnd.whatIf(ANNA, { policy: `${FILE}:from=9` })).toMatchObject({
    policy: `${FILE}:from=9`,
  });
});
