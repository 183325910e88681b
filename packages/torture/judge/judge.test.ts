/** Histories written by hand: the judge accepts the right ones and names what is wrong with each other. */

import type { Job } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import { type Asked, type History, type JudgedJob, readReports, readStarts } from "./history.ts";
import { judge } from "./judge.ts";

const ASKED: Asked = {
  name: "new",
  tasks: 2,
  limitMs: 9000,
  retries: 2,
  retryOn: ["75"],
  retryDelayMs: 1000,
  beginAtMs: 5000,
};
const JOB: JudgedJob = {
  kind: "edited",
  index: 0,
  user: "ada",
  ends: ["75", "75", "3"],
  hooks: ["onStart", "onEnd", "onFail", "webhook"],
  possible: [ASKED],
  formerNames: [],
  submittedAtMs: 4000,
  numbers: [1],
  reruns: [],
};
/** Two retries, after 1 s and 2 s. The third start ends with 3, which is not retried. */
const RAN = `b 1 1 2 5000 0,l0 new
e 1 1 5100
b 1 2 2 6100 0, new
e 1 2 6200
b 1 3 2 8200 , new
e 1 3 8300
`;
const FROM_SECOND = RAN.slice(RAN.indexOf("b 1 2"));
const REPORTS = `onStart start 1 1 i1 running
onStart start 1 1 i1 running
onStart start 1 2 i2 running
onStart start 1 3 i3 running
onEnd end 1 3 i4 failed
onFail fail 1 3 i5 failed
webhook start 1 1 i6 running
webhook start 1 2 i7 running
webhook start 1 3 i8 running
webhook end 1 3 i9 failed
`;
const RECORD = {
  ...{ job: 1, ...ASKED, state: "failed", code: 3, reason: "exit code 3", attempt: 3 },
  ...{ startedAtMs: 8200, endedAtMs: 8300, ranMs: 100 },
} as unknown as Job;

interface Forged extends Partial<Omit<History, "jobs" | "starts" | "reports" | "records">> {
  readonly job?: Partial<JudgedJob>;
  readonly ran?: string;
  readonly hooks?: string;
  readonly record?: Partial<Job>;
  /** Further jobs with their records. */
  readonly more?: readonly (readonly [Partial<JudgedJob>, Partial<Job>])[];
}

function problems({
  job = {},
  ran = RAN,
  hooks = REPORTS,
  record = {},
  more = [],
  ...rest
}: Forged = {}): string {
  return judge({
    jobs: [{ ...JOB, ...job }, ...more.map(([one]) => ({ ...JOB, hooks: [], ...one }))],
    starts: readStarts(ran),
    reports: readReports(hooks),
    records: [{ ...RECORD, ...record }, ...more.map(([, one]) => ({ ...RECORD, ...one }))],
    noted: new Set(["1.1", "1.2", "1.3", "2.1"]),
    exported: new Set([1, 2]),
    lost: new Set(),
    forgotten: new Set(),
    wasAway: false,
    restores: [],
    clocks: [],
    quiet: [],
    mostJobs: 2,
    ...rest,
  }).join("\n");
}

/** A job with one start, and no hooks. */
const ONE = "b 1 1 2 5000 , new\n";
const once = (end: string, record: Partial<Job>, rest: Forged = {}): Forged => ({
  hooks: "",
  ran: ONE,
  ...rest,
  job: { ends: [end], hooks: [], ...rest.job },
  record: { attempt: 1, ...record },
});

