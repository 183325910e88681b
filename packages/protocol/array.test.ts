import { expect, test } from "vitest";
import { parseArray } from "./array.ts";

test("indices are read in Slurm's syntax, without duplicates", () => {
  expect(parseArray("0-6:3,2,2%4")).toEqual({ indices: [0, 2, 3, 6], atOnce: 4 });
});

test("with a known number of jobs, only the limit is needed", () => {
  expect(parseArray("%2", 3)).toEqual({ indices: [1, 2, 3], atOnce: 2 });
  expect(parseArray("7,9", 2)).toEqual({ indices: [7, 9] });
  expect(parseArray("%2")).toMatch(/expected indices such as/);
  expect(parseArray("", 3)).toMatch(/expected indices such as/);
  expect(parseArray("%0", 3)).toMatch(/expected indices such as/);
});

test("a list that names the same indices again and again is refused early", () => {
  expect(parseArray(Array(10_000).fill("1-10000").join(","))).toMatch(/it names indices more than once/);
});

test.each([
  ["5-1", /"5-1" in the array "5-1": the range is empty, expected the smaller index first$/],
  ["1-10000000", /expected indices up to 1000000$/],
  ["1-99999999999", /expected indices up to 1000000$/],
  ["1-20000", /has more than 10000 jobs/],
  ["1-5:0", /expected indices such as/],
  ["1-5,x", /"x" in the array "1-5,x": expected indices such as/],
])("%s is refused with the reason", (text, message) => {
  expect(parseArray(text)).toMatch(message);
});
