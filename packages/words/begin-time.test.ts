/** Tests begin times in a zone whose clock changes; the expected instants are worked out by hand. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { beginTimeMs } from "./begin-time.ts";

const zone = process.env.TZ;
beforeAll(() => {
  process.env.TZ = "Europe/Berlin";
});
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const utc = (ms: number | undefined) => (ms === undefined ? "unreadable" : new Date(ms).toISOString());
const at = (text: string, now: string) => utc(beginTimeMs(text, Date.parse(now)));

// Berlin is an hour before UTC in winter, and two hours in summer.
const WINTER = "2026-11-23T12:00:00Z";

describe("beginTimeMs", () => {
  test.each([
    ["now", "2026-11-23T12:00:00.000Z"],
    ["+2h", "2026-11-23T14:00:00.000Z"],
    ["+90", "2026-11-23T12:01:30.000Z"],
    ["now+1hour", "2026-11-23T13:00:00.000Z"],
    ["now+2days", "2026-11-25T12:00:00.000Z"],
    ["23:00", "2026-11-23T22:00:00.000Z"],
    ["13:00", "2026-11-24T12:00:00.000Z"],
    ["12:59:59", "2026-11-24T11:59:59.000Z"],
    ["1:30pm", "2026-11-23T12:30:00.000Z"],
    ["12:15 AM", "2026-11-23T23:15:00.000Z"],
    ["midnight", "2026-11-23T23:00:00.000Z"],
    ["noon", "2026-11-24T11:00:00.000Z"],
    ["teatime", "2026-11-23T15:00:00.000Z"],
    ["tomorrow", "2026-11-23T23:00:00.000Z"],
    ["tomorrow 08:00", "2026-11-24T07:00:00.000Z"],
    ["2026-12-01", "2026-11-30T23:00:00.000Z"],
    ["2026-12-01T08:00", "2026-12-01T07:00:00.000Z"],
    ["2026-07-01T08:00:30", "2026-07-01T06:00:30.000Z"],
    ["2026-12-01T08:00Z", "2026-12-01T08:00:00.000Z"],
    ["2026-12-01T08:00-05:30", "2026-12-01T13:30:00.000Z"],
  ])("%s, on 23 November 2026 at 13:00", (text, expected) => expect(at(text, WINTER)).toBe(expected));

  test.each([
    "",
    "25:00",
    "12:60",
    "13:00pm",
    "0:30am",
    "2026-02-30",
    "2026-13-01",
    "soon",
    "2h",
    "-2h",
    "+2y",
  ])("%j is unreadable", (text) => expect(at(text, WINTER)).toBe("unreadable"));

  test("02:30 does not exist when the clock goes forward: the job begins at 03:30", () => {
    // On 29 March 2026, 02:00 becomes 03:00.
    expect(at("2026-03-29T02:30", WINTER)).toBe("2026-03-29T01:30:00.000Z");
    expect(at("02:30", "2026-03-28T22:00:00Z")).toBe("2026-03-29T01:30:00.000Z");
    expect(at("04:00", "2026-03-29T00:59:00Z")).toBe("2026-03-29T02:00:00.000Z");
  });

  test("02:30 exists twice when the clock goes back: the first is meant, and a day has 25 hours", () => {
    // On 25 October 2026, 03:00 becomes 02:00.
    expect(at("2026-10-25T02:30", WINTER)).toBe("2026-10-25T00:30:00.000Z");
    expect(at("02:30", "2026-10-24T22:00:00Z")).toBe("2026-10-25T00:30:00.000Z");
    expect(at("23:00", "2026-10-24T21:30:00Z")).toBe("2026-10-25T22:00:00.000Z");
    expect(at("+24h", "2026-10-24T21:30:00Z")).toBe("2026-10-25T21:30:00.000Z");
  });
});
