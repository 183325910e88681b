/** Histories written by hand: the judge accepts the right one and names what is wrong with each other. */
import { expect, test } from "vitest";
import type { Job } from "../src/protocol/schema.ts";
import { type Asked, type JudgedJob, judge, readStarts } from "./change-judge.ts";

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
  story: "edited",
  ends: ["75", "75", "3"],
  possible: [ASKED],
  formerNames: [],
  number: 1,
  reruns: [],
};
/** Two retries, after 1 s and 2 s. The third start ends with 3, which is not retried. */
const RAN = `b 1 1 2 new 5000
e 1 1 5100
b 1 2 2 new 6100
e 1 2 6200
b 1 3 2 new 8200
e 1 3 8300
`;
const RECORD = { job: 1, ...ASKED, state: "failed", code: 3, attempt: 3 } as unknown as Job;

function problems({ job = {}, ran = RAN, record = {}, quiet = { fromMs: 0, toMs: 0 } } = {}): string {
  const records = [{ ...RECORD, ...record }];
  return judge([{ ...JOB, ...job }], [readStarts(ran)], records, [quiet]).join("\n");
}

test("a run as it was asked for is right", () => {
  expect(problems({ quiet: { fromMs: 6100, toMs: 8200 } })).toBe("");
  const old = { ...ASKED, name: "old", tasks: 1 };
  expect(problems({ job: { possible: [old, ASKED] } })).toBe("");
  expect(problems({ job: { formerNames: ["old"] }, ran: RAN.replace("new 5000", "old 5000") })).toBe("");
});

test.each([
  ["lost", { record: { job: 2 } }, /^nobody asked for job 2\njob 1 \(edited\): is lost$/],
  ["a retry too few", { ran: RAN.slice(0, RAN.indexOf("b 1 3")) }, /started 2 times, expected 3/],
  ["a retry too many", { ran: `${RAN}b 1 4 2 new 12300\ne 1 4 12400\n` }, /started 4 times, expected 3/],
  ["a start twice", { ran: `${RAN}b 1 3 2 new 8200\n` }, /start 4 .* has another number/],
  ["retried at once", { ran: RAN.replace("new 6100", "new 5800") }, /began too early, before 6100/],
  ["not doubled", { ran: RAN.replace("new 8200", "new 7300") }, /began too early, before 8200/],
  ["before its begin", { ran: RAN.replace("new 5000", "new 4900") }, /began too early, before 5000/],
  ["before its release", { job: { releasedAtMs: 5050 } }, /began too early, before 5050/],
  ["half an edit", { record: { tasks: 1 } }, /an edit is half done or undone/],
  ["an edit that starts miss", { ran: RAN.replace("1 3 2", "1 3 1") }, /does not have what was asked for/],
  [
    "a former name later",
    { job: { formerNames: ["old"] }, ran: RAN.replace("new 8200", "old 8200") },
    /does not/,
  ],
  ["another end", { record: { code: 75 } }, /expected its end to be 3/],
  ["cut off", { ran: RAN.replace("e 1 2 6200\n", "") }, /start 2 .* did not reach its end/],
  ["in a drain", { quiet: { fromMs: 6000, toMs: 6500 } }, /^job 1 began while the scheduler was drained$/],
  ["a rerun unasked", { ran: `${RAN}b 2 1 2 new 9000\n` }, /also ran as job 2/],
  ["a rerun lost", { job: { reruns: [2] } }, /its rerun 2 is lost/],
])("%s is found", (_, history, words) => {
  expect(problems(history)).toMatch(words);
});
