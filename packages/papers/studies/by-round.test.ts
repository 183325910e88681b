import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { gangInstance } from "@tutti/kernel/simulator/gang-for-tests.ts";
import { describe, expect, test } from "vitest";
import { simulateByRound } from "./by-round.ts";
import { STUDIES } from "./registry.ts";
import { studyPage } from "./study.ts";

describe("simulateByRound()", () => {
  test("by hand: an arrival waits until all rows have had their slots, and so does the room of a job that has ended", () => {
    // Two rows of A and B from 0 on. C and D come at 1 s, in the middle of the round, and begin with the next
    // one at 2 s: C is next to A, D in a third row. A has ended at 3 s; its row is C's until C has ended.
    const instance = gangInstance(4, [
      [0, 2, 3],
      [0, 3, 4],
      [1, 2, 1],
      [1, 1, 3],
    ]);
    const { endS, rowsS } = simulateByRound(instance, choosePolicy("gang"));
    // Rounds: 0 A, 1 B | 2 A C, 3 B, 4 D | 5 C, 6 B.
    expect([...endS]).toEqual([3, 7, 6, 5]);
    expect(rowsS).toEqual([0, 0, 4, 3]);
  });

  test("by hand: an empty system waits for the next arrival, and bc keeps a row", () => {
    const instance = gangInstance(4, [
      [0, 1, 4],
      [5, 2, 4],
    ]);
    const { endS, rowsS } = simulateByRound(instance, choosePolicy("br"));
    expect([...endS]).toEqual([1, 7]);
    expect(rowsS).toEqual([4, 3]);
  });
});

describe("studies", () => {
  test("have different keys and state what came out", () => {
    expect(new Set(STUDIES.map(({ key }) => key)).size).toBe(STUDIES.length);
    for (const { key, title, text } of STUDIES) {
      expect(key).toMatch(/^[a-z0-9-]+$/);
      expect(title).not.toBe("");
      expect(text.length, key).toBeGreaterThan(0);
    }
  });

  test("a page has its command and its tables", () => {
    const [study] = STUDIES;
    const page = studyPage(study, [{ title: "T", columns: ["a", "b"], rows: [["1", "2"]] }]);
    expect(page).toContain(`npm run studies -- ${study.key}`);
    expect(page).toContain("## T\n\n| a | b |\n| --- | ---: |\n| 1 | 2 |\n");
  });
});