describe("what was asked for is right", () => {
  const old = { ...ASKED, name: "old", tasks: 1 };
  const unheard = { isUnheard: true, numbers: [], possible: [{ ...ASKED, name: "unheard" }], ends: ["3"] };
  test.each<[string, Forged]>([
    ["with retries", {}],
    ["between quiet times", { quiet: [{ fromMs: 6100, toMs: 8200 }] }],
    ["an edit that was not answered, and not done", { job: { possible: [old, ASKED] } }],
    ["a former name", { job: { formerNames: ["old"] }, ran: RAN.replace("l0 new", "l0 old") }],
    ["a time limit", once("time limit", { reason: "time limit", code: 7, ranMs: 9000 })],
    [
      "a signal counted from the gate, although the first line comes 50 ms later",
      once(
        "3",
        { retries: 0, code: 3, reason: "exit code 3", startedAtMs: 4950 },
        {
          ran: `${ONE}s 1 1 5150\ne 1 1 5200\n`,
          job: { signalMs: 200, possible: [{ ...ASKED, retries: 0 }] },
        },
      ),
    ],
    [
      "a signal that comes again because the conductor was killed in the moment of sending",
      once(
        "3",
        { retries: 0, code: 3, reason: "exit code 3" },
        {
          ran: `${ONE}s 1 1 5150\ns 1 1 5190\ne 1 1 5200\n`,
          job: { signalMs: 100, possible: [{ ...ASKED, retries: 0 }] },
          deaths: [5151],
        },
      ),
    ],
    [
      "a cancel that came when its attempt was lost, and it waited for the next one",
      once(
        "0",
        { state: "cancelled", reason: "cancelled by root" },
        { job: { cancelled: "running" }, lost: new Set(["1.1"]) },
      ),
    ],
    [
      "a cancel while it runs",
      once("0", { state: "cancelled", reason: "cancelled" }, { job: { cancelled: "running" } }),
    ],
    [
      "a lost shim",
      once(
        "0",
        { retries: 0, reason: "lost: why" },
        { job: { possible: [{ ...ASKED, retries: 0 }] }, lost: new Set(["1.1"]) },
      ),
    ],
    [
      "a lost shim before the first line",
      once(
        "0",
        { retries: 0, reason: "lost: why" },
        { ran: "", job: { possible: [{ ...ASKED, retries: 0 }] }, lost: new Set(["1.1"]) },
      ),
    ],
    [
      "an unheard job that is there",
      {
        ran: `${RAN}b 2 1 2 9000 , unheard\ne 2 1 9100\n`,
        more: [[unheard, { job: 2, name: "unheard", attempt: 1 }]],
      },
    ],
    [
      "early by the machine's clock alone",
      { ran: RAN.replace("5000 0", "4500 0"), clocks: [{ fromMs: 4100, toMs: 9000, offsetMs: 900 }] },
    ],
    [
      "a start just before a power cut",
      { unseen: new Set(["1.1"]), lost: new Set(["1.1"]), noted: new Set(["1.2", "1.3"]) },
    ],
    [
      "a job that got its signal while it waited for its folder",
      once(
        "3",
        { signal: "SIGUSR1", reason: "ended by SIGUSR1" },
        { wasAway: true, ran: "", job: { signalMs: 200 } },
      ),
    ],
    [
      "a limit whose reason was lost on a full disk",
      once(
        "time limit",
        { signal: "SIGTERM", reason: "ended by SIGTERM" },
        { spoilt: [{ fromMs: 5100, toMs: 5200 }] },
      ),
    ],
    [
      "an attempt for which the disk had no place",
      { ran: FROM_SECOND, spoilt: [{ fromMs: 4500, toMs: 5500 }] },
    ],
  ])("%s", (_, history) => {
    expect(problems(history)).toBe("");
  });

  test("an unheard job that is not there", () => {
    const history = { jobs: [{ ...JOB, ...unheard }], starts: [], reports: [], records: [], mostJobs: 1 };
    const none = {
      wasAway: false,
      lost: new Set<string>(),
      forgotten: new Set<number>(),
      restores: [],
      clocks: [],
      quiet: [],
    };
    expect(judge({ ...history, ...none, noted: new Set(), exported: new Set() })).toEqual([]);
  });
});

/** A second job that has the first one's unit while that runs. */
const second = "b 2 1 2 5050 0, new\ne 2 1 5060\n";
const other: [Partial<JudgedJob>, Partial<Job>] = [
  { numbers: [2], ends: ["3"] },
  { job: 2, attempt: 1 },
];

