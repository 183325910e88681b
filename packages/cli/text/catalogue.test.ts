import { describe, expect, test } from "vitest";
import { ruleLines } from "./catalogue.ts";

describe("ruleLines()", () => {
  const own = ["a", "b", "c", "d", "e", "f"];

  test.each([
    [
      "five of its own",
      own,
      ["g"],
      ["  - a", "  - b", "  - c", "  - d", "  - e", "  and 2 more; --all shows all"],
    ],
    ["none that others have, too", ["a"], ["g", "h"], ["  - a", "  and 2 more; --all shows all"]],
    ["a number where it has none of its own", [], ["g"], ["  1 rule; --all shows all"]],
    ["no last line where nothing is left", ["a"], [], ["  - a"]],
    ["nothing for a policy without rules", [], [], []],
  ])("%s", (_, ofPolicy, inherited, lines) => {
    expect(ruleLines({ own: ofPolicy, inherited })).toEqual(lines);
  });

  test("all of them", () => {
    expect(ruleLines({ own, inherited: ["g"] }, true)).toEqual([...own, "g"].map((rule) => `  - ${rule}`));
  });
});
