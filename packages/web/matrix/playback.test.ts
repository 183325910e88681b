import { describe, expect, test } from "vitest";
import { gridOf } from "./grids-for-tests.ts";
import { decisionsText, momentText, parsePlace, placeText } from "./playback.ts";

const NOTHING = {
  placed: 0,
  ended: 0,
  extraSlots: 0,
  released: 0,
  exchanges: 0,
  migrations: 0,
  rowsAdded: 0,
  rowsDeleted: 0,
};

describe("decisionsText()", () => {
  test("says what happened between two pictures", () => {
    const before = { ...NOTHING, placed: 3, rowsAdded: 1 };
    const now = { ...before, placed: 5, ended: 1, exchanges: 2, rowsDeleted: 1 };
    expect(decisionsText(now, before)).toBe(
      "2 gangs placed; 1 gang ended; 1 row deleted; re-packed by 2 legal exchanges, between cuts that no gang of the two rows crosses",
    );
    expect(decisionsText(before)).toBe("3 gangs placed; 1 row added");
    expect(decisionsText(now, now)).toBe("");
  });
});

test("a moment has its time, its rows and the share of the slots", () => {
  // 3 of 8 cells are busy.
  const snapshot = { ...gridOf("1 1 . .", ". . . 2"), atS: 100, done: NOTHING };
  expect(momentText(snapshot, 40, 4)).toBe("after 60 s: 2 rows, 37.5 % of the slots taken");
  expect(placeText(2, 60)).toBe("3 of 60");
});

test("the address names a picture", () => {
  expect(parsePlace("3", 60, 9)).toBe(2);
  expect(parsePlace(undefined, 60, 9)).toBe(9);
  expect(["x", "99", "0"].map((text) => parsePlace(text, 60, 9))).toEqual([9, 59, 0]);
});
