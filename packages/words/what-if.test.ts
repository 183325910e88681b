/** Tests the sentences about who gains and loses. */
import { expect, test } from "vitest";
import { changesText, changeText, hypotheticalText } from "./what-if.ts";

const NONE = { earlier: 0, later: 0, mostEarlierMs: 0, mostLaterMs: 0 };
const shift = (earlier: number, later: number, mostEarlierMs = 0, mostLaterMs = 0) => ({
  ...{ earlier, later, mostEarlierMs, mostLaterMs },
});
const change = (starts = NONE, ends = starts, never = 0) => ({ starts, ends, never });

test("one sentence says how many start earlier and later, and by how much the worst", () => {
  const minutes = 60_000;
  const say = (yours = change(), others = change()) => changesText({ yours, others });
  expect(say(change(shift(12, 3, 5 * minutes, 41 * minutes)))).toBe(
    "12 jobs start earlier, 3 later, the worst by 41 min.",
  );
  expect(say(change(shift(0, 1, 0, 90_000)))).toBe("1 job starts later by 90 s.");
  expect(say(change(shift(2, 0, 4 * minutes)))).toBe("2 jobs start earlier, the most by 4 min.");
  expect(say()).toBe("No waiting job starts more than a second earlier or later.");
  expect(say(change(shift(1, 0, 4000)), change(shift(0, 2, 0, 9000)))).toBe(
    "1 job starts earlier, 2 later, the worst by 9 s. Of your jobs, 1 earlier and 0 later.",
  );
  expect(say(change(), change(shift(0, 2, 0, 9000)))).toBe(
    "2 jobs start later, the worst by 9 s. None of them is one of your jobs.",
  );
  expect(say(change(NONE, shift(0, 1, 0, 3000)))).toBe(
    "No waiting job starts more than a second earlier or later. 1 job ends later by 3 s.",
  );
  expect(say(change(NONE, NONE, 2))).toMatch(/ 2 jobs would no longer have a forecast: .*never started\.$/);
});

const times = (startMs: number, endMs: number) => ({
  ...{ p10Ms: startMs, p50Ms: startMs, p90Ms: startMs },
  ...{ endP10Ms: endMs, endP50Ms: endMs, endP90Ms: endMs },
});

test("a job that is not submitted has its start and end, or the reason why not", () => {
  const common = { queue: "short", estimateMs: 7_200_000 };
  const at = new Date(2026, 0, 2, 10).getTime();
  expect(hypotheticalText("-n 4", { ...common, ...times(at + 600_000, at + 900_000) }, at)).toMatch(
    /^A job with -n 4 \(queue short, limit 2 h\) would start in 10 min, at 2026-01-02 10:10:00, and end at 2026-01-02 10:15:00\.$/,
  );
  expect(hypotheticalText("-n 4", { ...common, ...times(at, at + 900_000) }, at)).toMatch(
    /start at once, at /,
  );
  const rough = { ...times(at, at), p90Ms: at + 60_000, endP90Ms: at + 120_000, onlyRange: true as const };
  expect(hypotheticalText("-n 4", { ...common, ...rough }, at)).toMatch(
    /would start in 0 s to 60 s, between \S+ 10:00:00 and \S+ 10:01:00, and end between \S+ 10:00:00 and \S+ 10:02:00\.$/,
  );
  expect(hypotheticalText("-n 4", { ...common, noForecast: "cpus" }, at)).toMatch(
    /no forecast, because fewer CPUs are left than it needs\.$/,
  );
});

test("a change has its sign; a second or less is the same", () => {
  expect([60_000, -5000, 1000, -999].map(changeText)).toEqual(["+60 s", "−5 s", "same", "same"]);
});