describe("what is wrong is found", () => {
  const child = (kind: "ok" | "notok"): NonNullable<Forged["more"]> => [
    [
      { numbers: [2], ends: ["3"], after: { job: JOB, kind } },
      { job: 2, attempt: 1 },
    ],
  ];
  test.each<[string, Forged, RegExp]>([
    ["lost", { record: { job: 2 } }, /nobody asked for job 2\n.*job 1 ran, and is not known[\s\S]*1 is lost/],
    ["not acknowledged", { job: { numbers: [] } }, /was never acknowledged/],
    ["a retry too few", { ran: RAN.slice(0, RAN.indexOf("b 1 3")) }, /attempt 3 .* did not reach its end/],
    [
      "a retry less",
      { record: { attempt: 2, code: 75, reason: "exit code 75" } },
      /start 3 .* is one too many/,
    ],
    [
      "a retry that had to follow",
      {
        ...{ record: { attempt: 2, code: 75, reason: "exit code 75" } },
        ran: RAN.slice(0, RAN.indexOf("b 1 3")),
      },
      /expected its end .* without a retry/,
    ],
    [
      "a retry too many",
      {
        ran: `${RAN}b 1 4 2 12300 , new\ne 1 4 12400\n`,
        record: { attempt: 4, code: 0, state: "done", reason: "exit code 0" },
      },
      /ended with 3, no retry follows/,
    ],
    [
      "an attempt that did not begin, on a good disk",
      { ran: FROM_SECOND },
      /attempt 1 .* did not reach its end/,
    ],
    [
      "a limit whose reason was lost on a good disk",
      once("time limit", { signal: "SIGTERM", reason: "ended by SIGTERM" }),
      /expected its end to be one of \["time limit"\]/,
    ],
    ["a start that nobody noted", { noted: new Set(["1.2", "1.3"]) }, /start 1 has no event/],
    ["a start twice", { ran: `${RAN}b 1 3 2 8200 , new\n` }, /start 3 .* ran twice/],
    ["retried at once", { ran: RAN.replace("6100", "5800") }, /the next began before 6100/],
    ["a delay not doubled", { ran: RAN.replace("8200", "7300") }, /the next began before 8200/],
    ["before its begin", { ran: RAN.replace("5000", "4900") }, /began before its begin time/],
    [
      "before its begin, by a clock that went ahead later",
      { ran: RAN.replace("5000", "4900"), clocks: [{ fromMs: 5000, toMs: 9000, offsetMs: 900 }] },
      /before its begin time/,
    ],
    ["before its release", { job: { releasedAtMs: 5050 } }, /began before 5050/],
    ["half an edit", { record: { tasks: 1 } }, /an edit is half done or undone/],
    ["an edit that starts miss", { ran: RAN.replace("1 3 2", "1 3 1") }, /does not have what was asked for/],
    [
      "a former name later",
      { job: { formerNames: ["old"] }, ran: RAN.replace("8200 , new", "8200 , old") },
      /does not have/,
    ],
    [
      "another end",
      { record: { code: 75, reason: "exit code 75" } },
      /expected its end to be one of \["3"\]/,
    ],
    ["another reason", { record: { reason: "ended by SIGTERM" } }, /expected its end to be one of \["3"\]/],
    [
      "a limit taken for a signal",
      once("time limit", { reason: "ended by SIGTERM", signal: "SIGTERM" }),
      /expected its end to be one of \["time limit"\]/,
    ],
    [
      "a limit too early",
      once("time limit", { reason: "time limit", ranMs: 8900 }),
      /ended by its limit of 9000 ms after 8900 ms/,
    ],
    [
      "a limit that is retried",
      {
        ...once("time limit", {}),
        ran: `${ONE}b 1 2 2 7000 , new\ne 1 2 7100\n`,
        record: { attempt: 2, state: "done", code: 0, reason: "exit code 0" },
      },
      /ended with time limit, no retry follows/,
    ],
    ["cut off", { ran: RAN.replace("e 1 2 6200\n", "") }, /attempt 2 .* did not reach its end/],
    ["lost without a kill", once("0", { reason: "lost: why" }), /did not reach its end/],
    ["a cancel that did nothing", { job: { cancelled: "waiting" } }, /was cancelled, is/],
    [
      "a cancel taken for a failure",
      once("0", { reason: "exit code 143", code: 143 }, { job: { cancelled: "running" } }),
      /expected its end to be one of \["cancelled"\]/,
    ],
    [
      "a cancel that was acknowledged and forgotten",
      once(
        "0",
        { state: "done", code: 0, reason: "exit code 0" },
        { ran: `${ONE}e 1 1 5100\n`, job: { cancelled: "running" } },
      ),
      /expected its end to be one of \["cancelled"\]/,
    ],
    [
      "a requeue taken for a failure",
      once("0", { reason: "requeued" }, { job: { isRequeued: true } }),
      /expected its end .* without a retry/,
    ],
    ["never started", { ran: "", hooks: "", record: { attempt: 0 } }, /never started/],
    ["no end", { record: { endedAtMs: undefined } as never }, /has not ended/],
    ["in a quiet time", { quiet: [{ fromMs: 6000, toMs: 6500 }] }, /job 1 began while nothing was to start/],
    ["a rerun unasked", { ran: `${RAN}b 2 1 2 9000 , new\n` }, /job 2 ran, and is not known/],
    ["a rerun lost", { job: { reruns: [2] } }, /its rerun 2 is lost/],
    [
      "a rerun of another job",
      { job: { reruns: [2] }, more: [[{ numbers: [] }, { job: 2, repeats: 3 }]] },
      /its rerun 2 repeats 3/,
    ],
    ["a unit held twice", { ran: `${RAN}${second}`, more: [other] }, /jobs 1 and 2 both had 0/],
    [
      "a unit held twice, and a restore before both",
      { ran: `${RAN}${second}`, more: [other], forgotten: new Set([1]), restores: [-1] },
      /jobs 1 and 2 both had 0/,
    ],
    [
      "an array's limit",
      {
        ran: `${RAN}${second.replace("0,", ",")}`,
        more: [[{ ...other[0], numbers: [2], most: 0 }, other[1]]],
      },
      /1 jobs of array 2 ran, expected 0/,
    ],
    [
      "a user's limit",
      { ran: `${RAN}${second}`, more: [other], mostJobs: 1 },
      /2 jobs of ada ran, expected 1/,
    ],
    [
      "a start for a job that failed",
      { ran: `${RAN}${second.replaceAll("50", "90")}`, more: child("ok") },
      /had to be cancelled/,
    ],
    [
      "before the other's end",
      { ran: `${RAN}${second}`, more: child("notok") },
      /began before the job that it waits for had ended/,
    ],
    ["a start without an event", { noted: new Set(["1.1", "1.3"]) }, /start 2 has no event/],
    ["no time of its start", { record: { startedAtMs: undefined } as never }, /has no time of its start/],
    ["not in an export", { exported: new Set() }, /is not in an export/],
    [
      "a start hook missing",
      { hooks: REPORTS.replace("onStart start 1 2 i2 running\n", "") },
      /onStart of start 2 was not reported/,
    ],
    [
      "an end hook missing",
      { hooks: REPORTS.replace("onEnd end 1 3 i4 failed\n", "") },
      /onEnd of the end was not reported/,
    ],
    [
      "a hook of a failure missing",
      { hooks: REPORTS.replace("onFail fail 1 3 i5 failed\n", "") },
      /onFail was not reported/,
    ],
    [
      "a webhook missing",
      { hooks: REPORTS.replace("webhook start 1 3 i8 running\n", "") },
      /webhook of start 3 was not reported/,
    ],
    [
      "a hook with two ids",
      { hooks: `${REPORTS}onEnd end 1 3 other failed\n` },
      /onEnd of the end has several ids/,
    ],
    [
      "a hook with a wrong state",
      { hooks: REPORTS.replace("i4 failed", "i4 done") },
      /onEnd of the end was reported as/,
    ],
    [
      "a hook of a start that was none",
      { hooks: `${REPORTS}onStart start 1 4 i10 running\n` },
      /run for a start too many/,
    ],
    ["a hook unasked", { job: { hooks: [] } }, /onEnd of the end was reported as/],
    [
      "a second signal, although nobody was killed",
      { job: { signalMs: 50 }, ran: RAN.replace("e 1 1", "s 1 1 5060\ns 1 1 5070\ne 1 1"), deaths: [5068] },
      /got 2 signals before its limit/,
    ],
    ["a signal missing", { job: { signalMs: 50 } }, /got 0 signals before its limit/],
    [
      "a signal too early",
      { job: { signalMs: 200 }, ran: RAN.replace("e 1 3", "s 1 3 8300\ne 1 3") },
      /got its signal after 100 ms, before 200/,
    ],
  ])("%s", (_, history, words) => {
    expect(problems(history)).toMatch(words);
  });
});

