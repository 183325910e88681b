/** Tests that a time is printed only if enough jobs have ended to know one; all texts by hand. */
import { expect, test } from "vitest";
import { expectedInText, expectedPhrase, expectedText, rangesText } from "./expected.ts";

const MINUTE = 60_000;
const AT_MS = new Date(2026, 0, 2, 10).getTime();
const LEARNED = { p10Ms: AT_MS + MINUTE, p50Ms: AT_MS + 10 * MINUTE, p90Ms: AT_MS + 20 * MINUTE };
const ROUGH = { ...LEARNED, onlyRange: true as const };
/** As for the job behind a held machine: all futures agree, whatever is known. */
const SURE = { p10Ms: AT_MS, p50Ms: AT_MS, p90Ms: AT_MS + 999, onlyRange: true as const };

test("with enough ended jobs, the median and the range", () => {
  expect(expectedText(LEARNED)).toBe("2026-01-02 10:10:00 (2026-01-02 10:01:00 to 2026-01-02 10:20:00)");
  expect(expectedPhrase(LEARNED)).toBe(`at ${expectedText(LEARNED)}`);
  expect(expectedInText(LEARNED, AT_MS)).toBe("in 10 min");
  expect(rangesText([LEARNED])).toBe("");
});

test("with too few, only the range, and why", () => {
  expect(expectedText(ROUGH)).toBe("2026-01-02 10:01:00 to 2026-01-02 10:20:00");
  expect(expectedPhrase(ROUGH)).toBe("between 2026-01-02 10:01:00 and 2026-01-02 10:20:00");
  expect(expectedInText(ROUGH, AT_MS + 5 * MINUTE)).toBe("in 0 s to 15 min");
  expect(rangesText([LEARNED, ROUGH])).toMatch(/^only a range, because fewer than 3 jobs have ended/);
});

test("a range below a second is one time", () => {
  expect(expectedText(SURE)).toBe("2026-01-02 10:00:00");
  expect(expectedPhrase(SURE)).toBe("at 2026-01-02 10:00:00");
  expect(expectedInText(SURE, AT_MS)).toBe("at once");
  expect(rangesText([SURE])).toBe("");
});
