/** The processors of a job are those of pictures: `.` is free, `#` is not, and a letter is chosen. */
import { expect, test } from "vitest";
import { chooseProcessors } from "./free-processors.ts";

function check(before: string, after: string): void {
  const isFree = Uint8Array.from(before, (place) => (place === "." ? 1 : 0));
  const chosen = chooseProcessors(isFree, [...after].filter((place) => place === "x").length);
  const places = [...before];
  for (const processor of chosen) places[processor] = "x";
  expect(places.join("")).toBe(after);
  expect(chosen).toEqual(chosen.toSorted((a, b) => a - b));
}

test.each([
  ["....", "xx.."],
  // The smallest stretch that is large enough, not the first.
  ["....#..#...", "....#xx#..."],
  ["...#...", "xx.#..."],
  [".#..", ".#xx"],
  ["#...", "#xxx"],
  // No stretch is large enough: the lowest free ones.
  [".#.#..", "x#x#x."],
  ["..#..", "xx#xx"],
])("%s becomes %s", check);