test("after a restore, a job that was given up as already run may be cancelled, and nothing else", () => {
  const forgotten = {
    ...once("0", { state: "cancelled", reason: "cancelled", attempt: 0 }),
    forgotten: new Set([1]),
    ran: `${ONE}e 1 1 5100\n`,
  };
  expect(problems(forgotten)).toBe("");
  expect(problems({ ...forgotten, ran: ONE })).toMatch(/which the store did not know, did not reach its end/);
  const failed = { ...forgotten, job: { ...forgotten.job, hooks: ["onFail" as const] } };
  expect(problems({ ...failed, hooks: "onFail fail 1 1 i5 failed\n" })).toBe("");
  const gaveUp: [Partial<JudgedJob>, Partial<Job>] = [
    { numbers: [2] },
    { job: 2, state: "cancelled", reason: "cancelled", attempt: 0 },
  ];
  const after = { job: { ...JOB, numbers: [2] }, kind: "ok" as const, entry: 0, ok: true };
  const dependent = { ...forgotten, job: { ...forgotten.job, after }, more: [gaveUp] };
  expect(problems({ ...dependent, forgotten: new Set([1, 2]) })).toBe("");
  expect(problems({ ...dependent, forgotten: new Set([2]) })).toMatch(/^job 1 .* had to be cancelled, is/m);
  expect(problems({ ...forgotten, ran: `${ONE}${ONE}` })).toMatch(/ran twice/);
  expect(problems({ ...forgotten, record: { attempt: 1 } })).toMatch(/had to be cancelled after a restore/);
});

test("what a restored store does not know to run keeps no unit and no place from others", () => {
  const both = { ran: `${RAN}${second}`, more: [other], mostJobs: 1 };
  expect(problems(both)).toMatch(/both had 0/);
  const restored = problems({ ...both, forgotten: new Set([1]), restores: [5040] });
  expect(restored).not.toMatch(/both had|ran, expected/);
  expect(restored).toMatch(/had to be cancelled after a restore/);
});
